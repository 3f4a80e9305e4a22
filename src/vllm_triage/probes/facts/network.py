"""Addresses of this host, and who listens on the port that the server wants."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Listener:
    """Who holds a TCP port; `pid` and `name` are None where another user's processes are hidden."""

    address: str
    port: int
    pid: int | None
    name: str | None


@dataclass(frozen=True)
class Network:
    """`interfaces` maps a name to its addresses; `listeners` are those of `port`, None where the host does not tell."""

    hostname: str
    port: int
    interfaces: dict[str, tuple[str, ...]]
    listeners: tuple[Listener, ...] | None


def read(port: int) -> Network:
    import socket

    import psutil

    families = {socket.AF_INET, socket.AF_INET6}
    interfaces = {
        name: tuple(entry.address.partition("%")[0] for entry in entries if entry.family in families)
        for name, entries in psutil.net_if_addrs().items()
    }
    return Network(socket.gethostname(), port, interfaces, _listeners(port))


def _listeners(port: int) -> tuple[Listener, ...] | None:
    import psutil

    try:
        connections = psutil.net_connections(kind="tcp")
    except (psutil.AccessDenied, OSError):
        return None
    return tuple(
        Listener(entry.laddr.ip, port, entry.pid, _name(entry.pid))
        for entry in connections
        if entry.status == psutil.CONN_LISTEN and entry.laddr and entry.laddr.port == port
    )


def _name(pid: int | None) -> str | None:
    import psutil

    try:
        return psutil.Process(pid).name() if pid else None
    except psutil.Error:
        return None
