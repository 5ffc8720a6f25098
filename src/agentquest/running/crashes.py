"""What is recorded of a crash in foreign code: a line that names the place, and the way there.

`KeyError('choices')` says nothing as text alone. Only frames of the user's own code are kept:
those of AgentQuest and of installed packages tell whoever wrote an agent little.
"""

import os
import sysconfig
from functools import cache
from pathlib import Path
from traceback import FrameSummary, StackSummary, TracebackException

from agentquest.errors import AgentQuestError, explain
from agentquest.lib.settings import is_secret
from agentquest.llms.redaction import Redactor

_LONGEST_MESSAGE = 2000
_LONGEST_TRACEBACK = 4000
_MOST_FRAMES = 8


def describe_crash(error: BaseException) -> tuple[str, str]:
    """The error on one line, `KeyError: 'choices' at my_agent.py:31`, and its traceback; the
    latter is empty for what AgentQuest raises on purpose. Secrets of the environment are masked."""
    masked = Redactor(*(os.environ[name] for name in os.environ if is_secret(name))).reply
    if isinstance(error, AgentQuestError):
        return masked(str(error))[:_LONGEST_MESSAGE], ""
    whole = TracebackException.from_exception(error)
    own = [frame for frame in whole.stack if _is_of_the_user(frame)]
    _shorten(whole)
    try:
        message = masked(explain(error))[:_LONGEST_MESSAGE]
    except Exception:  # its text is the user's code too
        message = type(error).__name__
    if own:
        message += f" at {Path(own[-1].filename).name}:{own[-1].lineno}"
    return message, masked("".join(whole.format()))[-_LONGEST_TRACEBACK:]


def _shorten(whole: TracebackException) -> None:
    """Leave the frames of user code, or the last ones where there is none, in all of the chain."""
    own = [frame for frame in whole.stack if _is_of_the_user(frame)]
    frames = (own or list(whole.stack))[-_MOST_FRAMES:]
    whole.stack = StackSummary.from_list([_without_folder(frame) for frame in frames])
    for before in (whole.__cause__, whole.__context__):
        if before is not None:
            _shorten(before)


def _without_folder(frame: FrameSummary) -> FrameSummary:
    """Records are shared: where the user keeps the file is nobody's business."""
    return FrameSummary(Path(frame.filename).name, frame.lineno, frame.name, line=frame.line)


def _is_of_the_user(frame: FrameSummary) -> bool:
    return not frame.filename.startswith(("<frozen", *_installed()))


@cache
def _installed() -> tuple[str, ...]:
    """The folders of Python, of installed packages and of AgentQuest."""
    paths = sysconfig.get_paths()
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return (str(Path(__file__).parent.parent), *(paths[name] for name in names))
