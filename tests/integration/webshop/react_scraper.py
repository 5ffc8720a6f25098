"""A shopper that reads the original's pages from outside, in the manner of ReAct's environment.

It keeps where it stands by itself and builds every address by hand: plain queries,
options as Python writes a dictionary. What it takes from a page: buttons, labels,
product links, the text before a label as the name of its group, and the score.
"""

from urllib.parse import quote

from serving_process import send

from webshop_html import Reader


class Scraper:
    def __init__(self, url: str, session: str) -> None:
        self.url, self.session = url, session
        self.query = self.asin = ""
        self.options: dict[str, str] = {}
        self.groups: dict[str, str] = {}
        self.asins: list[str] = []
        self.observation = self._read(session)

    def _read(self, path: str) -> str:
        answer = send(f"{self.url}/{quote(path)}")
        assert answer.status == 200, (path, answer.status, answer.body)
        shown, group = [], ""
        self.groups, self.asins = {}, []
        texts = [node for node in Reader(answer.body.decode()).nodes if node[0].strip()]
        for text, name, class_ in texts:
            if name == "button":
                shown.append(f"[{text}]")
            elif name == "label":
                chosen = f"'{text}'" in path
                shown.append(f"[[{text}]]" if chosen else f"[{text}]")
                self.groups[text] = group
            elif class_ == "product-link":
                shown.append(f"[{text}]")
                self.asins.append(text)
            else:
                shown.append(text)
                group = text
        self.texts = [text for text, _, _ in texts]
        return "\n".join(shown)

    def search(self, query: str, page: int = 1) -> str:
        self.query, self.options = query, {}
        self.observation = self._read(f"search_results/{self.session}/{query}/{page}")
        return self.observation

    def open(self, asin: str) -> str:
        self.asin = asin
        return self._item()

    def _item(self) -> str:
        where = f"{self.session}/{self.asin}/{self.query}/1/{self.options}"
        self.observation = self._read(f"item_page/{where}")
        return self.observation

    def choose(self, value: str) -> str:
        self.options[self.groups[value]] = value
        return self._item()

    def part(self, name: str) -> str:
        where = f"{self.session}/{self.asin}/{self.query}/1/{name}/{self.options}"
        return self._read(f"item_sub_page/{where}")

    def buy(self) -> float:
        self._read(f"done/{self.session}/{self.asin}/{self.options}")
        at = self.texts.index("Your score (min 0.0, max 1.0)")
        return float(self.texts[at + 1])
