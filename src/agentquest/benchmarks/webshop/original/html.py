"""The original's pages, byte for byte what its templates give.

Scrapers and agents made for the original depend on its ids, classes, nesting and
whitespace, so nothing here is tidied up: a heading that opens as h4 closes as h5, and
hidden parts are sent all the same. Templates are `Markup`, and filling them escapes
every value that is not markup itself, exactly as the original's templates do.
"""

import hashlib
import pprint
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from agentquest.benchmarks.webshop.catalogue.products import RATING, Product
from agentquest.benchmarks.webshop.original.links import (
    STYLE,
    AddressWriter,
    ChosenOptions,
    Keywords,
)
from agentquest.benchmarks.webshop.shop.pages import write_script_json
from agentquest.benchmarks.webshop.shop.prices import NO_LIMIT

_CDN = "https://cdnjs.cloudflare.com/ajax/libs/font-awesome"
_BOOTSTRAP = "https://maxcdn.bootstrapcdn.com/bootstrap/3.4.1/css/bootstrap.min.css"
_START = "<!DOCTYPE html>\n<html>\n  <head>\n"
_ICON = '    <link rel="icon" href="data:,">\n  </head>\n  <body>\n'
_PLAIN_HEAD = Markup(
    f'{_START}    <link rel="stylesheet" href="{STYLE}">\n'
    f'    <link rel="stylesheet" href="{_CDN}/4.7.0/css/font-awesome.min.css">\n'
    f'    <link rel="stylesheet" href="{_BOOTSTRAP}">\n{_ICON}'
    "    <!-- Code reference: https://bootsnipp.com/snippets/m13mN -->\n"
    '    <div class="container" style="margin-top: 8%;">\n'
    '      <div class="col-md-6 col-md-offset-3">     \n'
    '        <div class="row">\n'
)
_PLAIN_END = Markup("        </div>            \n      </div>\n    </div>\n  </body>\n</html>")
_SHOP_HEAD = Markup(
    f'{_START}    <link rel="stylesheet" href="{STYLE}">\n'
    f'    <link rel="stylesheet" href="{_BOOTSTRAP}">\n'
    f'    <link rel="stylesheet" href="{_CDN}/4.0.3/css/font-awesome.css\t">\n'
    '    <script src="https://ajax.googleapis.com/ajax/libs/jquery/3.5.1/jquery.min.js"></script>\n'
    '    <script src="https://stackpath.bootstrapcdn.com/bootstrap/4.3.1/js/'
    f'bootstrap.bundle.min.js"></script>\n{_ICON}'
    '    <div class="container py-5">\n'
)
_FLEX = '<div class="d-flex align-items-center justify-content-between mt-1">'
_BOLD = "font-weight-bold my-2"
_BOXES = {"Description": "description", "Features": "bulletpoints", "Reviews": "reviews"}
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


@dataclass(frozen=True)
class Frame:
    """What all pages of a session share; `keywords` and `page` are those of the last search."""

    address: AddressWriter
    session: str
    instruction: str
    keywords: Keywords = ()
    page: int | str = 1

    def top(self) -> Markup:
        """Everything above the page's own content: head, instruction, the way back to search."""
        return _fill(_TOP, head=_SHOP_HEAD, instruction=self.instruction, index=self.index)

    @property
    def index(self) -> str:
        """The address of the search page."""
        return self.address("", session_id=self.session)

    def results(self, page: int | str) -> str:
        """The address of a page of the search's results."""
        search = {"keywords": self.keywords, "page": page}
        return self.address("search_results", session_id=self.session, **search)

    def item_page(self, product: Product, options: ChosenOptions) -> str:
        """The address of a product with these options chosen."""
        return self._product_page("item_page", product, options=options)

    def part(self, product: Product, options: ChosenOptions, name: str) -> str:
        """The address of a product's description, features, reviews or attributes."""
        return self._product_page("item_sub_page", product, sub_page=name, options=options)

    def _product_page(self, kind: str, product: Product, **parts: object) -> str:
        search = {"asin": product.asin, "keywords": self.keywords, "page": self.page}
        return self.address(kind, session_id=self.session, **search, **parts)

    def purchase(self, product: Product, options: ChosenOptions) -> str:
        """The address that buys a product."""
        bought = {"session_id": self.session, "asin": product.asin, "options": options}
        return self.address("done", **bought)


