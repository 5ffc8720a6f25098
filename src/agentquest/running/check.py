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
    """`promise` is what a passed check guarantees, `remedy` how to fix a failed one."""

    name: str
    promise: str
    remedy: str
    problems: Callable[[Subject], Problems]


@dataclass(frozen=True)
class CheckResult:
    """What one check found."""

    check: Check
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether no problem was found."""
        return not self.problems


def _can_be_made(subject: Subject) -> Problems:
    if not subject.tasks:
        yield "there are no tasks"


CHECKS = (
    Check(
        "made",
        "it can be made from its name and settings, and has tasks",
        "Declare name, title, splits and task_types; read data in tasks() and driver(), with "
        "defaults that need no download.",
        _can_be_made,
    ),
    Check(
        "declarations",
        "what it declares is complete and typed",
        "See the class attributes of agentquest.lib.Benchmark.",
        declarations.declarations,
    ),
    Check(
        "settings",
        "settings are documented, reject unknown names, and survive JSON",
        "Subclass BenchmarkSettings, write a text under each field, and let the base class "
        "read splits and task types.",
        declarations.settings,
    ),
    Check(
        "tasks",
        "task ids are unique and stable, types and splits are the declared ones",
        "Sort the tasks and name them by what they are made from, never by a file's place or "
        "the time; return only self.wanted_types.",
        declarations.tasks,
    ),
    Check(
        "splits",
        "every split has as many tasks as declared",
        "Correct `splits`, or declare None where the number depends on the data.",
        declarations.splits,
    ),
    Check(
        "provenance",
        "it says where its data comes from",
        "Return Provenance(data='real', 'builtin' or 'generated', split=self.split).",
        declarations.provenance,
    ),
    Check(
        "fingerprint",
        "each task has a hash of everything it is made from",
        "Let Driver.data_hash be the SHA-256 of the task's data and of everything that decides "
        "its outcome.",
        declarations.fingerprint,
    ),
    Check(
        "briefing",
        "agents are told everything they need, and never get the task itself as an example",
        "Fill instructions, role, examples and tools; a tool's `command` has a blank for each "
        "parameter; take examples from a training split.",
        declarations.briefing,
    ),
    Check(
        "view",
        "a person can play it in the terminal",
        "Let TerminalView.room and said return text for every observation.",
        declarations.view,
    ),
    Check(
        "observations",
        "texts are never empty, outcomes are consistent and can be saved",
        "Set text and output of every observation; keep outcome, can_proceed and solved in "
        "step with each other; keep details and facts plain.",
        episodes.observations,
    ),
    Check(
        "determinism",
        "the same commands give the same game",
        "Draw at random only from a seed that the task decides; no clock, no set order.",
        episodes.determinism,
    ),
    Check(
        "other process",
        "tasks, hashes and games are the same in another process",
        "Use no hash(), id(), set order or global state for anything visible.",
        elsewhere.other_process,
    ),
    Check(
        "training games",
        "Benchmark.game plays the same game as the driver",
        "Leave game() to the base class, or let both play one engine.",
        episodes.training_games,
    ),
    Check(
        "copies",
        "a driver can be pickled and copied in the middle of a game",
        "Keep plain data in the driver: no lambdas, open files, locks or generators, and "
        "no mutable data shared with a copy.",
        episodes.copies,
    ),
    Check(
        "isolation",
        "games do not influence each other, and a reset forgets everything",
        "Keep what changes in the driver, never in the class, the module or the benchmark, "
        "and set all of it in _reset.",
        episodes.isolation,
    ),
    Check(
        "invalid commands",
        "an invalid command changes nothing and is answered",
        "Return the current state and an observation with valid=False that says what was wrong.",
        episodes.invalid_commands,
    ),
    Check(
        "finished games",
        "a game that is over stays over until it is reset",
        "Leave step() to the base class and let _reset set everything back.",
        episodes.finished,
    ),
    Check(
        "admissible commands",
        "what is listed as admissible is accepted",
        "List commands as they are accepted, or with blanks as agentquest.lib.commands "
        "describes them.",
        episodes.admissible,
    ),
    Check(
        "oracle",
        "the oracle wins, by commands that are accepted",
        "Plan from where the driver stands, change nothing while planning, and set step_limit "
        "so that the task can be done; return None from oracle() if there is none.",
        players.oracle,
    ),
    Check(
        "explorer",
        "the rule-based player gives commands that are accepted",
        "Return a fresh Explorer that reads only the text; let it give up its plan when a "
        "command was refused.",
        players.explorer,
    ),
    Check(
        "records",
        "episodes travel as specs and come back as records, the same every time",
        "Keep settings and tasks plain, and seed whatever is random by the task.",
        players.records,
    ),
    Check(
        "secrecy",
        "an agent cannot reach the game, its state or its plan",
        "Give agents text only: no driver, benchmark or state in briefings, observations and "
        "explorers.",
        players.secrecy,
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
