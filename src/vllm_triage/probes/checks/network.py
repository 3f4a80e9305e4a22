"""Checks on ports, addresses and variables."""

from __future__ import annotations

from vllm_triage.model import CheckResult
from vllm_triage.probes.checks.answer import Values, confirms, number, refutes, text, unknown
from vllm_triage.probes.facts import Facts

_ANY = {"0.0.0.0", "::", "localhost", "127.0.0.1", "::1", ""}


def port_taken(facts: Facts, values: Values) -> CheckResult:
    """Somebody listens on the server's port (`port`, where the log names it)."""
    listeners = facts.network.listeners if facts.network else None
    if facts.network and number(values, "port") not in (None, facts.network.port):
        return unknown(f"port {facts.network.port} was looked at, and the log speaks of {values['port']}")
    if listeners is None:
        return unknown("who listens here can't be seen")
    if not listeners:
        return unknown("nobody listens on the port now: it was taken then, and a new start may work")
    first = listeners[0]
    who = f"process {first.pid} ({first.name})" if first.pid else "a process that can't be seen from here"
    return confirms(f"{who} listens on {first.address} port {first.port}", pid=first.pid, port=first.port)


def address_absent(facts: Facts, values: Values) -> CheckResult:
    """`host` is no address of this machine."""
    host = text(values, "host")
    if facts.network is None or host is None:
        return unknown("the address or this host's interfaces are not known")
    if host in _ANY:
        return unknown(f"{host} is an address of every host")
    known = {address for addresses in facts.network.interfaces.values() for address in addresses}
    if host in known:
        return refutes(f"{host} is an address of this host")
    if not host.replace(".", "").replace(":", "").isalnum() or not host[:1].isdigit():
        return unknown(f"{host} is a name, which is not looked up")
    return confirms(f"{host} is no address of this host", addresses=sorted(known))


def interface_absent(facts: Facts, values: Values) -> CheckResult:
    """An interface that GLOO_SOCKET_IFNAME or NCCL_SOCKET_IFNAME names does not exist."""
    if facts.network is None or facts.environment is None:
        return unknown("nothing is known of this host's interfaces")
    for variable in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME", "TP_SOCKET_IFNAME"):
        named = facts.environment.get(variable)
        names = [name.lstrip("=") for name in (named or "").split(",") if name and not name.startswith("^")]
        gone = [
            name for name in names if not any(known.startswith(name) for known in facts.network.interfaces)
        ]
        if gone:
            return confirms(
                f"{variable} names {gone[0]}, and there is no such interface",
                interfaces=sorted(facts.network.interfaces),
            )
    return unknown("every interface that a variable names exists")


def variable_set(facts: Facts, values: Values) -> CheckResult:
    """The variable `variable` is set in the environment."""
    variable = text(values, "variable")
    if facts.environment is None or variable is None:
        return unknown("the environment or the variable's name is not known")
    value = facts.environment.get(variable)
    if value is not None:
        return confirms(f"{variable}={value} is set", variable=variable)
    return unknown(f"{variable} is not set here", variable=variable)
