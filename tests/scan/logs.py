"""Builders of logs for the tests of the scanner: a failing start, and what carriers make of its lines."""

from __future__ import annotations

import json
from collections.abc import Callable

from vllm_triage.scan import Scanner

# A start that fails, as vLLM 0.11 and Python write it.
LOG = r"""
INFO 11-20 10:00:00 [__init__.py:216] Automatically detected platform cuda.
(APIServer pid=101) INFO 11-20 10:00:03 [api_server.py:1839] vLLM API server version 0.11.0
(APIServer pid=101) INFO 11-20 10:00:03 [utils.py:233] non-default args: {'model': '/models/m', 'max_model_len': 32768}
(EngineCore_DP0 pid=202) INFO 11-20 10:00:09 [core.py:77] Initializing a V1 LLM engine (v0.11.0) with config: model='/models/m'
(EngineCore_DP0 pid=202) /opt/venv/lib/python3.12/site-packages/torch/cuda/__init__.py:63: FutureWarning: pynvml is deprecated.
(EngineCore_DP0 pid=202)   import pynvml

Loading safetensors checkpoint shards: 100% Completed | 2/2 [00:01<00:00,  1.61it/s]
(EngineCore_DP0 pid=202) ERROR 11-20 10:00:31 [core.py:708] EngineCore failed to start.
(EngineCore_DP0 pid=202) ERROR 11-20 10:00:31 [core.py:708] Traceback (most recent call last):
(EngineCore_DP0 pid=202) ERROR 11-20 10:00:31 [core.py:708]   File "/opt/venv/lib/python3.12/site-packages/vllm/v1/engine/core.py", line 699, in run_engine_core
(EngineCore_DP0 pid=202) ERROR 11-20 10:00:31 [core.py:708]     engine_core = EngineCoreProc(*args, **kwargs)
(EngineCore_DP0 pid=202) ERROR 11-20 10:00:31 [core.py:708] ValueError: To serve at least one request with the model's max seq len (32768), (4.0 GiB KV cache is needed.
Process EngineCore_DP0:
Traceback (most recent call last):
  File "/usr/lib/python3.12/multiprocessing/process.py", line 314, in _bootstrap
    self.run()
ValueError: To serve at least one request with the model's max seq len (32768), (4.0 GiB KV cache is needed.
(APIServer pid=101) Traceback (most recent call last):
(APIServer pid=101)   File "/opt/venv/bin/vllm", line 8, in <module>
(APIServer pid=101)     sys.exit(main())
(APIServer pid=101) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
INFO:     Finished server process [101]
""".strip("\n").split("\n")

Lines = list[str]
Carrier = Callable[[Lines], Lines]


def before_each(make: Callable[[int], str]) -> Carrier:
    """A carrier that puts text before each line; `make` is given the line's place."""
    return lambda lines: [make(at) + line for at, line in enumerate(lines)]


def _iso(at: int) -> str:
    return f"2026-05-29T09:{at // 60 % 60:02d}:{at % 60:02d}.594123456Z"


def _plain_time(at: int) -> str:
    return f"2026-05-29 09:{at // 60 % 60:02d}:{at % 60:02d},594"


def docker_json(lines: Lines) -> Lines:
    return [
        json.dumps({"log": line + "\n", "stream": "stderr", "time": _iso(at)})
        for at, line in enumerate(lines)
    ]


def cri_parts(lines: Lines) -> Lines:
    """CRI, with every line of some length cut into a `P` and an `F` part."""
    carried = []
    for at, line in enumerate(lines):
        if len(line) > 90:
            carried += [f"{_iso(at)} stdout P {line[:80]}", f"{_iso(at)} stdout F {line[80:]}"]
        else:
            carried.append(f"{_iso(at)} stdout F {line}")
    return carried


def shipped(key: str) -> Carrier:
    """One JSON object a line, as log shippers write it."""
    return lambda lines: [json.dumps({"timestamp": _iso(at), key: line}) for at, line in enumerate(lines)]


# Carriers under which each line stays one line.
CARRIERS: dict[str, Carrier] = {
    "compose": before_each(lambda at: "vllm-1  | "),
    "compose-name": before_each(lambda at: "vllm_server | "),
    "docker-json": docker_json,
    "cri": before_each(lambda at: f"{_iso(at)} stderr F "),
    "kubectl-timestamps": before_each(lambda at: f"{_iso(at)} "),
    "kubectl-prefix": before_each(lambda at: "[pod/vllm-7d9c5b/vllm] "),
    "journald": before_each(lambda at: f"Aug 17 18:{at // 60 % 60:02d}:{at % 60:02d} host vllm[8052]: "),
    "syslog-without-pid": before_each(
        lambda at: f"Aug  7 18:{at // 60 % 60:02d}:{at % 60:02d} node-1 vllm: "
    ),
    "github-actions": before_each(lambda at: f"2026-05-29T09:14:{at % 60:02d}.5941234Z "),
    "gh-run-view": before_each(lambda at: f"test\tRun tests\t2026-05-29T09:14:{at % 60:02d}.5941234Z "),
    "buildkite": before_each(lambda at: f"\x1b_bk;t={1778140988034 + at}\x07"),
    "buildkite-without-escapes": before_each(lambda at: f"_bk;t={1778140988034 + at}"),
    "buildkite-download": before_each(lambda at: f"[2026-07-14T20:38:{at % 60:02d}Z] "),
    "time-and-bar": before_each(lambda at: f"2026-04-21 03:51:{at % 60:02d}.166 | "),
    "logger": before_each(lambda at: f"{_plain_time(at)} - INFO - [container] "),
    "logger-with-name": before_each(lambda at: f"{_plain_time(at)} - __main__ - INFO - "),
    "loguru": before_each(lambda at: f"2026-05-29 09:14:{at % 60:02d}.594 | INFO     | app.run:pump:44 - "),
    "tag": before_each(lambda at: "[vllm] "),
    "stream": before_each(lambda at: "stderr: "),
    "srun": before_each(lambda at: f"{at % 2}: "),
    "grep": before_each(lambda at: f"{at + 31}:"),
    "grep-with-name": before_each(lambda at: f"run/server.log:{at + 31}:"),
    "grep-context": before_each(lambda at: f"{at + 95}{':' if at % 5 == 0 else '-'}"),
    "quote": before_each(lambda at: "> "),
    "indentation": before_each(lambda at: "        "),
    "json-message": shipped("message"),
    "json-line": shipped("line"),
    "gcp": shipped("textPayload"),
    "unknown": before_each(lambda at: f"<node{at % 3}|{at}> "),
    "colour": before_each(lambda at: "\x1b[36m\x1b[0m"),
    "crlf": lambda lines: [line + "\r" for line in lines],
}


def to_bytes(lines: Lines) -> bytes:
    return "".join(line + "\n" for line in lines).encode()


def scan_lines(lines: Lines) -> list[tuple[int, str]]:
    """The lines that a scan keeps, with their numbers."""
    scanner = Scanner()
    scanner.feed(to_bytes(lines))
    return [(line.number, line.text) for region in scanner.close().regions for line in region]


def scan_texts(lines: Lines) -> Lines:
    """The texts of these lines."""
    return [text for _, text in scan_lines(lines)]
