"""The cards of our own agents: both protocol versions on one URL."""

from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentExtension,
    AgentInterface,
    AgentSkill,
)

from agentquest import registry
from agentquest.version import __version__

LAUNCH_EXTENSION = "urn:agentquest:launch"
_MODES = ["text", "text/plain"]


def green_card(url: str, launch_id: str | None = None) -> AgentCard:
    """The card of the green agent; the benchmarks it names are those registered."""
    benchmarks = registry.names("benchmark")
    example = '{"participants": {"agent": "http://localhost:9002/"}, "config": {"num_games": 6}}'
    return _card(
        "AgentQuest green agent",
        "Assesses how well an agent acts over many turns: plays text games with it"
        f" ({', '.join(benchmarks)}) and reports success, behaviour and a 0-100 score.",
        AgentSkill(
            id="assess",
            name="Agent assessment",
            description="Tests one A2A agent; needs its URL and an optional configuration.",
            tags=["green agent", "assessment", *benchmarks],
            examples=[example],
        ),
        url,
        launch_id,
    )


def white_card(name: str, url: str, launch_id: str | None = None) -> AgentCard:
    """The card of a white agent; `name` is the source of its agents, as `white_source` names it."""
    return _card(
        f"AgentQuest white agent ({name})",
        "Plays text games: reads an observation and a list of actions, answers with one action.",
        AgentSkill(
            id="play",
            name="Play text games",
            description="Chooses one of the available actions, one turn at a time.",
            tags=["white agent", "purple agent", "games"],
            examples=["Available actions (choose one):\n  1. go to desk 1"],
        ),
        url,
        launch_id,
    )


def _card(
    name: str, description: str, skill: AgentSkill, url: str, launch_id: str | None
) -> AgentCard:
    extensions = []
    if launch_id is not None:
        extensions.append(AgentExtension(uri=LAUNCH_EXTENSION, description=launch_id))
    return AgentCard(
        name=name,
        description=description,
        version=__version__,
        default_input_modes=_MODES,
        default_output_modes=_MODES,
        capabilities=AgentCapabilities(streaming=True, extensions=extensions),
        skills=[skill],
        # Clients of protocol 0.3 find the address of the second; AgentBeats is one.
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version=version)
            for version in ("1.0", "0.3")
        ],
    )
