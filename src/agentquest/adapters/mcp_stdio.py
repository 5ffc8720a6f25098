"""MCP over standard input and output: one message per line, one caller per process."""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator

from agentquest.adapters.mcp_protocol import ToolHost, answer_text

LONGEST_LINE = 1024 * 1024


async def serve_stdio(host: ToolHost) -> None:
    """Answer until the input ends."""
    try:
        async for line in _lines_waited_for() if _can_be_waited_for() else _lines_of_a_file():
            if line.strip():
                answer = await answer_text(line, host)
                if answer is not None:
                    sys.stdout.write(answer + "\n")
                    sys.stdout.flush()
    except ValueError:
        # A longer line than any call has: there is no telling where the next one starts.
        sys.stderr.write(f"agentquest mcp: a line is longer than {LONGEST_LINE} bytes\n")


def _can_be_waited_for() -> bool:
    """An event loop waits for pipes, sockets and terminals; files and /dev/null are just read."""
    mode = os.fstat(sys.stdin.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or sys.stdin.isatty()


async def _lines_waited_for() -> AsyncIterator[bytes]:
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    try:
        while line := await reader.readline():
            yield line
    finally:
        transport.close()


async def _lines_of_a_file() -> AsyncIterator[bytes]:
    while line := await asyncio.to_thread(sys.stdin.buffer.readline, LONGEST_LINE):
        yield line
