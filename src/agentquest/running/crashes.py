"""What is recorded of a crash in foreign code: a line that names the place, and the way there.

`KeyError('choices')` says nothing as text alone. Only frames of the user's own code are kept:
those of AgentQuest and of installed packages tell whoever wrote an agent little. An exception
is foreign code itself: its text, its class and its chain may raise anything when they are read.
"""

import logging
import os
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from traceback import FrameSummary, StackSummary, TracebackException
from typing import NamedTuple

from agentquest.errors import AgentQuestError, explain
from agentquest.lib.settings import is_secret
from agentquest.llms.redaction import Redactor

logger = logging.getLogger(__name__)
_LONGEST_MESSAGE = 2000
_LONGEST_TRACEBACK = 4000
_MOST_FRAMES = 8


class Crash(NamedTuple):
    """The error's class; the error on one line, `KeyError: 'choices' at my_agent.py:31`; and its
    traceback, which is empty for what AgentQuest raises on purpose."""

    kind: str = "Exception"
    message: str = "an exception that cannot be described"
    traceback: str = ""


def describe_crash(error: BaseException) -> Crash:
    """The crash as far as it can be described, with secrets of the environment masked."""
    crash = Crash()
    mask = Redactor(*(os.environ[name] for name in os.environ if is_secret(name))).reply
    with suppress(BaseException):
        message = mask(explain(error))[:_LONGEST_MESSAGE]
        crash = Crash(type(error).__name__, message)
        if not isinstance(error, AgentQuestError):
            crash = crash._replace(message=" ".join(message.split()))
            whole = TracebackException.from_exception(error)
            if own := _own_frames(whole):
                place = f"{Path(own[-1].filename).name}:{own[-1].lineno}"
                crash = crash._replace(message=f"{crash.message} at {place}")
            _shorten(whole)
            text = mask("".join(whole.format()))[-_LONGEST_TRACEBACK:]
            crash = crash._replace(traceback=text)
    return crash


@contextmanager
def name_crash(what: str, kind: type[AgentQuestError]) -> Iterator[None]:
    """Around foreign code: what it does not raise on purpose becomes this error, of one line."""
    try:
        yield
    except AgentQuestError:
        raise
    except (Exception, SystemExit) as error:
        raise kind(f"{what}: {describe_crash(error).message}") from error


@contextmanager
def note_crash(what: str, noted: set[str]) -> Iterator[None]:
    """Around foreign code on which no score depends: what it raises is logged in one line, once."""
    try:
        yield
    except (Exception, SystemExit) as error:
        if what not in noted:
            noted.add(what)
            logger.warning("%s: %s", what, describe_crash(error).message)


def _shorten(whole: TracebackException) -> None:
    """Leave the frames of user code, or the last ones where there is none, in all of the chain."""
    waiting, known = [whole], {id(whole)}
    while waiting:
        one = waiting.pop()
        frames = (_own_frames(one) or list(one.stack))[-_MOST_FRAMES:]
        one.stack = StackSummary.from_list([_without_folder(frame) for frame in frames])
        for other in (one.__cause__, one.__context__, *(getattr(one, "exceptions", None) or ())):
            if other is not None and id(other) not in known:
                known.add(id(other))
                waiting.append(other)


def _without_folder(frame: FrameSummary) -> FrameSummary:
    """Records are shared: where the user keeps the file is nobody's business."""
    return FrameSummary(Path(frame.filename).name, frame.lineno, frame.name, line=frame.line)


def _own_frames(whole: TracebackException) -> list[FrameSummary]:
    ours = ("<frozen", *_folders_of_packages())
    return [frame for frame in whole.stack if not frame.filename.startswith(ours)]


@cache
def _folders_of_packages() -> tuple[str, ...]:
    """The folders of Python, of installed packages and of AgentQuest."""
    paths = sysconfig.get_paths()
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return (str(Path(__file__).parent.parent), *(paths[name] for name in names))
