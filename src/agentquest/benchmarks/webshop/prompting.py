"""What a prompt says about WebShop: its actions and rules, and example purchases.

Examples are not stored: the rule-based shopper shops in the built-in catalogue
for goals of its train split and is written down, so that they show the very
pages an agent meets and are never a test goal.
"""

from functools import cache

from agentquest.benchmarks.webshop.catalogue.catalogue import open_catalogue
from agentquest.benchmarks.webshop.explorer import WebshopExplorer
from agentquest.benchmarks.webshop.game import WebshopGame
from agentquest.benchmarks.webshop.shop.shop import Shop
from agentquest.benchmarks.webshop.tasks import numbers_of
from agentquest.lib import Demonstration
from agentquest.lib.commands import make_tool
from agentquest.lib.game import play_example

ROLE = (
    "You are an agent in an online shop. "
    "Your goal is to buy what the instruction asks for by taking actions."
)
EXAMPLES = '"search[red shoes]" or "click[Buy Now]"'
TOOLS = (
    make_tool(
        "search",
        "Look for products, from the search page.",
        "search[<query>]",
        query="The words to look for.",
    ),
    make_tool(
        "click",
        "Press something that the page offers.",
        "click[<target>]",
        target="Its text on the page.",
    ),
)
INSTRUCTIONS = """You are in an online shop. Buy the product that the instruction asks for.
A page is shown as pieces of text with [SEP] between them. Actions:
- search[words]: look for products; results come ten to a page, at most fifty
- click[text]: press what the page offers, by its text:
  - a product's code in the results, such as click[b0abcd1234]: open that product
  - click[next >] and click[< prev]: turn pages of results, or go back from a product
  - an option on a product's page, such as a colour or a size, by its exact text
  - click[description], click[features], click[reviews]: read more; click[< prev] leads back
  - click[back to search]: begin again
  - click[buy now]: buy the open product with the options chosen; this ends the task
Rules:
- You buy once. The reward, 0 to 1, says how well the purchase fits: the kind of product, the
  attributes and options that the instruction names, and its price limit.
- Choose every option that the instruction names before you buy; a page does not show what is
  chosen.
- An action that is not possible changes nothing: the same page is shown again."""
_LONGEST_EXAMPLE = 8
_SHORTEST_EXAMPLE = 4


@cache
def examples(category: str, kind: str, count: int) -> tuple[Demonstration, ...]:
    """Short purchases of full reward, of one category and kind of goal; always the same ones."""
    shop = _training_shop(kind)
    found: list[Demonstration] = []
    for number in numbers_of("train", len(shop.goals)):
        if len(found) == count:
            break
        if shop.goals[number].category == category:
            game = WebshopGame(shop, number)
            example = play_example(game, WebshopExplorer(), _LONGEST_EXAMPLE)
            if example is not None and len(example.turns) >= _SHORTEST_EXAMPLE:
                found.append(example)
    return tuple(found)


@cache
def _training_shop(kind: str) -> Shop:
    return Shop(open_catalogue(), goals=kind)
