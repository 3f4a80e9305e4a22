"""Failures that are no Python exception: what a line of plain text, a native library or a shell says."""

from __future__ import annotations

import re

from vllm_triage.lazy import lazy
from vllm_triage.model import Line

# The lower the class, the more surely a line of this form is the cause; see `Candidate.tier`.
_FORMS: tuple[tuple[float, re.Pattern[str]], ...] = tuple(
    (tier, lazy(pattern))
    for tier, pattern in (
        # argparse and click
        (0.5, r"[\w./-]{1,80}(?: [\w-]{1,30})?: error: (?:argument|unrecognized|the following|ambiguous|invalid|unknown|expected|no such)|\S{1,60}\.py: error: "),
        (0.6, r"Error: (?:No such (?:option|command)|Invalid value|Missing (?:argument|option))"),
        # compilers, linkers, shells, loaders
        (1.0, r"\S{1,200}:\d+(?::\d+)?: (?:fatal )?error: |(?:\S{1,80}: )?(?:fatal )?error: \S{1,200}: No such file|nvcc fatal|ninja: (?:error|fatal)|ptxas (?:fatal|error)|collect2: error|ld: (?:cannot|error)|/usr/bin/ld"),
        (1.0, r"(?:[\w./-]{1,80}: )?(?:line \d+: )?[\w./-]{1,80}: (?:command not found|cannot execute|No such file or directory|Permission denied|not found)$"),
        (1.0, r"\s*what\(\): +\S|symbol lookup error|error while loading shared libraries|version `G?LIBC\w*' not found|NVRM: Xid|OCI runtime|docker: Error"),
        (1.1, r"(?:ERROR|error): (?:Could not find a version|No matching distribution|Failed building|Failed to build|Cannot install|Invalid requirement|subprocess-exited)"),
        (1.2, r".{0,80}Assertion .{0,200} failed\.?$|.{0,200}\bdevice-side assert\b|.{0,40}CUDA (?:driver )?error|.{0,60}NCCL (?:WARN|error)|.{0,60}HIP error"),
        (2.0, r"(?:\S{1,80}: line \d+: +)?\d* *(?:Killed|Bus error|Segmentation fault|Illegal instruction|Aborted)(?: +\(core dumped\))?(?: {2,}.{0,200})?$"),
        (2.0, r"Fatal Python error: |!!!!!!! Segfault encountered|\*\*\* SIG(?:ABRT|SEGV|BUS|ILL)\b|OOMKilled|.{0,80}(?:oom-kill|Out of memory: Killed)"),
    )
)  # fmt: skip
# Words with which an explanation in plain text begins or ends; a last resort.
_FAILURE_WORDS = lazy(
    r"\b(?:fatal|failed|failure|error|cannot|can't|could not|couldn't|unable to|not found|not supported|unsupported|no such|denied"
    r"|invalid|exceeds?|out of memory|refused|timed? ?out|missing|must be|aborted|crash(?:ed)?)\b",
    re.IGNORECASE,
)
_HARMLESS = lazy(
    r"resource_tracker|leaked|destroy_process_group|retry(?:ing)? in|falling back|fallback|deprecated|will be ignored|ignored$|see (?:root cause|stack trace|above)|skipping|disabl",
    re.IGNORECASE,
)


_BUILD_ERROR = lazy(
    r"\S{1,300}[:(]\d+(?::\d+|\))?: (?:fatal )?error\b|(?:\S{1,80}: )?fatal error: |nvcc fatal|.{0,60}ptxas fatal|.{0,60}collect2: error|.{0,100}/ld: cannot find"
)


def is_build_error(line: Line) -> bool:
    """Whether a compiler or linker says here what is wrong."""
    return _BUILD_ERROR.match(line.text.strip()) is not None


def native_tier(line: Line) -> float | None:
    """The class of a plain line that has the form of a failure, or None."""
    text = line.text.strip()
    return next((tier for tier, pattern in _FORMS if pattern.match(text)), None)


def speaks_of_failure(line: Line) -> bool:
    """Whether a line holds a word of failure, apart from the notices that healthy logs hold too."""
    head = line.text[:400]
    return bool(_FAILURE_WORDS.search(head)) and not _HARMLESS.search(head)
