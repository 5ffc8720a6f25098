"""MCP over standard input and output: one message per line, one caller per process."""

import asyncio
import sys

from agentquest.adapters.mcp_protocol import ToolHost, answer_text

LONGEST_LINE = 1024 * 1024


async def serve_stdio(host: ToolHost) -> None:
    """Answer until the input ends."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    try:
        while line := await reader.readline():
            if line.strip():
                answer = await answer_text(line, host)
                if answer is not None:
                    sys.stdout.write(answer + "\n")
                    sys.stdout.flush()
    except ValueError:
        # A longer line than any call has: there is no telling where the next one starts.
        sys.stderr.write(f"agentquest mcp: a line is longer than {LONGEST_LINE} bytes\n")
    finally:
        transport.close()
