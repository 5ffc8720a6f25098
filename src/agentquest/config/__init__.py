"""The run configuration: one YAML file, overrides, and the example that documents it."""

from agentquest.config.loading import load_config
from agentquest.config.settings import RunConfig

__all__ = ["RunConfig", "load_config"]
