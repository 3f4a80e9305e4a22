"""An environment read from its files: made of real folders, nothing of it runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from vllm_triage.probes.facts import packages


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "venv" / "lib" / "python3.12" / "site-packages"
    for name, version, requires in (
        (
            "vllm",
            "0.11.0",
            ["torch==2.8.0", "transformers>=4.55.2", "xgrammar==0.1.25", "pywin32; sys_platform == 'win32'"],
        ),
        ("torch", "2.9.0", []),
        ("transformers", "4.57.1", []),
    ):
        info = folder / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        lines = ["Metadata-Version: 2.1", f"Name: {name}", *[f"Requires-Dist: {line}" for line in requires]]
        (info / "METADATA").write_text("\n".join(lines) + "\n\nText.\n")
        (folder / name).mkdir()
    (folder / "torch" / "version.py").write_text(
        "__version__ = '2.9.0+cu128'\ncuda: Optional[str] = '12.8'\n"
    )
    (folder / "vllm" / "_C.abi3.so").write_bytes(b"")
    (folder / "vllm" / "engine").mkdir()
    (folder / "vllm" / "engine" / "arg_utils.py").write_text(
        'class EngineArgs:\n    max_model_len: int | None = None\n    def add(self):\n        group.add_argument("--served-model-name")\n'
    )
    return folder


def test_versions_modules_and_extensions_are_read(site: Path) -> None:
    found = packages.read([str(site)])

    assert found
    assert found.packages["torch"] == "2.9.0"
    assert {"vllm", "torch", "transformers"} <= set(found.modules)
    assert found.extensions == ("_C.abi3.so",)
    assert (found.version, found.torch_cuda) == ("3.12", "12.8")
    assert {"max-model-len", "served-model-name"} <= set(found.options)


def test_what_vllm_requires_and_does_not_get_is_a_conflict(site: Path) -> None:
    found = packages.read([str(site)])

    assert found
    torch, xgrammar = found.conflicts
    assert torch.startswith("torch 2.9.0 is installed")
    assert xgrammar.startswith("xgrammar is not installed")


def test_a_package_in_two_folders_is_a_duplicate(site: Path, tmp_path: Path) -> None:
    user = tmp_path / "user" / "site-packages"
    (user / "torch-2.1.0.dist-info").mkdir(parents=True)

    found = packages.read([str(site), str(user)])

    assert found
    assert found.duplicates == {"torch": (str(site), str(user))}
    assert found.packages["torch"] == "2.9.0"  # the first folder wins, as on import


def test_the_folder_comes_from_a_frame_or_an_interpreter(site: Path) -> None:
    interpreter = site.parents[2] / "bin" / "python"
    script = site.parents[2] / "bin" / "vllm"
    script.parent.mkdir()
    script.write_text(f"#!{interpreter}\nimport sys\n")

    assert packages.site_packages_of(f"{site}/vllm/engine/arg_utils.py") == str(site)
    assert packages.site_packages_of("/srv/checkout/vllm/engine.py") is None
    assert packages.interpreter_of(str(script)) == str(interpreter)
    assert packages.site_packages_for(str(interpreter)) == (str(site),)


def test_an_interpreter_of_the_system_finds_what_pip_and_the_user_installed(tmp_path: Path) -> None:
    """As in vLLM's own images: python3 in /usr/bin, its packages under /usr/local."""
    usr, home = tmp_path / "usr", tmp_path / "home"
    expected = [
        home / ".local/lib/python3.12/site-packages",
        usr / "local/lib/python3.12/dist-packages",
        usr / "lib/python3/dist-packages",
    ]
    for folder in (*expected, usr / "local/lib/python3.10/dist-packages", usr / "bin"):
        folder.mkdir(parents=True)
    (usr / "bin" / "python3.12").touch()
    (usr / "bin" / "python3").symlink_to("python3.12")
    (usr / "lib64").symlink_to("lib")

    found = packages.site_packages_for(str(usr / "bin" / "python3"), str(home))

    assert found == tuple(map(str, expected))


@pytest.mark.parametrize(
    "head",
    ["#!{python}\n", "#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\n", "#!/usr/bin/env python3\n"],
)
def test_the_interpreter_of_a_script_is_read_in_every_form_of_pip(tmp_path: Path, head: str) -> None:
    interpreter = tmp_path / "python3"
    interpreter.touch(0o755)
    script = tmp_path / "vllm"
    script.write_text(head.format(python=interpreter))

    assert packages.interpreter_of(str(script), str(tmp_path)) == str(interpreter)


def test_the_real_environment_of_this_run_is_read() -> None:
    found = packages.read([path for path in sys.path if path.endswith("site-packages")])

    assert found
    assert "pydantic" in found.packages
    assert "pydantic" in found.modules


@pytest.mark.parametrize("folders", [[], ["/nowhere/site-packages"]])
def test_without_a_folder_nothing_is_known(folders: list[str]) -> None:
    assert packages.read(folders) is None


def test_broken_metadata_is_passed_over(site: Path) -> None:
    (site / "vllm-0.11.0.dist-info" / "METADATA").write_bytes(
        b"\xff\xfe\0Requires-Dist: ===\nRequires-Dist: \n"
    )

    assert packages.read([str(site)]) is not None
