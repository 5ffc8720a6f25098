"""The board as the viewer draws it."""

from agentquest.benchmarks.sudoku.benchmark import SudokuBenchmark
from agentquest.lib import Moment


def test_what_a_step_changed_is_marked() -> None:
    benchmark = SudokuBenchmark()
    driver = benchmark.driver(benchmark.task_list()[0])
    moments = [Moment(driver.reset().text)]
    command = driver.plan()[0]
    moments.append(Moment(driver.step_raw(command).text, action=command))
    first, second = map(str, benchmark.pictures(moments))
    assert first.count("<td></td>") == second.count("<td></td>") + 1
    assert "changed" not in first
    assert second.count(f'<td class="changed">{command[-1]}</td>') == 1


def test_a_text_without_a_whole_board_is_not_drawn() -> None:
    texts = ["Hello.", "Current game state:\n[['1', '2'], ['3']]", "[['a']" * 10_000]
    assert list(SudokuBenchmark.pictures([Moment(text) for text in texts])) == [None] * 3