_TOP = Markup(
    '%(head)s      <div class="row top-buffer">\n'
    '        <div class="col-sm-6">\n'
    '          <div id="instruction-text" class="text-center">\n'
    "            <h4>Instruction:<br>%(instruction)s</h4>\n"
    "          </div>\n"
    "        </div>\n"
    "      </div>\n"
    '      <div class="row top-buffer">\n'
    '        <form method="post" action="%(index)s">\n'
    '          <button type="submit" class="btn btn-success">Back to Search</button>\n'
    "        </form>\n"
    "      </div>\n"
)
_BACK = Markup(
    '      <div class="row top-buffer">\n'
    '        <form method="post" action="%s">\n'
    '          <button type="submit" class="btn btn-primary">&lt; Prev</button>\n'
    "        </form>\n"
    "      </div>\n"
)
_NOTHING = Markup()


def _fill(template: Markup, *values: object, **named: object) -> Markup:
    """The template with its values, each escaped unless it is markup.

    Faster than `Markup.__mod__`, which wraps every value in an object of its own.
    """
    if named:
        return Markup(str.__mod__(template, {key: escape(value) for key, value in named.items()}))
    return Markup(str.__mod__(template, tuple(map(escape, values))))


# The search page


def search_page(frame: Frame) -> Markup:
    """The first page: the instruction and the search bar."""
    return _fill(
        _SEARCH,
        head=_PLAIN_HEAD,
        instruction=frame.instruction,
        index=frame.index,
        end=_PLAIN_END,
    )


_SEARCH = Markup(
    '%(head)s          <div id="logo" class="text-center">\n'
    "            <h2>WebShop</h2>\n"
    "          </div>\n"
    '          <div id="instruction-text" class="text-center">\n'
    "            <h4>Instruction: <br>%(instruction)s</h4>\n"
    "          </div>\n"
    '          <form role="form" id="form-buscar" method="post" action="%(index)s">\n'
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
    "          </form>\n%(end)s"
)


# Search results


def results_page(frame: Frame, page: int, total: int, products: Sequence[Product]) -> Markup:
    """One page of search results; `total` counts those on all pages."""
    return _fill(
        _RESULTS,
        top=frame.top(),
        page=page,
        total=total,
        before=_turn(frame, "< Prev", page - 1) if page > 1 else _NO_TURN,
        after=_turn(frame, "Next >", page + 1),
        items=_NOTHING.join(_result(frame, product) for product in products),
    )


_RESULTS = Markup(
    '%(top)s      <div class="row top-buffer">\n'
    '        <div class="col-sm-8">\n'
    '          <div class="display-4">\n'
    "            <h3>Page %(page)s (Total results: %(total)s)</h3>\n"
    "          </div>\n"
    "          \n%(before)s%(after)s          \n"
    "        </div>\n"
    "      </div>\n\n"
    '      <div class="row top-buffer">\n        %(items)s\n'
    "      </div>\n    </div>\n  </body>\n</html>"
)
_NO_TURN = Markup('            <div class="col-sm-2">\n            </div>\n')


def _turn(frame: Frame, label: str, page: int) -> Markup:
    return _fill(_TURN, frame.results(page), label)


_TURN = Markup(
    '            <div class="col-sm-2">\n'
    '              <form method="post" action="%s">\n'
    '                <button type="submit" class="btn btn-primary">%s</button>\n'
    "              </form>\n"
    "            </div>\n"
)


def _result(frame: Frame, product: Product) -> Markup:
    return _fill(
        _RESULT,
        image=product.image,
        address=frame.item_page(product, {}),
        asin=product.asin,
        title=product.title,
        price=product.price_text,
        category=product.category,
        query=product.query,
        product_category=product.product_category,
    )


