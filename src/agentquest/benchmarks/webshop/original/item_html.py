"""A product's page in the original's markup, with the script that marks what is chosen."""

from agentquest.benchmarks.webshop.catalogue.products import RATING, Product
from agentquest.benchmarks.webshop.original.html import Frame, as_json, back, text
from agentquest.benchmarks.webshop.original.links import Options

_BOXES = {"Description": "description", "Features": "bulletpoints", "Reviews": "reviews"}


def item_page(
    frame: Frame, product: Product, options: Options, show_attributes: bool = False
) -> str:
    """A product with its options, of which `options` are chosen, and the buttons to its parts."""
    results = frame.links.search_results(frame.session, frame.keywords, frame.page)
    parts = "".join(_part(frame, product, options, name, box) for name, box in _BOXES.items())
    attributes = ""
    if show_attributes:
        shown = _part(frame, product, options, "Attributes", "attributes")
        attributes = f"\n{shown}            "
    return (
        f"{frame.top()}{back(results)}"
        '      <div class="row top-buffer">\n'
        '        <div class="col-md-4 mb-4 mb-md-0">\n'
        '          <div class="row top-buffer">\n'
        f'            <img id="product-image" src="{text(product.image)}" class="item-page-img">\n'
        f"          </div>\n          {_groups(frame, product, options)}\n"
        "        </div>\n"
        '        <div class="col-md-6">\n'
        f"          <h2>{text(product.title)}</h2>\n"
        f"          <h4>Price: {text(product.price_text)}</h4>\n"
        f"          <h4>Rating: {RATING}</h4>\n"
        '          <div class="row top-buffer">\n'
        f"{parts}            {attributes}\n"
        "          </div>\n"
        "        </div>\n"
        f"{_purchase(frame, product, options)}"
        f"      </div>\n    </div>\n  </body>\n{_script(product, options)}</html>"
    )


def _groups(frame: Frame, product: Product, options: Options) -> str:
    shown = []
    for group, values in product.options.items():
        choices = "".join(
            _choice(frame, product, dict(options) | {group: value}, group, number)
            for number, value in enumerate(values)
        )
        shown.append(
            '\n            <div class="row top-buffer">\n'
            f"              <h4>{text(group)}</h4>\n"
            f'              <div class="radio-toolbar">\n                {choices}\n'
            "              </div>\n"
            "            </div>\n          "
        )
    return "".join(shown)


def _choice(frame: Frame, product: Product, chosen: dict[str, str], group: str, number: int) -> str:
    """One value of a group; `chosen` are the options once it is clicked."""
    address = frame.links.item_page(frame.session, product.asin, frame.keywords, frame.page, chosen)
    blank = " " * 18
    name, value = text(group), text(chosen[group])
    return (
        f"\n{blank}\n{blank}\n{blank}\n"
        f'{blank}<input type="radio" id="radio_{name}{number}" name="{name}"'
        f' value="{value}" data-url="{text(address)}">\n'
        f'{blank}<label for="radio_{name}{number}">{value}</label>\n'
        "                "
    )


def _part(frame: Frame, product: Product, options: Options, name: str, box: str) -> str:
    address = frame.links.item_sub_page(
        frame.session, product.asin, frame.keywords, frame.page, name, options
    )
    return (
        f'            <div class="col-sm-3" name="{box}">\n'
        f'              <form method="post" action="{text(address)}">\n'
        f'                <button class="btn btn-primary" type="submit">{name}</button>\n'
        "              </form>\n"
        "            </div>\n"
    )


def _purchase(frame: Frame, product: Product, options: Options) -> str:
    address = frame.links.done(frame.session, product.asin, options)
    return (
        '        <div class="col-sm-2">\n'
        '          <div class="row top-buffer">\n'
        f'            <form method="post" action="{text(address)}">\n'
        '              <button type="submit" class="btn btn-lg purchase">Buy Now</button>\n'
        "            </form>\n"
        "          </div>\n"
        "        </div>\n"
    )


def _script(product: Product, options: Options) -> str:
    """The page's script; it holds what is chosen, and the picture of each value."""
    values = [value for group in product.options.values() for value in group]
    images = {value: product.option_images.get(value) for value in values}
    lines = [
        "  <script>",
        "    $(document).ready(function() {",
        "      $('input:radio').each(function() {",
        "        //console.log($(this).val());",
        f"        let options = JSON.parse(`{as_json(options)}`);",
        "        let optionValues = $.map(options, function(value, key) { return value });",
        "        //console.log(optionValues);",
        "        if (optionValues.includes($(this).val())) {",
        "          $(this).prop('checked', true);",
        "",
        f"          let option_to_image = JSON.parse(`{as_json(images)}`);",
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
    return "\n".join(lines)
