"""The remaining pages in the original's markup: a product's parts, and the end."""

import hashlib
import pprint
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agentquest.benchmarks.webshop.catalogue.products import Product
from agentquest.benchmarks.webshop.original.html import (
    BOLD,
    FLEX,
    PLAIN_END,
    PLAIN_HEAD,
    Frame,
    as_json,
    back,
    text,
)
from agentquest.benchmarks.webshop.original.links import Options
from agentquest.benchmarks.webshop.shop.prices import NO_LIMIT

_CODE_LENGTH = 10


def sub_page(frame: Frame, product: Product, options: Options, name: str) -> str:
    """One of Description, Features, Reviews and Attributes."""
    boxes = {
        "Description": lambda: _card(
            "description",
            f'                <p class="product-info">{text(product.description)}</p>\n',
        ),
        "Features": lambda: _card("bulletpoints", _list("product-info", product.bullets)),
        "Reviews": lambda: _card("reviews", "                \n"),
        "Attributes": lambda: (
            _card("description", _list("attribute", product.attributes)) + _kinds(product)
        ),
    }
    address = frame.links.item_page(
        frame.session, product.asin, frame.keywords, frame.page, options
    )
    return (
        f"{frame.top()}{back(address)}"
        '      <div class="row top-buffer">\n'
        '        <div class="col-md-12">\n'
        f'          <div class="row top-buffer">\n{boxes[name]()}'
        "          </div>\n        </div>\n      </div>\n    </div>\n  </body>\n</html>"
    )


def _card(name: str, content: str) -> str:
    return (
        f'            <div class="col-sm-6" name="{name}">\n'
        f'              <div class="card card-body">\n{content}'
        "              </div>\n            </div>\n"
    )


def _list(class_: str, lines: Iterable[str]) -> str:
    items = "".join(
        f'\n                  <li><p class="{class_}"> {text(line)}</p></li>\n                  '
        for line in lines
    )
    return f"                <ul>\n                  {items}\n                </ul>\n"


def _kinds(product: Product) -> str:
    named = {
        "category": product.category,
        "query": product.query,
        "product_category": product.product_category,
    }
    rows = "".join(
        f"              {FLEX}\n"
        f'                <h5 class="{BOLD} product-{name}">{text(value)}</h5>\n'
        "              </div>\n"
        for name, value in named.items()
    )
    return f'            <div class="col-sm-6" name="description">\n{rows}            </div>\n'


@dataclass(frozen=True)
class Verdict:
    """What the web site tells of a purchase; the environment for agents keeps it to itself."""

    code: str
    product: Product
    goal: Mapping[str, Any]
    info: Mapping[str, Any]


def completion_code(session: str) -> str:
    """What a crowd worker pastes to show that the task was done, made as the original makes it."""
    digest = hashlib.sha1(session.encode("utf-8", "replace"), usedforsecurity=False)
    return digest.hexdigest()[:_CODE_LENGTH].upper()


def goal_record(goal: Mapping[str, Any]) -> dict[str, Any]:
    """A goal as the original writes it: no limit is a whole number there."""
    limit = goal["price_upper"]
    return {**goal, "price_upper": int(limit) if limit == NO_LIMIT else limit}


def done_page(asin: str, options: Options, reward: float, verdict: Verdict | None = None) -> str:
    """The page after a purchase; without a verdict what it tells stays None, as agents see it."""
    goal = None if verdict is None else goal_record(verdict.goal)
    told = None if verdict is None else verdict.product
    info = None if verdict is None else dict(verdict.info)
    bought = [
        ("asin", "asin", text(asin), "p"),
        ("options", "options", as_json(options), "h4"),
        ("purchased_attrs", "attrs", text(told and list(told.attributes)), "h4"),
        ("purchased-category", "category", text(told and told.category), "h4"),
        ("purchased-query", "query", text(told and told.query), "h4"),
        ("purchased-pc", "product category", text(told and told.product_category), "h4"),
    ]
    wanted = [
        (f"goal-{name}", label, "" if goal is None else text(goal[key]), end)
        for name, label, key, end in _TARGET
    ]
    return (
        f'{PLAIN_HEAD}          <div id="thankyou" class="text-center">\n'
        "            <h1>Thank you for shopping with us!</h1>\n"
        "          </div>\n"
        '          <div id="stats" class="text-center">\n'
        '            <h3 align="mturk_code">Your code: </h3>\n'
        f"            <p><pre>{verdict and verdict.code}</pre>"
        " (Paste it in your MTurk interface.)</p>\n"
        f'            <div style="display:none">\n{_table("Purchased", bought)}'
        f"{_table('Target', wanted)}"
        '              <h4>Goal <div id="goal">'
        f"<pre>{text(pprint.pformat(goal))}</pre></div></h4>\n"
        '              <h2 align="left">Reward</h2>\n'
        "            </div>\n"
        '            <hr class="solid">\n'
        '      \t\t\t<h3   id="reward">Your score (min 0.0, max 1.0)'
        f"<pre>{reward}</pre></h3>\n"
        '            <h4 hidden>Reward Details <div id="reward_info">'
        f"<pre>{text(pprint.pformat(info))}</pre></div></h4>\n"
        f"          </div>\n{PLAIN_END}"
    )


_TARGET = (
    ("asin", "asin", "asin", "p"),
    ("options", "options", "goal_options", "h4"),
    ("attrs", "attrs", "attributes", "h4"),
    ("price", "price upper", "price_upper", "h4"),
    ("instruction-text", "instuction text", "instruction_text", "h4"),
    ("category", "category", "category", "h4"),
    ("pc", "product category", "product_category", "h4"),
    ("query", "query", "query", "h4"),
)


def _table(title: str, rows: Iterable[tuple[str, str, str, str]]) -> str:
    lines = "".join(
        f'              <h4 id="{name}">{label}<pre>{value}</pre></{end}>\n'
        for name, label, value, end in rows
    )
    return f'              <h2 align="left">{title}</h2>\n              <hr class="solid">\n{lines}'