_HEADING = '                    <h4 class="mt-0 font-weight-bold mb-2'
_RESULT = Markup(
    '\n        <div class="col-lg-12 mx-auto list-group-item">\n'
    '          <div class="col-lg-4">\n'
    '            <img src="%(image)s" class="result-img">\n'
    "          </div>\n"
    '          <div class="col-lg-8">\n'
    '            <ul class="list-group shadow">\n'
    '                <div class="media align-items-lg-center flex-column flex-lg-row p-3">\n'
    '                  <div class="media-body order-2 order-lg-1 searched-product">\n'
    "                    \n"
    f'{_HEADING} product-asin"><a class="product-link" href="%(address)s">%(asin)s</a></h5>\n'
    f'{_HEADING} product-title">%(title)s</h5>\n'
    f"                    {_FLEX}\n"
    f'                      <h5 class="{_BOLD} product-price">%(price)s</h6>\n'
    "                    </div>\n<!--\n"
    + "".join(
        f"                    {_FLEX}\n"
        f'                      <h5 class="{_BOLD} product-{name}">%({name})s</h5>\n'
        "                    </div>\n"
        for name in ("category", "query", "product_category")
    )
    + "-->\n"
    "                  </div>\n"
    "                </div>\n"
    "            </ul>\n"
    "          </div>\n"
    "        </div>\n        "
)


# A product


def item_page(
    frame: Frame, product: Product, options: ChosenOptions, show_attributes: bool = False
) -> Markup:
    """A product with its options, of which `options` are chosen, and the buttons to its parts."""
    attributes = _NOTHING
    if show_attributes:
        shown = _part(frame, product, options, "Attributes", "attributes")
        attributes = _fill(Markup("\n%s            "), shown)
    return _fill(
        _ITEM,
        top=frame.top(),
        back=_fill(_BACK, frame.results(frame.page)),
        image=product.image,
        groups=_groups(frame, product, options),
        title=product.title,
        price=product.price_text,
        rating=RATING,
        parts=_NOTHING.join(
            _part(frame, product, options, name, box) for name, box in _BOXES.items()
        ),
        attributes=attributes,
        purchase=frame.purchase(product, options),
        script=_script(product, options),
    )


_ITEM = Markup(
    '%(top)s%(back)s      <div class="row top-buffer">\n'
    '        <div class="col-md-4 mb-4 mb-md-0">\n'
    '          <div class="row top-buffer">\n'
    '            <img id="product-image" src="%(image)s" class="item-page-img">\n'
    "          </div>\n          %(groups)s\n"
    "        </div>\n"
    '        <div class="col-md-6">\n'
    "          <h2>%(title)s</h2>\n"
    "          <h4>Price: %(price)s</h4>\n"
    "          <h4>Rating: %(rating)s</h4>\n"
    '          <div class="row top-buffer">\n'
    "%(parts)s            %(attributes)s\n"
    "          </div>\n"
    "        </div>\n"
    '        <div class="col-sm-2">\n'
    '          <div class="row top-buffer">\n'
    '            <form method="post" action="%(purchase)s">\n'
    '              <button type="submit" class="btn btn-lg purchase">Buy Now</button>\n'
    "            </form>\n"
    "          </div>\n"
    "        </div>\n"
    "      </div>\n    </div>\n  </body>\n%(script)s</html>"
)


def _groups(frame: Frame, product: Product, options: ChosenOptions) -> Markup:
    groups = []
    for group, values in product.options.items():
        choices = (
            _fill(_CHOICE, name=group, number=number, value=value,
                  address=frame.item_page(product, {**options, group: value}))
            for number, value in enumerate(values)
        )  # fmt: skip
        groups.append(_fill(_GROUP, group, _NOTHING.join(choices)))
    return _NOTHING.join(groups)


