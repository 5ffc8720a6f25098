"""Playing in the browser: the choice of a game, and a game in progress. Needs no script."""

from collections.abc import Iterator, Sequence

import htpy as h

from agentquest import registry
from agentquest.errors import AgentQuestError
from agentquest.lib import Benchmark, Moment
from agentquest.lib.commands import has_blank
from agentquest.people.games import WebGame
from agentquest.records.episode import EpisodeRecord
from agentquest.viewer.addresses import Addresses
from agentquest.viewer.layout import badge, choice, facts, fold, link, pre
from agentquest.words import counted, plural

_SHOWN_MOVES = 60
_WORDS = (("hint", "Hint"), ("undo", "Undo"), ("quit", "Stop and record"))


def _form(action: str, token: str, *content: h.Node, kind: str = "") -> h.Element:
    """A form that changes something: it holds a token that only our own pages know."""
    return h.form(method="post", action=action, class_=kind or None)[
        _hidden_field("token", token), content
    ]


def _hidden_field(name: str, value: str) -> h.VoidElement:
    return h.input(type="hidden", name=name, value=value)


def play_page(site: Addresses, token: str) -> Iterator[h.Node]:
    """A card for each benchmark."""
    yield h.h1["Play"]
    yield h.p(".note")[
        "The same games that agents play, recorded the same way;"
        " hints and undone steps are noted. ",
        link(site.page("people"), "How people do"),
    ]
    yield h.div(".cards")[(_card(name, token) for name in registry.names("benchmark"))]


def _card(name: str, token: str) -> h.Element:
    try:
        found: type[Benchmark] = registry.load_registered("benchmark", name)
    except AgentQuestError as error:
        return h.div(".card")[h.h2[name], h.p[str(error)]]
    default, *others = found.splits
    fields: list[h.Node] = [
        _hidden_field("benchmark", name),
        choice("split", "split", others, "", default),
        choice("type", "type", found.task_types, ""),
        h.label["task (optional)", h.input(name="task", autocomplete="off")],
        h.button(".primary")["Play"],
    ]
    site_note = h.p(".note")[
        "As a separate web site, for many people: ", h.code[f"agentquest serve {name} --site"]
    ]
    return h.div(".card")[
        h.h2[found.title],
        _form("/play", token, fields, kind="filters"),
        "serve" in found.commands and site_note,
    ]


def play_on_page(
    site: Addresses, token: str, run: str, record: EpisodeRecord, step: int
) -> Iterator[h.Node]:
    """What will be opened, and the button that opens it."""
    yield h.p(".up")[link(site.episode(run, record.key, step), run)]
    yield h.h1[f"Play on from step {step}"]
    yield h.p[record.goal]
    yield h.p(".note")[
        f"{record.agent} is replayed up to step {step}; then it is your turn. It is recorded as a"
        " person's episode, in a run of its own."
    ]
    yield pre(record.steps[step - 1].observation if step else record.first_observation, "told")
    place = {"run": run, "episode": record.key, "step": str(step)}
    fields = [_hidden_field(name, value) for name, value in place.items()]
    yield _form("/play-on", token, fields, h.p[h.button(".primary")["Play on"]])


def game_page(site: Addresses, token: str, game: WebGame) -> Iterator[h.Node]:
    """A game in its current state."""
    session = game.session
    yield h.p(".up")[_back(site, game)]
    yield h.h1[session.goal]
    yield facts(
        [
            ("benchmark", game.benchmark.title),
            ("type", game.task.task_type),
            ("steps", str(session.steps)),
            ("shortest plan", str(session.shortest or "–")),
            ("hints", str(session.all_hints)),
            ("undone", str(session.all_undone)),
        ]
    )
    yield h.div(".columns")[
        h.div[_transcript(game), _result(site, game) if game.over else _controls(token, game)],
        h.aside(aria_label="possible commands")[None if game.over else _beside(token, game)],
    ]


def _back(site: Addresses, game: WebGame) -> h.Node:
    origin = game.origin
    if origin is None:
        return link(site.page("play"), "Other games")
    text = f"{origin.run}, step {origin.step}"
    return link(site.episode(origin.run, origin.key, origin.step), text)


