"""The model on disk: is it there, is it whole, how large is it, what does its config say?"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vllm_triage.lazy import lazy

_MAX_FILES = 5_000
_MAX_JSON = 16 << 20
_MAX_HEADER = 32 << 20
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".gguf")
_TOKENIZERS = {
    "tokenizer.json", "tokenizer.model", "tokenizer_config.json", "vocab.json", "vocab.txt", "merges.txt", "spiece.model",
    "tekken.json", "tiktoken.model", "sentencepiece.bpe.model",
}  # fmt: skip
_REPO_ID = lazy(r"[\w.-]{1,96}(?:/[\w.-]{1,96})?")


@dataclass(frozen=True)
class Model:
    """`path` is the folder (or file) that was looked at, None for a repo id that is not in the cache.

    `config` holds the keys that matter, those of a nested text_config included; `config_problem` says why there
    are none. `weights_bytes` is the size of all weight files; `missing` are files the index names that are not
    there, `truncated` those that are shorter than their header says.
    """

    name: str
    kind: str  # "path", "cached repo" or "repo"
    path: str | None = None
    exists: bool = False
    config: dict[str, Any] = field(default_factory=dict)
    config_problem: str | None = None
    tokenizer_files: tuple[str, ...] = ()
    weight_files: tuple[str, ...] = ()
    weights_bytes: int = 0
    missing: tuple[str, ...] = ()
    truncated: tuple[str, ...] = ()
    problem: str | None = None


def read(name: str, folder: str | None, variables: Mapping[str, str]) -> Model:
    """Look at a model as `vllm serve` would: a path first, else a repo in the hub's cache.

    Args:
        name: What vLLM was given.
        folder: The working folder of that process, for a relative path; this one's if None.
        variables: Its environment, which says where the cache is.
    """
    path = Path(folder or ".", os.path.expanduser(name))
    if path.exists():
        return _look(name, "path", path)
    if not _REPO_ID.fullmatch(name) or name.startswith("."):
        return Model(name, "path", str(path))
    snapshot = _snapshot(name, hub_cache(variables))
    return _look(name, "cached repo", snapshot) if snapshot else Model(name, "repo")


def hub_cache(variables: Mapping[str, str]) -> Path:
    """Where huggingface_hub keeps its downloads (its documented order of variables)."""
    if cache := variables.get("HF_HUB_CACHE") or variables.get("HUGGINGFACE_HUB_CACHE"):
        return Path(os.path.expanduser(cache))
    return hub_home(variables) / "hub"


def hub_home(variables: Mapping[str, str]) -> Path:
    """The folder of the hub's token and caches."""
    home = Path(variables.get("HOME") or os.path.expanduser("~"))
    base = variables.get("XDG_CACHE_HOME") or str(home / ".cache")
    return Path(os.path.expanduser(variables.get("HF_HOME") or os.path.join(base, "huggingface")))


def _snapshot(name: str, cache: Path) -> Path | None:
    repo = cache / f"models--{name.replace('/', '--')}"
    try:
        revision = (repo / "refs" / "main").read_text(encoding="utf-8")[:80].strip()
        newest = sorted((repo / "snapshots").iterdir(), key=lambda path: path.name != revision)
    except (OSError, UnicodeDecodeError):
        return None
    return newest[0] if newest else None


def _look(name: str, kind: str, path: Path) -> Model:
    if not path.is_dir():
        size = path.stat().st_size
        return Model(name, kind, str(path), True, weight_files=(path.name,), weights_bytes=size)
    try:
        with os.scandir(path) as entries:
            sizes = {
                entry.name: _size(entry)
                for _, entry in zip(range(_MAX_FILES), entries, strict=False)
                if entry.name
            }
    except OSError as error:
        return Model(name, kind, str(path), True, problem=f"it cannot be read: {error.strerror}")
    config, problem = _config(path / "config.json", "config.json" in sizes)
    weights = sorted(file for file in sizes if file.endswith(_WEIGHTS) and file != "training_args.bin")
    return Model(
        name,
        kind,
        str(path),
        exists=True,
        config=config,
        config_problem=problem,
        tokenizer_files=tuple(sorted(_TOKENIZERS & sizes.keys())),
        weight_files=tuple(weights),
        weights_bytes=sum(max(sizes[file], 0) for file in _preferred(weights)),
        missing=_missing(path, sizes),
        truncated=tuple(file for file in weights if sizes[file] < 0 or not _whole(path / file, sizes[file])),
    )


