"""The base of every settings model: of runs, benchmarks, agents and models.

A model is declared next to the class that it configures; the text under a field is
its documentation, in `agentquest init` and in the docs. A field that cannot
change a score is marked with `operational`, and stays out of a run's hash.
"""

import ast
import difflib
import inspect
import re
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from agentquest.errors import ConfigError

# Pydantic's messages, and ours in place of them.
_WORDS = (
    (r"Input should be greater than or equal to (.+)", r"must be at least \1"),
    (r"Input should be less than or equal to (.+)", r"must be at most \1"),
    (r"Input should be greater than (.+)", r"must be more than \1"),
    (r"Input should be a valid integer.*", "must be a whole number"),
    (r"Input should be a valid number.*", "must be a number"),
    (r"Input should be a valid boolean.*", "must be true or false"),
    (r"Input should be a valid string.*", "must be text"),
    (r"Input should be a valid (tuple|list).*", "must be a list"),
    (r"Input should be a valid dictionary.*", "must be a section of keys and values"),
    (r"Input is not a valid path.*", "must be a path"),
    (r"\w+ should have at least (\d+) items? after validation.*", r"must name at least \1"),
    (r"\w+ should have at most (\d+) items? after validation.*", r"must name at most \1"),
    (
        r"String should match pattern '\^\[A-Za-z0-9\].*",
        "must be a name of letters, digits, dots, dashes and underscores",
    ),
    (r"(?:Input|String) should (.+)", r"must \1"),
    (r"Field required", "is missing"),
)
_MOST_PROBLEMS = 20
_LONGEST_SHOWN = 300  # characters of what was given
_SECRET = ("key", "secret", "token", "password", "header", "body")


class Settings(BaseModel):
    """Frozen, and strict about names."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )

    @field_validator("*", mode="before")
    @classmethod
    def _no_switch_as_number(cls, value: Any, info: ValidationInfo) -> Any:
        """YAML reads `yes` as true, which would pass for the number 1."""
        field = cls.model_fields[str(info.field_name)]
        if isinstance(value, bool) and field.annotation not in (bool, bool | None, Any):
            raise ValueError(f"must not be {str(value).lower()}")
        return value

    def source_files(self) -> tuple[Path, ...]:
        """The files whose content decides scores, beside what the settings say themselves."""
        named = (getattr(self, name) for name in fields_marked(type(self), "content_file"))
        return tuple(Path(file) for file in named if file is not None)


def describe_fields(model: type[BaseModel]) -> dict[str, str]:
    """The text under each field, from the source of the model's classes.

    Read when somebody asks: for every class at every start it would take a tenth of that.
    """
    found = {name: field.description or "" for name, field in model.model_fields.items()}
    for owner in reversed(model.__mro__):
        if not issubclass(owner, Settings):
            continue
        with suppress(OSError, TypeError):  # a class that was typed in has no source
            tree = ast.parse(textwrap.dedent(inspect.getsource(owner)))
            for pair in pairwise(getattr(tree.body[0], "body", ())):
                match pair:
                    case (ast.AnnAssign(ast.Name(name)), ast.Expr(ast.Constant(str(text)))):
                        found[name] = inspect.cleandoc(text)
    return {name: found[name] for name in model.model_fields}


def read_list(value: Any) -> Any:
    """A list as people write it: `1,2,3` or `[1,2,3]` in one text, or a single value."""
    if isinstance(value, int | str) and not isinstance(value, bool):
        plain = str(value).strip().removeprefix("[").removesuffix("]")
        return [part.strip(" '\"") for part in plain.split(",") if part.strip()]
    return value


def operational(default: Any, **constraints: Any) -> Any:
    """A field that changes speed, place or looks, but no score."""
    return Field(default, json_schema_extra={"operational": True}, **constraints)


def content_file(default: Any = None) -> Any:
    """A field that names a file whose content decides scores, wherever the file is."""
    return Field(default, json_schema_extra={"content_file": True})


def fields_marked(model: type[BaseModel], mark: str) -> set[str]:
    """The names of a model's fields that are `operational`, or a `content_file`."""
    return {
        name
        for name, field in model.model_fields.items()
        if isinstance(field.json_schema_extra, dict) and field.json_schema_extra.get(mark)
    }


