"""Keeping keys out of errors, and out of replies that quote them."""

import base64
from typing import Any

from agentquest.llms.types import Reply

_SHORT = 300


def _base64_forms(key: str) -> set[str]:
    """A key as it appears inside base64 text, at each of the three possible offsets.

    Characters at the ends also encode neighbouring bytes, so they are left out.
    """
    forms = set()
    for before in range(3):
        packed = base64.b64encode(b"\0" * before + key.encode())
        inner = packed[-(-before * 8 // 6) :].rstrip(b"=")
        inner = inner[:-1] if (before + len(key.encode())) % 3 else inner
        forms |= {inner.decode(), inner.translate(bytes.maketrans(b"+/", b"-_")).decode()}
    return forms


class Redactor:
    """Removes keys and passwords from text that others wrote.

    Errors are cleaned of any. Replies are cleaned only of those long enough to
    be secrets: servers without a key are often given words like `EMPTY`, and an
    answer may well contain those.
    """

    __slots__ = ("_keys", "_secrets")

    SECRET_LENGTH = 12
    MASK = "***"

    def __init__(self, *keys: str) -> None:
        known = {key for key in keys if key}
        known |= {
            form for key in known if len(key) >= self.SECRET_LENGTH for form in _base64_forms(key)
        }
        # Longest first, because one key may be part of another.
        self._keys = tuple(sorted(known, key=len, reverse=True))
        self._secrets = tuple(key for key in self._keys if len(key) >= self.SECRET_LENGTH)

    def __repr__(self) -> str:
        return f"Redactor({len(self._keys)} keys)"

    def error(self, text: str) -> str:
        """`text` without keys, on one line, and short; it is cut only after masking."""
        for key in self._keys:
            text = text.replace(key, self.MASK)
        text = " ".join(text.split())
        return text if len(text) <= _SHORT else text[:_SHORT] + "…"

    def reply(self, text: str) -> str:
        """A text of the model, with secrets masked."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, self.MASK)
        return text

    def whole_reply(self, reply: Reply) -> Reply:
        """The reply with keys masked in all its parts; the same object if there are none."""
        if not self._secrets:
            return reply
        said = reply.model_dump()
        masked = self._mask(said)
        return reply if masked == said else Reply.model_validate(masked)

    def _mask(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.reply(value)
        if isinstance(value, dict):
            return {self.reply(str(key)): self._mask(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(map(self._mask, value))
        return value
