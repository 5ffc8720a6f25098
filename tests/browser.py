"""Chromium, driven through its debugging protocol: what a person sees and clicks."""

import asyncio
import atexit
import itertools
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import Any

import aiohttp

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--remote-debugging-port=0",
)  # fmt: skip
_SIZE = (1200, 900)
_WAIT_S = 60
_POLLS = 600
_LEFT = "Inspected target navigated or closed"


class Left(Exception):
    """The page that was asked has made way for the next one."""


class Tab:
    """One page. Elements are found by CSS selector and clicked with the mouse."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.console: list[str] = []

    async def call(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": params})
        while True:
            message = await self._socket.receive_json(timeout=_WAIT_S)
            if message.get("method") in ("Log.entryAdded", "Runtime.consoleAPICalled"):
                self.console.append(json.dumps(message["params"]))
            if message.get("id") == number:
                if message.get("error", {}).get("message") == _LEFT:
                    raise Left
                assert "error" not in message, message
                return message["result"]

    async def evaluate(self, script: str) -> Any:
        """Look at the page; works where the page itself may run no script."""
        found = await self.call("Runtime.evaluate", expression=script, returnByValue=True)
        return found["result"].get("value")

    async def open(self, url: str) -> None:
        mark = await self._mark()
        await self.call("Page.navigate", url=url)
        await self._arrive(mark)

    async def back(self) -> None:
        mark = await self._mark()
        history = await self.call("Page.getNavigationHistory")
        entry = history["entries"][history["currentIndex"] - 1]
        await self.call("Page.navigateToHistoryEntry", entryId=entry["id"])
        await self._arrive(mark)

    async def click(self, selector: str, moves: bool = True) -> None:
        """Click the middle of an element; `moves` if that leads to another page."""
        mark = await self._mark()
        chosen = f"document.querySelector({json.dumps(selector)})"
        await self.evaluate(f"{chosen}.scrollIntoView({{block: 'center'}})")
        box = await self.evaluate(f"(({chosen}.getBoundingClientRect())).toJSON()")
        assert box is not None, f"there is no {selector}"
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        with suppress(Left) if moves else nullcontext():
            for kind in ("mousePressed", "mouseReleased"):
                await self.call(
                    "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1
                )
        if moves:
            await self._arrive(mark)

    async def type(self, selector: str, text: str) -> None:
        await self.click(selector, moves=False)
        await self.evaluate(f"document.querySelector({json.dumps(selector)}).select()")
        await self.call("Input.insertText", text=text)

    async def press(self, key: str, code: int, moves: bool = False) -> None:
        mark = await self._mark()
        text = "\r" if key == "Enter" else ""
        with suppress(Left) if moves else nullcontext():
            for kind in ("keyDown", "keyUp"):
                await self.call(
                    "Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code,
                    text=text if kind == "keyDown" else "",
                )  # fmt: skip
        if moves:
            await self._arrive(mark)

    async def text(self, selector: str = "body") -> str:
        return str(await self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText"))

    async def count(self, selector: str) -> int:
        script = f"document.querySelectorAll({json.dumps(selector)}).length"
        return int(await self.evaluate(script))

    async def _mark(self) -> str:
        """What tells this document from the next one."""
        return str(await self.evaluate("String(performance.timeOrigin)"))

    async def _arrive(self, before: str) -> None:
        for _ in range(_POLLS):
            state = ""
            with suppress(Left):
                state = await self.evaluate("document.readyState + ' ' + performance.timeOrigin")
            if state and state.split(" ", 1)[0] == "complete" and state.split(" ", 1)[1] != before:
                return
            await asyncio.sleep(0.05)
        raise AssertionError("the next page never came")


@asynccontextmanager
async def browser_tab(scripts: bool = True) -> AsyncIterator[Tab]:
    """A tab with cookies and storage of its own, in the one browser of this process."""
    address = _browser()
    async with aiohttp.ClientSession() as http, http.ws_connect(address) as control:
        browser = Tab(control)
        context = (await browser.call("Target.createBrowserContext"))["browserContextId"]
        made = await browser.call(
            "Target.createTarget", url="about:blank", browserContextId=context,
            width=_SIZE[0], height=_SIZE[1],
        )  # fmt: skip
        page = f"{address.partition('/devtools/')[0]}/devtools/page/{made['targetId']}"
        try:
            async with http.ws_connect(page, max_msg_size=0) as socket:
                tab = Tab(socket)
                for domain in ("Page", "Runtime", "Log"):
                    await tab.call(f"{domain}.enable")
                if not scripts:
                    await tab.call("Emulation.setScriptExecutionDisabled", value=True)
                yield tab
        finally:
            await browser.call("Target.disposeBrowserContext", browserContextId=context)


@cache
def _browser() -> str:
    """Start it, once; the address under which it takes orders."""
    assert CHROMIUM is not None
    profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    process = subprocess.Popen(
        [CHROMIUM, *FLAGS, f"--user-data-dir={profile.name}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    atexit.register(profile.cleanup)
    atexit.register(process.wait)
    atexit.register(process.kill)  # the last one registered is the first one called
    file = Path(profile.name) / "DevToolsActivePort"
    for _ in range(_POLLS):
        lines = file.read_text().splitlines() if file.is_file() else []
        if len(lines) > 1:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        time.sleep(0.1)
    raise AssertionError("the browser did not start")
