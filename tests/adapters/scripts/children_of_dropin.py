"""Environments in child processes, as trainers have them: spawned, and started by hand."""

import multiprocessing
import subprocess
import sys

ASK = "import textworld, web_agent_site.envs as envs; print(envs.WebAgentTextEnv.__module__)"


def tell(queue):
    import alfworld.agents.environment as environment
    import textworld

    queue.put((environment.AlfredTWEnv.__module__, textworld.start.__module__))


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    child = context.Process(target=tell, args=(queue,))
    child.start()
    print(*queue.get(timeout=60))
    child.join()
    print(subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True).stdout)
