"""Does a benchmark keep its promises? Plays it and says what is wrong and how to fix it.

What Gymnasium's `check_env` is to an environment. Every check is a function of a
`Subject` that yields problems, listed in the table below; see running/checks/.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentquest import registry
from agentquest.running.checks import declarations, elsewhere, episodes, players
from agentquest.running.checks.subject import Problems, Subject

_SHOWN = 5  # problems per check; the others are of the same kind


@dataclass(frozen=True)
class Check:
    """`problems` yields what breaks a promise, and `remedy` is how to fix that."""

    problems: Callable[[Subject], Problems]
    remedy: str

    @property
    def name(self) -> str:
        """What the check is called."""
        return self.problems.__name__.replace("_", " ")

    @property
    def promise(self) -> str:
        """What a passed check guarantees: the sentence under the function."""
        return str(self.problems.__doc__)


@dataclass(frozen=True)
class CheckResult:
    """What one check found."""

    check: Check
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether no problem was found."""
        return not self.problems


CHECKS = (
    Check(
        declarations.made,
        "Declare name, title, splits and task_types; read data in tasks() and driver(), with "
        "defaults that need no download.",
    ),
    Check(
        declarations.declarations,
        "See the class attributes of agentquest.lib.Benchmark.",
    ),
    Check(
        declarations.settings,
        "Subclass BenchmarkSettings, write a text under each field, and let the base class "
        "read splits and task types.",
    ),
    Check(
        declarations.tasks,
        "Sort the tasks and name them by what they are made from, never by a file's place or "
        "the time; return only self.wanted_types.",
    ),
    Check(
        declarations.splits,
        "Correct `splits`, or declare None where the number depends on the data.",
    ),
    Check(
        declarations.provenance,
        "Return Provenance(data='real', 'builtin' or 'generated', split=self.split).",
    ),
    Check(
        declarations.fingerprint,
        "Let Driver.data_hash be the SHA-256 of the task's data and of everything that "
        "decides its outcome.",
    ),
    Check(
        declarations.briefing,
        "Fill instructions, role, examples and tools; a tool's `command` has a blank for each"
        " parameter; take examples from a training split.",
    ),
    Check(
        declarations.view,
        "Let TerminalView.room and show return text for every observation.",
    ),
    Check(
        episodes.observations,
        "Set text and output of every observation; keep outcome, can_proceed and solved in "
        "step with each other; keep details and facts plain.",
    ),
    Check(
        episodes.determinism,
        "Draw at random only from a seed that the task decides; no clock, no set order.",
    ),
    Check(
        elsewhere.other_process,
        "Use no hash(), id(), set order or global state for anything visible.",
    ),
    Check(
        episodes.training_games,
        "Leave game() to the base class, or let both play one engine.",
    ),
    Check(
        episodes.copies,
        "Keep plain data in the driver: no lambdas, open files, locks or generators, and no "
        "mutable data shared with a copy.",
    ),
    Check(
        episodes.isolation,
        "Keep what changes in the driver, never in the class, the module or the benchmark, "
        "and set all of it in _reset.",
    ),
    Check(
        episodes.invalid_commands,
        "Return the current state and an observation with valid=False that says what was wrong.",
    ),
    Check(
        episodes.finished_games,
        "Leave step() to the base class and let _reset set everything back.",
    ),
    Check(
        episodes.admissible_commands,
        "List commands as they are accepted, or with blanks as agentquest.lib.commands "
        "describes them.",
    ),
    Check(
        players.oracle,
        "Plan from where the driver stands, change nothing while planning, and set step_limit"
        " so that the task can be done; return None from oracle() if there is none.",
    ),
    Check(
        players.explorer,
        "Return a fresh Explorer that reads only the text; let it give up its plan when a "
        "command was refused.",
    ),
    Check(
        players.records,
        "Keep settings and tasks plain, and seed whatever is random by the task.",
    ),
    Check(
        players.secrecy,
        "Give agents text only: no driver, benchmark or state in briefings, observations and "
        "explorers.",
    ),
)


def check_benchmark(
    name: str,
    settings: Mapping[str, Any] | None = None,
    per_type: int = 1,
    checks: Sequence[Check] = CHECKS,
) -> Iterator[CheckResult]:
    """The result of each check, as it finishes; a benchmark that cannot be made ends the checks."""
    registry.load("benchmark", name)  # a wrong name is the caller's mistake
    subject = Subject(name, settings or {}, per_type)
    for check in checks:
        result = CheckResult(check, tuple(_problems(check, subject)))
        yield result
        if check is CHECKS[0] and not result.ok:
            return


def _problems(check: Check, subject: Subject) -> Iterator[str]:
    found = 0
    try:
        for problem in check.problems(subject):
            found += 1
            if found <= _SHOWN:
                yield problem
    except (Exception, SystemExit) as error:
        # The benchmark is somebody else's code: whatever it raises is a finding.
        yield f"{type(error).__name__}: {error}"
    if found > _SHOWN:
        yield f"and {found - _SHOWN} more"
