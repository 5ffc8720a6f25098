"""OpenEnv's own client: tasks by split and index, an episode, errors, and the promised schema."""

import asyncio
import json
import sys

import jsonschema
import requests
from openenv import GenericEnvClient

URL = sys.argv[1]


async def refused(work):
    try:
        await work
    except RuntimeError as error:
        return str(error)
    return None


def over_http():
    schema = requests.get(f"{URL}/schema", timeout=10).json()
    name = requests.get(f"{URL}/list_environments", timeout=10).json()[0]
    asked = {"split": "valid_seen", "index": 3}
    return schema, requests.post(f"{URL}/{name}/task", json=asked, timeout=10).json()["task"]


async def main(schema, task):
    said = {}
    async with GenericEnvClient(base_url=URL) as env:
        result = await env.reset(split="valid_seen", index=3, oracle=True, episode_id="mine")
        said["task"] = result.observation["task_id"] == task["id"]
        rewards = []
        while not result.done:
            result = await env.step({"command": result.observation["plan"][0]})
            rewards.append(result.reward)
            whole = {**result.observation, "reward": result.reward, "done": result.done}
            jsonschema.validate(whole, schema["observation"])
        said["rewards"] = [sum(rewards), rewards[-1]]
        state = await env.state()
        jsonschema.validate(state, schema["state"])
        said["state"] = [state["episode_id"], state["step_count"] == len(rewards), state["won"]]
        said["wrong"] = await refused(env.step({"cmd": "look"}))
        said["unknown"] = await refused(env.reset(idx=3))
        again = GenericEnvClient(base_url=URL)
        said["full"] = await refused(again.reset(seed=1))
        await again.close()
    async with GenericEnvClient(base_url=URL) as env:
        first, second = await env.reset(seed=5), await env.reset(seed=5)
        said["seed"] = first.observation == second.observation
    print(json.dumps(said))


asyncio.run(main(*over_http()))
