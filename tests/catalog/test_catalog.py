"""The built-in rules and the user's together, however the tool is installed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import vllm_triage.catalog as catalog_package
from vllm_triage.catalog import Catalog, CatalogError, builtin_catalog, load_catalog
from vllm_triage.catalog.load import compile_pack
from vllm_triage.catalog.locate import builtin_rules
from vllm_triage.catalog.serialize import to_json

Write = Callable[..., Path]


@pytest.fixture
def builtin(
    tmp_path_factory: pytest.TempPathFactory, rule_text: str, monkeypatch: pytest.MonkeyPatch
) -> Catalog:
    """Two built-in rules: disk-full and disk-slow."""
    folder = tmp_path_factory.mktemp("builtin")
    (folder / "disk-full.yaml").write_text(rule_text)
    (folder / "disk-slow.yaml").write_text(rule_text.replace("id: disk-full", "id: disk-slow"))
    catalog = compile_pack(folder)
    monkeypatch.setattr(catalog_package, "builtin_catalog", lambda: catalog)
    return catalog


def test_without_packs_it_is_the_built_in_catalog(builtin: Catalog) -> None:
    assert load_catalog() is builtin


def test_a_users_rule_takes_the_place_of_a_built_in_one(
    builtin: Catalog, write: Write, tmp_path: Path
) -> None:
    write("disk-full.yaml", ("title: No", "title: My own no"))
    write("mine.yaml", ("id: disk-full", "id: mine"))

    catalog = load_catalog([tmp_path / "pack"])

    assert set(catalog.rules) == {"disk-full", "disk-slow", "mine"}
    assert catalog.rules["disk-full"].title.startswith("My own")
    assert catalog.rules["disk-slow"] == builtin.rules["disk-slow"]
    assert catalog.replaced == ("disk-full",)
    assert catalog.version.startswith(f"{builtin.version}+")


def test_of_two_packs_the_later_one_counts(builtin: Catalog, write: Write) -> None:
    first = write("one/disk-full.yaml", ("title: No", "title: First no"))
    second = write("two/disk-full.yaml", ("title: No", "title: Second no"))

    assert load_catalog([first, second]).rules["disk-full"].title.startswith("Second")


def test_the_problems_of_all_packs_are_said_at_once(builtin: Catalog, write: Write) -> None:
    first = write("one.yaml", ("rank: specific", "rank: special"))
    second = write("two.yaml", ("rank: specific", "rank: special"))

    with pytest.raises(CatalogError) as raised:
        load_catalog([first, second])

    assert [problem.file for problem in raised.value.problems] == [str(first), str(second)]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "rules").mkdir()
    package = tmp_path / "src" / "vllm_triage"
    package.mkdir(parents=True)
    return package


def test_a_checkout_has_its_rules_at_the_top(checkout: Path) -> None:
    assert builtin_rules(checkout) == checkout.parent.parent / "rules"


def test_an_installed_package_carries_its_rules(checkout: Path) -> None:
    (checkout / "_rules").mkdir()

    assert builtin_rules(checkout) == checkout / "_rules"


def test_a_folder_beside_site_packages_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    package = tmp_path / "site-packages" / "vllm_triage"
    package.mkdir(parents=True)

    with pytest.raises(CatalogError, match="install again"):
        builtin_rules(package)


@pytest.fixture
def fresh() -> Iterator[None]:
    builtin_catalog.cache_clear()
    yield
    builtin_catalog.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_the_built_in_rules_are_found_and_valid() -> None:
    catalog = builtin_catalog()

    assert catalog.rules
    assert all(id_ == rule.id for id_, rule in catalog.rules.items())
    assert catalog.replaced == ()


def test_a_wheel_starts_without_yaml_and_pydantic(write: Write, tmp_path: Path) -> None:
    """The package as a wheel lays it out, imported by a fresh interpreter."""
    write()
    source = Path(catalog_package.__file__).parent.parent
    installed = tmp_path / "site-packages" / "vllm_triage"
    (installed / "_rules").mkdir(parents=True)
    (installed / "_rules" / "catalog.json").write_text(to_json(compile_pack(tmp_path / "pack")))
    (installed / "__init__.py").write_text((source / "__init__.py").read_text())
    (installed / "catalog").symlink_to(source / "catalog")

    program = (
        "import json, sys; from vllm_triage.catalog import builtin_catalog; "
        "rules = list(builtin_catalog().rules); "
        "print(json.dumps([rules, sorted({'yaml', 'pydantic', 'regex'} & sys.modules.keys())]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(installed.parent), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(done.stdout) == [["disk-full"], []]
