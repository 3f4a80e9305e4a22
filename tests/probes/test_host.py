"""The real machine of this run: figures that can't be wrong."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from vllm_triage.probes.facts import host, hub, network


def test_this_machine_has_memory_and_a_disk(tmp_path: Path) -> None:
    found = host.read(os.environ, {"temporary files": str(tmp_path / "not" / "there" / "yet")})

    assert found.memory_total_gib
    assert found.memory_available_gib
    assert found.memory_available_gib <= found.memory_total_gib
    (disk,) = found.disks
    assert disk.path == str(tmp_path)
    assert 0 <= disk.free_gib <= disk.total_gib
    assert disk.writable


def test_compilers_are_those_of_the_path(tmp_path: Path) -> None:
    (tmp_path / "gcc").write_text("#!/bin/sh\n")
    (tmp_path / "gcc").chmod(0o755)

    assert host.read({"PATH": str(tmp_path)}, {}).compilers == ("gcc",)


def test_who_listens_on_a_port_is_seen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        taken = network.read(port)
    free = network.read(port)

    assert taken.listeners
    assert (taken.listeners[0].address, taken.listeners[0].pid) == ("127.0.0.1", os.getpid())
    assert free.listeners == ()
    assert "127.0.0.1" in {address for addresses in taken.interfaces.values() for address in addresses}


def test_the_token_is_found_and_never_shown(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("hf_" + "a" * 30)

    assert hub.read({"HF_HOME": str(tmp_path)}).token == "file"
    assert hub.read({"HF_HOME": str(tmp_path), "HF_TOKEN": "hf_x"}).token == "HF_TOKEN"
    assert hub.read({"HF_HOME": str(tmp_path / "other")}).token is None
    assert "aaaa" not in str(hub.read({"HF_HOME": str(tmp_path)}))


def test_an_empty_token_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("")

    assert "empty" in (hub.read({"HF_HOME": str(tmp_path)}).token_problem or "")


@pytest.mark.parametrize("value, offline", [("1", True), ("true", True), ("0", False), ("", False)])
def test_offline_mode(value: str, offline: bool) -> None:
    assert hub.read({"HF_HUB_OFFLINE": value, "HOME": "/nowhere"}).offline is offline
