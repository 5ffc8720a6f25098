"""The figures of documents: made by the table of metrics, over the games that say something."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from agentquest import load_run, registry
from agentquest.a2a.assessment import Assessment
from agentquest.a2a.client.wire import RemoteReply
from agentquest.a2a.config import AssessmentConfig
from agentquest.a2a.documents import (
    AssessedGame,
    end_reason,
    report_text,
    result_document,
    summary_document,
)
from agentquest.a2a.messages import read_message
from agentquest.a2a.requests import AssessmentRequest
from agentquest.metrics.table import Metric
from agentquest.records.manifest import AssessedAgent
from agentquest.records.outcome import End
from agentquest.running import monitor
from agentquest.store.folder import RunFolder


class Script:
    """A party without any network: each game has a player, which answers messages in turn."""

    card = SimpleNamespace(agent=AssessedAgent(name="script"))

    def __init__(self, *players):
        self._players = iter(players)

    def connect(self):
        return Playing(next(self._players))


class Playing:
    def __init__(self, player):
        self._player = player

    async def send(self, text):
        return RemoteReply(self._player(text))

    async def close(self):
        return None


def saying(*words):
    """Says these words, then crashes."""
    left = iter(words)
    return lambda text: next(left)


def opening():
    """Walks from place to place, opens whatever it can, and closes nothing."""
    been = set()

    def answer(text):
        options = read_message(text).admissible
        wanted = [option for option in options if option.startswith(("open ", "go to "))]
        chosen = next(option for option in reversed(wanted) if option not in been)
        been.add(chosen)
        return chosen

    return answer


async def assessed(tmp_path, *players, **config):
    config = {"num_games": len(players), "max_steps": 6, **config}
    request = AssessmentRequest(agent_url="http://localhost:1/", config=AssessmentConfig(**config))

    async def tell(news):
        return None

    return await Assessment(request, "builtin").play(Script(*players), tmp_path, tell)


def plain_report(result):
    """The report without its layout."""
    return " ".join(report_text(result).split())


async def test_tidiness_is_averaged_over_the_games_played(tmp_path):
    """A game in which nothing was opened leaves nothing open; its points say the same."""
    looking = [saying(*["look", "inventory"] * 15) for _ in range(2)]
    result = await assessed(tmp_path, opening(), *looking, max_steps=30)
    totals = summary_document(result)["aggregate_metrics"]["behavior_metrics"]["cleanup"]
    assert (totals["games_with_opens"], totals["correct_close_count"]) == (1, 0)
    assert totals["total_opens"] > 0
    assert totals["avg_cleanup_rate"] == pytest.approx(2 / 3)
    assert result_document(result)["behaviour"]["cleanup_rate"] == pytest.approx(2 / 3)
    points = result.figures["score_breakdown"]["cleanup_score"]
    assert points == pytest.approx(20 * totals["avg_cleanup_rate"], abs=0.005)
    closed = f"0 of {totals['total_opens']} closed again"
    assert f"cleanup 66.7%, {closed} in the 1 game that opened something" in plain_report(result)
    assert "carried out" not in plain_report(result)


async def test_points_are_rounded_once(tmp_path):
    """One step of six repeated is 16.67 of 20 points; with a game of 20 the mean is 18.33, though
    that of 16.67 and 20 is 18.34."""
    repeating = saying("look", "look", "inventory", "look", "inventory", "look")
    result = await assessed(tmp_path, repeating, opening())
    assert result.figures["score_breakdown"]["repetition_score"] == 18.33


async def test_the_report_says_where_points_count_by_the_share_carried_out(tmp_path):
    result = await assessed(tmp_path, saying(*["look", "xyzzy"] * 3), saying(*["look"] * 6))
    said = "carried out 75.0% of commands; in 1 game not all were"
    assert said in plain_report(result)


async def test_without_doors_there_is_no_tidiness(tmp_path):
    result = await assessed(tmp_path, saying(*["1 2 3 4"] * 6), benchmark="mastermind")
    assert result_document(result)["behaviour"]["cleanup_rate"] is None
    assert "cleanup score" not in plain_report(result)


async def test_an_agent_that_crashes_loses_and_is_counted(tmp_path):
    result = await assessed(tmp_path, *(saying("look") for _ in range(3)))
    document = result_document(result)
    assert [game["end_reason"] for game in document["games"]] == ["agent_error"] * 3
    assert (document["num_games"], document["errors"], document["success_rate"]) == (3, 3, 0.0)
    assert document["win_share_of_requested"] == 0
    assert "wins 0 of 3 games requested" in plain_report(result)


async def test_every_end_has_its_word(tmp_path):
    result = await assessed(tmp_path, saying(*["look"] * 9))
    (record,) = RunFolder(Path(result.folder)).records()
    words = {end: end_reason(record.model_copy(update={"end": end})) for end in End}
    assert words == {
        End.SOLVED: "won",
        End.FAILED: "lost",
        End.STEP_LIMIT: "max_steps",
        End.CONTEXT_LIMIT: "context_limit",
        End.GAVE_UP: "gave_up",
        End.AGENT_FAULT: "agent_error",
        End.INFRASTRUCTURE_FAULT: "env_error",
        End.CANCELLED: "cancelled",
    }


async def test_noise_is_worth_nothing(tmp_path):
    result = await assessed(tmp_path, saying(*(f"xyzzy{number}" for number in range(9))))
    assert result_document(result)["overall_score"] == 0
    assert result_document(result)["grade"] == "F"


async def test_names_mean_one_thing(tmp_path):
    """`repetition_rate` of reports is about any earlier action; ours is about the one before."""
    commands = ["look", "inventory", "look", "look", "inventory", "look"]
    result = await assessed(tmp_path, saying(*commands))
    (game,) = result_document(result)["games"]
    assert game["consecutive_repetition_rate"] == 1 / 6
    assert result.report.overall.cells["repetition"].estimate.value == 4 / 5
    assert "repetition_rate" not in game
    assert "consecutive repetition 16.7% of commands, 1 in total, longest run 2" in plain_report(
        result
    )


async def test_a_benchmarks_own_metrics_are_in_every_document(tmp_path):
    result = await assessed(tmp_path, saying(*["Guess: 1234"] * 30), benchmark="mastermind")
    own = set(result.own_metrics)
    assert own == set(result_document(result)["metrics"])
    assert own == set(summary_document(result)["aggregate_metrics"]["metrics"])
    assert bool(own) == bool(result.manifest.metrics)


async def test_the_goal_is_said_again_on_request(tmp_path):
    heard = []

    def listening(text):
        heard.append(text)
        return "look"

    await assessed(tmp_path, listening, max_steps=2, repeat_goal=True)
    await assessed(tmp_path, listening, max_steps=2)
    first, again, _, without = heard
    goal = first.partition("Your task is to: ")[2].partition(".")[0]
    assert again.count(goal) == 1
    assert "YOUR TASK:\n" in again
    assert goal not in without


async def test_a_record_is_read_once(tmp_path, monkeypatch):
    """Every checkpoint writes all games; only what was not worked out before is."""
    made = []
    from_record = AssessedGame.from_record

    def count(index, record, verbs):
        made.append(index)
        return from_record(index, record, verbs)

    monkeypatch.setattr(AssessedGame, "from_record", count)
    monkeypatch.setattr(monitor, "_FIRST_CHECKPOINT_S", 0.0)
    result = await assessed(tmp_path, *(saying(*["look"] * 9) for _ in range(4)))
    assert sorted(made) == [game.document["game_idx"] for game in result.games] == [0, 1, 2, 3]


async def test_metrics_of_a_benchmarks_own_are_saved(tmp_path, monkeypatch):
    benchmark = registry.load("benchmark", "mastermind")
    monkeypatch.setattr(benchmark, "metrics", (f"{__name__}:TURNS",))
    result = await assessed(tmp_path, saying(*["Guess: 1234"] * 30), benchmark="mastermind")
    assert result.own_metrics == {"turns": 6}
    assert load_run(result.folder).summary["metrics"]["turns"]["value"] == 6
    saved = json.loads((Path(result.folder) / "metrics.json").read_text())
    assert [metric["path"] for metric in saved["metrics"]] == [f"{__name__}:TURNS"]


TURNS = Metric("turns", "turns", "number", "Turns of the game.", lambda record: len(record.steps))
