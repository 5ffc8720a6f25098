"""`agentquest serve`: a benchmark over HTTP, for agents and for people."""

import asyncio
from contextlib import ExitStack
from enum import Enum
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from agentquest.benchmarks.webshop.catalogue.catalogue import open_catalogue
from agentquest.benchmarks.webshop.shop.shop import Shop
from agentquest.benchmarks.webshop.tasks import BUILTIN, data_root
from agentquest.errors import ConfigError, UnknownName, UserError

HUMAN_RUN = Path("runs/webshop-human")
_TTL_HELP = "Seconds after which an unused session is forgotten."


class GoalsKind(str, Enum):
    SYNTHETIC = "synthetic"
    HUMAN = "human"


class Size(str, Enum):
    SMALL = "small"
    ALL = "all"


def command(
    benchmark: Annotated[str, typer.Argument(help="webshop")],
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="For agents; 0 takes any free port.")] = 5555,
    data: Annotated[
        str | None,
        typer.Option(help="Folder of the official files, or `builtin`; default: found by itself."),
    ] = None,
    size: Annotated[Size | None, typer.Option(help="Which files, if the folder has both.")] = None,
    seed: Annotated[int, typer.Option(help="Decides hidden prices and price limits.")] = 0,
    goals: Annotated[GoalsKind, typer.Option(help="Which tasks.")] = GoalsKind.SYNTHETIC,
    strict: Annotated[
        bool, typer.Option("--strict", help="Keep the quirks of the original.")
    ] = False,
    site: Annotated[
        bool, typer.Option("--site", help="Serve the shop for people in a browser, too.")
    ] = False,
    site_port: Annotated[int, typer.Option(help="For people; 0 takes any free port.")] = 3000,
    max_sessions: Annotated[int, typer.Option(min=1, help="How many sessions are kept.")] = 10_000,
    session_ttl: Annotated[float, typer.Option(min=1.0, help=_TTL_HELP)] = 21_600.0,
    records: Annotated[
        Path | None,
        typer.Option(help=f"Run directory for people's episodes; default {HUMAN_RUN}."),
    ] = None,
) -> None:
    """Serve WebShop: the documented routes for agents, and a web site for people.

    Example: agentquest serve webshop --site
    """
    if benchmark != "webshop":
        raise UnknownName(f"{benchmark!r} cannot be served; there is: webshop")
    if records is not None and not site:
        raise ConfigError("--records is for what people do: it needs --site")
    _check_extra()
    from agentquest.benchmarks.webshop.serving.api import api_app
    from agentquest.benchmarks.webshop.serving.human_records import HumanRecords
    from agentquest.benchmarks.webshop.serving.requests import Limits
    from agentquest.benchmarks.webshop.serving.running import listen, serve
    from agentquest.benchmarks.webshop.serving.site import site_app

    folder = data_root(data)
    shop = _open_shop(folder, size, seed, goals, strict)
    limits = Limits(max_sessions, session_ttl)
    with ExitStack() as stack:
        listening = [listen(api_app(shop, limits), host, port)]
        if site:
            people = stack.enter_context(HumanRecords(shop, records or HUMAN_RUN, folder))
            listening.append(listen(site_app(shop, people, limits), host, site_port))
            typer.echo(f"people's episodes go to {people.directory.path}", err=True)
        typer.echo(f"data: {folder or BUILTIN}", err=True)
        _announce(shop, host, [each.url for each in listening])
        asyncio.run(serve(listening))


def _check_extra() -> None:
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise UserError(
            f"serving needs {error.name}, of the extra `serve`: pip install 'agentquest[serve]'"
        ) from error


def _open_shop(
    data: Path | None, size: Size | None, seed: int, goals: GoalsKind, strict: bool
) -> Shop:
    with Progress(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task("opening the catalogue", total=None)

        def on_progress(done: int, total: int) -> None:
            bars.update(bar, completed=done, total=total)

        catalogue = open_catalogue(data, size=size.value if size else None, progress=on_progress)
        return Shop(catalogue, goals=goals.value, seed=seed, strict=strict)


def _announce(shop: Shop, host: str, urls: list[str]) -> None:
    typer.echo(f"{len(shop.catalogue)} products, {len(shop.goals)} {shop.goals.kind} goals")
    for use, url in zip(("agents", "people"), urls, strict=False):
        typer.echo(f"WebShop for {use}: {url}")
    if not _is_loopback(host):
        warning = f"warning: {host} can be reached from other machines, and there is no password"
        typer.secho(warning, fg="yellow", err=True)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
