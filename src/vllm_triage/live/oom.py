"""How many processes the kernel has killed for memory so far."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path


def oom_kills() -> int | None:
    """The count of our control group, else of the whole machine; None where nothing counts."""
    for file in _counters():
        try:
            match = re.search(r"^oom_kill (\d+)$", file.read_text(encoding="ascii"), re.MULTILINE)
        except (OSError, UnicodeDecodeError):
            continue
        if match:
            return int(match[1])
    return None


def _counters() -> Iterator[Path]:
    try:
        groups = Path("/proc/self/cgroup").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        groups = ""
    if match := re.search(r"^0::(/.*)$", groups, re.MULTILINE):
        yield Path(f"/sys/fs/cgroup{match[1]}/memory.events")
    if match := re.search(r"^\d+:memory:(/.*)$", groups, re.MULTILINE):
        yield Path(f"/sys/fs/cgroup/memory{match[1]}/memory.oom_control")
    # In a container, its own group is the root of what is mounted.
    yield Path("/sys/fs/cgroup/memory.events")
    yield Path("/sys/fs/cgroup/memory/memory.oom_control")
    yield Path("/proc/vmstat")
