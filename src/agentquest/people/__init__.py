"""People play what agents play: in the terminal and in the browser, recorded like any agent.

session    one game: what each line that a person types does
recorder   a finished game as an episode of a run
terminal   the game in a terminal; prompt reads the lines
games      games in the viewer; routes has their addresses, pages draws them
"""
