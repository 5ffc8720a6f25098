"""`check-benchmark` passes every benchmark there is, and each of its checks can fail."""

import broken_declarations
import broken_games
import broken_players
import pytest
from full_benchmark import GuessBenchmark

from agentquest import registry
from agentquest.cli import main
from agentquest.errors import UnknownName
from agentquest.running.check import CHECKS, CheckResult, check_benchmark

# Benchmarks with real data elsewhere are checked on what they bring along.
BUILTIN = {"alfworld": {"data_path": "builtin"}, "webshop": {"data_path": "builtin"}}
# One defect each: `__doc__` is the check that finds it, `SAYS` part of what the check says.
BROKEN = [
    found
    for module in (broken_declarations, broken_games, broken_players)
    for found in vars(module).values()
    if isinstance(found, type) and issubclass(found, GuessBenchmark) and "SAYS" in vars(found)
]


def problems(results: list[CheckResult]) -> dict[str, tuple[str, ...]]:
    return {result.check.name: result.problems for result in results if not result.ok}


@pytest.mark.parametrize("name", registry.names("benchmark"))
def test_every_registered_benchmark_keeps_its_promises(name: str) -> None:
    results = list(check_benchmark(name, BUILTIN.get(name)))
    assert problems(results) == {}
    assert [result.check for result in results] == list(CHECKS)


@pytest.mark.parametrize("module", ["full_benchmark", "custom_benchmark"])
def test_benchmarks_of_others_keep_them_too(module: str) -> None:
    assert problems(list(check_benchmark(f"{module}:GuessBenchmark", per_type=2))) == {}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_a_defect_is_found(broken: type) -> None:
    checks = [check for check in CHECKS if check.name in ("made", broken.__doc__)]
    found = problems(list(check_benchmark(f"{broken.__module__}:{broken.__name__}", checks=checks)))
    assert broken.__doc__ in found
    assert broken.SAYS in "\n".join(found[broken.__doc__])  # type: ignore[attr-defined]


def test_every_check_has_a_benchmark_that_fails_it() -> None:
    assert {broken.__doc__ for broken in BROKEN} == {check.name for check in CHECKS}


def test_what_cannot_be_made_is_checked_no_further() -> None:
    (only,) = check_benchmark("broken_declarations:Unmade")
    assert not only.ok


def test_a_name_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(UnknownName, match="did you mean 'sudoku'"):
        list(check_benchmark("sudoko"))
    with pytest.raises(UnknownName, match="cannot be imported"):
        list(check_benchmark("no_such_module:Benchmark"))


def test_many_problems_of_a_kind_are_counted() -> None:
    checks = [check for check in CHECKS if check.name == "observations"]
    (result,) = check_benchmark("broken_games:Mute", per_type=10, checks=checks)
    assert len(result.problems) == 6
    assert result.problems[-1].startswith("and ")


def test_the_command_says_what_is_wrong_and_how_to_mend_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["check-benchmark", "broken_declarations:Wordless"])
    assert end.value.code == 1
    said = capsys.readouterr().out
    assert "problem  briefing " in said
    assert "role is empty" in said
    assert "To fix it: Fill instructions, role," in said
    assert said.endswith(f"{len(CHECKS)} checks, 1 with problems\n")


def test_the_command_takes_settings(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["check-benchmark", "full_benchmark:GuessBenchmark", "series=2"])
    assert end.value.code == 0
    with pytest.raises(SystemExit) as end:
        main(["check-benchmark", "mastermind", "--task-types", "1"])
    assert end.value.code == 0, capsys.readouterr().out  # a split's size is that of all types
    with pytest.raises(SystemExit) as end:
        main(["check-benchmark", "full_benchmark:GuessBenchmark", "--serie", "2"])
    assert end.value.code == 1
    assert "did you mean 'series'" in capsys.readouterr().out
    with pytest.raises(SystemExit) as end:
        main(["check-benchmark", "sudoko"])
    assert end.value.code == 2
    assert "did you mean 'sudoku'" in capsys.readouterr().err
