"""Play one ALFWorld game by hand, with the loop of the documentation.

Answer as a language model would, for instance `Action: go to fridge 1`. The game
ends when it is won or when there is no more input. Which game: the first of
valid_unseen, or the one named on the command line.
Run it: `python examples/play_alfworld.py [problem]`
"""

import sys

from agentquest.benchmarks.alfworld import AlfWorldDriver, AlfWorldUtils


def main() -> None:
    if len(sys.argv) > 1:
        problem = sys.argv[1]
    else:
        problem = AlfWorldUtils.load_data(category="all", source="valid_unseen")[0]
    driver = AlfWorldDriver(problem=problem)
    obs = driver.reset()
    print(obs.output)
    while not obs.success and obs.can_proceed:
        try:
            answer = input()
        except EOFError:
            break
        obs = driver.step_raw(value=answer)
        print(obs.output)
    metrics = driver.metrics.export()
    print("success:", metrics["success"])
    print("progress:", metrics["progress"])
    print("repetition rate:", metrics["repetition_rate"])


if __name__ == "__main__":
    main()
