"""What an assessment measures, writes down and sends; through a real green agent."""

import asyncio
import itertools
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from agent_processes import agentquest, clean_environment
from green_client import Green

from agentquest import load_run
from agentquest.a2a.assessment import Assessment
from agentquest.a2a.client.connection import find_agent
from agentquest.a2a.config import AssessmentConfig
from agentquest.a2a.documents import end_reason
from agentquest.a2a.launcher import AssessmentFailed
from agentquest.a2a.requests import AssessmentRequest
from agentquest.benchmarks.alfworld.benchmark import AlfWorldBenchmark
from agentquest.config import load_config
from agentquest.metrics.behaviour import behaviour_of
from agentquest.records.manifest import AssessedAgent
from agentquest.running.factory import make_benchmark
from agentquest.running.play import play
from agentquest.running.run import OtherAgent, Run
from agentquest.store.folder import RunFolder
from shared_data import ALFWORLD, needs_alfworld


def agentbeats(url, **config):
    return json.dumps({"participants": {"agent": url}, "config": config})


def chosen(**config):
    return prepared(**config).selection.tasks


def prepared(**config):
    request = AssessmentRequest(agent_url="http://localhost:1/", config=AssessmentConfig(**config))
    return Assessment(request, "builtin")


class TestTheValidationCases:
    def test_perfect_play_is_100(self, green, served):
        result = green.assess(f"{served}PerfectAgent/", task_types=(1,))
        assert (result.data["overall_score"], result.data["grade"]) == (100.0, "A")
        assert result.data["success_rate"] == 1

    def test_a_fridge_left_open_costs_its_share(self, green, served):
        data = green.assess(f"{served}UntidyAgent/", task_types=(5,), num_games=4).data
        opens = [game for game in data["games"] if game["cleanup_rate"] < 1]
        assert opens, "no game in which something is opened"
        for game in data["games"]:
            assert game["won"] is True
            assert game["overall_score"] == 80 + 20 * game["cleanup_rate"]

    def test_repetition_costs_its_share(self, green, served):
        game = green.assess(f"{served}RepeatingAgent/", task_types=(1,)).data["games"][0]
        assert game["consecutive_repetition_rate"] == pytest.approx(3 / game["steps"])
        cycles = 20 * (1 - 4 / game["steps"])
        expected = 40 + 20 + 20 * (1 - 3 / game["steps"]) + cycles
        assert game["overall_score"] == pytest.approx(expected, abs=0.005)


@pytest.fixture(scope="module")
def run(green, scripted):
    """One assessment of twelve games: its result, its news, its folder."""
    before = set(green.logs.iterdir())
    news = []
    result = green.assess(scripted, news, num_games=12, concurrency=4, max_steps=30)
    (folder,) = set(green.logs.iterdir()) - before
    return result, news, folder