_GROUP = Markup(
    '\n            <div class="row top-buffer">\n'
    "              <h4>%s</h4>\n"
    '              <div class="radio-toolbar">\n                %s\n'
    "              </div>\n"
    "            </div>\n          "
)


_BLANK = " " * 18
_CHOICE = Markup(
    f"\n{_BLANK}\n{_BLANK}\n{_BLANK}\n"
    f'{_BLANK}<input type="radio" id="radio_%(name)s%(number)s" name="%(name)s"'
    ' value="%(value)s" data-url="%(address)s">\n'
    f'{_BLANK}<label for="radio_%(name)s%(number)s">%(value)s</label>\n'
    "                "
)


def _part(frame: Frame, product: Product, options: ChosenOptions, name: str, box: str) -> Markup:
    return _fill(_PART, box, frame.part(product, options, name), name)


_PART = Markup(
    '            <div class="col-sm-3" name="%s">\n'
    '              <form method="post" action="%s">\n'
    '                <button class="btn btn-primary" type="submit">%s</button>\n'
    "              </form>\n"
    "            </div>\n"
)


def _script(product: Product, options: ChosenOptions) -> Markup:
    """The script that marks what is chosen; it holds the choice, and the picture of each value."""
    values = [value for group in product.options.values() for value in group]
    images = {value: product.option_images.get(value) for value in values}
    return _fill(_SCRIPT, *map(Markup, (write_script_json(options), write_script_json(images))))


_SCRIPT = Markup(
    "\n".join(
        [
            "  <script>",
            "    $(document).ready(function() {",
            "      $('input:radio').each(function() {",
            "        //console.log($(this).val());",
            "        let options = JSON.parse(`%s`);",
            "        let optionValues = $.map(options, function(value, key) { return value });",
            "        //console.log(optionValues);",
            "        if (optionValues.includes($(this).val())) {",
            "          $(this).prop('checked', true);",
            "",
            "          let option_to_image = JSON.parse(`%s`);",
            "//          console.log($(this).val());",
            "//          console.log(options);",
            "//          console.log(option_to_image);",
            "          let image_url = option_to_image[$(this).val()];",
            "",
            "          //console.log(image_url);",
            "          if (image_url) {",
            '            $("#product-image").attr("src", image_url);',
            "          }",
            "        }",
            "        ",
            "        // reload with updated options",
            '        this.addEventListener("click", function() {',
            "          window.location.href = this.dataset.url;",
            "        });",
            "",
            "      });",
            "    });",
            "  </script>",
            "",
        ]
    )
)


# A product's parts


def sub_page(frame: Frame, product: Product, options: ChosenOptions, name: str) -> Markup:
    """One of Description, Features, Reviews and Attributes."""
    match name:
        case "Description":
            box = _fill(_CARD, "description", _fill(_PARAGRAPH, product.description))
        case "Features":
            box = _fill(_CARD, "bulletpoints", _list("product-info", product.bullets))
        case "Reviews":
            box = _fill(_CARD, "reviews", "                \n")
        case "Attributes":
            listed = _fill(_CARD, "description", _list("attribute", product.attributes))
            kinds = (product.category, product.query, product.product_category)
            box = listed + _fill(_KINDS, *kinds)
        case _:
            raise KeyError(name)
    return _fill(
        _SUB_PAGE,
        top=frame.top(),
        back=_fill(_BACK, frame.item_page(product, options)),
        box=box,
    )


_SUB_PAGE = Markup(
    '%(top)s%(back)s      <div class="row top-buffer">\n'
    '        <div class="col-md-12">\n'
    '          <div class="row top-buffer">\n%(box)s'
    "          </div>\n        </div>\n      </div>\n    </div>\n  </body>\n</html>"
)
_CARD = Markup(
    '            <div class="col-sm-6" name="%s">\n'
    '              <div class="card card-body">\n%s'
    "              </div>\n            </div>\n"
)
_PARAGRAPH = Markup('                <p class="product-info">%s</p>\n')
_KINDS = Markup(
    '            <div class="col-sm-6" name="description">\n'
    + "".join(
        f"              {_FLEX}\n"
        f'                <h5 class="{_BOLD} product-{name}">%s</h5>\n'
        "              </div>\n"
        for name in ("category", "query", "product_category")
    )
    + "            </div>\n"
)


