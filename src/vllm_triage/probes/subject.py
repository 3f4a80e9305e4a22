"""What was started: which model, interpreter and port the facts are to be about."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from vllm_triage.model import Log, Outcome
from vllm_triage.probes.facts.packages import interpreter_of, site_packages_for, site_packages_of

_DEFAULT_PORT = 8000


@dataclass(frozen=True)
class Subject:
    """The start that is looked into.

    `variables` is the whole environment of its process; it stays in memory and is never written.
    """

    model: str | None = None
    folder: str | None = None
    port: int = _DEFAULT_PORT
    site_packages: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


def of_command(model: str | None, port: int | None = None, interpreter: str | None = None) -> Subject:
    """A start that has not happened yet, with the vLLM that the shell would find."""
    return Subject(model=model, port=port or _DEFAULT_PORT, site_packages=_installed(interpreter))


def of_failure(outcome: Outcome, log: Log, writer: int | None = None) -> Subject:
    """What failed according to the log, and to the process `writer` that wrote it, if that is known."""
    args = outcome.context.args
    port = args.get("port")
    interpreter, variables, folder = _process(writer) if writer else (None, dict(os.environ), None)
    model = outcome.context.model
    return Subject(
        model=model,
        folder=folder,
        port=port if isinstance(port, int) else _DEFAULT_PORT,
        site_packages=_of_frames(log) or _installed(interpreter),
        variables=variables,
    )


def _of_frames(log: Log) -> tuple[str, ...]:
    """The folders of the tracebacks' files, those with vLLM first."""
    files = [frame.file for block in log.blocks for frame in block.frames]
    ordered = sorted(files, key=lambda file: "/vllm/" not in file)
    sites = (site_packages_of(file) for file in ordered)
    return tuple(dict.fromkeys(site for site in sites if site))


def _installed(interpreter: str | None) -> tuple[str, ...]:
    script = shutil.which("vllm")
    candidates: Iterable[str | None] = (interpreter, interpreter_of(script) if script else None)
    for candidate in filter(None, candidates):
        if sites := site_packages_for(candidate):
            return sites
    return ()


def _process(pid: int) -> tuple[str | None, dict[str, str], str | None]:
    """Interpreter, environment and working folder of a process; this one's where they can't be read."""
    import psutil

    try:
        process = psutil.Process(pid)
        words = process.cmdline()
        interpreter = words[0] if words and "python" in os.path.basename(words[0]) else None
        return interpreter, process.environ(), process.cwd()
    except psutil.Error:
        return None, dict(os.environ), None
