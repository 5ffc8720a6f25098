"""Who may reach a server: one decision for all of them.

What counts is the address that the socket is bound to, after resolution: `127.1`, `localhost`
and a name that stands for `::1` are this machine, whatever they look like. Everywhere else a
server asks for a token, unless its owner says that it need not.
"""

import os
import socket
from collections.abc import Collection
from dataclasses import dataclass, field

from agentquest.errors import ConfigError
from agentquest.http.sockets import LOOPBACK, is_loopback, listen

TOKEN = "AGENTQUEST_TOKEN"
INSECURE = "--insecure-no-token"
_INSECURE_VARIABLE = "AGENTQUEST_INSECURE_NO_TOKEN"
INSECURE_HELP = (
    "Serve other machines without a token, as in a closed network of containers (also:"
    f" {_INSECURE_VARIABLE}=1)."
)


@dataclass(frozen=True)
class Access:
    """Where a server listens, by which further names it is asked, and the token it asks for."""

    host: str = LOOPBACK
    names: Collection[str] = ()
    token: str | None = field(default=None, repr=False)
    insecure: bool = False

    @classmethod
    def read(
        cls,
        host: str,
        names: Collection[str] | None = None,
        insecure: bool = False,
    ) -> "Access":
        """What was given, with the token from the environment, which process lists do not show."""
        token = os.environ.get(TOKEN, "").strip()
        if not (token.isascii() and token.isprintable()):  # nobody could send it in a header
            raise ConfigError(f"{TOKEN} must consist of visible ASCII characters")
        insecure = insecure or os.environ.get(_INSECURE_VARIABLE, "") in ("1", "true", "yes")
        return cls(host, names or (), token or None, insecure)

    def listen(
        self, port: int = 0, option: str = "--port", asks_token: bool = True
    ) -> socket.socket:
        """A listening socket; refused where strangers reach it and no token keeps them out.

        `asks_token` is False for applications that nobody sends a token to.
        """
        sock = listen(self.host, port, option)
        if self.insecure or (asks_token and self.token) or is_loopback(sock):
            return sock
        sock.close()
        way_out = f"set {TOKEN}, or use {INSECURE}"
        if not asks_token:
            way_out = f"its pages ask for no token; if that is meant, use {INSECURE}"
        raise ConfigError(f"{self.host} can be reached from other machines: {way_out}")