S = TypeVar("S", bound=BaseModel)


def validate_settings(
    model: type[S], given: Mapping[str, Any], path: str = "", other_names: Sequence[str] = ()
) -> S:
    """The settings; a mistake names its path and what is allowed there (`other_names` too)."""
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        found = _most_telling(error.errors(include_url=False))
        problems = [explain(each, model, path, other_names) for each in found[:_MOST_PROBLEMS]]
        if len(found) > _MOST_PROBLEMS:
            problems.append(f"and {len(found) - _MOST_PROBLEMS:,} more")
        raise ConfigError("\n".join(dict.fromkeys(problems))) from None


def _most_telling(problems: Sequence[Any]) -> list[Any]:
    """Unknown names first; what is missing is not told where one of them was meant for it."""
    unknown = [problem for problem in problems if problem["type"] == "extra_forbidden"]
    rest = [problem for problem in problems if problem["type"] != "extra_forbidden"]
    given = [str(problem["loc"][-1]) for problem in unknown]

    def is_meant(problem: Any) -> bool:
        name = str(problem["loc"][-1]) if problem["loc"] else ""
        return problem["type"] == "missing" and bool(difflib.get_close_matches(name, given, n=1))

    return [*unknown, *(problem for problem in rest if not is_meant(problem))]


def explain(
    problem: Any, model: type[BaseModel], path: str = "", other_names: Sequence[str] = ()
) -> str:
    """One pydantic error as one line; what was given is shown unless a key may be in it."""
    parts = [str(part) for part in problem["loc"] if part != "function-after"]
    where = ".".join([*([path] if path else []), *parts])
    if problem["type"] == "extra_forbidden":
        known = [*known_at(model, parts[:-1]), *(other_names if len(parts) == 1 else ())]
        return f"{where}: unknown key; {suggestion(parts[-1].lower(), known)}"
    message = in_words(problem["msg"])
    shown = ""
    if problem["type"] not in ("missing", "value_error", "too_short") and not is_secret(where):
        shown = f" (given: {_show(problem.get('input'))})"
    return f"{where + ': ' if where else ''}{message}{shown}"


def in_words(message: str) -> str:
    """A complaint of pydantic's in plain words."""
    message = message.removeprefix("Value error, ")
    for pattern, words in _WORDS:
        said, times = re.subn(f"^{pattern}$", words, message)
        if times:
            return said
    return message


def known_at(model: type[BaseModel], parents: Sequence[str]) -> list[str]:
    """The names that a section of a settings model has."""
    for name in parents:
        field = model.model_fields.get(name)
        kinds = () if field is None else (field.annotation, *get_args(field.annotation))
        inner = (kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel))
        model = next(inner, model)
    return list(model.model_fields)


def suggestion(name: str, known: Sequence[str]) -> str:
    """`did you mean …?`, or the list of known names if none is similar."""
    by_lower_case = {each.lower(): each for each in known}
    close = difflib.get_close_matches(name.lower(), list(by_lower_case), n=1)
    if close:
        return f"did you mean {by_lower_case[close[0]]!r}?"
    return f"there are: {', '.join(known)}" if known else "there are none"


def is_secret(path: str) -> bool:
    """Whether a value of this name may hold a key, so that it is never shown."""
    return any(word in path.lower() for word in _SECRET)


def _show(value: Any) -> str:
    """What was given; of lists and sections only that it was one, as a key may be inside."""
    is_plain = value is None or isinstance(value, bool | int | float | str)
    return repr(value)[:_LONGEST_SHOWN] if is_plain else f"a {type(value).__name__}"