def _list(class_: str, lines: Iterable[str]) -> Markup:
    return _fill(_LIST, _NOTHING.join(_fill(_LINE, class_, line) for line in lines))


_LIST = Markup("                <ul>\n                  %s\n                </ul>\n")
_LINE = Markup('\n                  <li><p class="%s"> %s</p></li>\n                  ')


# After the purchase


@dataclass(frozen=True)
class Verdict:
    """What the web site says about a purchase; the environment for agents does not show it."""

    code: str
    product: Product
    goal: Mapping[str, Any]
    info: Mapping[str, Any]


def completion_code(session: str) -> str:
    """What a crowd worker pastes to show that the task was done, made as the original makes it."""
    digest = hashlib.sha1(session.encode("utf-8", "replace"), usedforsecurity=False)
    return digest.hexdigest()[:10].upper()


def goal_record(goal: Mapping[str, Any]) -> dict[str, Any]:
    """A goal as the original writes it: no limit is a whole number there."""
    limit = goal["price_upper"]
    return {**goal, "price_upper": int(limit) if limit == NO_LIMIT else limit}


def done_page(
    asin: str, options: ChosenOptions, reward: float, verdict: Verdict | None = None
) -> Markup:
    """The page after a purchase; without a verdict its facts stay None, as agents see it."""
    goal = None if verdict is None else goal_record(verdict.goal)
    product = None if verdict is None else verdict.product
    bought = [
        ("asin", "asin", asin, "p"),
        ("options", "options", Markup(write_script_json(options)), "h4"),
        ("purchased_attrs", "attrs", product and list(product.attributes), "h4"),
        ("purchased-category", "category", product and product.category, "h4"),
        ("purchased-query", "query", product and product.query, "h4"),
        ("purchased-pc", "product category", product and product.product_category, "h4"),
    ]
    wanted = [
        (f"goal-{name}", label, "" if goal is None else goal[key], end)
        for name, label, key, end in _TARGET
    ]
    return _fill(
        _DONE,
        head=_PLAIN_HEAD,
        code=verdict and verdict.code,
        bought=_table("Purchased", bought),
        wanted=_table("Target", wanted),
        goal=pprint.pformat(goal),
        reward=reward,
        info=pprint.pformat(None if verdict is None else dict(verdict.info)),
        end=_PLAIN_END,
    )


_DONE = Markup(
    '%(head)s          <div id="thankyou" class="text-center">\n'
    "            <h1>Thank you for shopping with us!</h1>\n"
    "          </div>\n"
    '          <div id="stats" class="text-center">\n'
    '            <h3 align="mturk_code">Your code: </h3>\n'
    "            <p><pre>%(code)s</pre> (Paste it in your MTurk interface.)</p>\n"
    '            <div style="display:none">\n%(bought)s%(wanted)s'
    '              <h4>Goal <div id="goal"><pre>%(goal)s</pre></div></h4>\n'
    '              <h2 align="left">Reward</h2>\n'
    "            </div>\n"
    '            <hr class="solid">\n'
    '      \t\t\t<h3   id="reward">Your score (min 0.0, max 1.0)<pre>%(reward)s</pre></h3>\n'
    '            <h4 hidden>Reward Details <div id="reward_info">'
    "<pre>%(info)s</pre></div></h4>\n"
    "          </div>\n%(end)s"
)


def _table(title: str, rows: Iterable[tuple[str, str, object, str]]) -> Markup:
    return _fill(_TABLE, title) + _NOTHING.join(_fill(_ROW, *row) for row in rows)


_TABLE = Markup('              <h2 align="left">%s</h2>\n              <hr class="solid">\n')
_ROW = Markup('              <h4 id="%s">%s<pre>%s</pre></%s>\n')
