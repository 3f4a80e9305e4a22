"""Makes any string safe to show: secrets are masked, control characters are removed.

A repetition here is bounded or nothing follows it that could fail, so that the time is linear in any text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from vllm_triage.lazy import lazy

_ESCAPES = lazy(r"\x1b(?:\[[0-?]{0,32}[ -/]{0,8}[@-~]?|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)?|.?)", re.DOTALL)
_BREAKS = lazy("[\t\n\v\f\r\x1c-\x1f\x85\u2028\u2029]+")
# C0, DEL, C1, soft hyphen, bidi marks and overrides, zero-width and other invisible format characters.
_CONTROL = lazy(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]+"
)
_SURROGATES = lazy("[\ud800-\udfff]")

# One look that most lines do not pass; everything below needs one of these words.
_SUSPECT = lazy(
    r"token|key|passw|passphrase|secret|auth|bearer|basic |cookie|sig=|signature|://|-----BEGIN|eyJ|hf_|api_org_|sk-|sk_|AKIA|ASIA|AIza"
    r"|ya29|gh[pousr]_|github_pat|glpat|xox|npm_|pypi-|nvapi-|gsk_|r8_|SG\.|hooks\.slack",
    re.IGNORECASE,
)

_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, lazy(pattern, re.DOTALL))
    for kind, pattern in (
        ("private-key", r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----))*(?:-----END[A-Z0-9 ]{0,60}-----)?"),
        ("jwt", r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){0,3}"),
        ("hub-token", r"(?<![A-Za-z0-9])(?:hf|api_org)_[A-Za-z0-9]{16,}"),
        ("api-key", r"(?<![A-Za-z0-9])sk-(?=[A-Za-z_-]{0,128}\d)[\w-]{16,}"),
        ("api-key", r"(?<![A-Za-z0-9])(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|nvapi-[\w-]{20,}|gsk_[A-Za-z0-9]{20,}|r8_[A-Za-z0-9]{20,})"),
        ("api-key", r"(?<![A-Za-z0-9])SG\.[\w-]{16,64}\.[\w-]{16,}"),
        ("aws-key", r"(?<![A-Za-z0-9])(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
        ("gcp-key", r"(?<![A-Za-z0-9])(?:AIza[\w-]{30,}|ya29\.[\w-]{16,})"),
        ("github-token", r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})"),
        ("gitlab-token", r"(?<![A-Za-z0-9])gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[\w-]{16,}"),
        ("slack-token", r"(?<![A-Za-z0-9])xox[a-z]-[A-Za-z0-9-]{10,}"),
        ("slack-hook", r"(?<=hooks\.slack\.com/services/)[\w/]{10,}"),
        ("package-token", r"(?<![A-Za-z0-9])(?:npm_[A-Za-z0-9]{30,}|pypi-[\w-]{40,})"),
    )
)  # fmt: skip

_UNMASKED = r"(?!\[redacted:)"
_SCHEME = r"(?:bearer|basic|token|digest|negotiate)\b"
# The first group stays, the rest is the secret.
_PLACES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, lazy(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("password", rf"(://[^\s/:@'\"\[]{{0,128}}:){_UNMASKED}[^\s/@'\"]{{1,1024}}(?=@)"),
        ("password", rf"(\s(?:-u|--user|--proxy-user)[ =]['\"]?[^\s:'\"]{{1,64}}:){_UNMASKED}[^\s'\"]+"),
        (
            "signature",
            r"([?&](?:X-(?:Amz|Goog)-(?:Signature|Credential|Security-Token)|AWSAccessKeyId|Signature|Policy|Key-Pair-Id|sig"
            rf"|access_token|token|api_?key|key)=){_UNMASKED}[^\s&'\"<>\])}}]{{4,}}",
        ),
        (
            "authorization",
            rf"(authorization\\?['\"]?\s{{0,3}}[:=,]\s{{0,3}}\\?['\"]?(?:{_SCHEME}\s{{1,3}})?){_UNMASKED}(?!{_SCHEME})[\w.~+/=:-]{{6,}}",
        ),
        ("authorization", rf"(\bbearer\s{{1,3}}){_UNMASKED}(?=[\w.~+/-]{{0,64}}\d)[\w.~+/=-]{{8,}}"),
        (
            "authorization",
            rf"(\bbasic\s{{1,3}}){_UNMASKED}(?=[A-Za-z+/]{{0,64}}[\d=])[A-Za-z0-9+/]{{8,}}={{0,2}}",
        ),
    )
)

# Names whose value is a secret. A token alone is one; no count, id, list or tokenizer of tokens is.
_NAME = (
    r"(?:api[_-]?keys?|(?:access|private|account|secret|signing|encryption|subscription|shared[_-]?access|license|master)[_-]?key(?:[_-]?id)?"
    r"|secrets?|pass(?:word|wd|phrase)|cookie|(?<![\w-])token"
    r"|(?:hf|hub|hugging_?face|access|auth|api|refresh|id|session|bearer|github|gitlab|slack|security|personal|client|csrf|jwt|sas|secret"
    r"|modelscope|wandb|docker|registry|vault|account|deploy|admin)[_-]?token"
    r"|(?-i:(?<![A-Z0-9_])[A-Z][A-Z0-9_]{0,60}_(?:TOKEN|KEY|PASS|PWD)(?![A-Z0-9_])))"
)
_VALUE = r"(?P<value>\[\s{0,3}\\?['\"][^\]]*\]?|(?P<open>\\?['\"])(?P<quoted>[^'\"\\]*)|[^\s,;&'\")\]}\\]+)"
_ASSIGNED = lazy(
    rf"(?<![/.])(?P<name>{_NAME})(?P<sep>\\?['\"]?\s{{0,3}}(?:=>|[=:])\s{{0,3}}){_VALUE}", re.IGNORECASE
)
_OPTION = lazy(
    rf"(?P<name>--?(?:(?:[a-z]{{1,20}}-){{0,3}}{_NAME}|token))(?P<sep>\\?['\"],\s{{0,3}}|[ \t]{{1,3}}){_VALUE}",
    re.IGNORECASE,
)
_NO_SECRET = lazy(r"None|null|true|false|undefined|[<$({*.].*|\[redacted:.*|", re.IGNORECASE | re.DOTALL)
_WHOLE_NAME = lazy(rf"(?:\w{{0,60}}[_-])??{_NAME}", re.IGNORECASE)
_LARGEST = 1 << 63
_DIGIT = lazy(r"\d")


def redact(text: str) -> str:
    """The text on one line, with secrets masked as `[redacted:KIND]` and no control characters.

    Idempotent, linear in the length of the text, and raises nothing. Breaks of line become blanks,
    lone surrogates become U+FFFD.
    """
    if not text.isprintable():
        text = _ESCAPES.sub("", text)
        text = _CONTROL.sub("", _BREAKS.sub(" ", text))
        text = _SURROGATES.sub("\ufffd", text)
    return _mask(text) if _SUSPECT.search(text) else text


def redact_data(value: Any, name: str = "") -> Any:
    """The same for a value as it comes from an echo of options: containers keep their form.

    Args:
        value: None, bool, int, float, str, or lists, tuples and dicts of these; others become text.
        name: The key under which the value stands; under the name of a secret everything is masked.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Mapping):
        return {redact(str(key)): redact_data(item, str(key)) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [redact_data(item, name) for item in value]
    if value != "" and _WHOLE_NAME.fullmatch(name):
        return f"[redacted:{_kind(name)}]"
    # What JSON readers take: no infinity, no integer of a thousand digits.
    if isinstance(value, int):
        return value if abs(value) < _LARGEST else f"{value:#x}"
    if isinstance(value, float) and isfinite(value):
        return value
    return redact(str(value))


_MAIL = lazy(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
_HOME = lazy(r"(?:/home/|/Users/|[A-Za-z]:\\{1,2}Users\\{1,2}|/lustre/home/|/export/home/)[\w.@+-]{1,64}")


def anonymise(text: str) -> str:
    """For what is made to be shared: redacted, and without e-mail addresses and the names of home folders.

    Breaks of line stay.
    """
    lines = (redact(line) for line in text.split("\n"))
    return "\n".join(_HOME.sub("~", _MAIL.sub("[redacted:e-mail]", line)) for line in lines)


def redact_words(words: Sequence[str]) -> list[str]:
    """The same for the words of a command line: the value of an option can stand in a word of its own."""
    safe = []
    name = ""
    for word in words:
        is_option = word.startswith("-")
        safe.append(f"[redacted:{_kind(name)}]" if name and not is_option else redact(word))
        bare = word.lstrip("-").replace("-", "_")
        secret = is_option and "=" not in word and _WHOLE_NAME.fullmatch(bare)
        # An option may have several values.
        name = bare if secret else name if not is_option else ""
    return safe


def _mask(text: str) -> str:
    for kind, shape in _SHAPES:
        text = shape.sub(f"[redacted:{kind}]", text)
    for kind, place in _PLACES:
        text = place.sub(rf"\g<1>[redacted:{kind}]", text)
    return _OPTION.sub(_mask_value, _ASSIGNED.sub(_mask_value, text))


def _mask_value(match: re.Match[str]) -> str:
    name, sep = match["name"], match["sep"]
    value = match["quoted"] if match["open"] else match["value"]
    if _NO_SECRET.fullmatch(value) or _is_prose(name, sep, value) or _is_code(name, value, match["open"]):
        return match[0]
    return f"{name}{sep}{match['open'] or ''}[redacted:{_kind(name)}]"


def _is_prose(name: str, sep: str, value: str) -> bool:
    """`Invalid token: foo` is a sentence; `password: foo` is taken for an entry all the same."""
    if sep.strip() != ":" or _kind(name) == "password":
        return False
    return len(value) < 8 or not _DIGIT.search(value)


def _is_code(name: str, value: str, quote: str | None) -> bool:
    """`token=self.token` in a source line."""
    last = value.rpartition(".")[2]
    return not quote and len(last) > 2 and name.lower().endswith(last.lower())


def _kind(name: str) -> str:
    lowered = name.lower()
    if "pass" in lowered:
        return "password"
    return next((kind for kind in ("token", "cookie", "secret", "key") if kind in lowered), "password")
