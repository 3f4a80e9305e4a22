"""The data of a rule file checked against the schema: every fault at once, in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from vllm_triage.catalog.problem import Problem
from vllm_triage.catalog.schema import SHAPES, RuleFile
from vllm_triage.catalog.source import KeyPath, Source

_WORDINGS = ("pattern", "phrase", "raised_in")
_EXPECTED = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


def checked(source: Source) -> tuple[RuleFile | None, list[Problem]]:
    """The rule of a file, or None and everything that is wrong with it."""
    problems = list(_wordings(source))
    try:
        rule = RuleFile.model_validate(source.data)
    except ValidationError as error:
        problems += _problems(source, error)
        return None, sorted(problems)
    return (None if problems else rule), sorted(problems)


def _wordings(source: Source) -> Iterator[Problem]:
    """Not left to pydantic, which looks at a whole only once all its parts are right."""
    signatures = source.data.get("signatures") if isinstance(source.data, dict) else None
    for at, signature in enumerate(signatures if isinstance(signatures, list) else ()):
        if isinstance(signature, dict):
            given = [key for key in _WORDINGS if signature.get(key)]
            if len(given) != 1:
                got = " and ".join(given) or "none"
                message = f"expected exactly one of pattern, phrase, raised_in, got {got}"
                yield source.problem(("signatures", at), message)


def _problems(source: Source, error: ValidationError) -> Iterator[Problem]:
    """One problem a key: what the members of a union expect is joined."""
    expected: dict[tuple[KeyPath, bool], list[str]] = {}
    got: dict[tuple[KeyPath, bool], str] = {}
    for fault in error.errors(include_url=False):
        path, at_key = _path(source, fault["loc"], missing=fault["type"] == "missing")
        at_key = at_key or fault["type"] == "extra_forbidden"
        words = expected.setdefault((path, at_key), [])
        one = _expected(fault, path)
        if one not in words:
            words.append(one)
        got[path, at_key] = _got(fault, path, at_key)
    for (path, at_key), words in expected.items():
        message = f"expected {' or '.join(words)}, got {got[path, at_key]}"
        yield source.problem(path, message, at_key=at_key)


def _path(source: Source, location: tuple[str | int, ...], *, missing: bool) -> tuple[KeyPath, bool]:
    """The key's path in the file (pydantic adds the members of unions), and whether the key itself is meant."""
    path = location
    while path and path not in source.values and not (missing and path[:-1] in source.values):
        path = path[:-1]
    return path, location[-1:] == ("[key]",)


def _expected(fault: Any, path: KeyPath) -> str:
    kind, context = fault["type"], fault.get("ctx", {})
    if kind == "missing":
        return "this key"
    if kind == "extra_forbidden":
        return _known_keys(path)
    if kind == "literal_error":
        return str(context["expected"]).replace("'", "")
    if kind == "string_pattern_mismatch":
        return SHAPES[context["pattern"]]
    if kind == "value_error":
        return str(context["error"])
    if kind == "too_short":
        return "at least one item"
    return _EXPECTED.get(kind, str(fault["msg"]))


def _known_keys(path: KeyPath) -> str:
    """The keys that the mapping around an unknown one may hold, or the one that was probably meant."""
    model: type[BaseModel] = RuleFile
    for part in path[:-1]:
        field = model.model_fields.get(str(part))
        # A list or mapping of models; what an author named like a key of ours is none.
        within = get_args(field.annotation)[-1:] if field else ()
        if within and isinstance(within[0], type) and issubclass(within[0], BaseModel):
            model = within[0]
    keys = [field.alias or name for name, field in model.model_fields.items()]
    meant = get_close_matches(str(path[-1]), keys, n=1)
    return f"the key {meant[0]}" if meant else f"one of the keys {', '.join(keys)}"


def _got(fault: Any, path: KeyPath, at_key: bool) -> str:
    value = fault["input"]
    if fault["type"] == "missing":
        return "nothing"
    if at_key:
        return str(path[-1])
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    text = repr(value)
    quote = " (quote it)" if fault["type"] == "string_type" else ""
    return (text if len(text) <= 60 else f"{text[:57]}...") + quote
