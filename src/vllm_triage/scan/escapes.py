"""Colours and other terminal sequences taken out, also those whose ESC byte was lost or spelled out."""

from __future__ import annotations

import re

from vllm_triage.lazy import lazy

_ESCAPES = lazy(
    r"\x1b(?:"
    r"\[[0-?]{0,40}[ -/]{0,4}[@-~]"  # CSI: colours, cursor
    r"|\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)?"  # OSC: titles, links
    r"|[P_^X][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)?"  # DCS, APC (Buildkite's time stamps), PM, SOS
    r"|[ -/]{1,2}[0-~]"  # character sets
    r"|[0-Z\\-~]"
    r")?"
)
# Only a line that also goes back to the default colour is taken for one that has lost its ESC bytes.
RESETS = ("[0m", "[00m", "[0;0m", "[39m")
# The colours of vLLM's process prefixes, of which a paste has lost even the bracket: "36m(Worker pid=1)0m ".
_BROKEN = lazy(r"(?<![^\s])(?:\d{1,2};)?\d{1,2}m(?P<prefix>\([^()\n]{1,80} pid=\d{1,10}\))(?:0;)?0?m?")
_RESET = lazy("|".join(map(re.escape, RESETS)))
_RESET_BYTES = lazy(_RESET.pattern.encode())
_LOST = lazy(
    r"(?:\^\[|\\x1[bB]|\\u001[bB]|\\033|\\e|ESC|\u241b|\ufffd)?\[(?:\d{1,3}(?:;\d{1,3}){0,8})?m"
    r"|(?:\^\[|\\x1[bB]|\\u001[bB]|\\033|\\e|ESC|\u241b)\[[\d;]{0,20}[A-Za-z]"
)


def holds_escapes(block: bytes) -> bool:
    """Whether `strip_escapes` changes something."""
    return b"\x1b" in block or b"m(" in block or bool(_RESET_BYTES.search(block))


def strip_escapes(text: str) -> str:
    """Remove terminal sequences from one or more lines, each line for itself."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if _RESET.search(text):
        text = "\n".join(_LOST.sub("", line) if _RESET.search(line) else line for line in text.split("\n"))
    return _BROKEN.sub(r"\g<prefix>", text) if "m(" in text else text
