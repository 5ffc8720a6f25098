"""A server of ours that is asked within the process, as a client would."""

import json

from starlette.testclient import TestClient

from agentquest.lib import Session


def plan_of(arena, index):
    session = Session(arena)
    session.reset(index)
    return session.plan()


class Asked:
    """Answers are JSON; the status is checked. What the server cannot handle is raised here."""

    def __init__(self, app):
        self.client = TestClient(app)

    def post(self, path, status=200, **body):
        return self.raw(path, json.dumps(body).encode("ascii"), status)

    def raw(self, path, body, status):
        return self._checked(self.client.post(path, content=body), status)

    def get(self, path, status=200):
        return self._checked(self.client.get(path), status)

    def _checked(self, answer, status):
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None


NO_JSON = [b"", b"{", b"[]", b"3", b"\xff\xfe", b'"x"', b"[" * 30_000]
