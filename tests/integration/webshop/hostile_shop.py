"""A tiny shop, in the official file format, whose every text tries to break out of a page."""

import json
from pathlib import Path

SCRIPT = "<script>window.broken=1;alert(1)</script>"
IMAGE = '<img src="x" onerror="window.broken=2">'
QUOTES = "\"'><svg onload=window.broken=3>&amp;&lt;"
HALF_PAIR = "\ud83d"
TEXTS = (SCRIPT, IMAGE, QUOTES)


def _product(number: int, title: str) -> dict[str, object]:
    return {
        "asin": f"<B>{number:07d}",
        "name": f"Wrench {title}",
        "full_description": f"{SCRIPT} description {QUOTES}\n</p></form></main>",
        "small_description": [f"bullet {IMAGE}", QUOTES, "</ul><b onclick=x>"],
        "pricing": "$10.00" if number % 2 else "$10.00 - $12.50",
        "images": [f"javascript:{SCRIPT}"],
        "product_category": f"Tools › {SCRIPT} › {QUOTES}",
        "category": "garden",
        "query": f"wrench {SCRIPT}",
        "customization_options": {
            f"color{QUOTES}": [{"value": IMAGE}, {"value": "red"}, {"value": QUOTES}],
            f"size {SCRIPT}": [{"value": "red"}, {"value": "buy now"}, {"value": "reviews"}],
            "empty": [],
        }
        if number != 2
        else "",
    }


def write_hostile_shop(folder: Path) -> Path:
    titles = (*TEXTS, HALF_PAIR, "", "plain")
    products = [_product(number, title) for number, title in enumerate(titles)]
    listings = {
        product["asin"]: {
            "attributes": [SCRIPT, QUOTES],
            "instruction": f"Find me a {SCRIPT} wrench {IMAGE} {HALF_PAIR}",
            "instruction_attributes": [SCRIPT, QUOTES],
        }
        for product in products
    }
    # A group without values gives no goal: only the product without options has one.
    wording = {
        "instruction": f"i want {SCRIPT} {IMAGE} {HALF_PAIR} {QUOTES}",
        "instruction_attributes": [SCRIPT],
        "instruction_options": [IMAGE, "red"],
    }
    human = {product["asin"]: [wording] for product in products}
    contents = {"shuffle_1000": products, "ins_v2_1000": listings, "human_ins": human}
    for name, content in contents.items():
        (folder / f"items_{name}.json").write_text(json.dumps(content))
    return folder
