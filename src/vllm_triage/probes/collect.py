"""Collects the facts in a child process, so that a hung driver or file system costs a part and not the run."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vllm_triage.probes.facts import Facts
from vllm_triage.probes.subject import Subject

TIMEOUT_S = 2.0
_ROOT = str(Path(__file__).resolve().parents[2])
# Isolated, so that nothing in the working folder is imported; the package itself may lie anywhere.
_CHILD = (
    "import sys; sys.path.insert(0, sys.argv[1]); from vllm_triage.probes.collect import _child; _child()"
)
_MAX_ANSWER = 16 << 20


def collect(subject: Subject, online: bool = False, timeout_s: float = TIMEOUT_S) -> Facts:
    """Read this host's facts about a start.

    Args:
        subject: The start the facts are about.
        online: Whether the model hub may be asked about the repo.
        timeout_s: Seconds until the parts that have not answered are given up.
    """
    from vllm_triage.probes.travel import facts_from

    parts, late = _ask(subject, online, timeout_s)
    problems = (
        {name: f"no answer within {timeout_s:g} s" for name in _PARTS if name not in parts} if late else {}
    )
    found = {name: part["facts"] for name, part in parts.items() if "facts" in part}
    problems |= {name: part["problem"] for name, part in parts.items() if "problem" in part}
    return facts_from({**found, "problems": problems})


def _ask(subject: Subject, online: bool, timeout_s: float) -> tuple[dict[str, Any], bool]:
    """What the child said, by part, and whether it was given up before it had said everything."""
    order = {
        "model": subject.model,
        "folder": subject.folder,
        "port": subject.port,
        "site_packages": subject.site_packages,
        "pids": subject.pids,
        "variables": dict(subject.variables),
        "online": online,
    }
    child = subprocess.Popen(
        [sys.executable, "-I", "-c", _CHILD, _ROOT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    deadline = time.monotonic() + timeout_s
    try:
        child.stdin.write(json.dumps(order).encode())
        child.stdin.close()
        answer = _read(child.stdout.fileno(), deadline)
    except BrokenPipeError:
        answer = b""
    # A process that hangs in the driver can be neither killed nor waited for: it is left behind.
    child.kill()
    child.stdout.close()
    lines = answer.split(b"\n")[:-1]
    parts = {part.pop("part"): part for part in map(json.loads, lines)}
    return parts, len(parts) < len(_PARTS)


def _read(descriptor: int, deadline: float) -> bytes:
    answer = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while len(answer) < _MAX_ANSWER and selector.select(max(deadline - time.monotonic(), 0)):
            piece = os.read(descriptor, 1 << 16)
            if not piece:
                break
            answer += piece
    return bytes(answer)


def _child() -> None:
    """Read every part in a thread of its own and print each as soon as it is there."""
    order = json.load(sys.stdin)
    printing = threading.Lock()

    def work(name: str, read: Callable[[dict[str, Any]], Any]) -> None:
        try:
            facts = read(order)
            said = {"part": name, "facts": asdict(facts) if facts is not None else None}
        except Exception as error:  # a part that fails is said to be missing, whatever the reason
            said = {"part": name, "problem": f"{type(error).__name__}: {error}"}
        with printing:
            print(json.dumps(said), flush=True)

    threads = [threading.Thread(target=work, args=part, daemon=True) for part in _PARTS.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _environment(order: dict[str, Any]) -> Any:
    from vllm_triage.probes.facts import environment

    return environment.read(order["variables"])


def _gpus(order: dict[str, Any]) -> Any:
    from vllm_triage.probes.facts import gpus

    return gpus.read(pids=order["pids"])


def _python(order: dict[str, Any]) -> Any:
    from vllm_triage.probes.facts import packages

    return packages.read(order["site_packages"])


def _libraries(order: dict[str, Any]) -> Any:
    from vllm_triage.probes.facts import libraries

    return libraries.read(order["variables"], order["site_packages"])


def _model(order: dict[str, Any]) -> Any:
    from vllm_triage.probes.facts import model

    return model.read(order["model"], order["folder"], order["variables"]) if order["model"] else None


def _hub(order: dict[str, Any]) -> Any:
    from vllm_triage.probes.facts import hub

    return hub.read(order["variables"], order["model"], order["online"])


def _host(order: dict[str, Any]) -> Any:
    from vllm_triage.probes.facts import host
    from vllm_triage.probes.facts.model import hub_cache

    local = order["model"] if order["model"] and os.path.exists(order["model"]) else None
    folders = host.folders_of(order["variables"], str(hub_cache(order["variables"])), local)
    return host.read(order["variables"], folders)


def _network(order: dict[str, Any]) -> Any:
    from vllm_triage.probes.facts import network

    return network.read(order["port"])


_PARTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "environment": _environment,
    "gpus": _gpus,
    "python": _python,
    "libraries": _libraries,
    "model": _model,
    "hub": _hub,
    "host": _host,
    "network": _network,
}
