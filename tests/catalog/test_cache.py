"""A folder of rules is compiled once for the same contents, and the cache is never trusted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from vllm_triage.catalog import CatalogError, cache
from vllm_triage.catalog.cache import compiled_catalog

Write = Callable[..., Path]


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The packs that were compiled, in order."""
    made: list[Path] = []
    compile_ = cache._compile

    def note(pack: Path) -> object:
        made.append(pack)
        return compile_(pack)

    monkeypatch.setattr(cache, "_compile", note)
    return made


def test_the_second_time_nothing_is_compiled(write: Write, tmp_path: Path, compilations: list[Path]) -> None:
    write()
    pack = tmp_path / "pack"

    assert compiled_catalog(pack, tmp_path / "cache") == compiled_catalog(pack, tmp_path / "cache")
    assert compilations == [pack]


def test_a_change_counts(write: Write, tmp_path: Path, compilations: list[Path]) -> None:
    write()
    before = compiled_catalog(tmp_path / "pack", tmp_path / "cache")
    write("host/disk-full.yaml", ("title: No", "title: Truly no"))
    after = compiled_catalog(tmp_path / "pack", tmp_path / "cache")

    assert after.rules["disk-full"].title.startswith("Truly")
    assert after.version != before.version
    assert len(list((tmp_path / "cache").iterdir())) == 1


@pytest.mark.parametrize(
    "damage", ["", "no", "{}", '{"rules": 3}', '{"rules": {"a": {}}, "version": "1"}', "\udcff"]
)
def test_a_damaged_cache_is_made_again(write: Write, tmp_path: Path, damage: str) -> None:
    write()
    good = compiled_catalog(tmp_path / "pack", tmp_path / "cache")
    (place,) = (tmp_path / "cache").iterdir()
    key, _, _ = place.read_text().partition("\n")
    place.write_bytes(f"{key}\n{damage}".encode("utf-8", "surrogateescape"))

    assert compiled_catalog(tmp_path / "pack", tmp_path / "cache") == good
    assert compiled_catalog(tmp_path / "pack", tmp_path / "cache") == good


def test_without_a_cache_it_works_all_the_same(write: Write, tmp_path: Path) -> None:
    write()
    (tmp_path / "file").touch()

    assert "disk-full" in compiled_catalog(tmp_path / "pack", tmp_path / "file" / "cache").rules


def test_without_a_home_it_works_all_the_same(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write()

    def homeless() -> Path:
        raise RuntimeError("no home")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)

    assert "disk-full" in compiled_catalog(tmp_path / "pack").rules


def test_a_broken_pack_is_not_kept(write: Write, tmp_path: Path) -> None:
    write("host/disk-full.yaml", ("rank: specific", "rank: special"))
    for _ in range(2):
        with pytest.raises(CatalogError, match="special"):
            compiled_catalog(tmp_path / "pack", tmp_path / "cache")
