"""`results.json` has the shape that docs/records.md gives, key by key and type by type."""

import asyncio
import datetime
import gc
import json
from pathlib import Path
from typing import Any

import pytest
from evaluator_runs import evaluate, results
from explorer_answers import answer

import agentquest
from agentquest.records.episode import EpisodeRecord
from agentquest.store.folder import EPISODES, RESULTS
from agentquest.store.index import INDEX
from chat_server import ChatServer
from documented_results import DOCUMENTED, require_shape


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("results")
    asyncio.run(a_run(folder))
    return results(folder / "r")


async def a_run(folder: Path) -> None:
    async with ChatServer(answer) as server:
        await evaluate(
            folder,
            "num_games=18",
            "max_steps=8",
            "run_name=r",
            "llm.model=qwen/qwen3-8b",
            "agent.history_length=60",
            f"llm.base_url={server.url}",
        )


def test_it_has_the_documents_keys_and_types(document: dict[str, Any]) -> None:
    require_shape(document, DOCUMENTED)
    assert document["model"] == "qwen/qwen3-8b"
    assert datetime.datetime.fromisoformat(document["timestamp"]).tzinfo is not None
    assert document["config"] == {
        "num_games": 18,
        "task_types": [1, 2, 3, 4, 5, 6],
        "seed": 42,
        "use_few_shot": True,
        "max_steps": 8,
        "temperature": 0.3,
        "max_tokens": 8192,
    }


def test_its_figures_are_those_of_its_games(document: dict[str, Any]) -> None:
    games, summary = document["results"], document["summary"]
    assert 0 < summary["successes"] < 18
    assert summary["total_games"] == len(games) == 18
    assert summary["successes"] == sum(game["success"] for game in games)
    assert summary["success_rate"] == summary["successes"] / 18
    assert summary["avg_steps"] == sum(game["steps"] for game in games) / 18
    for game in games:
        assert len(game["actions"]) == len(game["observations"]) == game["steps"] <= 8
        assert game["success"] or game["steps"] == 8


async def test_two_runs_of_one_configuration_write_the_same_results(tmp_path: Path) -> None:
    for name in ("a", "b"):
        await evaluate(tmp_path, "num_games=6", f"run_name={name}")
    one, two = results(tmp_path / "a"), results(tmp_path / "b")
    for content in (one, two):
        del content["timestamp"], content["run_id"], content["pace"]
    assert one == two


SMALL: dict[str, Any] = {"data_path": "builtin", "agent": "oracle", "num_games": 6, "run_name": "r"}


@pytest.mark.parametrize("lost", [[], [INDEX]])
def test_results_do_not_depend_on_what_can_be_deleted(tmp_path: Path, lost: list[str]) -> None:
    first = agentquest.evaluate(**SMALL, output_dir=tmp_path)
    before = json.loads((first.path / RESULTS).read_text(encoding="utf-8"))
    for name in (*lost, RESULTS):
        (first.path / name).unlink()
    agentquest.evaluate(**SMALL, output_dir=tmp_path)
    assert json.loads((first.path / RESULTS).read_text(encoding="utf-8")) == before
    assert len(before["results"]) == 6


def test_packed_records_give_the_same_results(tmp_path: Path) -> None:
    plain, packed = (
        agentquest.evaluate(**SMALL, output_dir=tmp_path / str(pack), compress_records=pack)
        for pack in (False, True)
    )
    assert plain.summary == packed.summary
    sizes = [(run.path / EPISODES).stat().st_size for run in (plain, packed)]
    assert sizes[1] < sizes[0] / 2
    games = [[record.actions for record in run.records] for run in (plain, packed)]
    assert games[0] == games[1]


def test_a_run_keeps_no_records_in_memory(tmp_path: Path) -> None:
    def kept() -> set[int]:
        gc.collect()
        return {id(one) for one in gc.get_objects() if isinstance(one, EpisodeRecord)}

    before = kept()  # of other tests
    result = agentquest.evaluate(**SMALL, output_dir=tmp_path)
    assert result.complete
    assert kept() <= before
