"""The commands on real run directories, and their page in a real browser."""

import csv
import io
import json
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from agentquest.cli import compare as compare_command
from agentquest.cli import report as report_command
from agentquest.errors import DataError, UserError
from agentquest.records.outcome import End
from browser import CHROMIUM, browser_tab
from report_runs import hostile, hostile_manifest, manifest, play, record, saved, step

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    saved(folder / "muddled", play("muddled", each=2, failing=(3,)))
    saved(folder / "oracle", play("oracle", each=2), manifest(run_id="oracle"))
    saved(folder / "hostile", hostile(), hostile_manifest())
    return folder


def call(command: Callable[..., None], *args: object) -> Result:
    app = typer.Typer()
    app.command()(command)
    return CliRunner().invoke(app, [str(arg) for arg in args])


def report(*args: object) -> Result:
    return call(report_command.command, *args)


def compare(*args: object) -> Result:
    return call(compare_command.command, *args)


def test_text_goes_to_the_terminal(runs: Path) -> None:
    result = report(runs / "muddled")
    assert result.exit_code == 0
    assert "!!! Episodes without a score: 1 of 12" in result.stdout
    assert re.search(r"all +12 +11 ", result.stdout)


@pytest.mark.parametrize(("columns", "most"), [(60, 60), (20, 50), (300, 120)])
def test_text_is_as_wide_as_the_terminal(
    runs: Path, monkeypatch: pytest.MonkeyPatch, columns: int, most: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for result in (report(runs / "muddled"), compare(runs / "muddled", runs / "oracle")):
        assert max(map(len, result.stdout.splitlines())) <= most


@pytest.mark.parametrize("form", ["text", "markdown", "csv"])
def test_output_goes_to_a_file(runs: Path, tmp_path: Path, form: str) -> None:
    printed = report(runs / "muddled", "--format", form)
    result = report(runs / "muddled", "--format", form, "--output", tmp_path / "out")
    assert (printed.exit_code, result.exit_code) == (0, 0)
    assert result.stdout == ""
    assert (tmp_path / "out").read_text(encoding="utf-8") == printed.stdout


def test_csv_of_two_runs_fit_under_each_other(runs: Path) -> None:
    rows = [
        row
        for run in ("muddled", "oracle")
        for row in csv.DictReader(io.StringIO(report(runs / run, "-f", "csv").stdout))
    ]
    totals = [row for row in rows if row["task_type"] == "all"]
    assert [row["scored"] for row in totals] == ["11", "12"]
    assert float(totals[1]["success"]) == 1.0


def test_html_goes_beside_the_records(runs: Path) -> None:
    result = report(runs / "muddled", "--format", "html")
    assert result.exit_code == 0
    assert "index.html" in result.stderr
    pages = {file.name for file in (runs / "muddled" / "report").glob("*.html")}
    assert pages >= {"index.html", "1.html", "12.html", "1-prompts.html"}


def test_a_folder_that_is_no_run_is_an_error(tmp_path: Path) -> None:
    for command in (report(tmp_path), compare(tmp_path, tmp_path.parent)):
        assert isinstance(command.exception, UserError)
        assert "not a run directory" in str(command.exception)


def test_a_damaged_line_is_told_and_its_episode_is_in_no_figure(tmp_path: Path) -> None:
    run = saved(tmp_path / "run", [record("a"), record("b"), record("c")])
    file = run.path / "episodes.jsonl"
    first, second, third = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(first + second.replace(b"shelf", b"shelk", 1) + third)
    result = report(run.path)
    assert result.exit_code == 0
    assert "damaged line (2)" in " ".join(result.stdout.split())
    assert re.search(r"all +2 +2 ", result.stdout)
    other = saved(tmp_path / "other", [record("a"), record("b"), record("c")])
    assert "damaged line (2)" in " ".join(compare(run.path, other.path).stdout.split())
    assert report(run.path, "-f", "html").exit_code == 0
    page = (run.path / "report" / "index.html").read_text(encoding="utf-8")
    assert "damaged line (2)" in page
    assert page.count('class="square ') == 2


def test_a_record_of_another_version_names_its_line(tmp_path: Path) -> None:
    run = saved(tmp_path / "run", [record("a")])
    other = record("b").model_copy(update={"schema_version": 99})
    with run.lock() as log:
        log.append(other)
    result = report(run.path)
    assert isinstance(result.exception, DataError)
    assert "episodes.jsonl:2" in str(result.exception)


def test_a_place_that_cannot_be_written_is_an_error(runs: Path, tmp_path: Path) -> None:
    for form in ("html", "text"):
        (tmp_path / "file").touch()
        result = report(runs / "oracle", "-f", form, "-o", tmp_path / "file" / "page")
        assert isinstance(result.exception, UserError)
        assert "cannot write" in str(result.exception)


def test_compare_on_the_command_line(runs: Path) -> None:
    text = compare(runs / "muddled", runs / "oracle")
    assert text.exit_code == 0
    assert text.stdout.startswith(("oracle solves more than muddled", "No clear difference"))
    assert "11 tasks scored in both runs" in text.stdout
    assert "Left out, no score in the baseline: 1 task" in text.stdout
    assert "trial_T" not in text.stdout
    listed = compare(runs / "muddled", runs / "oracle", "--list").stdout
    assert "Left out, no score in the baseline (1)\n  valid_unseen/" in listed
    content = json.loads(
        compare(runs / "muddled", runs / "oracle", "--format", "json", "--baseline", 2).stdout
    )
    one = content["comparisons"][0]
    assert one["baseline"] == "oracle"
    assert one["differences"]["success"]["baseline"] == 1.0
    assert len(one["worse"]) == one["counts"]["only_first"]
    assert compare(runs / "muddled", runs / "oracle", "-f", "markdown").stdout.startswith("**")
    printed = compare(runs / "oracle", runs / "muddled", "-f", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(printed)))
    metrics = [row["metric"] for row in rows if row["task_type"] == "all"]
    assert metrics == [found["metric"] for found in one["differences"].values()]
    success, expected = rows[metrics.index("success")], one["differences"]["success"]
    assert (success["baseline"], success["other"]) == ("oracle", "muddled")
    assert float(success["baseline_value"]) == expected["baseline"]
    assert float(success["difference_low"]) == expected["difference"]["low"]
    assert float(success["p_value"]) == expected["p_value"]
    assert {row["task_type"] for row in rows} == {"all", *one["by_type"]}


