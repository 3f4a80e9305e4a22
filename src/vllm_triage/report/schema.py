"""The JSON Schema of a report, as shipped in the package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from vllm_triage.report.model import Report

PATH = Path(__file__).with_name("report.schema.json")


def schema() -> dict[str, Any]:
    """The schema of what `--format json` prints."""
    made = Report.model_json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


def write(path: Path = PATH) -> None:
    """Bring the shipped file up to date: `python -m vllm_triage.report.schema`."""
    path.write_text(json.dumps(schema(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
