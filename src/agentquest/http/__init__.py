"""Serving over HTTP: sockets, lifecycle and limits of all of AgentQuest's servers, in one place.

    sockets      a listening socket, and what to say when a port cannot be had
    access       on which addresses a token is needed
    serving      run applications on sockets until told to stop, then end quickly and quietly
    connections  how many connections at once, and how long half a request may take
    guard        what a request must be before an application sees it: Host, Origin, token, body
    sessions     what servers remember of their clients, within limits
    heartbeat    telling another server that we are here

All but `sockets`, `access` and `sessions` need starlette and uvicorn (the extras `serve` and
`a2a`), so nothing is imported here.
"""
