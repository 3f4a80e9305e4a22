"""Libraries: where the loader and the wheels have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from vllm_triage.probes.facts import libraries


def test_folders_of_the_variable_come_before_wheels(tmp_path: Path) -> None:
    own, site = tmp_path / "own", tmp_path / "site-packages"
    wheel = site / "nvidia" / "cudnn" / "lib"
    for folder, name in (
        (own, "libcudnn.so.8"),
        (wheel, "libcudnn.so.9"),
        (wheel, "libcudnn_ops.so.9"),
        (own, "libother.so.1"),
    ):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")

    found = libraries.read({"LD_LIBRARY_PATH": f":{own}:/nowhere"}, [str(site)])

    by = [(library.by, Path(library.path).name) for library in found.get("libcudnn.so.9")]
    assert by[0] == ("LD_LIBRARY_PATH", "libcudnn.so.8")
    assert by[-2:] == [("wheel", "libcudnn.so.9"), ("wheel", "libcudnn_ops.so.9")]
    assert "libother" not in found.found


@pytest.mark.parametrize(
    "name, stem", [("libcudnn.so.9", "libcudnn"), ("/x/libcudnn_ops.so.9.1", "libcudnn"), ("libstdc++.so.6", "libstdc++"), ("libGL", "libGL")]
)  # fmt: skip
def test_the_name_of_a_library_without_its_version(name: str, stem: str) -> None:
    assert libraries.stem(name) == stem
