"""Does a benchmark keep its promises? Plays it and says what is wrong and how to fix it.

What Gymnasium's `check_env` is to an environment. Every check is a function of a
`Subject` that yields problems, in the order below; see running/checks/.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentquest import registry
from agentquest.errors import explain
from agentquest.running.checks import declarations, elsewhere, episodes, players
from agentquest.running.checks.subject import Check, Subject

_SHOWN = 5  # problems per check; the others are of the same kind


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
    declarations.made,
    declarations.declarations,
    declarations.settings,
    declarations.tasks,
    declarations.splits,
    declarations.provenance,
    declarations.fingerprint,
    declarations.briefing,
    declarations.view,
    episodes.observations,
    episodes.determinism,
    elsewhere.other_process,
    episodes.training_games,
    episodes.copies,
    episodes.isolation,
    episodes.invalid_commands,
    episodes.finished_games,
    episodes.admissible_commands,
    players.oracle,
    players.explorer,
    players.records,
    players.secrecy,
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
        yield explain(error)
    if found > _SHOWN:
        yield f"and {found - _SHOWN} more"
