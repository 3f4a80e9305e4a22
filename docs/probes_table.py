"""Writes the page of all checks: `python docs/probes_table.py > docs/probes.md`."""

from __future__ import annotations

from vllm_triage.catalog import builtin_catalog
from vllm_triage.probes.checks import CHECKS

HEAD = """# What the machine is asked

`vllm-triage doctor` prints the facts of a host that matter to a start: the GPUs and who holds their memory (NVML), the
variables, the Python environment that would start or has failed (read from its files, none of it runs), the shared
libraries the loader would find, the model's files, the hub's cache and token, memory and its control group, `/dev/shm`,
disks, limits, kernel messages, and who listens on the port. `vllm-triage collect` writes them as JSON, without secrets.

They are read in a child process within two seconds. A part that hangs (a driver, a network file system) is given up and
named; the others count. Nothing is written, and nothing is asked over the network without `--online`.

The checks below are pure functions of these facts and of a rule's fields. One that refutes is enough: the diagnosis moves
behind all others and is not the cause. One that confirms moves it up. A host that does not tell leaves it where it was.

Made from the code by `make docs`.

| check | confirms where | rules that ask it |
|---|---|---|
"""


def document() -> str:
    """The whole page."""
    users: dict[str, list[str]] = {}
    for rule in builtin_catalog().rules.values():
        for confirm in rule.confirm:
            users.setdefault(confirm.check, []).append(f"`{rule.id}`")
    rows = [
        f"| `{name}` | {' '.join((check.__doc__ or '').split()).rstrip('.')} | {', '.join(sorted(users.get(name, [])))} |"
        for name, check in CHECKS.items()
    ]
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(document(), end="")