class TestOneRun:
    def test_news_of_every_game(self, run):
        result, news, _ = run
        assert sum(line.startswith("[") for line in news) == 12
        assert news[-1].startswith("[12/12]")
        assert f"{result.data['wins']:.0f} won so far" in news[-1]

    def test_games_of_all_types_equally(self, run):
        types = Counter(game["task_type"] for game in run[0].data["games"])
        assert len(types) == 6
        assert set(types.values()) == {2}

    def test_the_result_adds_up(self, run):
        data = run[0].data
        games = data["games"]
        assert data["wins"] == sum(game["won"] for game in games)
        assert data["success_rate"] == pytest.approx(data["wins"] / 12)
        assert data["overall_score"] == pytest.approx(
            sum(game["overall_score"] for game in games) / 12, abs=0.01
        )
        assert data["overall_score"] == pytest.approx(
            sum(value for key, value in data["behaviour"].items() if key.endswith("_score")),
            abs=0.02,
        )
        assert sum(entry["wins"] for entry in data["per_type"].values()) == data["wins"]

    def test_the_text_is_no_json(self, run):
        with pytest.raises(ValueError):
            json.loads(run[0].text)
        assert "ALFWORLD" in run[0].text

    def test_the_files(self, run):
        folder = run[2]
        names = {path.name for path in folder.iterdir()}
        assert {"run_summary.json", "run_report.txt", "episodes.jsonl", "manifest.json"} <= names
        assert {f"game_{n:03d}.json" for n in range(12)} <= names
        assert {f"game_{n:03d}_actions.jsonl" for n in range(12)} <= names
        assert not [name for name in names if name.startswith(".") and not name.endswith(".lock")]

    def test_the_summary(self, run):
        summary = json.loads((run[2] / "run_summary.json").read_text())
        metrics = summary["aggregate_metrics"]
        assert summary["status"] == "completed"
        assert metrics["overall_white_agent_score"] == run[0].data["overall_score"]
        cleanup = metrics["behavior_metrics"]["cleanup"]
        assert metrics["avg_cleanup_rate"] == cleanup["avg_cleanup_rate"]
        assert list(metrics["task_type_breakdown"]) == [f"task_{n}" for n in range(1, 7)]
        assert metrics["task_type_breakdown"]["task_1"]["name"] == "Pick And Place Simple"
        assert len(metrics["game_results"]) == len(summary["game_summaries"]) == 12
        assert {"run_metadata", "end_time", "total_games", "schema_version"} <= set(summary)

    def test_the_games_are_those_of_the_records(self, run):
        folder = run[2]
        records = {record.task_id: record for record in RunFolder(folder).records()}
        manifest = RunFolder(folder).manifest()
        for number in range(12):
            game = json.loads((folder / f"game_{number:03d}.json").read_text())
            record = records[game["gamefile"]]
            lines = (folder / f"game_{number:03d}_actions.jsonl").read_text().splitlines()
            behaviour = behaviour_of(record, manifest.verbs)
            assert game["behavior_metrics"]["action_history"] == list(behaviour.action_history)
            assert game["behavior_metrics"]["overall"]["grade"] == behaviour.overall.grade
            assert game["steps"] == len(lines) == len(record.steps)
            assert record.task_type in record.task_id
            assert game["end_reason"] == end_reason(record)
            assert len(record.steps) <= 30

    def test_a_game_over_a2a_is_the_game_in_process(self, run):
        """The same agent, asked without any network, does exactly the same."""
        config, _ = load_config(
            settings={
                "agent": "scripted",
                "benchmark_settings": {"data_path": "builtin"},
                "max_steps": 30,
                "tasks": [record.task_id for record in RunFolder(run[2]).records()],
            }
        )
        here = {spec.key: asyncio.run(play(spec)) for spec in Run(config).specs}
        for record in RunFolder(run[2]).records():
            same = here[record.key]
            assert same.actions == record.actions
            assert (same.end, same.progress) == (record.end, record.progress)

    def test_the_report(self, run):
        report = (run[2] / "run_report.txt").read_text()
        assert report.startswith("=" * 70 + "\nALFWORLD EVALUATION REPORT")
        assert "completion score" in report
        assert "/40" in report
        assert f"Full logs available at: {run[2]}" in report

    def test_the_evaluators_reports_read_it(self, run, tmp_path):
        copy = shutil.copytree(run[2], tmp_path / "copy")
        report, compared = (
            subprocess.run(
                [sys.executable, "-m", "agentquest", *command],
                capture_output=True,
                text=True,
                env=clean_environment(),
                timeout=120,
            )
            for command in (["report", run[2]], ["compare", run[2], copy])
        )
        assert report.returncode == 0, report.stderr
        assert "pick_and_place_simple" in report.stdout
        assert "agent that crashes or does not answer loses" in report.stdout
        assert compared.returncode == 0, compared.stderr
        results = json.loads((run[2] / "results.json").read_text())
        assert results["summary"]["success_rate"] == run[0].data["success_rate"]
        behaviour = results["summary"]["metrics"]["behaviour"]["value"]
        assert round(behaviour, 2) == run[0].data["overall_score"]

    def test_the_report_says_which_data_was_played(self, run):
        report = (run[2] / "run_report.txt").read_text()
        for text in (report, run[0].text):
            assert re.search("data  +BUILT-IN data, made by AgentQuest: not comparable", text)
        assert (run[0].data["data"], run[0].data["protocol"]) == ("builtin", "none")

    def test_the_same_seed_gives_the_same_games_and_results(self, green, scripted, run):
        again = green.assess(scripted, num_games=12, concurrency=1, max_steps=30)
        assert again.data["games"] == run[0].data["games"]


