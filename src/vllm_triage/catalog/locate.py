"""Where the built-in rules are: in a wheel inside the package, in a checkout or sdist at the top."""

from __future__ import annotations

from pathlib import Path

from vllm_triage.catalog.problem import CatalogError, Problem

# Beside the rule files of a wheel: the same rules compiled.
COMPILED = "catalog.json"

_PACKAGE = Path(__file__).parent.parent


def builtin_rules(package: Path = _PACKAGE) -> Path:
    """The folder of the built-in rule files.

    Args:
        package: the folder of the installed package.

    Raises:
        CatalogError: if there is none.
    """
    packed = package / "_rules"
    if packed.is_dir():
        return packed
    # Only a src layout may look outside the package: beside site-packages any "rules" could lie.
    checkout = package.parent.parent / "rules"
    if package.parent.name == "src" and checkout.is_dir():
        return checkout
    message = "expected the built-in rules, got nothing: install again"
    raise CatalogError([Problem(str(packed), 1, 1, "", message)])
