"""Serving over HTTP: sockets, lifecycle and limits of all of AgentQuest's servers, in one place.

All but `sockets`, `access` and `sessions` need starlette and uvicorn (the extras `serve` and
`a2a`), so nothing is imported here.
"""
