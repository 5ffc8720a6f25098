"""The frame of every page, and the table of the pages that the navigation leads to.

A new one is a function from the library to nodes, and a line here: the server and the export
read this table.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import htpy as h

from agentquest.store.library import Library
from agentquest.viewer.addresses import Addresses
from agentquest.viewer.glossary_page import glossary_page
from agentquest.viewer.layout import link, render
from agentquest.viewer.people_page import people_page
from agentquest.viewer.runs_page import leaderboard_page, runs_page

# What an exported page may do, whatever a record says; a server says it in a header.
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self';"
    " base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class NavigationPage:
    """A page of the navigation; without `make` it has routes of its own, and needs a server."""

    title: str
    make: Callable[[Addresses, Library, Mapping[str, str]], h.Node] | None = None
    follow: str = ""  # what the script asks whether something has changed
    of_one_run: bool = False  # makes sense where there is one run only


PAGES = {
    "runs": NavigationPage("Runs", runs_page, follow="/state"),
    "leaderboard": NavigationPage("Leaderboard", leaderboard_page),
    "people": NavigationPage("People", people_page),
    "play": NavigationPage("Play"),
    "glossary": NavigationPage("Glossary", glossary_page, of_one_run=True),
}


def navigation_page(site: Addresses, library: Library, name: str, query: Mapping[str, str]) -> str:
    """One of `PAGES`."""
    found = PAGES[name]
    assert found.make is not None
    body = found.make(site, library, query)
    return page(site, found.title, body, name, found.follow if site.served else "")


def problem_page(site: Addresses, title: str, why: str) -> str:
    """In place of a page that cannot be made, which is no matter to the others."""
    body = [h.h1[title], h.p[why], h.p[link(site.page("runs"), "All runs")]]
    return page(site, title, body)


def page(site: Addresses, title: str, body: h.Node, here: str = "", follow: str = "") -> str:
    """A whole page; the script asks `follow` whether something has changed."""
    links = (
        h.a(href=address, aria_current="page" if name == here else None)[one.title]
        for name, one in PAGES.items()
        if (address := site.page(name))
    )
    policy = h.meta(http_equiv="Content-Security-Policy", content=POLICY)
    return render(
        h.html(lang="en")[
            h.head[
                h.meta(charset="utf-8"),
                None if site.served else policy,
                h.meta(name="viewport", content="width=device-width, initial-scale=1"),
                h.meta(name="color-scheme", content="light dark"),
                h.title[f"{title} · AgentQuest"],
                h.link(rel="icon", href=site.asset("icon.svg")),
                h.link(rel="stylesheet", href=site.asset("viewer.css")),
                h.script(src=site.asset("viewer.js"), defer=True),
            ],
            h.body(data_follow=follow or None)[
                h.a(".skip", href="#content")["Skip to content"],
                h.header(".top")[h.span(".brand")["AgentQuest"], h.nav(aria_label="Pages")[links]],
                h.main("#content", tabindex="-1")[body],
            ],
        ]
    )