def _transcript(game: WebGame) -> Iterator[h.Node]:
    session = game.session
    yield pre(session.view.room(session.introduction), "told")
    steps = list(zip(session.moves, session.driver.metrics.interactions, strict=False))
    hidden = max(0, len(steps) - _SHOWN_MOVES)
    if hidden:
        yield h.p(".note")[f"{hidden} earlier {plural(hidden, 'step')}"]
    yield h.ol(".transcript", start=str(hidden + 1))[
        (
            h.li[
                h.code[move.command],
                " ",
                badge("unscored", game.origin.agent) if game.origin and move.inherited else None,
                pre(session.view.show(done.observation), "told"),
            ]
            for move, done in steps[hidden:]
        )
    ]


def _controls(token: str, game: WebGame) -> h.Node:
    possible = list(game.session.observation.admissible)
    blanks = [[" ", h.code[command]] for command in possible if has_blank(command)]
    field = h.input(
        name="command",
        list="commands",
        autocomplete="off",
        required=True,
        autofocus=True,
        spellcheck="false",
    )
    typed = [
        h.label["Command", field],
        h.datalist(id="commands")[(h.option(value=command) for command in possible)],
        h.button(".primary")["Do it"],
        blanks and h.p[blanks],
    ]
    words = [
        h.button(name="command", value=word, formnovalidate=True)[text] for word, text in _WORDS
    ]
    return [
        _notices(game),
        _game_form(token, game, typed, kind="filters"),
        _game_form(token, game, words, kind="act-row"),
    ]


def _game_form(token: str, game: WebGame, *content: h.Node, kind: str = "") -> h.Element:
    """A form for the game's next turn; from an older page it does nothing."""
    turn = _hidden_field("turn", str(game.session.steps))
    return _form(f"/game/{game.name}", token, turn, content, kind=kind)


def _notices(game: WebGame) -> h.Node:
    reply = game.reply
    listed = [command for entries in reply.groups.values() for _, command in entries]
    texts = [reply.notice, reply.hint, reply.warning, *(f"Hint: {command}" for command in listed)]
    shown = [h.p[text] for text in texts if text]
    return shown and h.div(".notice", role="status")[shown]


def _beside(token: str, game: WebGame) -> h.Node:
    """The benchmark's own picture to click on, or its picture and all commands as buttons."""
    session = game.session
    moments = [Moment(session.introduction.text, session.introduction.admissible)]
    for action, _, observation in session.driver.metrics.interactions:
        moments.append(Moment(observation.text, observation.admissible, action.value))
    controls = game.benchmark.controls(moments)
    if controls is not None:
        return _game_form(token, game, controls)
    *_, picture = game.benchmark.pictures(moments)
    return [picture, _commands(token, game, session.observation.admissible)]


def _commands(token: str, game: WebGame, possible: Sequence[str]) -> h.Node:
    verbs: dict[str, list[str]] = {}
    for command in possible:
        if not has_blank(command):
            verbs.setdefault(game.session.view.verb_and_rest(command)[0], []).append(command)
    if not verbs:
        return None
    groups = [
        h.div(".verb", role="group", aria_label=verb)[
            (h.button(name="command", value=command)[command] for command in commands)
        ]
        for verb, commands in verbs.items()
    ]
    content = _game_form(token, game, groups, kind="commands-form")
    return fold(f"Possible commands: {len(possible)}", content)


def _result(site: Addresses, game: WebGame) -> h.Node:
    session, outcome = game.session, game.session.driver.outcome
    if outcome.success:
        head = badge("won", "solved")
    else:
        head = badge("lost", "not solved") if session.over else badge("unscored", "unfinished")
    steps = counted(session.steps, "step")
    figures = f" {steps}, reward {outcome.reward:.2f}, progress {outcome.progress:.2f} "
    return [
        h.div(".result", role="status")[
            h.p[
                head,
                figures,
                game.saved and link(site.episode(*game.saved), "the recorded episode"),
            ],
            outcome.explanation and h.p[outcome.explanation],
            h.p[
                link(site.page("play"), "Another game"),
                " · ",
                link(site.page("people"), "How people do"),
            ],
        ],
        _notices(game),
    ]
