"""`WebAgentTextEnv` of WebShop, for code written against it.

Arguments, return values and what trainers reach into (`env.server.goals`,
`env.server.user_sessions`, `env.browser`) are the original's.
"""

import random
import string
from itertools import pairwise
from typing import Any

import numpy as np

from agentquest.adapters.stand_ins import StandIn
from agentquest.adapters.webshop_server import DEFAULT_FILE_PATH, SimServer
from agentquest.benchmarks.webshop.shop.pages import Piece
from agentquest.benchmarks.webshop.shop.shop import BASE_URL, MODES, ShoppingSession, parse
from agentquest.errors import UserError

# Arguments of verl-agent's copy of WebShop, which mean something else than nothing.
_OF_COPIES = {
    "seed": "shuffle_seed=… deals the goals in that copy's order",
    "attr_path": "attributes are read from the folder of file_path",
}
# Arguments that are passed on to the server.
_OF_SERVER = (
    "filter_goals", "limit_goals", "num_products", "human_goals", "show_attrs", "shuffle_seed",
    "price_seed",
)  # fmt: skip


class Browser:
    """Where the visitor stands."""

    session: ShoppingSession

    @property
    def session_id(self) -> str:
        """The session's name."""
        return self.session.id

    @property
    def current_url(self) -> str:
        """The address of the page."""
        return self.session.page.url

    @property
    def page_source(self) -> str:
        """The page in the original's HTML."""
        return self.session.observe("html")


class WebAgentTextEnv(StandIn):
    """WebShop's text environment."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  as gym wants it
    render_mode = None
    reward_range = (-float("inf"), float("inf"))
    spec: Any = None
    action_space: Any = None
    observation_space: Any = None

    def __init__(
        self,
        observation_mode: str = "html",
        file_path: str | None = DEFAULT_FILE_PATH,
        server: SimServer | None = None,
        **kwargs: Any,
    ) -> None:
        if observation_mode not in MODES:
            raise ValueError(f"Observation mode {observation_mode} not supported.")
        if kwargs.get("get_image"):
            raise NotImplementedError("get_image: AgentQuest's shop has no images")
        for name, instead in _OF_COPIES.items():
            if kwargs.get(name) is not None:
                raise NotImplementedError(f"{name} is not an argument of the original: {instead}")
        self.observation_mode = observation_mode
        self.kwargs = kwargs
        self.file_path = file_path
        self.base_url = BASE_URL
        if server is None:
            asked = {name: kwargs[name] for name in _OF_SERVER if name in kwargs}
            server = SimServer(file_path=file_path, **asked)
        self.server = server
        self.browser = Browser()
        self.session: str = kwargs.get("session") or ""
        self.session_prefix = kwargs.get("session_prefix")
        self.num_prev_obs: int = kwargs.get("num_prev_obs", 0)
        self.num_prev_actions: int = kwargs.get("num_prev_actions", 0)
        self.text_to_clickable: dict[str, Piece] | None = None
        self.reset()

    @property
    def unwrapped(self) -> "WebAgentTextEnv":
        """The environment itself; nothing stands before it."""
        return self

    def reset(
        self, session: int | str | None = None, instruction_text: str | None = None, **_: Any
    ) -> tuple[str, None]:
        """Start a session: a goal's number, a name, or one drawn."""
        if session is None:
            self.session = "".join(random.choices(string.ascii_lowercase, k=10))
        else:
            self.session = str(session)
        if self.session_prefix is not None:
            self.session = self.session_prefix + self.session
        place = int(session) if isinstance(session, int | np.integer) else None
        self._visit = self.server.visit(self.session, place)
        self.browser.session = self._visit.session
        self.text_to_clickable = None
        given = instruction_text is not None
        self.instruction_text = instruction_text if given else self.get_instruction_text()
        first = self.observation
        self.prev_obs: list[str] = [first]
        self.prev_actions: list[str] = []
        return first, None

    def step(self, action: str) -> tuple[str, float, bool, None]:
        """Carry out `search[…]` or `click[…]`; anything else changes nothing."""
        if not isinstance(action, str):
            raise UserError(f"an action must be text, not {type(action).__name__}")
        clickables = self._session.page.clickables
        self.get_available_actions()
        step = self._session.step(action)
        if step.valid:
            self._visit.renew(clickables.get(parse(action)[1] or ""))
        seen = self.observation
        told = [seen]
        self.prev_actions.append(action)
        for back in range(1, 1 + max(self.num_prev_obs, self.num_prev_actions)):
            if back <= min(len(self.prev_actions), self.num_prev_actions):
                told.append(self.prev_actions[-back])
            if back <= min(len(self.prev_obs), self.num_prev_obs):
                told.append(self.prev_obs[-back])
        self.prev_obs.append(seen)
        return " [SEP] ".join(reversed(told)), step.reward, step.done, None

    def get_available_actions(self) -> dict[str, Any]:
        """What can be done on this page: whether to search, and what to click."""
        self.text_to_clickable = dict(self._session.page.clickables)
        return self._session.available

    def get_instruction_text(self) -> str:
        """The wish with its heading, as the page shows it."""
        texts = [piece.text for piece in self._session.page.pieces]
        for heading, wish in pairwise(texts):
            if heading.rstrip() == "Instruction:":
                return heading + wish
        raise AttributeError("this page has no instruction: the session is done")

    @property
    def observation(self) -> str:
        """The page in the observation mode that was chosen."""
        return self._session.observe(self.observation_mode)

    @property
    def state(self) -> dict[str, Any]:
        """Address, HTML and instruction of the page."""
        return {
            "url": self.browser.current_url,
            "html": self.browser.page_source,
            "instruction_text": self.instruction_text,
        }

    def render(self, mode: str = "human") -> None:
        """Shows nothing, as the text environment has no window."""

    def close(self) -> None:
        """Does nothing: there is no browser to end."""

    @property
    def _session(self) -> ShoppingSession:
        return self.browser.session


class WebAgentSiteEnv(WebAgentTextEnv):
    """WebShop's environment over its web site, without the browser: the same shop is asked
    directly. Of the original's arguments `pause` and `render` do nothing."""

    def __init__(self, observation_mode: str = "html", **kwargs: Any) -> None:
        for name in ("pause", "render"):
            kwargs.pop(name, None)
        self.assigned_session = kwargs.get("session")
        super().__init__(observation_mode, **kwargs)

    def reset(self, session: int | str | None = None, *_: Any, **named: Any) -> tuple[str, None]:
        """Start the session that the constructor was given, else the one named or drawn."""
        assigned = self.assigned_session
        return super().reset(session if assigned is None else assigned, **named)
