"""What users of WebShop write: by class, sharing a server, and reaching into it."""

import random
import sys

from web_agent_site.envs import WebAgentTextEnv
from web_agent_site.utils import DEBUG_PROD_SIZE

env = WebAgentTextEnv(observation_mode="text", num_products=DEBUG_PROD_SIZE, file_path=sys.argv[1])
twin = WebAgentTextEnv(observation_mode="text_rich", server=env.server, session_prefix="twin-")
observation, _ = env.reset(session=3)
goal = env.server.goals[3]
assert goal["instruction_text"] in observation
twin.reset(session=3)
assert twin.session == "twin-3"
assert twin.server.user_sessions["twin-3"]["goal"] == goal
state, reward, done, info = env.step(f"search[{goal['name']}]")
while goal["asin"].lower() not in env.get_available_actions()["clickables"]:
    state, reward, done, info = env.step("click[next >]")
env.step(f"click[{goal['asin'].lower()}]")
for value in goal["goal_options"].values():
    env.step(f"click[{value}]")
state, reward, done, info = env.step("click[buy now]")
print(reward, done, info, env.server.user_sessions["3"]["done"], random.random())
