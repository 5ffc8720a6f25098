"""Whether the A2A SDK is installed; checked before anything that needs it is imported."""

from agentquest.extras import MissingExtra, is_installed

_NEEDED = {"a2a": "a2a-sdk", "httpx": "httpx", "starlette": "starlette", "uvicorn": "uvicorn"}


def require_a2a() -> None:
    """Raise UserError, with the command that helps, unless the A2A SDK can be used."""
    missing = [name for module, name in _NEEDED.items() if not is_installed(module)]
    # SDK 0.3 has the same name but not the same parts.
    if not missing and not is_installed("a2a.helpers"):
        missing = ["a2a-sdk 1.x (an older one is installed)"]
    if missing:
        raise MissingExtra("a2a", "A2A assessment", missing)
