"""RemedySpec and the fields of the log -> Remedy."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from vllm_triage.catalog.rule import RemedySpec, Rule
from vllm_triage.catalog.templates import names
from vllm_triage.model import Context
from vllm_triage.redact import redact
from vllm_triage.remedy.derive import derive, working
from vllm_triage.remedy.serve import Scalar, corrected_command
from vllm_triage.remedy.templates import MissingFieldError, Value, fill
from vllm_triage.report.model import Remedy

_UNSAFE = "The command is left out: a value of the log that belongs into it holds control characters."


def fill_remedies(rule: Rule, fields: Mapping[str, Value], context: Context) -> tuple[Remedy, ...]:
    """The remedies of a rule that apply, best first; a destructive one is first only if it is alone.

    Args:
        rule: The diagnosed rule.
        fields: The typed fields of the log, and what every template may use (`model`, `process`, ...).
        context: The start that failed; its options make the corrected command.
    """
    derived = derive(rule.derive, fields)
    workings = {name: working(rule.derive[name], fields, value) for name, value in derived.items()}
    made = [
        remedy
        for spec in rule.remedies
        if (remedy := fill_remedy(spec, {**fields, **derived}, context, workings))
    ]
    return tuple(sorted(made, key=lambda remedy: remedy.risk == "destructive"))


def fill_remedy(
    spec: RemedySpec, values: Mapping[str, Value], context: Context, workings: Mapping[str, str] | None = None
) -> Remedy | None:
    """One remedy, or None where a field is missing or a condition is known not to hold.

    `workings` say how derived values came about; those of the values it uses are part of the why.
    """
    conditions = {
        f"{name.replace('_', ' ')} {wanted}": _holds(name, wanted, values)
        for name, wanted in spec.when.items()
    }
    if False in conditions.values():
        return None
    try:
        title, why = fill(spec.title, values), fill(spec.why or "", values)
        steps = [fill(step, values) for step in spec.steps]
        set_args = {name: _argument(value, values) for name, value in spec.set_args.items()}
        set_env = {name: fill(value, values) for name, value in spec.set_env.items()}
        command = shlex.join(fill(part, values) for part in spec.command) or None
    except MissingFieldError:
        return None
    used = {name for text in _templates(spec) for name in names(text)}
    why = " ".join([why, *(said for name, said in (workings or {}).items() if said and name in used)]).strip()
    given = {name.replace("_", "-"): value for name, value in context.args.items()}
    if set_args and not (steps or command or set_env) and all(given.get(n) == v for n, v in set_args.items()):
        # The server was started with these values.
        return None
    taken_off = [name for name in spec.unset_args if name in given or not given]
    if set_args or taken_off or set_env or spec.unset_env:
        command = command or corrected_command(context, set_args, spec.unset_args, set_env, spec.unset_env)
    elif spec.unset_args and not (steps or command):
        # It only takes off options that were not given.
        return None
    if unknown := [condition for condition, holds in conditions.items() if holds is None]:
        why = f"{why} Only with {', '.join(unknown)}, which is not known here.".strip()
    if command and not all(text.isprintable() for text in _sources(spec, values, context)):
        command = None
        steps.append(_UNSAFE)
    return Remedy(
        title=redact(title),
        why=redact(why) or None,
        risk=spec.risk,
        command=redact(command) if command else None,
        steps=tuple(map(redact, steps)),
        set_args={
            name: redact(value) if isinstance(value, str) else value for name, value in set_args.items()
        },
        unset_args=spec.unset_args,
        set_env={name: redact(value) for name, value in set_env.items()},
        unset_env=spec.unset_env,
    )


def _argument(value: Scalar, values: Mapping[str, Value]) -> Scalar:
    """A template that is one name alone keeps the type of its value."""
    if not isinstance(value, str):
        return value
    only = next(iter(names(value)), "")
    if value == f"{{{only}}}" and only in values:
        return values[only]
    return fill(value, values)


def _sources(spec: RemedySpec, values: Mapping[str, Value], context: Context) -> Iterator[str]:
    """Every text from the log that goes into the remedy's command."""
    for name in {name for template in _templates(spec) for name in names(template)}:
        yield from _texts(values[name])
    if not spec.command:
        yield from _texts(context.argv or context.args)
        yield context.model or ""


def _templates(spec: RemedySpec) -> list[str]:
    """What a remedy makes of values: its command, options and variables."""
    return [*spec.command, *spec.set_env.values(), *map(str, spec.set_args.values())]


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value


def _holds(name: str, wanted: str, values: Mapping[str, Value]) -> bool | None:
    """Whether a condition such as `>=0.8` holds for the value of this name; None if it is not known."""
    if name not in values:
        return None
    value = str(values[name])
    if wanted[:1] not in "<>=!~":
        return value == wanted
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion, Version

    try:
        return SpecifierSet(wanted, prereleases=True).contains(Version(value))
    except (InvalidSpecifier, InvalidVersion):
        return None
