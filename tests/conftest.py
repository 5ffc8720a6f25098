"""Settings that hold for every test."""

from hypothesis import settings

# Times say something about the machine, never about the code: no example has a deadline.
settings.register_profile("agentquest", deadline=None)
settings.load_profile("agentquest")
