"""By gym id, as most WebShop code makes it."""

import gym
import web_agent_site.envs  # noqa: F401  registers the id

env = gym.make("WebAgentTextEnv-v0", observation_mode="text", file_path="builtin", limit_goals=50)
first, info = env.reset(session=3)
result = env.step("search[shirt]")
print(len(env.unwrapped.server.goals), info, len(result), result[1:])
