"""A sweep's file as runs: which combinations there are, and what they are called."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from agentquest.errors import ConfigError
from agentquest.running.sweep import Sweep, load_sweep

BASE: dict[str, Any] = {"name": "trial", "run": {"benchmark": "mastermind", "num_games": 2}}


def a_sweep(folder: Path, *overrides: str, **given: Any) -> Sweep:
    file = folder / "sweep.yaml"
    file.write_text(yaml.safe_dump({**BASE, **given}), encoding="utf-8")
    return load_sweep(file, overrides)


def test_all_is_combined_with_all(tmp_path: Path) -> None:
    sweep = a_sweep(tmp_path, agents=["react", "tools"], seeds=[1, 2, 3])
    assert [(run.agent, run.model, run.seed) for run in sweep.runs] == [
        (agent, "scripted", seed) for agent in ("react", "tools") for seed in (1, 2, 3)
    ]
    assert [run.config.seed for run in sweep.runs] == [1, 2, 3] * 2
    assert sweep.folder == Path("runs/trial")
    assert {run.config.output_dir for run in sweep.runs} == {sweep.folder}


def test_an_agent_that_asks_no_model_is_played_once(tmp_path: Path) -> None:
    models = [{"model": name, "base_url": "http://127.0.0.1:1/v1"} for name in ("small", "large")]
    sweep = a_sweep(tmp_path, agents=["react", "random"], models=models)
    found = [(run.agent, run.model) for run in sweep.runs]
    assert found == [("react", "small"), ("react", "large"), ("random", None)]
    assert [run.config.llm is None for run in sweep.runs] == [False, False, True]


def test_names_say_what_is_combined_and_labels_replace_them(tmp_path: Path) -> None:
    agents = [{"name": "react"}, {"name": "react", "label": "again"}]
    names = [run.name for run in a_sweep(tmp_path, agents=agents).runs]
    assert names == ["react_scripted_seed-42", "again_scripted_seed-42"]
    with pytest.raises(ConfigError, match="two runs are called react_scripted_seed-42"):
        a_sweep(tmp_path, agents=["react", "react"])


def test_long_names_are_cut_and_stay_different(tmp_path: Path) -> None:
    agents = [{"name": "random", "label": "x" * 100 + end} for end in "ab"]
    names = [run.name for run in a_sweep(tmp_path, agents=agents).runs]
    assert len(set(names)) == 2
    assert max(map(len, names)) < 100


def test_overrides_hold_for_every_run(tmp_path: Path) -> None:
    sweep = a_sweep(tmp_path, "max_steps=7", f"output_dir={tmp_path}", seeds=[1, 2])
    assert [run.config.max_steps for run in sweep.runs] == [7, 7]
    assert sweep.folder == tmp_path / "trial"


@pytest.mark.parametrize(
    ("override", "instead"), [("seed=1", "seeds"), ("agent.name=random", "agents")]
)
def test_what_a_sweep_combines_is_not_set_for_one_run(
    tmp_path: Path, override: str, instead: str
) -> None:
    with pytest.raises(ConfigError, match=f"use '{instead}' instead"):
        a_sweep(tmp_path, override)
