"""What the documents claim about the catalog is true of it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("maker, page", [("rules_table", "rules.md"), ("probes_table", "probes.md")])
def test_a_page_made_from_the_code_is_up_to_date(maker: str, page: str) -> None:
    spec = importlib.util.spec_from_file_location(maker, DOCS / f"{maker}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    assert (DOCS / page).read_text(encoding="utf-8") == module.document(), "run: make docs"
