"""A visitor of the site without a browser: cookies, redirects, and forms as a page has them."""

import urllib.error
import urllib.parse
import urllib.request
from html.parser import HTMLParser
from http.cookiejar import CookieJar


class Page(HTMLParser):
    """A page, taken apart: its elements, its text and its forms."""

    def __init__(self, url: str, status: int, html: str) -> None:
        super().__init__()
        self.url = url
        self.status = status
        self.html = html
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.forms: list[dict[str, str]] = []
        self.actions: list[str] = []
        self.choices: list[dict[str, str]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.elements.append((tag, found))
        if tag == "form":
            self.forms.append({"": found["action"]})
        if tag == "input" and found.get("type") == "radio":
            self.choices.append(found)
        elif tag == "input" and "name" in found and self.forms:
            self.forms[-1][found["name"]] = found.get("value", "")
        if tag == "button" and found.get("name") == "action":
            self.actions.append(found["value"])

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def form(self, path: str) -> dict[str, str]:
        """The fields of the first form that goes to `path`."""
        found = next(form for form in self.forms if form[""] == path)
        return {name: value for name, value in found.items() if name}


class Visitor:
    def __init__(self, site: str) -> None:
        self.site = site
        self.cookies = CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))
        self.page = Page("", 0, "")
        self.chosen: dict[str, str] = {}
        self.headers: dict[str, str] = {}

    def get(self, path: str = "/") -> Page:
        return self._ask(path, None, {})

    def post(self, path: str, fields: dict[str, str], **headers: str) -> Page:
        return self._ask(path, urllib.parse.urlencode(fields).encode(), headers)

    def start(self, number: int | None = None, participant: str = "") -> Page:
        fields = {"number": "" if number is None else str(number), "participant": participant}
        return self.post("/start", fields)

    def search(self, query: str) -> Page:
        return self.post("/act", self.page.form("/act") | {"query": query})

    def click(self, text: str) -> Page:
        """Press the button that clicks `text` in the shop."""
        action = f"click[{text}]"
        assert action in self.page.actions, f"{action} is not among {self.page.actions}"
        fields, self.chosen = self.ticket | self._checked() | {"action": action}, {}
        return self.post("/act", fields)

    def choose(self, text: str) -> None:
        """Mark an option; it is sent with the next click."""
        fitting = [c for c in self.page.choices if c["value"] == text and "disabled" not in c]
        assert len(fitting) == 1, f"{text!r} is not among {self.page.choices}"
        self.chosen[fitting[0]["name"]] = text

    def _checked(self) -> dict[str, str]:
        checked = {c["name"]: c["value"] for c in self.page.choices if "checked" in c}
        return checked | self.chosen

    @property
    def ticket(self) -> dict[str, str]:
        """What the page's own forms carry along."""
        form = self.page.form("/act")
        return {name: form[name] for name in ("token", "turn")}

    def give_up(self) -> Page:
        self.get("/give-up")
        return self.post("/give-up", self.page.form("/give-up"))

    def _ask(self, path: str, body: bytes | None, headers: dict[str, str]) -> Page:
        request = urllib.request.Request(self.site + path, body, headers)
        try:
            with self._opener.open(request, timeout=60) as response:
                self._arrived(response.url, response.status, response)
        except urllib.error.HTTPError as error:
            with error:
                self._arrived(error.url or "", error.code, error)
        return self.page

    def _arrived(self, url, status, response) -> None:  # type: ignore[no-untyped-def]
        self.headers = dict(response.headers)
        self.page = Page(url, status, response.read().decode("utf-8"))
