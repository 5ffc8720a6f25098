"""Makes the pictures of this folder anew, from real runs, with Debian's chromium.

.venv/bin/python docs/pictures/make.py
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

import agentquest

HERE = Path(__file__).parent
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def main() -> int:
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.stderr.write("chromium is not installed\n")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "agentquest", "demo", "--output-dir", folder], check=True
        )
        (clumsy,) = Path(folder).glob("alfworld-*-clumsy-*")
        record = max(
            (record for record in agentquest.load_run(clumsy).records if not record.success),
            key=lambda record: max(step.progress for step in record.steps),
        )
        pages = {
            "runs": ("/", "1400,620"),
            "run": (f"/run/{clumsy.name}", "1400,1000"),
            "episode": (
                f"/episode?{urlencode({'run': clumsy.name, 'episode': record.key})}",
                "1400,900",
            ),
        }
        _take(chromium, folder, pages)
    return 0


def _take(chromium: str, folder: str, pages: dict[str, tuple[str, str]]) -> None:
    viewer = subprocess.Popen(
        [sys.executable, "-m", "agentquest", "view", folder, "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert viewer.stdout is not None
    found = re.search(r"http://\S+", viewer.stdout.readline())
    assert found is not None
    for name, (path, size) in pages.items():
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            picture = f"--screenshot={HERE / f'{name}.png'}"
            window = (f"--window-size={size}", f"--user-data-dir={profile}", picture)
            subprocess.run([chromium, *FLAGS, *window, found[0] + path], check=True)
    viewer.terminate()
    viewer.wait()


if __name__ == "__main__":
    sys.exit(main())
