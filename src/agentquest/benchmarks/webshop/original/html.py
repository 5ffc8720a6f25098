"""The original's pages, byte for byte what its templates give.

Scrapers and agents that were made for the original look for its ids, classes and
nesting, its blanks included, so nothing here is tidied up: a heading that opens as
h4 closes as h5, and what is hidden is sent all the same.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from agentquest.benchmarks.webshop.catalogue.products import Product
from agentquest.benchmarks.webshop.original.links import STYLE, Keywords, Links

_CDN = "https://cdnjs.cloudflare.com/ajax/libs/font-awesome"
_BOOTSTRAP = "https://maxcdn.bootstrapcdn.com/bootstrap/3.4.1/css/bootstrap.min.css"
_START = "<!DOCTYPE html>\n<html>\n  <head>\n"
_ICON = '    <link rel="icon" href="data:,">\n  </head>\n  <body>\n'
PLAIN_HEAD = (
    f'{_START}    <link rel="stylesheet" href="{STYLE}">\n'
    f'    <link rel="stylesheet" href="{_CDN}/4.7.0/css/font-awesome.min.css">\n'
    f'    <link rel="stylesheet" href="{_BOOTSTRAP}">\n{_ICON}'
    "    <!-- Code reference: https://bootsnipp.com/snippets/m13mN -->\n"
    '    <div class="container" style="margin-top: 8%;">\n'
    '      <div class="col-md-6 col-md-offset-3">     \n'
    '        <div class="row">\n'
)
PLAIN_END = "        </div>            \n      </div>\n    </div>\n  </body>\n</html>"
SHOP_HEAD = (
    f'{_START}    <link rel="stylesheet" href="{STYLE}">\n'
    f'    <link rel="stylesheet" href="{_BOOTSTRAP}">\n'
    f'    <link rel="stylesheet" href="{_CDN}/4.0.3/css/font-awesome.css\t">\n'
    '    <script src="https://ajax.googleapis.com/ajax/libs/jquery/3.5.1/jquery.min.js"></script>\n'
    '    <script src="https://stackpath.bootstrapcdn.com/bootstrap/4.3.1/js/'
    f'bootstrap.bundle.min.js"></script>\n{_ICON}'
    '    <div class="container py-5">\n'
)
FLEX = '<div class="d-flex align-items-center justify-content-between mt-1">'
BOLD = "font-weight-bold my-2"


@dataclass(frozen=True)
class Frame:
    """What all pages of a visit have in common; `keywords` and `page` are of the last search."""

    links: Links
    session: str
    instruction: str
    keywords: Keywords = ()
    page: int | str = 1

    def top(self) -> str:
        """Everything up to the page's own content: head, instruction, the way back to search."""
        address = text(self.links.index(self.session))
        return (
            f'{SHOP_HEAD}      <div class="row top-buffer">\n'
            '        <div class="col-sm-6">\n'
            '          <div id="instruction-text" class="text-center">\n'
            f"            <h4>Instruction:<br>{text(self.instruction)}</h4>\n"
            "          </div>\n"
            "        </div>\n"
            "      </div>\n"
            '      <div class="row top-buffer">\n'
            f'        <form method="post" action="{address}">\n'
            '          <button type="submit" class="btn btn-success">Back to Search</button>\n'
            "        </form>\n"
            "      </div>\n"
        )


def text(value: object) -> str:
    """A value as text or attribute, escaped as the original's templates do it."""
    return escape(str(value)).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")


def as_json(value: Mapping[str, str | None]) -> str:
    """JSON for the inside of a script, as the original's templates write it."""
    written = json.dumps(dict(value), sort_keys=True)
    for character in "<>&'":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return written


def back(address: str) -> str:
    """The `< Prev` button, which leads to `address`."""
    return (
        '      <div class="row top-buffer">\n'
        f'        <form method="post" action="{text(address)}">\n'
        '          <button type="submit" class="btn btn-primary">&lt; Prev</button>\n'
        "        </form>\n"
        "      </div>\n"
    )


