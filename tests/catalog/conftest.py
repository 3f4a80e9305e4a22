from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

RULE = """\
id: disk-full
family: host
title: No space is left on the device
rank: specific
phase: download
retry: change
status: stable
since: 0.1.0
summary: Writing {path} needs {needed_gib:.1f} GiB more.
signatures:
  - id: errno
    pattern: 'No space left on device: ''?(?P<path>/[^'' ]{1,80}).{0,40}?needs (?P<needed_gib>[\\d.]+) GiB'
    exception: [OSError]
    on: [exception, error]
fields:
  path: {type: str}
  needed_gib: {type: float, unit: GiB}
remedies:
  - title: Make room under {path}
    risk: safe
    command: [df, -h, '{path}']
references:
  - https://docs.python.org/3/library/errno.html
examples:
  - log: |
      OSError: No space left on device: '/models/demo' (needs 3.5 GiB)
    fields: {path: /models/demo, needed_gib: 3.5}
  - log: |
      INFO 10-02 09:14:45 [core.py:1] 3.5 GiB of space left on device
    matches: false
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def rule_text() -> str:
    return RULE


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a rule file `pack/NAME`, with the first text of each pair replaced by the second."""

    def _write(name: str = "host/disk-full.yaml", *changes: tuple[str, str], text: str = RULE) -> Path:
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        path = tmp_path / "pack" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return _write
