"""Whether the A2A SDK is there; asked before anything that needs it is imported."""

from importlib.util import find_spec

from agentquest.errors import UserError

_NEEDED = {"a2a": "a2a-sdk", "httpx": "httpx", "starlette": "starlette", "uvicorn": "uvicorn"}


def require_a2a() -> None:
    missing = [name for module, name in _NEEDED.items() if not _there(module)]
    # SDK 0.3 has the same name but not the same parts.
    if not missing and not _there("a2a.helpers"):
        missing = ["a2a-sdk 1.x (an older one is installed)"]
    if missing:
        raise UserError(f"A2A assessment needs {', '.join(missing)}: pip install 'agentquest[a2a]'")


def _there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:
        return False