def test_runs_of_one_name_are_called_by_their_paths(runs: Path, tmp_path: Path) -> None:
    again = saved(tmp_path / "oracle", play("oracle", each=2))
    content = json.loads(compare(again.path, runs / "oracle", "-f", "json").stdout)
    assert content["comparisons"][0]["baseline"] == str(again.path)


def test_compare_refuses_another_benchmark(runs: Path, tmp_path: Path) -> None:
    other = saved(tmp_path / "shop", [record("a")], manifest(benchmark="webshop"))
    result = compare(runs / "oracle", other.path)
    assert isinstance(result.exception, UserError)
    assert "different benchmarks" in str(result.exception)


async def browse(address: str) -> tuple[str, list[str]]:
    """The page as the browser has it after loading, and what it said on its console."""
    async with browser_tab() as tab:
        await tab.open(address)
        return str(await tab.evaluate("document.documentElement.outerHTML")), tab.console


def title_of(page: str) -> str:
    found = re.search(r"<title>(.*?)</title>", page, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.long
@needs_chromium
async def test_the_browser_check_would_see_a_console_error(tmp_path: Path) -> None:
    file = tmp_path / "bad.html"
    file.write_text("<title>t</title><script>document.title='ran'; console.error('seen')</script>")
    page, console = await browse(file.as_uri())
    assert title_of(page) == "ran"
    assert any("seen" in line for line in console)


@pytest.mark.long
@needs_chromium
@pytest.mark.parametrize("run", ["muddled", "oracle", "hostile"])
async def test_a_browser_opens_the_page_in_silence(runs: Path, run: str) -> None:
    assert report(runs / run, "-f", "html").exit_code == 0
    for name in ("index.html", "1.html"):
        page, console = await browse((runs / run / "report" / name).as_uri())
        assert console == []
        assert title_of(page).endswith("· AgentQuest")
        assert page.count("<script") == 1
    page, _ = await browse((runs / run / "report" / "index.html").as_uri())
    assert page.count('class="square ') == _episodes(runs / run)


@pytest.mark.long
@needs_chromium
async def test_a_link_to_a_step_leads_there_without_a_server(runs: Path) -> None:
    assert report(runs / "muddled", "-f", "html").exit_code == 0
    page, console = await browse((runs / "muddled" / "report" / "1.html").as_uri() + "?step=3")
    assert re.search(r'<section class="step now" id="step-3"', page)
    assert console == []


@pytest.fixture
def beacon() -> Iterator[tuple[str, list[str]]]:
    """A server on loopback that remembers what it is asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.long
@needs_chromium
async def test_a_page_asks_nobody_for_anything(
    tmp_path: Path, beacon: tuple[str, list[str]]
) -> None:
    address, asked = beacon
    lure = (
        f'</pre></style></title><img src="{address}/img"><link rel=stylesheet href={address}/css>'
        f"<iframe src='{address}/frame'></iframe><svg><image href='{address}/svg'/></svg>"
        f"<style>@import url({address}/import);</style>"
    )
    bad = step(1, action=lure, reply=lure + " ", observation=lure, admissible=[lure])
    run = saved(
        tmp_path / "run",
        [record("a", End.FAILED, [bad], goal=lure, task_type=lure)],
        manifest(run_id=lure, model=lure),
    )
    assert report(run.path, "-f", "html").exit_code == 0
    control = tmp_path / "control.html"
    control.write_text(f'<img src="{address}/control">')
    await browse(control.as_uri())
    assert asked == ["/control"]
    for name in ("index.html", "1.html"):
        _, console = await browse((run.path / "report" / name).as_uri())
        assert console == []
    assert asked == ["/control"]
    assert console == []


def _episodes(run: Path) -> int:
    return (run / "episodes.jsonl").read_bytes().count(b"\n")