class TestSelection:
    def test_comprehensive_is_five_of_each(self):
        types = Counter(task.task_type for task in chosen(coverage_mode="comprehensive"))
        assert set(types.values()) == {5}
        assert len(types) == 6

    def test_types_named_twice_count_once(self):
        types = Counter(task.task_type for task in chosen(num_games=3, task_types=(1, 5, 1)))
        assert types == {"pick_and_place_simple": 2, "pick_cool_then_place_in_recep": 1}

    def test_too_few_games_is_said(self):
        assessment = prepared(num_games_per_type=1000, task_types=("heat",))
        tasks = assessment.selection.tasks
        assert len(tasks) == len({task.id for task in tasks}) < 1000
        assert any("1,000 games requested" in note for note in assessment.notes)

    def test_as_many_as_there_are_is_all_of_them(self):
        benchmark = make_benchmark("alfworld", {"data_path": "builtin"})
        everything = {task.id for task in benchmark.tasks()}
        exact, more = (prepared(num_games=len(everything) + extra) for extra in (0, 1))
        for assessment in (exact, more):
            assert {task.id for task in assessment.selection.tasks} == everything
        assert exact.notes == ()
        assert any(f"only {len(everything)} available" in note for note in more.notes)

    def test_shards_are_parts_of_the_whole(self):
        whole = [task.id for task in chosen(num_games=10)]
        parts = [
            [task.id for task in chosen(num_games=10, num_shards=3, shard_index=n)]
            for n in range(3)
        ]
        assert sorted(itertools.chain(*parts)) == sorted(whole)
        assert [len(part) for part in parts] == [4, 3, 3]

    def test_instances_are_capped_before_the_shards(self):
        jobs = chosen(num_games=10, num_instances=4, num_shards=2, shard_index=1)
        assert len(jobs) == 2

    def test_instances_are_spread_over_the_types(self):
        """Also where all games were asked for, which have an order of their own."""
        for wanted in (10, 100_000):
            types = Counter(task.task_type for task in chosen(num_games=wanted, num_instances=9))
            assert (len(types), max(types.values())) == (6, 2)

    def test_a_protocol_that_is_cut_short_loses_its_name(self, tmp_path):
        whole, cut = (
            prepared(protocol="unseen-134", num_instances=number).prepare(
                AssessedAgent(name="a"), tmp_path
            )
            for number in (134, 10)
        )
        assert (whole.manifest().protocol, cut.manifest().protocol) == ("unseen-134", None)
        assert any("num_instances leaves out games" in note for note in cut.manifest().notes)

    def test_another_seed_gives_other_games(self):
        one, two = ([task.id for task in chosen(num_games=6, seed=seed)] for seed in (1, 2))
        assert one != two
        assert one == [task.id for task in chosen(num_games=6, seed=1)]


class TestWhoseRunItIs:
    AGENT = AssessedAgent(name="one", version="1", skills="abc", model="small")

    def begin(self, folder, agent=AGENT, resume=False):
        run = prepared(num_games=2).prepare(agent, folder, resume)
        run.prepare()
        return run

    def test_it_is_continued_with_the_same_agent(self, tmp_path):
        assert self.begin(tmp_path).run_id == self.begin(tmp_path, resume=True).run_id

    @pytest.mark.parametrize("changed", ["name", "version", "skills", "model"])
    def test_another_agent_is_refused_with_the_difference(self, tmp_path, changed):
        self.begin(tmp_path)
        other = self.AGENT.model_copy(update={changed: "other"})
        was = getattr(self.AGENT, changed)
        with pytest.raises(OtherAgent, match=f"{changed}: was '{was}', is 'other'"):
            self.begin(tmp_path, other, resume=True)
        assert self.begin(tmp_path, other).run_id != self.begin(tmp_path, resume=True).run_id

    def test_the_runs_of_several_agents_are_told_apart(self, tmp_path):
        other = self.AGENT.model_copy(update={"name": "two"})
        one, two = self.begin(tmp_path), self.begin(tmp_path, other)
        assert self.begin(tmp_path, resume=True).run_id == one.run_id
        assert self.begin(tmp_path, other, resume=True).run_id == two.run_id

    def test_everything_names_the_agent(self, run):
        stored = load_run(run[2])
        name = "AgentQuest white agent (scripted)"
        assert (stored.manifest.agent, stored.manifest.assessed.name) == (name, name)
        assert {row["agent"] for row in stored.to_rows()} == {name}
        assert {record.agent for record in stored.records} == {name}
        assert json.loads((run[2] / "results.json").read_text())["agent"] == name
        about = dict(stored.report.facts)
        assert (about["agent"], about["model"]) == (name, "not told by the agent")


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"train_eval": "nowhere"}, "nowhere"),
        ({"task_types": (9,)}, "'9' is not a task type"),
        ({"benchmark": "chess"}, "chess"),
    ],
)
def test_what_cannot_be_played_is_rejected(green, config, reason):
    with pytest.raises(AssessmentFailed, match=f"rejected.*{reason}"):
        green.ask(agentbeats("http://localhost:9/", **config))


def test_an_empty_shard_is_an_empty_result(green, scripted):
    data = green.assess(scripted, num_games=1, num_shards=5, shard_index=3).data
    assert (data["num_games"], data["games"], data["success_rate"]) == (0, [], None)


