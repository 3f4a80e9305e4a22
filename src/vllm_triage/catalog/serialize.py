"""The catalog as JSON text: what a wheel carries and what the cache of a folder of rules holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from vllm_triage.catalog.rule import Catalog, Confirm, Example, FieldSpec, RemedySpec, Rule, Signature

_TUPLES = {
    Signature: ("raised_in", "exception", "frames", "not_frames", "phases", "on", "literals", "wordings"),
    RemedySpec: ("command", "steps", "unset_args", "unset_env"),
    Rule: ("beats", "references"),
}
_NAMED = (Catalog, Rule, Signature, FieldSpec, RemedySpec, Confirm, Example)


def to_json(catalog: Catalog) -> str:
    """The catalog as one line of JSON; `from_json` gives back an equal one."""
    return json.dumps(_plain(catalog), separators=(",", ":"))


def from_json(text: str) -> Catalog:
    """The catalog that `to_json` wrote.

    Raises:
        ValueError, TypeError, KeyError: if the text was not written by this release's `to_json`.
    """
    data = json.loads(text)
    rules = {id_: rule_from_plain(rule) for id_, rule in data["rules"].items()}
    return Catalog(rules, data["version"], tuple(data.get("replaced", ())))


def rule_from_plain(data: Mapping[str, Any]) -> Rule:
    """A rule from mappings and lists; keys that are left out have their defaults."""
    parts: dict[str, Any] = {
        **data,
        "signatures": tuple(_build(Signature, one) for one in data["signatures"]),
        "fields": {name: FieldSpec(**spec) for name, spec in data.get("fields", {}).items()},
        "confirm": tuple(Confirm(**one) for one in data.get("confirm", ())),
        "remedies": tuple(_build(RemedySpec, one) for one in data.get("remedies", ())),
        "examples": tuple(Example(**one) for one in data.get("examples", ())),
    }
    rule: Rule = _build(Rule, parts)
    return rule


def _build(kind: type[Any], data: Mapping[str, Any]) -> Any:
    parts = dict(data)
    for name in _TUPLES[kind]:
        if name in parts:
            parts[name] = tuple(parts[name])
    return kind(**parts)


def _plain(value: Any) -> Any:
    """Mappings and lists of a value; members of a named tuple that have their default are left out."""
    if isinstance(value, _NAMED):
        defaults = type(value)._field_defaults
        members = zip(value._fields, value, strict=True)
        return {name: _plain(one) for name, one in members if name not in defaults or one != defaults[name]}
    if isinstance(value, Mapping):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(member) for member in value]
    return value
