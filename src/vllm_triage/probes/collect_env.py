"""The report of vLLM's (and PyTorch's) collect-env script, read into the same facts."""

from __future__ import annotations

import re

from vllm_triage.lazy import lazy
from vllm_triage.probes.facts import Facts
from vllm_triage.probes.facts.environment import read as read_environment
from vllm_triage.probes.facts.gpus import Gpu, Gpus
from vllm_triage.probes.facts.packages import Python

_MARK = lazy(r"^(?:PyTorch version|Collecting environment information|\s*System Info)\b", re.MULTILINE)
_ENTRY = lazy(r"^(?P<key>[A-Za-z][\w ()./-]{1,60}?)\s*: +(?P<value>\S.*)$")
_GPU = lazy(r"^GPU (?P<index>\d+): (?P<name>[^\n(]+)")
_PACKAGE = lazy(r"^\[(?:pip3?|conda)\] (?P<name>[\w.-]+)(?:==|\s+)(?P<version>\d\S*)")
_VARIABLE = lazy(r"^(?P<name>[A-Z][A-Z0-9_]{2,60})=(?P<value>.*)$")
_MAX_LINES = 5_000


def facts_from_report(text: str) -> Facts | None:
    """The facts of a report, or None if the text is none."""
    if not _MARK.search(text[:100_000]):
        return None
    entries: dict[str, str] = {}
    packages: dict[str, str] = {}
    variables: dict[str, str] = {}
    gpus: dict[int, Gpu] = {}
    for line in text.splitlines()[:_MAX_LINES]:
        if match := _GPU.match(line.strip()):
            gpus.setdefault(int(match["index"]), Gpu(index=int(match["index"]), name=match["name"].strip()))
        elif match := _PACKAGE.match(line):
            packages.setdefault(re.sub(r"[-_.]+", "-", match["name"]).lower(), match["version"])
        elif match := _VARIABLE.match(line):
            variables[match["name"]] = match["value"]
        elif match := _ENTRY.match(line):
            entries.setdefault(match["key"].lower(), match["value"].strip())
    if "vllm version" in entries:
        packages.setdefault("vllm", entries["vllm version"].split()[0])
    available = entries.get("is cuda available", "").lower()
    problem = "torch sees no GPU" if available == "false" and not gpus else None
    python = re.match(r"(\d+\.\d+)", entries.get("python version", ""))
    return Facts(
        gpus=Gpus(
            driver=entries.get("nvidia driver version"),
            cuda=None,
            devices=tuple(gpus[index] for index in sorted(gpus)),
            problem=problem,
        ),
        environment=read_environment(variables),
        python=Python(
            site_packages=(),
            version=python[1] if python else None,
            packages=packages,
            modules=(),
            extensions=(),
            options=(),
            duplicates={},
            conflicts=(),
            torch_cuda=_cuda(entries),
        )
        if packages
        else None,
        problems={
            "host": "a collect-env report does not tell",
            "model": "a collect-env report does not tell",
        },
    )


def _cuda(entries: dict[str, str]) -> str | None:
    match = re.match(r"\d+\.\d+", entries.get("cuda used to build pytorch", ""))
    return match[0] if match else None
