"""What the documents claim about the catalog is true of it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[1] / "docs"


def load(maker: str) -> Any:
    spec = importlib.util.spec_from_file_location(maker, DOCS / f"{maker}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("maker, page", [("rules_table", "rules.md"), ("probes_table", "probes.md")])
def test_a_page_made_from_the_code_is_up_to_date(maker: str, page: str) -> None:
    assert (DOCS / page).read_text(encoding="utf-8") == load(maker).document(), "run: make docs"


def test_every_rule_has_its_page() -> None:
    there = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "rules").glob("*.md")}

    assert there == load("rule_pages").pages(), "run: make docs"