def _size(entry: os.DirEntry[str]) -> int:
    """In bytes; -1 for a link to nowhere, which is what a broken download of the hub leaves."""
    try:
        return entry.stat().st_size
    except OSError:
        return -1


def _preferred(weights: Sequence[str]) -> Sequence[str]:
    """Repos hold their weights in several forms; vLLM loads safetensors where there are any."""
    return [file for file in weights if file.endswith(".safetensors")] or weights


def _config(path: Path, there: bool) -> tuple[dict[str, Any], str | None]:
    if not there:
        return {}, "there is no config.json"
    raw, problem = _json(path)
    if problem:
        return {}, f"config.json {problem}"
    if not isinstance(raw, dict):
        return {}, "config.json holds no object"
    text = raw.get("text_config")
    merged = {**(text if isinstance(text, dict) else {}), **raw}
    return {key: value for key, value in merged.items() if key in _KEYS and _is_plain(value)} | _quantization(
        raw
    ), None


_KEYS = {
    "architectures", "model_type", "torch_dtype", "dtype", "max_position_embeddings", "hidden_size", "num_attention_heads",
    "num_key_value_heads", "num_hidden_layers", "head_dim", "vocab_size", "sliding_window", "tie_word_embeddings", "auto_map",
    "rope_scaling", "rope_parameters", "model_max_length", "kv_lora_rank", "full_attention_interval", "attn_layer_period",
    "hybrid_override_pattern",
}  # fmt: skip


def _is_plain(value: object) -> bool:
    if isinstance(value, dict):
        return len(value) < 50
    if isinstance(value, int):
        return abs(value) < 1 << 53
    return isinstance(value, (str, float)) or (
        isinstance(value, list) and len(value) < 20 and all(isinstance(item, str) for item in value)
    )


def _quantization(raw: Mapping[str, Any]) -> dict[str, str]:
    quantization = raw.get("quantization_config")
    method = quantization.get("quant_method") if isinstance(quantization, dict) else None
    return {"quantization": method} if isinstance(method, str) else {}


def _missing(path: Path, sizes: Mapping[str, int]) -> tuple[str, ...]:
    for index in ("model.safetensors.index.json", "pytorch_model.bin.index.json"):
        if index in sizes:
            content, _ = _json(path / index)
            names = content.get("weight_map") if isinstance(content, dict) else None
            if isinstance(names, dict):
                return tuple(sorted({str(name) for name in names.values()} - sizes.keys()))
    return ()


def _whole(path: Path, size: int) -> bool:
    """Whether a weight file is as long as it says; True where the format does not say."""
    if path.suffix != ".safetensors":
        return size > 0
    try:
        with path.open("rb") as file:
            head = file.read(8)
            if len(head) < 8:
                return False
            (length,) = struct.unpack("<Q", head)
            if length > _MAX_HEADER:
                return bool(length < size)
            header = json.loads(file.read(length))
        ends = [tensor["data_offsets"][1] for key, tensor in header.items() if key != "__metadata__"]
        return bool(size >= 8 + length + max(ends, default=0))
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
        return False


def _json(path: Path) -> tuple[Any, str | None]:
    """The content of a JSON file, or what is wrong with it."""
    try:
        if path.stat().st_size > _MAX_JSON:
            return None, f"is larger than {_MAX_JSON >> 20} MiB"
        return json.loads(path.read_bytes()), None
    except OSError as error:
        return None, f"cannot be read: {error.strerror}"
    except (ValueError, RecursionError):
        return None, "is no JSON"
