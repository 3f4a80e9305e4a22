"""Facts as a file: written on the broken host, read anywhere."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vllm_triage.probes.facts import FORMAT, Facts
from vllm_triage.redact import redact_data

_MAX_BYTES = 32 << 20


class FactsError(Exception):
    """A file that holds no facts; the message names the file and says how to make one."""


def to_json(facts: Facts) -> str:
    """Facts as JSON, redacted."""
    return json.dumps(redact_data(asdict(facts)), indent=2) + "\n"


def from_file(path: Path) -> Facts:
    """Read what `vllm-triage collect` wrote, or the output of vLLM's collect-env.

    Raises:
        FactsError: It is neither.
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        text = file.read(_MAX_BYTES).decode("utf-8", "replace")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        from vllm_triage.probes.collect_env import facts_from_report

        facts = facts_from_report(text)
        if facts is None:
            raise FactsError(f"{path}: neither facts nor a collect-env report: {_HOW}") from None
        return facts
    if not isinstance(content, dict) or "format" not in content:
        raise FactsError(f"{path}: JSON without facts: {_HOW}")
    if content["format"] != FORMAT:
        raise FactsError(
            f"{path}: facts of format {content['format']!r}, this version reads {FORMAT}: {_HOW}"
        )
    return facts_from(content)


_HOW = "make them on the host that failed with `vllm-triage collect > facts.json`"


def facts_from(content: dict[str, Any]) -> Facts:
    """Facts of a decoded JSON object; a part that does not read as what it should be is a problem."""
    from pydantic import TypeAdapter, ValidationError

    adapter = TypeAdapter(Facts)
    known: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for name, part in content.items():
        if name not in Facts.__dataclass_fields__ or part is None:
            continue
        try:
            known[name] = getattr(adapter.validate_python({name: part}), name)
        except ValidationError as error:
            first = error.errors()[0]
            problems[name] = f"unreadable at {'.'.join(map(str, first['loc']))}: {first['msg']}"
    return Facts(**{**known, "problems": {**known.get("problems", {}), **problems}})
