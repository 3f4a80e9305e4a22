"""What vLLM's and Python's own lines begin with: the sign that a carrier ends where they begin."""

from __future__ import annotations

from vllm_triage.lazy import lazy

LEVEL = r"(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)"
PROCESS = r"\*{0,2}\((?:[A-Za-z_][^()]{0,60} )?pid=\d{1,10}[^()]{0,60}\)"
STAMP = r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d "
FRAME = r' {0,12}File "[^"]{1,300}", line \d'
TRACEBACK = r"Traceback \(most recent call"
EXCEPTION = r"(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception|Interrupt|Exit)(?:: |$)"

# A line that vLLM wrote itself, or the head or a frame of a traceback.
OWN = lazy(rf"{PROCESS}|{STAMP}|{TRACEBACK}|{FRAME}")
# The same, or a line with vLLM's stamp or prefix behind something else.
CARRIED = lazy(rf"\s*(?:\[[\w./-]{{1,40}}\]:? *)?(?:{OWN.pattern})|.{{0,200}}?(?:{PROCESS} |{STAMP})")
# A line that something begins with: it is not the rest of the line before.
OPENER = lazy(
    rf"{PROCESS}|[^\s()]{{0,40}}{STAMP}|\s*{TRACEBACK}|{FRAME}|\s*{EXCEPTION}"
    rf"|\[?{LEVEL}\]?[:\s]"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[rank\d+\]|\{\"|Process \S{1,40}:"
    r"|During handling of|The above exception|usage: |\s*$"
)
