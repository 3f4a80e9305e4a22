"""What the documents claim about the catalog is true of it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def test_the_table_of_rules_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("rules_table", DOCS / "rules_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    assert (DOCS / "rules.md").read_text(encoding="utf-8") == module.document(), "run: make docs"
