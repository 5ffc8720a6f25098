"""The run configuration."""

from agentquest.config.loading import load_config
from agentquest.config.settings import AgentConfig, RunConfig

__all__ = ["AgentConfig", "RunConfig", "load_config"]
