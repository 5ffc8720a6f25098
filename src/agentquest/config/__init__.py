"""The run configuration: one YAML file, overrides, and the example that documents it."""

from agentquest.config.loading import config_from, load_config
from agentquest.config.settings import RunConfig

__all__ = ["RunConfig", "config_from", "load_config"]
