"""Reading `THINK: … ACTION: …` as a person would, without repairing anything.

An action is looked for where models put it: behind `ACTION:` at the start of a line, in
`<action>` tags or JSON, behind an `Action:` within a line, or as a line that is exactly a
command of this environment. The words of the command are not changed. Of several actions
the first counts: a model that goes on to imagine the game's answers has already moved. A
reply that visibly holds no command (an echo of the format, `none`, other JSON) has no
action. Typography, list marks, end-of-text marks and remarks behind a command are removed.
Nothing here searches a text more than a fixed number of times.
tests/unit/agents/reply_table.py decides each case.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from agentquest.errors import ParseError
from agentquest.lib.matching import matcher
from agentquest.lib.thinking import split_thoughts
from agentquest.lib.types import Action
from agentquest.records.how import How

# What `step_raw` may be given: the command as text, as an Action or as its fields; None for none.
Parser = Callable[[str], "str | Mapping[str, Any] | Action | None"]

PARSE_FAILURE = (
    "Could not parse agent output. Make sure it is in the format: `Action: <action_command>`"
)
LONGEST_REPLY = 100_000
_LONGEST_BARE = 120
_MOST_JSON = 8
_MOST_READ = 100
_BEFORE_LABEL = " \t>*#_-`•'\"“‘"
_CLOSED_BY = {"'": "'", '"': '"', "“": "”", "‘": "’"}
_WORDS = (
    "(?:我的|下一步|接下来的?|最终的?|次の|다음 ?)?(?:action|command|动作|動作|行动|行動|操作"
    "|アクション|행동|동작|действие|acción|accion|aktion|ação|acao|azione|الإجراء)"
)
_GLOSS = r"[ \t]?[(（][^()（）\n]{1,12}[)）](?=[ \t*_`]{0,8}[:：])"
_LABEL = re.compile(
    r"(?P<open>[\[【「『［])?(?P<before>(?:(?:my|the|next|final|chosen|best) ){0,2})"
    rf"(?P<word>{_WORDS})(?P<number>[ \t]?[#(\[（]?[0-9]{{1,3}}[)\]）]?|{_GLOSS})?[ \t*_`]{{0,8}}"
    r"(?P<colon>[:：]|(?(open)[\]】」』］][ \t*_]{0,8}[:：]?|(?!)))?[ \t*_]{0,8}",
    re.IGNORECASE,
)
_CAPITALS = re.compile(r"\s\**ACTION\**[:：][ \t*_]{0,8}")
_AFTER_SENTENCE = re.compile(
    rf"(?:[.!?;:|)\]\"'”*]\s{{1,4}}|[。！？；]\s?)\**(?:{_WORDS})\**[:：][ \t*_]{{0,8}}",
    re.IGNORECASE,
)
# Words of a sentence about a command, which no command has.
_TALK = re.compile(
    r"\b(?:I|I'm|because|so that|then|to see|please|should|would|next|the|an?|some|it|them)\b",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"(?:think|thought|reasoning|observation|obs|思考|想法|观察|мысль|наблюдение)[ \t*_]{0,8}"
    r"(?:[0-9]{1,3})?[ \t*_]{0,8}[:：]",
    re.IGNORECASE,
)
_THINK = re.compile(
    r"[ \t>*#_-]*(?:think|thought|思考|想法|мысль)[ \t*_]*(?:[0-9]{1,3})?[ \t*_]*[:：][ \t*_]*",
    re.IGNORECASE,
)
# An answer exactly as asked for, which cannot be read in another way.
_AS_ASKED = re.compile(
    r"THINK:[ \t*_]*(?P<thought>[^\n<\[{]{0,5000})\n"
    r"ACTION: (?P<command>[a-z]{1,30}(?: [a-z0-9]{1,30}){1,9})"
)
_INPUT = re.compile(r"action[ _]input[ \t*_]{0,8}[:：]", re.IGNORECASE)
_OPEN_TAG = re.compile(r"<action>", re.IGNORECASE)
_CLOSE_TAG = re.compile(r"</action>", re.IGNORECASE)
_JSON_KEYS = ("action", "command", "next_action", "actions")

# What is around a command: typography, list marks, marks of templates, remarks.
LONGEST_COMMAND = 1000
_PAIRS = dict(zip("\"'[<“‘„«「『({（【［｛《〈", "\"']>”’“»」』)}）】］｝》〉", strict=True))
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


class Parsed(NamedTuple):
    """What a reply says; `how` is one of `How`."""

    action: str | None
    thought: str
    how: str


class _Found(NamedTuple):
    """Something that may be an action: where it begins, its raw text, where it was found."""

    start: int
    raw: str
    how: str


def parse_react(text: str, commands: Sequence[str] = ()) -> Parsed:
    """Read a reply. `commands` are those of the environment, with blanks such as `<object>`."""
    asked = _AS_ASKED.fullmatch(text)
    if asked is not None:
        command = asked["command"]
        if not (is_echo(command) or is_no_command(command)):
            return Parsed(command, asked["thought"].strip(), How.EXACT)
    return _parse_loosely(text, commands)


def parse_action(text: str) -> str:
    """The command in a free text, lower-cased as the engines expect."""
    action = parse_react(text).action
    if action is None:
        raise ParseError(PARSE_FAILURE)
    return action.lower()


def _parse_loosely(text: str, commands: Sequence[str]) -> Parsed:
    turn, marked = without_marks(split_thoughts(text[-LONGEST_REPLY:]).text)
    found = _find_labels(turn, commands)
    if not found:
        found = list(_json(turn)) or list(_inline(turn)) or _bare(turn, commands)
    return _choose(turn, found, marked) if found else Parsed(None, _thought(turn), How.MISSING)


def _choose(turn: str, found: list[_Found], marked: bool) -> Parsed:
    """The first that is a command."""
    echoed = False
    for number, one in enumerate(found):
        raw, repeated = _without_label(one.raw)
        if _OTHER.match(raw.lstrip(_BEFORE_LABEL)):
            return Parsed(None, _thought(turn[: one.start]), How.MISSING)
        command, cut = _clean_command(raw)
        if command and is_echo(command):
            echoed = True
            continue
        if is_no_command(command):
            continue
        if len(command) > LONGEST_COMMAND:
            return Parsed(None, _thought(turn[: one.start]), How.TOO_LONG)
        done = (
            (len(found) > number + 1, How.FIRST_OF_SEVERAL),
            (echoed, How.AFTER_ECHO),
            (cut, How.CUT),
            (one.how != How.EXACT, one.how),
            (repeated, How.REPEATED_LABEL),
            (marked, How.END_MARK),
            (command != raw.strip(), How.UNDECORATED),
        )
        how = next((how for is_so, how in done if is_so), How.EXACT)
        return Parsed(command, _thought(turn[: one.start]), how)
    return Parsed(
        None, _thought(turn[: found[0].start]), How.FORMAT_ECHO if echoed else How.MISSING
    )


def _without_label(raw: str) -> tuple[str, bool]:
    """Without a label said again, as in `Action: Action: look`."""
    text, repeated = raw, False
    for _ in range(3):
        label = _LABEL.match(text.lstrip(_BEFORE_LABEL))
        if label is None or label["colon"] is None:
            break
        text, repeated = text.lstrip(_BEFORE_LABEL)[label.end() :], True
    return text, repeated


def _find_labels(turn: str, commands: Sequence[str]) -> list[_Found]:
    """Labels at the start of a line, and tags, in the order of the text."""
    lines, starts = _lines(turn)
    if any(_INPUT.match(line.lstrip(_BEFORE_LABEL)) for line in lines):
        return [_Found(0, "", How.MISSING)]  # a tool's name and its input apart: not one command
    found = list(_tags(turn))
    tagged = [(one.start, one.start + len(one.raw) + 20) for one in found]
    for place, line in enumerate(lines):
        start = starts[place]
        if tagged and any(low - len(line) <= start <= high for low, high in tagged[:_MOST_JSON]):
            continue
        word = line.lstrip(_BEFORE_LABEL)
        label = _LABEL.match(word)
        if label is None:
            continue
        rest = _wrap_again(line[: len(line) - len(word)], word[label.end() :])
        one = _behind(label, rest, lines[place + 1 : place + 12], commands)
        if one is not None:
            found.append(_Found(start, *one))
    return sorted(found)


def _wrap_again(before: str, rest: str) -> str:
    """What follows a label, with the quotes that open before the label and close behind it."""
    end = rest.rstrip(" \t\r*_`")
    closed = [mark for mark in before if end.endswith(_CLOSED_BY.get(mark, "\n"))]
    return closed[0] + rest if closed else rest


def _behind(
    label: re.Match[str], rest: str, following: list[str], commands: Sequence[str]
) -> tuple[str, str] | None:
    """What a label is about, and how that was found; None if it is not a label after all."""
    plain = label["word"].lower() == "action" and not (
        label["open"] or label["before"] or label["number"]
    )
    how = How.EXACT if plain else How.LOOSE_LABEL
    has_words = any(map(str.isalnum, rest))
    if rest.strip().startswith("```") and not _is_fenced(rest):
        has_words = False
        following = [rest, *following]
    if label["colon"] is None:
        if has_words:
            return (rest, How.LOOSE_LABEL) if _is_command(rest, commands) else None
        return _next_line(following), How.LOOSE_LABEL
    if has_words:
        if rest.lstrip().startswith("{"):
            return next(((one.raw, one.how) for one in _json(rest)), (rest, How.JSON))
        return rest, how
    return _next_line(following), How.NEXT_LINE if plain else How.LOOSE_LABEL


def _is_fenced(text: str) -> bool:
    return text.count("```") > 1


def _next_line(following: list[str]) -> str:
    """The first line with words in it that does not just open a block of code."""
    for place, line in enumerate(following):
        text = line.strip()
        if not any(map(str.isalnum, text)):
            continue
        if text.startswith("```") and not _is_fenced(text) and len(text.split()) == 1:
            inside = following[place + 1].strip() if place + 1 < len(following) else ""
            if inside and not inside.startswith("```"):
                continue
        return line
    return ""


def _tags(turn: str) -> Iterator[_Found]:
    place = 0
    while opening := _OPEN_TAG.search(turn, place):
        closing = _CLOSE_TAG.search(turn, opening.end())
        inside = turn[opening.end() : closing.start() if closing else None].strip()
        yield _Found(opening.start(), _next_line(inside.split("\n")), How.TAG)
        if closing is None:
            return
        place = closing.end()


def _json(turn: str) -> Iterator[_Found]:
    """Objects with an action, as JSON; a few at most, because each may cost the whole text."""
    place, decoder = turn.find("{"), json.JSONDecoder()
    for _ in range(_MOST_JSON):
        if place < 0:
            return
        try:
            value, end = decoder.raw_decode(turn, place)
        except (ValueError, RecursionError):
            value, end = None, place + 1
        if isinstance(value, dict):
            yield from (_Found(place, raw, How.JSON) for raw in _actions_in(value))
        place = turn.find("{", end)


def _actions_in(value: dict[str, object]) -> list[str]:
    for key, given in value.items():
        if key.lower() in _JSON_KEYS:
            several = given if isinstance(given, list) else [given]
            return [one for one in several if isinstance(one, str)]
    return []


def _inline(turn: str) -> Iterator[_Found]:
    """`… Action: look` within a line: in capitals, or else where a sentence has just ended."""
    labels = list(_CAPITALS.finditer(turn)) or list(_AFTER_SENTENCE.finditer(turn))
    for label in labels[:_MOST_READ]:
        end = turn.find("\n", label.end())
        yield _Found(label.start() + 1, turn[label.end() : end if end >= 0 else None], How.INLINE)


def _bare(turn: str, commands: Sequence[str]) -> list[_Found]:
    """Lines that are a command and nothing else. Several count only where there is no other."""
    lines, starts = _lines(turn)
    wordy = [
        (start, line)
        for start, line in zip(starts, lines, strict=True)
        if any(map(str.isalnum, line)) and not (line.startswith("```") and " " not in line.strip())
    ]
    fitting = [
        _Found(start, line, How.BARE) for start, line in wordy[:200] if _is_command(line, commands)
    ]
    return fitting if len(fitting) in (1, len(wordy)) else []


def _is_command(line: str, commands: Sequence[str]) -> bool:
    text, _ = _clean_command(line)
    if not text or len(text) > _LONGEST_BARE or is_echo(text) or len(line) > 2 * _LONGEST_BARE:
        return False
    if "[" not in text and _TALK.search(text):
        return False
    return any(command[0] != "<" and matcher(command).fits(text) for command in commands)


def _lines(turn: str) -> tuple[list[str], list[int]]:
    lines = turn.split("\n")
    starts, place = [], 0
    for line in lines:
        starts.append(place)
        place += len(line) + 1
    return lines, starts


def _thought(text: str) -> str:
    label = _THINK.match(text.lstrip())
    return (text.lstrip()[label.end() :] if label else text).strip()


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


def _clean_command(raw: str) -> tuple[str, bool]:
    """The command in what follows a label, without decoration and remarks, and whether words that
    are not part of it were cut off behind it."""
    raw = raw[: 2 * LONGEST_COMMAND]
    text = _LANGUAGE.sub("", raw.strip().strip("*_")).strip()
    marked = _marked_off(text)
    if marked is not None:
        return strip_decoration(marked), True
    text = strip_decoration(text)
    kept = strip_decoration(_without_remark(text))
    return kept, kept != text


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
        if len(text) > 1 and _PAIRS.get(text[0]) == text[-1] and _is_wrapped(text):
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
