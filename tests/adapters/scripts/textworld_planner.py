"""What users of the planner expert write: one game, registered by hand, without lists."""

import json
import sys

import textworld
import textworld.gym
from alfworld.agents.environment.alfred_tw_env import (
    AlfredDemangler,
    AlfredExpert,
    AlfredExpertType,
    AlfredInfos,
)

wanted = textworld.EnvInfos(
    won=True, admissible_commands=True, score=True, moves=True, description=True,
    extras=["gamefile", "expert_plan"],
)  # fmt: skip
expert = AlfredExpert(expert_type=AlfredExpertType.PLANNER)
env_id = textworld.gym.register_game(
    sys.argv[1], wanted, max_episode_steps=60, wrappers=[AlfredDemangler(), AlfredInfos, expert]
)
env = textworld.gym.make(env_id)
observation, infos = env.reset()
said = [env_id, observation, sorted(infos), infos["won"], infos["score"], infos["extra.gamefile"]]
done, steps = False, 0
while not done:
    if steps == 1:
        env.step("nonsense")
    observation, score, done, infos = env.step(infos["extra.expert_plan"][0])
    steps += 1
said += [score, done, infos["won"], infos["score"], infos["moves"], steps, infos["description"]]
said += [infos["extra.gamefile"], infos["extra.expert_plan"]]
json.dump(said, sys.stdout)
