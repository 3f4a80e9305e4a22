"""The command line that a log shows, as somebody or a script typed it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from vllm_triage.lazy import lazy
from vllm_triage.model import Line

# After a prompt, a trace of the shell ("+ "), a fence or nothing; never in the middle of a sentence.
_SERVE = lazy(r"(?:^|[#$%>] |^\++ |^CMD:? |command: )(?P<command>(?:\S*/)?vllm serve [^\s<\[-].{0,4000})$")
_DOCKER = lazy(
    r"(?:^|[#$%>] |^\++ )(?P<command>(?:sudo )?(?:docker|podman|nerdctl) run .{0,4000}?vllm/vllm-openai\S* .{0,4000})$"
)
_ENDS = {"|", "||", "&&", ";", "&", "2>&1", ">", ">>", "|&"}
_LINES = 400


def typed_command(lines: Iterable[Line]) -> tuple[str, ...]:
    """The words of the last such command in the first lines of a start; () if the log shows none."""
    words: tuple[str, ...] = ()
    for count, line in enumerate(lines):
        if count >= _LINES:
            break
        text = line.text.strip()
        if ("vllm serve " in text or "vllm-openai" in text) and (
            match := _SERVE.search(text) or _DOCKER.search(text)
        ):
            words = _words(match["command"]) or words
    return words


def _words(command: str) -> tuple[str, ...]:
    try:
        words = shlex.split(command)
    except ValueError:  # a quote that is not closed, or a line that goes on below
        return ()
    end = next(
        (at for at, word in enumerate(words) if word in _ENDS or word.startswith((">", "2>"))), len(words)
    )
    return tuple(words[:end]) if "\\" not in words[:end] else ()
