"""The taskset as verifiers loads it, and its model-free check."""

import asyncio
import json

from verifiers.v1.utils.loaders import environment_class, taskset_class

taskset = taskset_class("agentquest-v1")
assert environment_class("agentquest-v1").__name__ == "GameEnv"
config = taskset.__orig_bases__[0].__args__[1]
tasks = list(taskset(config(id="agentquest-v1", settings={"data_path": "builtin"})).load())
valid = [asyncio.run(task.validate(None)) for task in tasks[:5]]
print(json.dumps({"tasks": len(tasks), "valid": valid}))
