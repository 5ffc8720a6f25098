"""Opens many games in a process of its own and says what they occupy.

Reads the paths of games from standard input, one a line, opens them in turn
until `count` are alive, and prints the bytes before and after as JSON.
"""

import gc
import itertools
import json
import sys

from measuring import resident_bytes

from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine


def main(count: int) -> None:
    paths = [line.rstrip("\n") for line in sys.stdin]
    AlfWorldEngine.load(paths[0]).reset()
    gc.collect()
    before = resident_bytes()
    alive = []
    for path in itertools.islice(itertools.cycle(paths), count):
        game = AlfWorldEngine.load(path)
        # Asked for, because a game in play also holds what is possible now.
        assert game.admissible
        alive.append(game)
    gc.collect()
    after = resident_bytes()
    sys.stdout.write(json.dumps({"before": before, "after": after, "games": len(alive)}) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
