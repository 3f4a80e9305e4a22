"""Writes a page for each rule: `python docs/rule_pages.py docs/rules`."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from vllm_triage.catalog import builtin_catalog
from vllm_triage.catalog.rule import RemedySpec, Rule
from vllm_triage.probes.checks import CHECKS
from vllm_triage.report.markdown import escaped, fenced

_AGAIN = {
    "change": "Starting again unchanged will not help.",
    "retry": "Starting again may help.",
    "hardware": "It needs another machine, or hands at this one.",
}
_MAX_EXAMPLES = 6


def page(rule: Rule, rules: Mapping[str, Rule]) -> str:
    """What a rule names, how it looks in a log, how to confirm it and what to do."""
    parts = [f"# {rule.id}", f"**{escaped(rule.title)}.**"]
    if rule.summary:
        parts.append(escaped(_open(rule.summary)))
    parts.append(
        f"Family {rule.family}, phase {rule.phase}. {'' if rule.rank == 'consequence' else _AGAIN[rule.retry]}".rstrip()
    )
    if rule.rank == "consequence":
        parts.append("A follow-up of another failure: it is never named as the cause.")
    if rule.rank == "fallback":
        parts.append("It answers only where the log shows no deeper cause.")
    parts += ["## How it looks", *_examples(rule)]
    if rule.confirm:
        parts += ["## How to confirm it", "\n".join(f"- {_check(confirm.check)}" for confirm in rule.confirm)]
    if rule.remedies:
        parts += [
            "## What to do",
            *[_remedy(number, remedy) for number, remedy in enumerate(rule.remedies, 1)],
        ]
    related = sorted({*rule.beats, *(other.id for other in rules.values() if rule.id in other.beats)})
    if related:
        parts += ["## Related", ", ".join(f"[{id_}]({id_}.md)" for id_ in related if id_ in rules)]
    if rule.references:
        parts += ["## References", "\n".join(f"- <{reference}>" for reference in rule.references)]
    return "\n\n".join(parts) + "\n"


def _examples(rule: Rule) -> list[str]:
    releases = {signature.id: signature.vllm for signature in rule.signatures if signature.vllm}
    said = [f"`{name}`: vLLM {wanted}" for name, wanted in releases.items()]
    shown = [fenced(example.log.strip()) for example in rule.examples if example.matches][:_MAX_EXAMPLES]
    return [*shown, *([f"Wordings of certain releases: {', '.join(said)}."] if said else [])]


def _check(name: str) -> str:
    text = " ".join((CHECKS[name].__doc__ or "").split())
    return f"`vllm-triage --probe` asks `{name}`: {text}"


def _remedy(number: int, remedy: RemedySpec) -> str:
    risk = "" if remedy.risk == "safe" else f" ({remedy.risk})"
    lines = [f"{number}. **{escaped(_open(remedy.title))}**{risk}"]
    lines += [f"   {escaped(_open(remedy.why))}"] if remedy.why else []
    lines += [f"   - {escaped(_open(step))}" for step in remedy.steps]
    typed = [*([_open(" ".join(remedy.command))] if remedy.command else [])]
    typed += [f"export {name}={_open(value)}" for name, value in remedy.set_env.items()]
    typed += [f"unset {name}" for name in remedy.unset_env]
    typed += [f"vllm serve ... --{name} {_open(str(value))}" for name, value in remedy.set_args.items()]
    typed += [f"vllm serve ... without --{name}" for name in remedy.unset_args]
    if typed:
        lines += ["", *(f"   {line}" for line in fenced("\n".join(typed)).split("\n"))]
    return "\n".join(lines)


def _open(template: str) -> str:
    """Field names in the place of their values."""
    return re.sub(r"\{(\w+)(?::[^{}]*)?\}", r"<\1>", " ".join(template.split()))


def pages() -> dict[str, str]:
    """All pages by file name."""
    rules = builtin_catalog().rules
    return {f"{rule.id}.md": page(rule, rules) for rule in rules.values()}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    made = pages()
    for old in folder.glob("*.md"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")
