"""What `vf-eval agentquest-v1` imports: verifiers finds tasksets by the name of a module."""

from agentquest.adapters.verifiers_taskset import GameEnv, GameTaskset

__all__ = ["GameEnv", "GameTaskset"]
