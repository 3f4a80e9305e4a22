"""Real small model folders: whole, cut off, half there, strange."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vllm_triage.probes.facts import model

CONFIG = {"architectures": ["LlamaForCausalLM"], "num_attention_heads": 4, "torch_dtype": "bfloat16"}


def safetensors(data: int = 64) -> bytes:
    header = json.dumps(
        {"weight": {"dtype": "F32", "shape": [data // 4], "data_offsets": [0, data]}}
    ).encode()
    return struct.pack("<Q", len(header)) + header + bytes(data)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "tiny"
    made.mkdir()
    (made / "config.json").write_text(json.dumps(CONFIG))
    (made / "model.safetensors").write_bytes(safetensors())
    (made / "tokenizer.json").write_text("{}")
    return made


def look(path: Path, **variables: str) -> model.Model:
    return model.read(str(path), None, variables)


def test_a_whole_model(folder: Path) -> None:
    found = look(folder)

    assert (found.exists, found.kind, found.config_problem) == (True, "path", None)
    assert found.config == CONFIG
    assert found.tokenizer_files == ("tokenizer.json",)
    assert found.weights_bytes == len(safetensors())
    assert (found.missing, found.truncated) == ((), ())


@pytest.mark.parametrize("length", [0, 7, 20, len(safetensors()) - 1])
def test_a_file_that_is_cut_off(folder: Path, length: int) -> None:
    (folder / "model.safetensors").write_bytes(safetensors()[:length])

    assert look(folder).truncated == ("model.safetensors",)


@given(content=st.binary(max_size=200))
def test_any_bytes_are_a_weight_file_or_a_damaged_one(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    folder = tmp_path_factory.mktemp("model")
    (folder / "model.safetensors").write_bytes(content)
    (folder / "config.json").write_bytes(content)

    found = look(folder)

    assert found.exists
    assert found.config_problem or found.config is not None


def test_parts_that_the_index_names_and_that_are_not_there(folder: Path) -> None:
    names = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": names}))
    (folder / "model-00001-of-00002.safetensors").write_bytes(safetensors())

    assert look(folder).missing == ("model-00002-of-00002.safetensors",)


def test_a_broken_download_leaves_links_to_nowhere(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").symlink_to("../../blobs/gone")

    assert look(folder).truncated == ("model.safetensors",)


def test_links_in_a_circle_and_files_of_a_gigabyte(folder: Path) -> None:
    (folder / "again").symlink_to(folder)
    with (folder / "config.json").open("wb") as file:
        os.truncate(file.fileno(), 1 << 30)

    assert look(folder).config_problem == "config.json is larger than 16 MiB"


@pytest.mark.parametrize(
    "text, problem",
    [
        ("", "is no JSON"),
        ("[1]", "holds no object"),
        ("{" * 100_000, "is no JSON"),
        ("[" * 100_000, "is no JSON"),
    ],
)
def test_a_config_that_is_none(folder: Path, text: str, problem: str) -> None:
    (folder / "config.json").write_text(text)

    assert problem in (look(folder).config_problem or "")


def test_a_folder_without_a_config(folder: Path) -> None:
    (folder / "config.json").unlink()

    assert look(folder).config_problem == "there is no config.json"


def test_the_text_part_of_a_multimodal_config_counts(folder: Path) -> None:
    (folder / "config.json").write_text(
        json.dumps({"architectures": ["X"], "text_config": {"num_attention_heads": 8}})
    )

    assert look(folder).config["num_attention_heads"] == 8


def test_a_repo_in_the_cache(tmp_path: Path) -> None:
    repo = tmp_path / "hub" / "models--acme--tiny"
    (repo / "refs").mkdir(parents=True)
    (repo / "refs" / "main").write_text("abc")
    for revision in ("aaa", "abc"):
        (repo / "snapshots" / revision).mkdir(parents=True)
    (repo / "snapshots" / "abc" / "config.json").write_text(json.dumps(CONFIG))

    found = model.read("acme/tiny", None, {"HF_HOME": str(tmp_path)})

    assert (found.kind, found.path) == ("cached repo", str(repo / "snapshots" / "abc"))
    assert found.config == CONFIG


def test_a_repo_that_is_not_here_and_a_path_that_is_none(tmp_path: Path) -> None:
    assert model.read("acme/tiny", None, {"HF_HOME": str(tmp_path)}).kind == "repo"
    assert model.read("/no/such/model", None, {}).kind == "path"
    assert not model.read("./model", str(tmp_path), {}).exists


def test_a_relative_path_counts_from_the_folder_of_the_process(folder: Path) -> None:
    assert model.read("tiny/", str(folder.parent), {}).exists
