"""What was started: which model, interpreter and port the facts are to be about."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from vllm_triage.model import Log, Origin, Outcome
from vllm_triage.probes.facts.packages import interpreter_of, site_packages_for, site_packages_of

_DEFAULT_PORT = 8000


@dataclass(frozen=True)
class Subject:
    """The start that is looked into.

    `variables` is the whole environment of its process; it stays in memory and is never written. `pids` are
    its processes, which may be those of another machine or namespace.
    """

    model: str | None = None
    folder: str | None = None
    port: int = _DEFAULT_PORT
    site_packages: tuple[str, ...] = ()
    pids: tuple[int, ...] = ()
    variables: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


def of_command(model: str | None, port: int | None = None, interpreter: str | None = None) -> Subject:
    """A start that has not happened yet, with the vLLM that the shell would find."""
    return Subject(model=model, port=port or _DEFAULT_PORT, site_packages=_installed(interpreter))


def of_failure(outcome: Outcome, log: Log, origin: Origin | None = None) -> Subject:
    """What failed according to the log, and to the process that wrote it, if that is known."""
    port = outcome.context.args.get("port")
    first = origin.argv[0] if origin and origin.argv else ""
    return Subject(
        model=outcome.context.model,
        folder=origin.folder if origin else None,
        port=port if isinstance(port, int) else _DEFAULT_PORT,
        site_packages=_of_frames(log) or _installed(first if "python" in os.path.basename(first) else None),
        pids=_processes(log, origin),
        variables=origin.variables if origin else dict(os.environ),
    )


def _processes(log: Log, origin: Origin | None) -> tuple[int, ...]:
    """The process that writes the log, and those that name themselves in it."""
    writer = origin.pid if origin else None
    return tuple(sorted({pid for pid in (writer, *(line.pid for line in log)) if pid}))


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
