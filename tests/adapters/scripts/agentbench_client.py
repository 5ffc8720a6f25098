"""AgentBench's own client plays a sample to its end and loses another one."""

import asyncio
import json
import sys

from agentrl.eval.session.controller import ControllerClient

URL, PLAN = sys.argv[1], json.loads(sys.argv[2])


def call(name, **arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": "", "tool_calls": [
        {"id": "call_1", "type": "function", "function": function}
    ]}  # fmt: skip


async def main():
    client = ControllerClient(f"{URL}/api/", proxy_url=None)
    said = {"indices": len(await client.get_indices("alfworld-std"))}
    number, out = await client.start_sample("alfworld-std", 0)
    said["roles"] = [message["role"] for message in out.messages]
    said["tools"] = [tool["function"]["name"] for tool in out.tools]
    for command in PLAN:
        out = await client.interact(number, [call("take_action", action=command)])
    said["won"] = [out.finish, out.reward, str(out.status), out.messages[0]["role"]]
    number, out = await client.start_sample("alfworld-std", 1)
    for _ in range(4):
        out = await client.interact(number, [call("take_action", action="look")])
    said["repeated"] = [out.finish, out.reward, str(out.status)]
    number, out = await client.start_sample("alfworld-std", 2)
    out = await client.interact(number, [{"role": "assistant", "content": "I think."}])
    said["no_call"] = [out.finish, out.messages[0]["role"]]
    await client.cancel(number)
    try:
        await client.interact(number, [{"role": "assistant", "content": "Hello?"}])
    except RuntimeError as error:
        said["gone"] = "No such session" in str(error)
    await client.close()
    print(json.dumps(said))


asyncio.run(main())
