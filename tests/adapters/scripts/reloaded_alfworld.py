"""What Reflexion's loop does before every trial: it reloads the package, then plays."""

import importlib
import sys
from pathlib import Path

import alfworld
import alfworld.agents.environment
import yaml

config = yaml.safe_load(Path(sys.argv[1]).read_text(encoding="utf-8"))
for _ in range(2):
    importlib.reload(alfworld)
    importlib.reload(alfworld.agents.environment)
    games = getattr(alfworld.agents.environment, config["env"]["type"])(
        config, train_eval="eval_out_of_distribution"
    )
    env = games.init_env(batch_size=1)
    observation, infos = env.reset()
one = games.init_game(batch_size=1, game_file=games.game_files[2])
print(one.reset()[1]["extra.gamefile"] == [games.game_files[2]])
