"""Reading a PDDL problem: declared things, initial facts, goal. Nothing is evaluated.

Names are lower-cased, as in the reference planner. Sizes and nesting are bounded, so that a
hostile file leads to a clear error.
"""

from dataclasses import dataclass

from agentquest.errors import DataError

MAX_CHARS = 8_000_000
MAX_DEPTH = 60

Node = str | list["Node"]
Fact = tuple[str, ...]


@dataclass(frozen=True)
class Problem:
    """A problem as written: `kinds` maps each declared thing to its type."""

    kinds: dict[str, str]
    facts: list[Fact]
    goal: Node


def read_problem(text: str) -> Problem:
    """Parse one `(define (problem …) …)`; raises DataError when it is not one."""
    form = _read_form(text)
    if not form or form[0] != "define":
        raise DataError("PDDL problem does not start with (define …)")
    sections: dict[str, list[Node]] = {}
    for part in form[1:]:
        if not isinstance(part, list) or not part or not isinstance(part[0], str):
            raise DataError(f"PDDL problem has a stray {_show(part)} outside its sections")
        if part[0] in sections:
            raise DataError(f"PDDL problem has two ({part[0]} …) sections")
        sections[part[0]] = part[1:]
    for name in ("problem", ":domain", ":objects", ":init", ":goal"):
        if name not in sections:
            raise DataError(f"PDDL problem has no ({name} …) section")
    if sections[":domain"] != ["alfred"]:
        raise DataError(f"PDDL problem is of domain {_show(sections[':domain'])}, not alfred")
    if len(sections[":goal"]) != 1:
        raise DataError("PDDL problem needs exactly one formula in its (:goal …)")
    return Problem(
        kinds=_declarations(sections[":objects"]),
        facts=_facts(sections[":init"]),
        goal=sections[":goal"][0],
    )


def strip_comments(text: str) -> str:
    """The text without what follows a semicolon on any line."""
    if ";" not in text:
        return text
    return "\n".join(line.partition(";")[0] for line in text.splitlines())


def _read_form(text: str) -> list[Node]:
    if len(text) > MAX_CHARS:
        raise DataError(f"PDDL text has {len(text)} characters; at most {MAX_CHARS} are read")
    tokens = strip_comments(text).lower().replace("(", " ( ").replace(")", " ) ").split()
    if not tokens or tokens[0] != "(":
        raise DataError("PDDL text does not start with '('")
    stack: list[list[Node]] = []
    current: list[Node] = []
    last = len(tokens) - 1
    for position, token in enumerate(tokens):
        if token == "(":
            inner: list[Node] = []
            current.append(inner)
            stack.append(current)
            current = inner
            if len(stack) > MAX_DEPTH:
                raise DataError(f"PDDL text is nested deeper than {MAX_DEPTH} levels")
        elif token == ")":
            if not stack:
                raise DataError("PDDL text has a ')' too many")
            current = stack.pop()
            if not stack and position != last:
                raise DataError(f"PDDL text goes on behind its end: {tokens[position + 1]!r}")
        else:
            current.append(token)
    if stack:
        raise DataError(f"PDDL text ends too early: {len(stack)} ')' missing")
    form = current[0]
    assert isinstance(form, list)
    return form


def _declarations(items: list[Node]) -> dict[str, str]:
    """`a b - kind c - kind …` as {name: kind}."""
    kinds: dict[str, str] = {}
    pending: list[str] = []
    following = iter(items)
    for item in following:
        if not isinstance(item, str):
            raise DataError(f"(:objects …) holds a list: {_show(item)}")
        if item != "-":
            pending.append(item)
            continue
        kind = next(following, None)
        if not isinstance(kind, str) or not pending:
            raise DataError(f"(:objects …) has a '-' without a name or a type near {pending[-1:]}")
        for name in pending:
            if kinds.setdefault(name, kind) != kind:
                raise DataError(f"{name!r} is declared both {kinds[name]} and {kind}")
        pending.clear()
    if pending:
        raise DataError(f"(:objects …) leaves {pending[0]!r} without a type")
    return kinds


def _facts(items: list[Node]) -> list[Fact]:
    facts: list[Fact] = []
    for item in items:
        if type(item) is not list or not item:
            raise DataError(f"(:init …) holds {_show(item)}, which is no fact")
        for word in item:
            if type(word) is not str:
                raise DataError(f"(:init …) holds a nested fact {_show(item)}")
        facts.append(tuple(item))  # type: ignore[arg-type]
    return facts


def _show(node: Node) -> str:
    """A short, printable form of any node for an error message."""
    text = node if isinstance(node, str) else f"({' '.join(map(_word, node[:6]))})"
    return repr(text[:80])


def _word(node: Node) -> str:
    return node if isinstance(node, str) else "(…)"
