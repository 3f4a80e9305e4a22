"""A command line with a remedy's changes made to it, word by word: what is not changed stays as it was typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Scalar = str | int | float | bool

# vLLM's own short forms.
_SHORT = {
    "-tp": "tensor-parallel-size",
    "-pp": "pipeline-parallel-size",
    "-dp": "data-parallel-size",
    "-q": "quantization",
    "-O": "compilation-config",
}


def apply_args(
    argv: Sequence[str], set_args: Mapping[str, Scalar], unset_args: Sequence[str], model: str | None = None
) -> list[str]:
    """The words of a command with options set and taken off; names are without dashes, in kebab case.

    Args:
        argv: The command as typed.
        set_args: True is a flag, False its `--no-` form; others replace the value there is, or are added.
        unset_args: Options that go with their value.
        model: What is served: a positional word that is not taken for the value of a flag.
    """
    words = list(argv)
    for name in [*unset_args, *set_args]:
        words, at = _without(words, _kebab(name), model)
        if name in set_args:
            words[at:at] = _words(_kebab(name), set_args[name])
    return words


def _without(words: Sequence[str], name: str, model: str | None) -> tuple[list[str], int]:
    """The words without an option, and where it stood: the end if it was not there."""
    kept: list[str] = []
    place: int | None = None
    skip = False
    for word in words:
        if _names(word, name):
            place = len(kept) if place is None else place
            skip = "=" not in word
        elif skip and not _is_option(word) and word != model:
            continue
        else:
            skip = False
            kept.append(word)
    return kept, len(kept) if place is None else place


def _names(word: str, name: str) -> bool:
    flag = word.partition("=")[0]
    if flag in _SHORT:
        return _SHORT[flag] == name
    return flag.startswith("--") and _kebab(flag[2:]) in {name, f"no-{name}"}


def _is_option(word: str) -> bool:
    return word.startswith("-") and not word[1:].replace(".", "", 1).isdigit()


def _kebab(name: str) -> str:
    return name.replace("_", "-")


def _words(name: str, value: Scalar) -> list[str]:
    if isinstance(value, bool):
        return [f"--{name}" if value else f"--no-{name}"]
    text = str(value)
    # A value that begins with a dash would be read as the next option.
    return [f"--{name}={text}"] if text.startswith("-") else [f"--{name}", text]
