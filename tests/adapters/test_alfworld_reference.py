"""The same scripts on the published package and on ours: everything they see must be the same.

The reference is made by `make conformance`; without it these are skipped.
"""

from pathlib import Path

import pytest
from adapter_scripts import SCRIPTS, alfworld_config, run, with_dropin, written

from shared_data import ALFWORLD, needs_alfworld

REFERENCE = Path(__file__).resolve().parents[2] / ".reference-venv" / "bin" / "python"
pytestmark = [
    needs_alfworld,
    pytest.mark.skipif(not REFERENCE.is_file(), reason="alfworld is installed by make conformance"),
]
DATA = {"ALFWORLD_DATA": str(ALFWORLD)}


def _results(out):
    """What the script wrote; the reference's progress bars and greetings are not part of it."""
    return [line for line in out.splitlines() if line.startswith("[")]


@pytest.mark.parametrize(
    ("split", "batch", "method", "resets", "limit"),
    [
        ("eval_out_of_distribution", 1, "dqn", 2, 12),
        ("eval_in_distribution", 3, "dagger", 1, 8),
        ("train", 1, "dagger", 2, 8),
        ("train", 2, "dqn", 1, 8),
    ],
)
def test_whole_runs_are_the_same(tmp_path, split, batch, method, resets, limit):
    config = alfworld_config()
    config["dataset"]["data_path"] = config["dataset"]["eval_id_data_path"]  # train is not here
    arguments = [written(config, tmp_path), split, batch, method, resets, limit]
    script = SCRIPTS / "alfworld_walk.py"
    theirs = _results(run([REFERENCE, script, *arguments], **DATA))
    assert _results(with_dropin(script, *arguments, **DATA)) == theirs
    assert len(theirs) > resets * (limit + 3)


def test_a_game_registered_by_hand_is_the_same():
    game = sorted(ALFWORLD.glob("json_2.1.1/valid_seen/pick_and_place_simple-*/*/game.tw-pddl"))[0]
    script = SCRIPTS / "textworld_planner.py"
    theirs = run([REFERENCE, script, game], **DATA)
    assert _results(with_dropin(script, game, **DATA)) == _results(theirs)
