"""What was paid for is counted, whoever played it again; what is unknown is never zero."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from agentquest.cli.runs import read_price
from agentquest.errors import UserError
from agentquest.metrics.rows import add_up_calls, measure_pace, plain_row, row_of, total
from agentquest.metrics.table import metrics_table
from agentquest.records.episode import Call
from agentquest.records.messages import Usage
from agentquest.records.outcome import End
from agentquest.records.usage import Price
from agentquest.reports.render.csv import csv_report, csv_sweep
from agentquest.reports.render.text import text_report
from agentquest.reports.sweep import SweptRun, json_rows, sweep_rows, sweep_table
from agentquest.store.folder import RESULTS
from agentquest.store.library import Library, RunSummary
from agentquest.store.stored_run import StoredRun
from report_runs import manifest, record, saved, step

TABLE = metrics_table(manifest())
USED = Usage(prompt_tokens=1_000_000, completion_tokens=100_000, cached_tokens=400_000)


def call(cost: float | None = None, usage: Usage | None = USED, **more: Any) -> Call:
    return Call(model="m", kind="complete", usage=usage, cost=cost, **more)


def a_try(task: str, end: End, *calls: Call) -> Any:
    return record(task, end, [step(1, calls=list(calls), seconds=2.0)])


def test_a_cost_that_nobody_knows_is_none_and_one_that_is_partly_known_says_so() -> None:
    unknown = add_up_calls([call(), call()])
    assert (unknown.cost, unknown.plain()["cost"], unknown.plain()["at_least"]) == (
        None,
        None,
        True,
    )
    partly = total([unknown, add_up_calls([call(0.5)])])
    assert (partly.cost, partly.whole_cost, partly.plain()["at_least"]) == (0.5, None, True)
    assert total([]).cost == 0.0
    uncounted = add_up_calls([call(0.5, None)]).plain()
    assert (uncounted["prompt_tokens"], uncounted["cost"]) == (None, 0.5)


def test_a_price_that_comes_later_is_applied_to_the_tokens_that_were_counted() -> None:
    price = Price(1.0, 10.0, cached=0.5)
    spent = total([add_up_calls([call(0.25), call()]), add_up_calls([call(None, None)])])
    priced = spent.at(price)
    assert priced.cost == pytest.approx(0.25 + 0.6 + 0.2 + 1.0)
    assert (spent.unpriced_calls, priced.unpriced_calls) == (2, 1)
    assert priced.at(Price(99.0, 99.0)) == priced, "nothing is priced twice"
    assert spent.at(None) is spent
    short = Price(1.0, 1.0, longest_prompt=999_999)
    assert spent.at(short) is spent, "another price holds for such a prompt"
    free = add_up_calls([call(cached=True)]).at(price)
    assert (free.cost, free.unpriced_calls) == (0.0, 0)


def test_tries_that_were_replaced_were_paid_for(tmp_path: Path) -> None:
    folder = saved(
        tmp_path,
        [
            a_try("a", End.INFRASTRUCTURE_FAULT, call(0.25)),
            a_try("a", End.SOLVED, call(0.5)),
            a_try("b", End.SOLVED, call(1.0)),
            a_try("b", End.INFRASTRUCTURE_FAULT, call()),
        ],
    )
    for _ in range(2):  # from the records, then from the index
        run = StoredRun(folder.path)
        spent = run.report.summary.spent
        assert (spent.calls, spent.cost, spent.unpriced_calls) == (4, 1.75, 1)
        assert run.report.summary.replaced.calls == 2
        assert run.summary["spent"]["cost"] == 1.75
        assert run.summary["spent_on_replaced"]["cost"] == 0.25
        assert run.spent == (1.75, 1)
    shown = " ".join(text_report(run.report, 100).split())
    assert "cost at least 1.7500 (1 call without a price)" in shown
    assert "tries that were replaced 2 calls, at least 0.2500" in shown


def test_prices_of_today_reach_every_reader_of_a_run(tmp_path: Path) -> None:
    folder = saved(tmp_path, [a_try("a", End.SOLVED, call()), a_try("b", End.FAILED, call())])
    before = StoredRun(folder.path)
    assert (before.summary["spent"]["cost"], before.figures.cost) == (None, None)
    assert "unknown (no price known" in text_report(before.report, 200)
    given = StoredRun(folder.path, price=Price(1.0, 10.0))
    assert given.figures.cost == pytest.approx(4.0)
    assert [row["cost"] for row in given.to_rows()] == [2.0, 2.0]
    assert "4.0000" in text_report(given.report, 200)
    (listed,) = Library(tmp_path, Price(1.0, 10.0)).summaries()
    (plain,) = Library(tmp_path).summaries()
    assert isinstance(listed, RunSummary)
    assert isinstance(plain, RunSummary)
    assert (listed.figures.cost, plain.figures.cost) == (4.0, None)
    # What `eval` does when it is called again with prices.
    folder.create("", before.manifest.model_copy(update={"price": Price(2.0, 20.0)}))
    (later,) = Library(tmp_path).summaries()
    assert isinstance(later, RunSummary)
    assert later.figures.cost == pytest.approx(8.0)


@pytest.mark.parametrize("text", ["", "1", "1,x", "1,-2", "1,2,3,4,5", "1,inf", "nan,1"])
def test_a_price_that_is_none_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UserError, match="two to four prices"):
        read_price(text)
    assert read_price("0.1,0.4") == Price(0.1, 0.4)
    assert read_price("3,15,0.3,3.75") == Price(3.0, 15.0, 0.3, 3.75)
    assert read_price(None) is None


def test_the_pace_of_calls_and_steps_by_hand(tmp_path: Path) -> None:
    latencies = [0.1 * n for n in range(1, 21)]
    small = Usage(prompt_tokens=90, completion_tokens=10)
    steps = [
        step(1, action=None, seconds=0.5, calls=[call(usage=small, latency_s=latencies[0])]),
        *(step(n + 1, calls=[call(usage=small, latency_s=latencies[n])]) for n in range(1, 20)),
        step(21, calls=[call(usage=small, latency_s=99.0, cached=True)]),
    ]
    steps[1] = steps[1].model_copy(update={"seconds": 0.25})
    row = row_of(record("a", End.STEP_LIMIT, steps), TABLE)
    pace = measure_pace([row])
    assert pace.latency_p50 == pytest.approx(1.05)
    assert pace.latency_p95 == pytest.approx(1.905)
    assert pace.time_to_first_action == pytest.approx(0.75)
    assert pace.tokens_per_step == 100.0
    assert plain_row(row)["latency_p95"] == pytest.approx(1.905)
    nothing = measure_pace([row_of(record("b", End.SOLVED, []), TABLE)])
    assert set(vars(nothing).values()) == {None}


def test_the_pace_is_in_report_csv_rows_results_and_sweep(tmp_path: Path) -> None:
    calls = [call(0.5, latency_s=0.25), call(0.5, latency_s=0.75)]
    folder = saved(tmp_path, [a_try("a", End.SOLVED, *calls)], manifest())
    run = StoredRun(folder.path)
    shown = " ".join(text_report(run.report, 100).split())
    for line in ("tokens per step 2,200,000", "seconds of a call, median 0.50"):
        assert line in shown
    assert "seconds to the first action, median 2.00" in shown
    (*_, whole) = csv.DictReader(io.StringIO(csv_report(run.report)))
    assert (whole["latency_p50"], whole["time_to_first_action"]) == ("0.5", "2.0")
    (row,) = run.to_rows()
    assert (row["latency_p50"], row["tokens_per_step"]) == (0.5, 2_200_000.0)
    with run.open_for_writing():
        run.save_results()
    written = json.loads((folder.path / RESULTS).read_text())
    assert written["pace"]["latency_p95"] == pytest.approx(0.725)
    swept = sweep_rows([SweptRun("react", "m", None, 1, folder.path)])
    assert json_rows(swept)[0]["pace"]["latency_p50"] == 0.5
    assert json_rows(swept)[0]["spent"]["cost"] == 1.0
    (cells,) = csv.DictReader(io.StringIO(csv_sweep(swept)))
    named = ("agent", "model", "protocol", "seed", "scored", "requested")
    assert [cells[name] for name in named] == ["react", "m", "", "1", "1", "0"]
    assert all(cells[name] == whole[name] for name in cells if name not in named)
    assert {"success_low", "steps_n", "prompt_tokens", "cost", "latency_p95"} <= {*cells}
    (harmless,) = sweep_rows([SweptRun("=1+1", None, None, 1, folder.path)])
    assert csv_sweep([harmless]).splitlines()[1].startswith("'=1+1,")
    table = sweep_table(swept)
    assert {"tokens/step", "call p50 s", "call p95 s", "cost"} <= set(table.headings)
