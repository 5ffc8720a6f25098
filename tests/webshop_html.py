"""The text of a page as the original and its scrapers get it: BeautifulSoup's rules, in short.

A run of blanks between two tags is one blank, or a line end if it holds one; what
stands in the head, in scripts and in comments is not seen.
"""

from html.parser import HTMLParser

UNSEEN = {"style", "script", "head", "title", "meta"}
EMPTY = {"br", "hr", "img", "input", "link", "meta"}
BLANKS = " \t\n\r\f\v"


class Reader(HTMLParser):
    """Visible texts, each with the name and the class of the element that holds it."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.nodes: list[tuple[str, str, str]] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[tuple[str, str]] = []
        self._text = ""
        self.feed(html)
        self.close()
        self._end_text()

    def _end_text(self) -> None:
        text, self._text = self._text, ""
        if not text or not self._open or any(name in UNSEEN for name, _ in self._open[-1:]):
            return
        if not text.strip(BLANKS):
            text = "\n" if "\n" in text else " "
        name, class_ = self._open[-1]
        self.nodes.append((text, name, class_))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._end_text()
        self.tags.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self._open.append((tag, dict(attrs).get("class") or ""))

    def handle_endtag(self, tag: str) -> None:
        self._end_text()
        if tag in (name for name, _ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_comment(self, data: str) -> None:
        self._end_text()

    def handle_data(self, data: str) -> None:
        self._text += data


def text_of(html: str) -> str:
    """The observation `text` of a page."""
    return " [SEP] ".join(text.strip() for text, _, _ in Reader(html).nodes if text != "\n")


def rich_text_of(html: str, url: str, visited: set[str]) -> str:
    """The observation `text_rich` of a page."""
    said = ""
    for text, name, class_ in Reader(html).nodes:
        if text == "\n":
            continue
        if name == "button":
            text = f"[button] {text} [button_]"
        elif name == "label" and f'"{text}"' in url:
            said = f"You have clicked {text}.\n{said}"
            text = f"  [clicked button] {text} [clicked button_]"
        elif name == "label":
            text = f"  [button] {text} [button_]"
        elif class_ == "product-link":
            mark = "clicked button" if text in visited else "button"
            text = f"\n[{mark}] {text} [{mark}_]"
        said += f"{text}\n"
    return said
