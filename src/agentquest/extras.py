"""Optional parts of an installation: are they there, and which command brings them?

The command depends on how AgentQuest was installed: from the index, from a git address, or
from a clone. Installers write that down beside the package (`direct_url.json`).
"""

import json
import shlex
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from typing import Any
from urllib.parse import unquote, urlsplit

from agentquest.errors import UserError

DISTRIBUTION = "agentquest-bench"


def require(extra: str, *modules: str, why: str) -> None:
    """Raise UserError, with the command that helps, unless all `modules` can be imported."""
    missing = [module for module in modules if not is_installed(module)]
    if missing:
        raise MissingExtra(extra, why, missing)


class MissingExtra(UserError):
    """`why` needs packages that are not installed; says how to get them."""

    def __init__(self, extra: str, why: str, missing: list[str]) -> None:
        super().__init__(f"{why} needs {', '.join(missing)}: {install_command(extra)}")


def is_installed(module: str) -> bool:
    """Whether `module` could be imported; a parent that is missing or broken means no."""
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def install_command(extra: str) -> str:
    """The command that adds `extra` to the AgentQuest that is running."""
    origin = _origin()
    url = origin.get("url")
    if not isinstance(url, str):
        return f"pip install '{DISTRIBUTION}[{extra}]'"
    if isinstance(folder := origin.get("dir_info"), dict):
        path = shlex.quote(f"{unquote(urlsplit(url).path)}[{extra}]")
        return f"pip install {'-e ' if folder.get('editable') else ''}{path}"
    if isinstance(source := origin.get("vcs_info"), dict):
        # Older pips (23.2 is Python 3.12's) refuse an address without a host.
        url = url.replace("file:///", "file://localhost/")
        url = f"{source.get('vcs')}+{url}@{source.get('commit_id')}"
    return f"pip install {shlex.quote(f'{DISTRIBUTION}[{extra}] @ {url}')}"


def _origin() -> dict[str, Any]:
    """What the installer wrote down; empty when it came from an index, or was never installed."""
    try:
        text = distribution(DISTRIBUTION).read_text("direct_url.json")
        origin = json.loads(text or "{}")
    except (PackageNotFoundError, ValueError):
        return {}
    return origin if isinstance(origin, dict) else {}
