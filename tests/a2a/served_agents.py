"""Our own white agents in one process, each on a path of its own: `/oracle/`, `/PerfectAgent/`…"""

import asyncio
import socket

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from agentquest.a2a.serving import build_application
from agentquest.a2a.white import WhiteExecutor, make_source, white_card
from agentquest.running.factory import make_benchmark

KINDS = ("scripted", "oracle", "random", "repetitive", "alternating")
KNOWN = ("PerfectAgent", "UntidyAgent", "RepeatingAgent")

if __name__ == "__main__":
    sock = socket.create_server(("127.0.0.1", 0))
    port = sock.getsockname()[1]
    benchmark = make_benchmark("alfworld", {"data_path": "builtin"})
    routes = []
    for name in (*KINDS, *KNOWN):
        source = make_source(f"known_agents:{name}" if name in KNOWN else name, benchmark)
        card = white_card(source, f"http://localhost:{port}/{name}/")
        routes.append(Mount(f"/{name}", build_application(card, WhiteExecutor(source))))
    print(f"port {port}", flush=True)
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="error"))
    asyncio.run(server.serve(sockets=[sock]))
