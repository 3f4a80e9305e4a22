"""What was started: which model, interpreter and port the facts are to be about."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
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


def of_command(model: str | None, port: int | None = None, program: str = "vllm") -> Subject:
    """A start that has not happened yet; `program` is a `vllm` or an interpreter, by path or as the shell finds it."""
    return Subject(model=model, port=port or _DEFAULT_PORT, site_packages=_installed(program, os.environ))


def of_failure(outcome: Outcome, log: Log, origin: Origin | None = None) -> Subject:
    """What failed according to the log, and to the process that wrote it, if that is known."""
    port = outcome.context.args.get("port")
    program = origin.argv[0] if origin and origin.argv else "vllm"
    variables = origin.variables if origin else os.environ
    if origin and origin.folder and "/" in program:
        program = os.path.join(origin.folder, program)
    return Subject(
        model=outcome.context.model,
        folder=origin.folder if origin else None,
        port=port if isinstance(port, int) else _DEFAULT_PORT,
        site_packages=_of_frames(log) or _installed(program, variables),
        pids=_processes(log, origin),
        variables=dict(variables),
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


def _installed(program: str, variables: Mapping[str, str]) -> tuple[str, ...]:
    """Where the packages of a program lie; of the `vllm` on PATH where it is neither an interpreter nor a script of one."""
    path = variables.get("PATH")
    home = None if variables.get("PYTHONNOUSERSITE") else variables.get("HOME") or os.path.expanduser("~")
    for name in dict.fromkeys((program, "vllm")):
        place = shutil.which(name, path=path)
        if place is None:
            continue
        is_python = os.path.basename(name).startswith("python")
        interpreter = place if is_python else interpreter_of(place, path)
        if interpreter and (sites := site_packages_for(interpreter, home)):
            return sites
    return ()
