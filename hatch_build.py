"""Build hook: a wheel carries the rules compiled, so that it starts without reading YAML."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileRules(BuildHookInterface[Any]):
    """Adds `vllm_triage/_rules/catalog.json`; an editable install reads the rule files themselves."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        sys.path.insert(0, str(root / "src"))
        from vllm_triage.catalog.load import compile_pack
        from vllm_triage.catalog.locate import COMPILED
        from vllm_triage.catalog.serialize import to_json

        compiled = Path(mkdtemp()) / COMPILED
        compiled.write_text(to_json(compile_pack(root / "rules")), encoding="utf-8")
        build_data["force_include"][str(compiled)] = f"vllm_triage/_rules/{COMPILED}"
        self._compiled = compiled

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        compiled: Path | None = getattr(self, "_compiled", None)
        if compiled:
            compiled.unlink()
            compiled.parent.rmdir()
