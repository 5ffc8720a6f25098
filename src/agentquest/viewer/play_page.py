"""Playing in the browser: the choice of a game, and a game in progress. Needs no script."""

from collections.abc import Iterator, Sequence

from htpy import Node, fragment
from markupsafe import Markup

from agentquest import registry
from agentquest.errors import AgentQuestError
from agentquest.lib import Benchmark
from agentquest.lib.commands import has_blank
from agentquest.records.episode import EpisodeRecord
from agentquest.reports.safe_text import html_text
from agentquest.viewer.addresses import Addresses
from agentquest.viewer.games import WebGame
from agentquest.viewer.layout import badge, choice, facts, fold, link, pre
from agentquest.viewer.replay import moment
from agentquest.words import counted, plural

_SHOWN_MOVES = 60


def form(action: str, token: str, content: str, kind: str = "") -> str:
    """A form that changes something: it holds what only our own pages know."""
    style = f' class="{kind}"' if kind else ""
    return (
        f'<form method="post" action="{html_text(action)}"{style}>'
        f'<input type="hidden" name="token" value="{html_text(token)}">{content}</form>'
    )


def play_page(site: Addresses, token: str) -> Iterator[Node]:
    """A card for each benchmark."""
    yield "<h1>Play</h1>"
    yield (
        '<p class="note">The same games that agents play, recorded the same way; hints and undone'
        f" steps are noted. {link(site.page('people'), 'How people do')}</p>"
        '<div class="cards">'
    )
    for name in registry.names("benchmark"):
        try:
            found: type[Benchmark] = registry.load_registered("benchmark", name)
        except AgentQuestError as error:
            yield f'<div class="card"><h2>{html_text(name)}</h2><p>{html_text(error)}</p></div>'
            continue
        yield f'<div class="card"><h2>{html_text(found.title)}</h2>'
        default = next(iter(found.splits))
        fields = [
            f'<input type="hidden" name="benchmark" value="{html_text(name)}">',
            choice("split", "split", list(found.splits)[1:], "", default),
            choice("type", "type", found.task_types, ""),
            '<label>task (optional)<input name="task" autocomplete="off"></label>',
            '<button class="primary">Play</button>',
        ]
        yield form("/play", token, "".join(map(str, fields)), "filters")
        if "serve" in found.commands:
            yield (
                '<p class="note">As a separate web site, for many people:'
                f" <code>agentquest serve {html_text(name)} --site</code></p>"
            )
        yield "</div>"
    yield "</div>"


def play_on_page(
    site: Addresses, token: str, run: str, record: EpisodeRecord, step: int
) -> Iterator[Node]:
    """What will be opened, and the button that opens it."""
    yield f'<p class="up">{link(site.episode(run, record.key, step), run)}</p>'
    yield f"<h1>Play on from step {step}</h1><p>{html_text(record.goal)}</p>"
    yield (
        f'<p class="note">{html_text(record.agent)} is replayed up to step {step};'
        " then it is your turn. It is recorded as a person's episode, in a run of its own.</p>"
    )
    last = record.steps[step - 1].observation if step else record.first_observation
    yield pre(last, "told")
    hidden = {"run": run, "episode": record.key, "step": str(step)}
    fields = "".join(
        f'<input type="hidden" name="{name}" value="{html_text(value)}">'
        for name, value in hidden.items()
    )
    yield form("/play-on", token, f'{fields}<p><button class="primary">Play on</button></p>')


def game_page(site: Addresses, token: str, game: WebGame) -> Iterator[Node]:
    """A game as it stands."""
    session = game.session
    yield f'<p class="up">{_back(site, game)}</p><h1>{html_text(session.goal)}</h1>'
    yield facts(
        [
            ("benchmark", html_text(game.benchmark.title)),
            ("type", html_text(game.task.task_type)),
            ("steps", str(session.steps)),
            ("shortest plan", str(session.shortest or "–")),
            ("hints", str(session.all_hints)),
            ("undone", str(session.all_undone)),
        ]
    )
    yield '<div class="columns"><div>'
    yield from _transcript(game)
    yield _result(site, game) if game.over else _controls(token, game)
    yield "</div>"
    beside = "" if game.over else _beside(token, game)
    yield f'<aside aria-label="possible commands">{beside}</aside></div>'


def _back(site: Addresses, game: WebGame) -> str:
    origin = game.origin
    if origin is None:
        return link(site.page("play"), "Other games")
    text = f"{origin.run}, step {origin.step}"
    return link(site.episode(origin.run, origin.key, origin.step), text)