def search_page(frame: Frame) -> str:
    """The first page: the instruction and the search bar."""
    return (
        f'{PLAIN_HEAD}          <div id="logo" class="text-center">\n'
        "            <h2>WebShop</h2>\n"
        "          </div>\n"
        '          <div id="instruction-text" class="text-center">\n'
        f"            <h4>Instruction: <br>{text(frame.instruction)}</h4>\n"
        "          </div>\n"
        '          <form role="form" id="form-buscar" method="post"'
        f' action="{text(frame.links.index(frame.session))}">\n'
        '            <div class="form-group">\n'
        '              <div class="input-group">\n'
        '                <input id="search_input" class="form-control" type="text"'
        ' name="search_query" placeholder="Search..." required/>\n'
        '                <span class="input-group-btn">\n'
        '                  <button class="btn btn-success" type="submit">'
        '<i class="glyphicon glyphicon-search" aria-hidden="true"></i>Search</button>\n'
        "                </span>\n"
        "              </div>\n"
        "            </div>\n"
        f"          </form>\n{PLAIN_END}"
    )


def results_page(frame: Frame, page: int, total: int, products: Sequence[Product]) -> str:
    """One page of search results; `total` counts those on all pages."""
    before = _turn(frame, "&lt; Prev", page - 1)
    if page <= 1:
        before = '            <div class="col-sm-2">\n            </div>\n'
    items = "".join(_result(frame, product) for product in products)
    return (
        f"{frame.top()}"
        '      <div class="row top-buffer">\n'
        '        <div class="col-sm-8">\n'
        '          <div class="display-4">\n'
        f"            <h3>Page {page} (Total results: {total})</h3>\n"
        "          </div>\n"
        f"          \n{before}{_turn(frame, 'Next &gt;', page + 1)}          \n"
        "        </div>\n"
        "      </div>\n\n"
        f'      <div class="row top-buffer">\n        {items}\n'
        "      </div>\n    </div>\n  </body>\n</html>"
    )


def _turn(frame: Frame, label: str, page: int) -> str:
    address = text(frame.links.search_results(frame.session, frame.keywords, page))
    return (
        '            <div class="col-sm-2">\n'
        f'              <form method="post" action="{address}">\n'
        f'                <button type="submit" class="btn btn-primary">{label}</button>\n'
        "              </form>\n"
        "            </div>\n"
    )


def _result(frame: Frame, product: Product) -> str:
    address = frame.links.item_page(frame.session, product.asin, frame.keywords, frame.page, {})
    heading = '<h4 class="mt-0 font-weight-bold mb-2'
    hidden = "".join(
        f"                    {FLEX}\n"
        f'                      <h5 class="{BOLD} product-{name}">{text(value)}</h5>\n'
        "                    </div>\n"
        for name, value in (
            ("category", product.category),
            ("query", product.query),
            ("product_category", product.product_category),
        )
    )
    return (
        '\n        <div class="col-lg-12 mx-auto list-group-item">\n'
        '          <div class="col-lg-4">\n'
        f'            <img src="{text(product.image)}" class="result-img">\n'
        "          </div>\n"
        '          <div class="col-lg-8">\n'
        '            <ul class="list-group shadow">\n'
        '                <div class="media align-items-lg-center flex-column flex-lg-row p-3">\n'
        '                  <div class="media-body order-2 order-lg-1 searched-product">\n'
        "                    \n"
        f'                    {heading} product-asin"><a class="product-link"'
        f' href="{text(address)}">{text(product.asin)}</a></h5>\n'
        f'                    {heading} product-title">{text(product.title)}</h5>\n'
        f"                    {FLEX}\n"
        f'                      <h5 class="{BOLD} product-price">{text(product.price_text)}</h6>\n'
        f"                    </div>\n<!--\n{hidden}-->\n"
        "                  </div>\n"
        "                </div>\n"
        "            </ul>\n"
        "          </div>\n"
        "        </div>\n        "
    )
