"""Removing what is around a command, and recognizing text that is visibly not one.

Typography, list marks, end-of-text marks and remarks behind a command are removed; the words
of the command itself are never changed, wrong or not. Nothing here searches a text more than
a fixed number of times.
"""

import re
from typing import NamedTuple

LONGEST_COMMAND = 1000
_PAIRS = frozenset(
    {
        '""',
        "''",
        "[]",
        "<>",
        "“”",
        "‘’",
        "„“",
        "«»",
        "「」",
        "『』",
        "()",
        "{}",
        "（）",
        "【】",
        "［］",
        "｛｝",
        "《》",
        "〈〉",
    }
)
_TYPOGRAPHY = "*_`~\u200b\ufeff"
_STOPS = ".。!！,，;；"
_LIST_MARK = re.compile(r"(?:[>$•→-]|[0-9]{1,2}[.)])[ \t]+")
_LANGUAGES = (
    "text|txt|plaintext|plain|bash|sh|shell|console|cmd|command|action|python|py|json|markdown|md"
)
_LANGUAGE = re.compile(rf"```(?:{_LANGUAGES})?(?:[ \t]+|$)", re.IGNORECASE)
_BOXED = "\\boxed{"
# Marks that a chat template writes around a turn, when a server lets them through.
_MARK = re.compile(
    r"<[|｜][^|｜<>\n]{1,40}[|｜]>|</?s>|<(?:eos|bos|end_of_turn|end_of_utterance)>"
    r"|<start_of_turn>(?:model\b)?|\[/?INST\]",
    re.IGNORECASE,
)
_OPENING = re.compile(r"start|begin|header|bos|assistant|middle|<s>|^\[INST", re.IGNORECASE)
_SPEAKER = re.compile(r"\s*(?:assistant|model)\b", re.IGNORECASE)
# Where a remark begins: behind a dash, an arrow, a bracket, a next sentence, a made-up answer.
_REMARK = re.compile(
    r"[ \t](?:[-–—]{1,3}|[-=]>|→|//|#)[ \t]|(?<=\w)—(?=\w)|[ \t]\(|[ \t]?（|;[ \t]"
    r"|[.!?。！？][ \t]+(?=[^\W\d_])|[ \t](?:observation|obs|think|thought|reason(?:ing)?)[:：]",
    re.IGNORECASE,
)
_TWO_QUOTATIONS = re.compile(r"\w(['\"])[^\w'\"][^'\"]*[^\w'\"]\1\w")
_QUOTES = {"`": "`", '"': '"', "“": "”", "«": "»", "「": "」"}
_CALL = re.compile(r"[A-Za-z_]{1,30}\[")
_PLACEHOLDER = re.compile(
    r"<[a-z][a-z0-9 _/'-]{0,60}>|(?<![A-Za-z])\[(?:object|receptacle)[^\]]{0,30}\]|\.\.\.$|…$",
    re.IGNORECASE,
)
_ECHOES = frozenset(
    (
        *("action", "an action", "the action", "your action", "next action", "your next action"),
        *("command", "a command", "the command", "your command", "one command", "exact command"),
        *("one exact command", "action_command", "your action here", "command here"),
    )
)
_NO_COMMANDS = frozenset(("none", "n/a", "null", "no action", "nothing", "-", "(none)"))


class Clean(NamedTuple):
    """A command, and whether words that are not part of it were cut off behind it."""

    command: str
    cut: bool


def without_marks(text: str) -> tuple[str, bool]:
    """The text of the turn, between its opening marks and its end mark."""
    pieces: list[str] = []
    start, found, said = 0, False, False
    for mark in _MARK.finditer(text):
        found = True
        piece = text[start : mark.start()]
        pieces.append(piece)
        said = said or bool(piece.strip())
        start = mark.end()
        if _OPENING.search(mark.group()) is None:
            if said:
                return "".join(pieces), True
        elif speaker := _SPEAKER.match(text, start):
            start = speaker.end()
    return "".join([*pieces, text[start:]]), found


def clean_command(raw: str) -> Clean:
    """The command in what follows a label, without decoration and remarks."""
    raw = raw[: 2 * LONGEST_COMMAND]
    text = _LANGUAGE.sub("", raw.strip().strip("*_")).strip()
    marked = _marked_off(text)
    if marked is not None:
        return Clean(strip_decoration(marked), True)
    text = strip_decoration(text)
    kept = strip_decoration(_without_remark(text))
    return Clean(kept, kept != text)


def _marked_off(text: str) -> str | None:
    """The command in quotes or backticks that words follow, as in `look` to see more."""
    closing = _QUOTES.get(text[:1])
    end = text.find(closing, 1) if closing is not None else -1
    inside, behind = text[1 : max(end, 1)], text[max(end, 1) :]
    return inside if any(map(str.isalnum, inside)) and any(map(str.isalnum, behind)) else None


def strip_decoration(text: str) -> str:
    """Remove decoration layer by layer: a full stop may be inside the quotes or behind them."""
    before = None
    while text != before:
        before = text
        text = text.strip().strip(_TYPOGRAPHY).rstrip(_STOPS).strip()
        if mark := _LIST_MARK.match(text):
            text = text[mark.end() :]
        if len(text) > 1 and text[0] + text[-1] in _PAIRS and _is_wrapped(text):
            text = text[1:-1]
        if text.startswith(_BOXED) and text.endswith("}"):
            text = text[len(_BOXED) : -1]
    return text


def _is_wrapped(text: str) -> bool:
    """Whether its first and last characters belong together; not in JSON, nor in `'a' or 'b'`."""
    if text[0] == "{":
        return ":" not in text
    return text[0] != text[-1] or _TWO_QUOTATIONS.search(text, 1, len(text) - 1) is None


def _without_remark(text: str) -> str:
    if _CALL.match(text):
        end = _closing_bracket(text)
        return text if end is None else text[: end + 1]
    remark = _REMARK.search(text)
    return text[: remark.start()] if remark and remark.start() else text


def _closing_bracket(text: str) -> int | None:
    """Where the call that a text begins with ends; names may contain brackets."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if letter == "]" and depth == 0:
            return place
    return None


def is_echo(command: str) -> bool:
    """Whether it is the prompt's own format rather than a command."""
    return command.lower() in _ECHOES or _PLACEHOLDER.search(command) is not None


def is_no_command(command: str) -> bool:
    """Whether it is obviously not a command."""
    return (
        not any(map(str.isalnum, command)) or command.lower() in _NO_COMMANDS or (command[0] == "{")
    )