def test_the_first_action_policy_is_only_for_comparisons(green, strange):
    game = green.assess(f"{strange}nonsense/", max_steps=3, invalid_policy="first").data["games"][0]
    assert (game["steps"], game["invalid_actions"]) == (3, 0)


def _repeated_choices(folder):
    """How often two games choose the same place in lists of the same length."""
    choices = [
        [
            (len(offered), offered.index(step.action))
            for step, offered in zip(
                record.steps,
                [record.first_admissible, *(step.admissible for step in record.steps)],
                strict=False,
            )
        ]
        for record in load_run(folder).records
    ]
    pairs = [
        (one[1], two[1])
        for first, second in itertools.combinations(choices, 2)
        for one, two in zip(first, second, strict=False)
        if one[0] == two[0]
    ]
    assert len(pairs) > 10
    return sum(one == two for one, two in pairs) / len(pairs)


@pytest.mark.parametrize("kind", ["repetitive", "alternating", "random", "oracle"])
def test_the_baselines(green, served, kind):
    data, again = (
        green.assess(f"{served}{kind}/", num_games=6, max_steps=12, concurrency=n).data
        for n in (3, 1)
    )
    assert data["errors"] == 0
    assert data["invalid_rate"] == 0
    assert data["games"] == again["games"]
    if kind == "oracle":
        assert data["success_rate"] == 1
    if kind == "random":
        assert _repeated_choices(green.logs / data["run_id"]) < 0.5
    if kind == "repetitive":
        assert data["behaviour"]["consecutive_repetition_rate"] > 0.5
    if kind == "alternating":
        assert data["behaviour"]["cycle_rate"] > 0.5


def test_two_assessments_at_once_do_not_meet(green, served):
    with ThreadPoolExecutor() as pool:
        one = pool.submit(green.assess, f"{served}scripted/", num_games=3, max_steps=10, seed=1)
        two = pool.submit(green.assess, f"{served}repetitive/", num_games=2, max_steps=5, seed=2)
        results = one.result(), two.result()
    assert [result.data["num_games"] for result in results] == [3, 2]
    assert len({result.data["run_id"] for result in results}) == 2


@pytest.mark.parametrize("benchmark", ["mastermind", "sudoku"])
def test_other_benchmarks_are_assessed_the_same_way(green, benchmark):
    options = ["--type", "scripted", "--benchmark", benchmark, "--port", "0"]
    with agentquest("white", *options) as agent:
        data = green.assess(agent.url, benchmark=benchmark, num_games=3).data
    assert (data["num_games"], data["errors"], data["invalid_rate"]) == (3, 0, 0)
    assert data["wins"] > 0
    assert data["behaviour"]["cleanup_score"] == 0


def test_webshop_is_assessed_the_same_way(green):
    options = ["--type", "scripted", "--benchmark", "webshop", "--port", "0"]
    with agentquest("white", *options, "--data-path", "builtin") as agent:
        data = green.assess(agent.url, benchmark="webshop", num_games=5, max_steps=15).data
    assert (data["num_games"], data["errors"], data["invalid_rate"]) == (5, 0, 0)
    assert set(data["per_type"]) == {"beauty", "electronics", "fashion", "garden", "grocery"}
    assert data["avg_score"] > 0


@needs_alfworld
def test_real_games(tmp_path):
    """The oracle finds out which of the real games it plays, though some begin alike."""
    with agentquest("white", "--type", "oracle", "--port", "0", "--data-path", ALFWORLD) as agent:
        options = ["--port", "0", "--log-dir", tmp_path, "--data-path", ALFWORLD]
        with agentquest("green", *options) as process:
            data = Green(process, tmp_path).assess(agent.url, num_games=12, concurrency=4).data
    assert data["data"] == "real"
    assert (data["success_rate"], data["errors"]) == (1, 0)


def test_a_benchmarks_own_metrics_are_measured(tmp_path, scripted, monkeypatch):
    monkeypatch.setattr(AlfWorldBenchmark, "metrics", ("custom_metric:OPENED",))

    async def assess():
        async def ignore(text):
            pass

        request = AssessmentRequest(agent_url=scripted, config=AssessmentConfig(task_types=(1,)))
        endpoint = await find_agent(scripted, 10)
        await Assessment(request, "builtin").play(endpoint, tmp_path, ignore)

    asyncio.run(assess())
    (folder,) = tmp_path.iterdir()
    result = load_run(folder)
    assert result.rows
    assert all(row.values["opened"] is not None for row in result.rows)
    assert result.summary["metrics"]["opened"]["n"] == len(result.rows)
