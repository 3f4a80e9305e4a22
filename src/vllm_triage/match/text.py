"""The text of a line as patterns see it."""

from __future__ import annotations

import re

from vllm_triage.lazy import lazy

MAX_TEXT = 8192
_QUOTES = str.maketrans("“”„‘’\u00a0", '"""\'\' ')
_BLANKS = lazy(r"[ \t]{2,}|\t")
_NEXT_PIECE = lazy(r"(?<=[\w.,:;!?] )['\"], ['\"]")
# How shells of other languages tell the end of a process. These are the words of glibc's translations; those
# that are ASCII are the rules' own, because a pattern's literals must be.
_TOLD = {
    "已杀死": "Killed", "強制結束": "Killed", "強制終了": "Killed", "죽었음": "Killed", "Getötet": "Killed",
    "Processus arrêté": "Killed", "Убито": "Killed", "Geëlimineerd": "Killed",
    "段错误": "Segmentation fault", "程式記憶體區段錯誤": "Segmentation fault", "세그멘테이션 오류": "Segmentation fault",
    "Violación de segmento": "Segmentation fault", "Falha de segmentação": "Segmentation fault",
    "Ошибка сегментирования": "Segmentation fault", "Naruszenie ochrony pamięci": "Segmentation fault",
    "总线错误": "Bus error", "匯流排錯誤": "Bus error", "バスエラー": "Bus error", "버스 오류": "Bus error",
    "Ошибка шины": "Bus error", "Błąd szyny": "Bus error",
}  # fmt: skip
_TELLS = lazy(
    rf"(?:(?P<script>\S{{1,60}}): \S{{1,12}} (?P<line>\d+): +)?(?P<pid>\d{{0,8}} ?)(?P<told>{'|'.join(map(re.escape, _TOLD))})(?=$|[ (])"
)


def normalise(text: str) -> str:
    """One blank for a run of blanks, straight quotes for curly ones, a shell's last words in English.

    Of an exception with a message in several arguments, `("one ", "two")`, the pieces are put together.
    """
    if not text.isascii():
        text = text.translate(_QUOTES)
    plain = (_BLANKS.sub(" ", text) if "  " in text or "\t" in text else text).strip()
    if ": ('" in plain or ': ("' in plain:
        plain = _NEXT_PIECE.sub("", plain)
    if not plain.isascii() and (told := _TELLS.match(plain)):
        where = f"{told['script']}: line {told['line']}: " if told["script"] else ""
        return f"{where}{told['pid']}{_TOLD[told['told']]}{plain[told.end() :]}"
    return plain


def window(text: str, literals: tuple[str, ...]) -> str:
    """The part of an over-long text around the first literal that it holds."""
    if len(text) <= MAX_TEXT:
        return text
    folded = text.lower()
    at = min((i for i in (folded.find(literal.lower()) for literal in literals) if i >= 0), default=0)
    start = max(0, at - MAX_TEXT // 2)
    return text[start : start + MAX_TEXT]
