"""Plays games with the reference engine; runs in the reference's own environment.

One JSON object a line in, one out. `{"do": "open", "game": path}`,
`{"do": "step", "command": text}`, `{"do": "plan"}`, `{"do": "memory"}`,
`{"do": "quit"}`. Answers carry what an agent would be shown and the seconds of
processor time the engine took, so that neither the pipe nor other programs on
the machine are measured with it. With `"keep": true` the
game opened before stays alive, which is how memory is measured.

Nothing of AgentQuest is imported here, and nothing of the reference elsewhere.
"""

import json
import os
import sys
import time
from pathlib import Path

import textworld
from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
from textworld.envs.pddl import PddlEnv


class Player:
    """The game being played, and those that are only kept alive."""

    def __init__(self):
        self.env = None
        self.kept = []

    def answer(self, request):
        do = request["do"]
        if do == "open":
            if request.get("keep") and self.env is not None:
                self.kept.append(self.env)
            self.env = None
            return self.timed(lambda: self.open(request["game"]))
        if do == "step":
            return self.timed(lambda: shown(self.env.step(request["command"])[0]))
        if do == "plan":
            return self.timed(self.plan)
        if do == "memory":
            return {"bytes": resident_bytes()}
        raise ValueError(f"unknown request {do!r}")

    def timed(self, work):
        start = time.process_time()
        result = work()
        result["seconds"] = time.process_time() - start
        return result

    def open(self, game):
        infos = textworld.EnvInfos(won=True, admissible_commands=True)
        self.env = AlfredDemangler(PddlEnv(infos), shuffle=False)
        self.env.load(game)
        return shown(self.env.reset())

    def plan(self):
        base = self.env.unwrapped
        return {"plan": base._pddl_state.replan(base._entity_infos)}


def shown(state):
    return {
        "observation": state.feedback,
        "admissible": list(state["admissible_commands"]),
        "won": bool(state["won"]),
    }


def resident_bytes():
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def main():
    # The planner prints as it pleases, so answers get a channel of their own.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    player = Player()
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "quit":
            return
        answers.write(json.dumps(player.answer(request)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
