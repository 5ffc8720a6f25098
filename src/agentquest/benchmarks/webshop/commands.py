"""`agentquest download webshop` and `agentquest serve webshop`."""

from contextlib import AbstractContextManager, ExitStack
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from agentquest.benchmarks.webshop.benchmark import WebshopBenchmark
from agentquest.benchmarks.webshop.catalogue.catalogue import open_catalogue
from agentquest.benchmarks.webshop.download import FILES, OFFICIAL_URL, download_webshop
from agentquest.benchmarks.webshop.serving.site_session import MAX_STEPS
from agentquest.benchmarks.webshop.shop.shop import Shop
from agentquest.benchmarks.webshop.tasks import BUILTIN, data_root, default_data_folder
from agentquest.downloads import download_bars
from agentquest.errors import ConfigError
from agentquest.extras import require
from agentquest.http.access import INSECURE, INSECURE_HELP, Access
from agentquest.lib.people import OpenRecorder, Recorder
from agentquest.safe_text import say
from agentquest.words import counted, plural

HUMAN_RUN = Path("runs/webshop-human")
_TTL_HELP = "Seconds after which an idle session expires."


class GoalsKind(str, Enum):
    """Who wrote the goals: a generator, or people."""

    SYNTHETIC = "synthetic"
    HUMAN = "human"


class Size(str, Enum):
    """The first thousand products, or all."""

    SMALL = "small"
    ALL = "all"


def serve(
    context: typer.Context,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Another host name that requests may use; may be repeated."),
    ] = None,
    insecure_no_token: Annotated[bool, typer.Option(INSECURE, help=INSECURE_HELP)] = False,
    port: Annotated[int, typer.Option(help="Port for agents; 0 picks a free one.")] = 5555,
    data: Annotated[
        str | None,
        typer.Option(help="Folder with the official files, or `builtin`; default: auto-detected."),
    ] = None,
    size: Annotated[
        Size | None, typer.Option(help="Which catalogue, if the folder has both.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides hidden prices and price limits.")] = 0,
    goals: Annotated[
        GoalsKind | None,
        typer.Option(help="Which goals; default synthetic, or human with --original-pages."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Keep the original's quirks.")] = False,
    site: Annotated[
        bool, typer.Option("--site", help="Also serve a web site where people shop in a browser.")
    ] = False,
    original_pages: Annotated[
        bool,
        typer.Option(
            "--original-pages",
            help="Serve the original's own pages and addresses, for programs that read them.",
        ),
    ] = False,
    site_port: Annotated[
        int, typer.Option(help="Port of the web site or the original pages; 0 picks a free one.")
    ] = 3000,
    max_sessions: Annotated[int, typer.Option(min=1, help="Most sessions to keep.")] = 10_000,
    session_ttl: Annotated[float, typer.Option(min=1.0, help=_TTL_HELP)] = 21_600.0,
    records: Annotated[
        Path | None,
        typer.Option(help=f"Run directory for people's episodes; default {HUMAN_RUN}."),
    ] = None,
) -> None:
    """Serve WebShop: the documented routes for agents, and a web site for people.

    If $AGENTQUEST_TOKEN is set, agents must send it as `Authorization: Bearer`. Other machines
    are served only with a token; the pages of --site and --original-pages ask for none, so there
    they need --insecure-no-token.

    Example: agentquest serve webshop --site
    """
    if site and original_pages:
        raise ConfigError("--site and --original-pages use the same port: choose one")
    if records is not None and not site:
        raise ConfigError("--records is for people's episodes: it needs --site")
    require("serve", "starlette", "uvicorn", why="serving")
    from agentquest.benchmarks.webshop.serving.api import for_agents
    from agentquest.benchmarks.webshop.serving.original_site import for_scrapers
    from agentquest.benchmarks.webshop.serving.requests import SessionLimits
    from agentquest.benchmarks.webshop.serving.site import for_people
    from agentquest.http.serving import serve as serve_all

    folder = data_root(data)
    if goals is None:  # the original's site plays people's wordings, its server for agents does not
        goals = GoalsKind.HUMAN if original_pages else GoalsKind.SYNTHETIC
    shop = _open_shop(folder, size, seed, goals, strict)
    limits = SessionLimits(max_sessions, session_ttl)
    access = Access.read(host, allow_host, insecure_no_token)
    with ExitStack() as stack:
        # What is not served has no run: every port is taken before the recorder opens one.
        agents = stack.enter_context(access.listen(port))
        if site or original_pages:
            pages = access.listen(site_port, "--site-port", asks_token=False)
            stack.enter_context(pages)
        served = {"agents": for_agents(shop, limits, access, agents)}
        if site:
            run = records or HUMAN_RUN
            people = _open_recorder(context.obj, shop, folder, size, run)
            try:
                recorder = stack.enter_context(people)
            except ConfigError as error:
                raise ConfigError(f"{error}\n--records chooses the folder of that run.") from error
            served["people"] = for_people(shop, recorder, limits, access, pages)
            say(f"people's episodes go to {recorder.path}", err=True)
        if original_pages:
            served["scrapers"] = for_scrapers(shop, limits, access, pages)
        say(f"data: {folder or BUILTIN}", err=True)
        _announce(shop, {use: each.url for use, each in served.items()})
        serve_all(*served.values())


def _open_shop(
    data: Path | None, size: Size | None, seed: int, goals: GoalsKind, strict: bool
) -> Shop:
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_interactive) as bars:
        bar = bars.add_task("opening the catalogue", total=None)

        def on_progress(done: int, total: int) -> None:
            bars.update(bar, completed=done, total=total)

        catalogue = open_catalogue(data, size=size.value if size else None, progress=on_progress)
        return Shop(catalogue, goals=goals.value, seed=seed, strict=strict)


def _open_recorder(
    opens: OpenRecorder, shop: Shop, data: Path | None, size: Size | None, run: Path
) -> AbstractContextManager[Recorder]:
    settings: dict[str, Any] = {
        "data_path": BUILTIN if data is None else str(data),
        "goals": shop.goals.kind,
        "strict": shop.strict,
        "seed": shop.seed,
        "size": size and size.value,
    }
    benchmark = WebshopBenchmark(**settings)
    benchmark.shop = shop  # opened already, with a progress bar
    return opens(benchmark, settings, run, MAX_STEPS)


def _announce(shop: Shop, urls: dict[str, str]) -> None:
    products, goals = len(shop.catalogue), len(shop.goals)
    say(f"{counted(products, 'product')}, {goals:,} {shop.goals.kind} {plural(goals, 'goal')}")
    for use, url in urls.items():
        say(f"WebShop for {use}: {url}")


def download(
    data_path: Annotated[
        Path | None,
        typer.Option(
            help="Target folder; default $WEBSHOP_DATA or ~/.cache/agentquest/webshop-data."
        ),
    ] = None,
    size: Annotated[
        Size, typer.Option(help="1,000 products (10 MB) or all 1.18 million (5.7 GB).")
    ] = Size.SMALL,
    base_url: Annotated[
        str, typer.Option(help="Download from this mirror of the official site.")
    ] = OFFICIAL_URL,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
) -> None:
    """Download the official WebShop files.

    An interrupted download resumes, also when the command is run again.

    Example: agentquest download webshop --size all
    """
    folder = data_path or default_data_folder()
    with download_bars() as add_bar:
        files = FILES[size.value]
        download_webshop(folder, files, base_url=base_url, force=force, on_file=add_bar)
        catalogue = open_catalogue(folder, size=size.value, progress=add_bar("catalogue"))
    say(f"WebShop data is in {folder}: {counted(len(catalogue), 'product')}")
