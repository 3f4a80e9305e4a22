"""What the process has for the model hub: token, cache, offline mode."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from vllm_triage.probes.facts.model import hub_cache, hub_home

_ON = {"1", "ON", "YES", "TRUE"}


@dataclass(frozen=True)
class Hub:
    """`token` says where one is ("HF_TOKEN", "file", or None); `answer` is the hub's status for the repo, if asked."""

    endpoint: str
    offline: bool
    token: str | None
    token_problem: str | None
    cache: str
    cache_exists: bool
    cache_writable: bool
    answer: int | None = None


def read(variables: Mapping[str, str], repo: str | None = None, online: bool = False) -> Hub:
    """Read the hub's settings; the network is asked for `repo` only with `online`."""
    cache = hub_cache(variables)
    token, problem = _token(variables)
    endpoint = variables.get("HF_ENDPOINT") or "https://huggingface.co"
    return Hub(
        endpoint=endpoint,
        offline=any(
            variables.get(name, "").upper() in _ON for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
        ),
        token=token,
        token_problem=problem,
        cache=str(cache),
        cache_exists=cache.is_dir(),
        cache_writable=_writable(str(cache)),
        answer=_ask(endpoint, repo) if online and repo else None,
    )


def _token(variables: Mapping[str, str]) -> tuple[str | None, str | None]:
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        if variables.get(name):
            return name, None
    path = variables.get("HF_TOKEN_PATH") or str(hub_home(variables) / "token")
    if not os.path.exists(path):
        return None, None
    if not os.access(path, os.R_OK):
        return None, f"{path} cannot be read"
    return ("file", None) if os.path.getsize(path) else (None, f"{path} is empty")


def _writable(path: str) -> bool:
    """Whether something can be created there: in the nearest folder that exists."""
    while not os.path.exists(path) and os.path.dirname(path) != path:
        path = os.path.dirname(path)
    return os.access(path, os.W_OK)


def _ask(endpoint: str, repo: str) -> int | None:
    """The hub's HTTP status for a repo, asked without a token; None if it can't be reached."""
    from urllib.error import HTTPError, URLError
    from urllib.parse import quote
    from urllib.request import Request, urlopen

    if not endpoint.startswith(("https://", "http://")):
        return None
    try:
        with urlopen(Request(f"{endpoint}/api/models/{quote(repo)}", method="HEAD"), timeout=1.5) as answer:
            return int(answer.status)
    except HTTPError as error:
        return error.code
    except (URLError, OSError, ValueError):
        return None
