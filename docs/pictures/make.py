"""Makes the pictures of this folder anew, from real runs, with Debian's chromium.

.venv/bin/python docs/pictures/make.py          the pictures of the README and the tutorial
.venv/bin/python docs/pictures/make.py FOLDER   every page, light and dark, wide and narrow
"""

import asyncio
import base64
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

import agentquest
from agentquest.store.folder import RunFolder

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "tests"))

from terminal import COLUMNS, terminal_picture  # noqa: E402

from browser import CHROMIUM, Tab, browser_tab  # noqa: E402

WIDE, FINE = 1120, 1.5  # so that words can be read in a column of text
SHOWN = {"runs": 500, "run": 1000, "episode": 760, "compare": 640}


def main(arguments: list[str]) -> int:
    if CHROMIUM is None:
        sys.stderr.write("chromium is not installed\n")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "agentquest"]
        written = demo(command, folder)
        viewer = subprocess.Popen(
            [*command, "view", folder, "--port", "0"], stdout=subprocess.PIPE, text=True
        )
        assert viewer.stdout is not None
        url = viewer.stdout.readline().split(": ")[1].strip()
        try:
            everything = Path(arguments[0]) if arguments else None
            shots = asyncio.run(take(url, pages(Path(folder)), everything))
        finally:
            viewer.terminate()
            viewer.wait()
    if not arguments:
        shots[HERE / "demo.svg"] = terminal_picture(
            f"\x1b[1m$ make demo\x1b[0m\n\n{written}"
        ).encode()
    for file, content in shots.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return 0


def demo(command: list[str], folder: str) -> str:
    """Play the demo; returns what it shows of the games, in colour."""
    done = subprocess.run(
        [*command, "demo", "--output-dir", folder],
        env={**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)},
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    shown = done.stdout.rpartition("\x1b[2K")[2]  # after the bars, which are wiped away
    return shown.partition("\nThe runs are in")[0]


def pages(folder: Path) -> dict[str, str]:
    """Addresses worth a picture: a failure that came close, beside the win of another."""
    (clumsy,) = folder.glob("alfworld-*-clumsy-*")
    (scripted,) = folder.glob("alfworld-*-scripted-*")
    (shop,) = folder.glob("webshop-*-scripted-*")
    failed = max(
        (record for record in agentquest.load_run(clumsy).records if not record.success),
        key=lambda record: max(step.progress for step in record.steps),
    )
    bought = RunFolder(shop).records()[0]
    both = [("run", clumsy.name), ("run", scripted.name)]
    at = {"run": clumsy.name, "episode": failed.key}
    return {
        "runs": "/",
        "run": f"/run/{clumsy.name}",
        "episode": f"/episode?{urlencode(at)}",
        "step": f"/episode?{urlencode({**at, 'step': 3})}",
        "shop": f"/episode?{urlencode({'run': shop.name, 'episode': bought.key, 'step': 2})}",
        "compare": f"/compare?{urlencode(both)}",
        "pair": f"/compare?{urlencode([*both, ('task', failed.task_id)])}",
        "leaderboard": "/leaderboard",
        "people": "/people",
        "play": "/play",
    }


async def take(url: str, found: dict[str, str], everything: Path | None) -> dict[Path, bytes]:
    shots = {}
    async with browser_tab() as tab:
        if everything is None:
            for name, height in SHOWN.items():
                shot = await picture(tab, url + found[name], WIDE, height, "light", "webp")
                shots[HERE / f"{name}.webp"] = shot
            return shots
        for name, path in found.items():
            for width in (1400, 400):
                for scheme in ("light", "dark"):
                    shot = await picture(tab, url + path, width, 1000, scheme, "png")
                    shots[everything / f"{name}-{width}-{scheme}.png"] = shot
    return shots


async def picture(tab: Tab, url: str, width: int, height: int, scheme: str, kind: str) -> bytes:
    await tab.call(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=height, deviceScaleFactor=FINE if kind == "webp" else 1, mobile=False,
    )  # fmt: skip
    await tab.call("Emulation.setScrollbarsHidden", hidden=True)
    wanted = [{"name": "prefers-color-scheme", "value": scheme}]
    await tab.call("Emulation.setEmulatedMedia", features=wanted)
    await tab.open(url)
    quality = {"quality": 80} if kind == "webp" else {}
    shot = await tab.call("Page.captureScreenshot", format=kind, **quality)
    return base64.b64decode(shot["data"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