def _transcript(game: WebGame) -> Iterator[Node]:
    session = game.session
    yield pre(session.view.room(session.introduction), "told")
    steps = list(zip(session.moves, session.driver.metrics.interactions, strict=False))
    hidden = max(0, len(steps) - _SHOWN_MOVES)
    if hidden:
        yield f'<p class="note">{hidden} earlier {plural(hidden, "step")}</p>'
    yield f'<ol class="transcript" start="{hidden + 1}">'
    for move, done in steps[hidden:]:
        who = badge("unscored", game.origin.agent) if move.inherited and game.origin else ""
        said = pre(session.view.said(done.observation), "told")
        yield f"<li><code>{html_text(move.command)}</code> {who}{said}</li>"
    yield "</ol>"


def _controls(token: str, game: WebGame) -> str:
    session = game.session
    possible = list(session.observation.admissible)
    options = "".join(f'<option value="{html_text(c)}"></option>' for c in possible)
    blanks = "".join(
        f" <code>{html_text(command)}</code>" for command in possible if has_blank(command)
    )
    words = "".join(
        f'<button name="command" value="{word}" formnovalidate>{text}</button>'
        for word, text in (("hint", "Hint"), ("undo", "Undo"), ("quit", "Stop and record"))
    )
    typed = (
        '<label>Command<input name="command" list="commands" autocomplete="off" required autofocus'
        f' spellcheck="false"></label><datalist id="commands">{options}</datalist>'
        f'<button class="primary">Do it</button>{f"<p>{blanks}</p>" if blanks else ""}'
    )
    return (
        f"{_notices(game)}{_posted(token, game, typed, 'filters')}"
        f"{_posted(token, game, words, 'act-row')}"
    )


def _posted(token: str, game: WebGame, content: str, kind: str = "") -> str:
    turn = f'<input type="hidden" name="turn" value="{game.session.steps}">'
    return form(f"/game/{game.name}", token, f"{turn}{content}", kind)


def _notices(game: WebGame) -> str:
    said = game.said
    listed = [command for group in said.groups for _, command in group.entries]
    texts = [said.notice, said.hint, said.warning, *(f"Hint: {command}" for command in listed)]
    shown = "".join(f"<p>{html_text(text)}</p>" for text in texts if text)
    return f'<div class="notice" role="status">{shown}</div>' if shown else ""


def _beside(token: str, game: WebGame) -> str:
    """The place or page as it is, and all commands as buttons."""
    session = game.session
    moments = [moment(session.introduction.text, session.introduction.admissible)]
    for action, _, observation in session.driver.metrics.interactions:
        moments.append(moment(observation.text, observation.admissible, action.value))
    controls = game.benchmark.controls(moments)
    if controls is not None:
        return _posted(token, game, str(fragment[controls]))
    *_, picture = game.benchmark.pictures(moments)
    return f"{fragment[picture]}{_commands(token, game, session.observation.admissible)}"


def _commands(token: str, game: WebGame, possible: Sequence[str]) -> str:
    verbs: dict[str, list[str]] = {}
    for command in possible:
        if not has_blank(command):
            verbs.setdefault(game.session.view.verb_and_rest(command)[0], []).append(command)
    parts = []
    for verb, commands in verbs.items():
        buttons = "".join(
            f'<button name="command" value="{html_text(command)}">{html_text(command)}</button>'
            for command in commands
        )
        parts.append(
            f'<div class="verb" role="group" aria-label="{html_text(verb)}">{buttons}</div>'
        )
    if not parts:
        return ""
    content = _posted(token, game, "".join(parts), "commands-form")
    return str(fold(f"Possible commands: {len(possible)}", Markup(content)))


def _result(site: Addresses, game: WebGame) -> str:
    session, outcome = game.session, game.session.driver.outcome
    if outcome.success:
        head = badge("won", "solved")
    else:
        head = badge("lost", "not solved") if session.over else badge("unscored", "left")
    steps = counted(session.steps, "step")
    told = f"{steps}, reward {outcome.reward:.2f}, progress {outcome.progress:.2f}"
    where = ""
    if game.saved is not None:
        run, key = game.saved
        where = f" {link(site.episode(run, key), 'the recorded episode')}"
    return (
        f'<div class="result" role="status"><p>{head} {html_text(told)}{where}</p>'
        f"<p>{link(site.page('play'), 'Another game')} ·"
        f" {link(site.page('people'), 'How people do')}</p></div>{_notices(game)}"
    )
