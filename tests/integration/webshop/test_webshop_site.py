"""The site for people: what they see, what is recorded of it, and what is refused."""

import json
import random
import subprocess
import sys
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from serving_process import START, ServerProcess, send
from site_visitor import Visitor

import agentquest
from agentquest.benchmarks.webshop import WebshopUtils
from agentquest.benchmarks.webshop.benchmark import WebshopBenchmark
from agentquest.benchmarks.webshop.serving.site import MAX_VISITS
from agentquest.benchmarks.webshop.serving.site_session import MAX_STEPS
from agentquest.benchmarks.webshop.shop.shop import ShoppingSession
from agentquest.records.outcome import End
from agentquest.store.folder import RunFolder

SERVE = ("serve", "webshop", "--data", "builtin", "--port", "0")
OPTIONS = ("--site", "--site-port", "0")


@pytest.fixture(scope="module")
def site(shop, cache, tmp_path_factory):
    with ServerProcess(tmp_path_factory.mktemp("site"), cache, *OPTIONS) as process:
        yield process


@pytest.fixture
def visitor(site):
    return Visitor(site.site)


def recorded(process, folder="runs/webshop-human"):
    return RunFolder(process.folder / folder).records()


def fresh_session(shop, number):
    return ShoppingSession(
        shop, str(number), shop.goals[number], random.Random(f"{shop.seed}/{number}")
    )


def winning_task(shop):
    """A task, and the clicks that solve it on the first page of results."""
    for number in range(500):
        session = fresh_session(shop, number)
        goal = session.goal
        clicks = [goal.asin.lower(), *goal.goal_options.values(), "buy now"]
        session.step(f"search[{goal.name}]")
        steps = [session.step(f"click[{text}]") for text in clicks]
        if all(step.valid for step in steps) and steps[-1].reward == 1.0:
            return number, goal.name, clicks
    raise AssertionError("no task of the built-in shop can be solved")


def test_a_purchase_is_recorded_as_an_agents_would_be(site, visitor, shop, cache, monkeypatch):
    monkeypatch.setenv("AGENTQUEST_CACHE", str(cache))
    number, query, clicks = winning_task(shop)
    visitor.start(number, participant="  Ada   L. ")
    assert shop.goals[number].instruction_text in visitor.page.text
    visitor.search(query)
    visitor.click(clicks[0])
    visitor.click("features")
    visitor.click("< prev")
    for text in clicks[1:-1]:
        visitor.choose(text)
    visitor.click("buy now")
    assert "Your score: 1.00 of 1.00" in visitor.page.text
    record = recorded(site)[-1]
    session = fresh_session(shop, number)
    assert (record.first_observation, record.goal) == (session.observe(), session.instruction)
    opened = [clicks[0], "features", "< prev", *clicks[1:]]
    assert record.actions == [f"search[{query}]", *(f"click[{text}]" for text in opened)]
    for step in record.steps:
        expected = session.step(step.action)
        assert (step.observation, step.reward) == (session.observe(), expected.reward)
        available = WebshopUtils.reset_answer(session)["available_actions"]
        assert step.admissible == list(WebshopUtils.admissible(available))
    assert (record.end, record.success, record.reward) == (End.SOLVED, True, 1.0)
    assert (record.agent, record.benchmark, record.problem) == ("human", "webshop", str(number))
    task = next(
        task
        for task in WebshopBenchmark(data_path="builtin").tasks()
        if task.problem == str(number)
    )
    assert (record.task_id, record.task_type, record.split) == (task.id, task.task_type, "test")
    assert record.details["participant"] == "Ada L."
    assert record.details["reward"] == json.loads(json.dumps(session.details))
    assert record.details["goal"] == session.goal.as_dict()


def test_a_wrong_purchase_is_lost_and_giving_up_is_said(site, shop):
    first, second = Visitor(site.site), Visitor(site.site)
    first.start(3)
    first.search("<r>")
    first.click(first.page.actions[0][len("click[") : -1])
    first.click("buy now")
    second.start(3)
    second.search("lamp")
    second.give_up()
    assert "Your score: 0.00" in second.page.text
    lost, gave_up = recorded(site)[-2:]
    assert (lost.end, lost.success) == (End.FAILED, False)
    assert f"Your score: {lost.reward:.2f}" in first.page.text
    assert (gave_up.end, gave_up.reward, gave_up.success) == (End.GAVE_UP, 0.0, False)
    assert [step.action for step in gave_up.steps] == ["search[lamp]", None]
    assert gave_up.steps[-1].how == "gave_up"
    assert (lost.task_id, lost.trial + 1) == (gave_up.task_id, gave_up.trial)


def test_reports_read_what_people_did(site):
    shown = subprocess.run(
        [sys.executable, "-c", START, "report", "runs/webshop-human"],
        cwd=site.folder, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert shown.returncode == 0, shown.stderr
    assert "human" in shown.stdout


def test_people_are_compared_with_agents_as_agents_are(site, shop, cache, tmp_path, monkeypatch):
    """Their records have the facts that a score depends on, and results like any run's."""
    monkeypatch.setenv("AGENTQUEST_CACHE", str(cache))
    visitor = Visitor(site.site)
    visitor.start(20)
    visitor.search("tea")
    visitor.give_up()
    people = site.folder / "runs/webshop-human"
    record = recorded(site)[-1]
    assert record.facts == {"tagger": shop.nouns.name}
    results = json.loads((people / "results.json").read_text())["results"]
    scored = [one for one in recorded(site) if one.scored]
    assert len(results) == len(scored) > 0
    agentquest.evaluate(
        benchmark="webshop",
        agent="random",
        benchmark_settings={"data_path": "builtin"},
        tasks=[record.task_id],
        output_dir=tmp_path,
        run_name="agent",
    )
    compared = subprocess.run(
        [sys.executable, "-c", START, "compare", str(people), str(tmp_path / "agent")],
        cwd=site.folder, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert compared.returncode == 0, compared.stderr
    assert "human" in compared.stdout
    assert "tagger" not in compared.stdout + compared.stderr


def test_results_are_paged_and_end(visitor):
    visitor.start(1)
    visitor.search("<r>")
    for page in range(1, 6):
        assert f"{page * 10 - 9} to {page * 10} shown" in visitor.page.text
        assert ("click[< prev]" in visitor.page.actions) == (page > 1)
        if "click[next >]" in visitor.page.actions:
            visitor.click("next >")
    assert "click[next >]" not in visitor.page.actions
    visitor.click("< prev")
    assert "31 to 40 shown" in visitor.page.text
    visitor.search("zzzzzz")
    assert "0 products found" in visitor.page.text


def test_options_show_what_is_chosen(visitor, shop):
    number, query, clicks = winning_task(shop)
    visitor.start(number)
    visitor.search(query)
    visitor.click(clicks[0])
    visitor.choose(clicks[1])
    visitor.click("description")
    visitor.click("< prev")
    assert [c["value"] for c in visitor.page.choices if "checked" in c] == [clicks[1]]


def test_an_option_is_a_click_before_the_one_it_is_sent_with(site, visitor, shop):
    number, query, clicks = winning_task(shop)
    visitor.start(number)
    visitor.search(query)
    visitor.click(clicks[0])
    wrong = next(c["value"] for c in visitor.page.choices if c["value"] not in clicks)
    visitor.choose(wrong)
    visitor.click("< prev")  # leads away: nothing is chosen there, and nothing recorded
    visitor.click(clicks[0])
    visitor.choose(clicks[1])
    visitor.click("features")
    visitor.click("< prev")
    visitor.click("features")  # what was chosen before is not clicked again
    visitor.give_up()
    made = ["< prev", clicks[0], clicks[1], "features", "< prev", "features"]
    actions = [step.action for step in recorded(site)[-1].steps]
    assert actions[2:] == [*(f"click[{text}]" for text in made), None]


def test_options_that_are_none_do_nothing(site, visitor, shop):
    number, query, clicks = winning_task(shop)
    visitor.start(number)
    visitor.search(query)
    visitor.click(clicks[0])
    odd = {"option-0": "buy now", "option-1": "no such", "option-99": clicks[1], "option-x": "a"}
    page = visitor.post("/act", visitor.ticket | odd | {"action": "click[features]"})
    assert (page.status, "Step 3" in page.text) == (200, True)


def test_the_end_says_what_was_missed_gives_a_code_and_the_next_task(site, visitor, shop):
    number, query, clicks = winning_task(shop)
    goal = shop.goals[number]
    visitor.start(number, participant="Ada")
    visitor.search(query)
    visitor.click(clicks[0])
    visitor.click("buy now")  # without any option
    named = ", ".join(f"{name}: {value}" for name, value in goal.goal_options.items())
    count = len(goal.goal_options)
    assert f"0 of {count} met; missed: {named}" in visitor.page.text
    assert "missed" not in visitor.page.text.split("Attributes")[1].split("Options")[0]
    record = recorded(site)[-1]
    assert f"completion code: {record.details['completion_code']}" in visitor.page.text
    page = visitor.post("/start", visitor.page.form("/start"))
    assert "Step 0" in page.text
    assert shop.goals[number].instruction_text not in page.text
    visitor.search("tea")
    visitor.give_up()
    after = recorded(site)[-1]
    assert after.details["participant"] == "Ada"
    assert after.details["completion_code"] != record.details["completion_code"]


def test_missed_attributes_are_named(site, visitor, shop):
    number, _, _ = winning_task(shop)
    visitor.start(number)
    visitor.search("<r>")
    visitor.click(visitor.page.actions[0][len("click[") : -1])
    visitor.click("buy now")
    details = recorded(site)[-1].details
    missed = set(details["goal"]["attributes"]) - set(details["reward"]["met_attributes"])
    assert missed
    assert f"missed: {next(a for a in details['goal']['attributes'] if a in missed)}" in (
        visitor.page.text
    )


def test_visits_past_their_time_are_recorded_by_themselves(tmp_path, cache, shop):
    with ServerProcess(tmp_path, cache, *OPTIONS, "--session-ttl", "1") as process:
        shopper = Visitor(process.site)
        shopper.start(4)
        shopper.search("lamp")
        for _ in range(200):
            if recorded(process):
                break
            time.sleep(0.1)
        (record,) = recorded(process)
        assert record.end is End.CANCELLED
        assert shopper.search("tea").status == 404


@pytest.mark.parametrize("query", ["", "   ", "a [b] c", "[x]", "<a> soft", "<c>", "x" * 501])
def test_a_search_that_cannot_be_made_is_explained_and_costs_nothing(visitor, query):
    visitor.start(2)
    page = visitor.search(query)
    assert page.status == 422
    assert "Step 0" in page.text
    assert any(attributes.get("role") == "status" for _, attributes in page.elements)
    assert visitor.search("tea").status == 200


def test_forms_of_other_sites_and_other_visitors_do_nothing(site, visitor):
    visitor.start(4)
    other = Visitor(site.site)
    other.start(4)
    fields = visitor.page.form("/act") | {"query": "tea"}
    for change in ({"token": ""}, {"token": other.page.form("/act")["token"]}, {"token": "é"}):
        assert visitor.post("/act", fields | change).status == 403
    for header in ("Origin", "Referer"):
        for origin in ("https://elsewhere.example", "null"):
            assert visitor.post("/act", fields, **{header: origin}).status == 403
            assert visitor.post("/give-up", fields, **{header: origin}).status == 403
            assert visitor.post("/start", {}, **{header: origin}).status == 403
    assert "Step 0" in visitor.get("/visit/0").text
    assert "Step 1" in visitor.post("/act", fields, Origin=site.site).text


def test_an_old_page_does_nothing_and_says_so(site, visitor):
    visitor.start(6)
    old = visitor.page.form("/act") | {"query": "tea"}
    visitor.search("lamp")
    for page in (visitor.post("/act", old), visitor.get("/visit/0")):
        assert page.url.endswith("/visit/1")
        assert "Going back undoes nothing" in page.text
        assert "Step 1" in page.text
    assert "Going back" not in visitor.get("/visit/1").text


def test_buying_twice_is_one_purchase(site, visitor):
    visitor.start(7)
    visitor.search("lamp")
    visitor.click(visitor.page.actions[0][len("click[") : -1])
    fields = visitor.ticket
    before = len(recorded(site))
    for _ in range(3):
        page = visitor.post("/act", fields | {"action": "click[buy now]"})
        assert "Your score" in page.text
    assert len(recorded(site)) == before + 1
    assert visitor.post("/give-up", fields).url.endswith("/visit/3")
    assert len(recorded(site)) == before + 1


def test_one_task_at_a_time(visitor):
    visitor.start(8)
    visitor.search("pan")
    assert "Continue your task" in visitor.get("/").text
    assert "in progress" in visitor.start(9).text
    visitor.give_up()
    assert "Step 0" in visitor.start(9).text


@pytest.mark.parametrize("number", ["-1", "x", "99999999", "1e3", "٣", "9" * 400])
def test_a_task_that_does_not_exist_is_refused(visitor, number):
    page = visitor.post("/start", {"number": number})
    assert page.status == 422
    assert "between 0 and" in page.text


def test_every_answer_forbids_scripts_and_frames(visitor):
    for path in ("/", "/style.css", "/icon.svg", "/visit/0", "/nowhere", "/act"):
        visitor.get(path)
        policy = visitor.headers.get("content-security-policy", "")
        assert "default-src 'none'" in policy, path
        assert "script-src" not in policy
        assert visitor.headers["x-content-type-options"] == "nosniff"
    visitor.start(1)
    (cookie,) = visitor.cookies
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert cookie.get_nonstandard_attr("SameSite") == "lax"


def test_steps_are_bounded(site, visitor):
    visitor.start(10)
    for _ in range(MAX_STEPS):
        visitor.search("pan")
    assert "No steps are left" in visitor.page.text
    assert recorded(site)[-1].end is End.STEP_LIMIT


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    path=st.sampled_from(["/start", "/act", "/give-up"]),
    fields=st.dictionaries(
        st.sampled_from(["query", "action", "turn", "number", "participant", "x"]),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    ),
    raw=st.binary(max_size=60),
)
def test_any_form_gets_an_answer(site, visitor, path, fields, raw):
    """With the visitor's own token, so that forms are really acted upon."""
    own = visitor.page.form("/act") if "/act" in str(visitor.page.forms) else {}
    assert visitor.post(path, own | fields).status < 500
    assert visitor._ask(path, raw, {}).status < 500
    if visitor.get("/").status == 200:
        visitor.start(11)
    assert visitor.page.status == 200


def test_tasks_go_round_and_visits_that_were_left_are_recorded(shop, cache, tmp_path):
    options = (*OPTIONS, "--records", str(tmp_path / "people"))
    with ServerProcess(tmp_path, cache, *options) as first:
        visitors = [Visitor(first.site) for _ in range(3)]
        for visitor in visitors:
            visitor.start()
        visitors[0].search("tea")
        visitors[0].give_up()
        visitors[1].search("tea")
        assert first.stop() == 143
    done, left = RunFolder(tmp_path / "people").records()
    assert (done.problem, done.end) == ("0", End.GAVE_UP)
    assert (left.problem, left.end, left.scored) == ("1", End.CANCELLED, False)
    with ServerProcess(tmp_path, cache, *options) as second:
        again = Visitor(second.site)
        again.start()
        again.give_up()
    assert RunFolder(tmp_path / "people").records()[-1].problem == "2"


def test_an_old_cookie_is_explained(site, visitor):
    visitor.start(1)
    for cookie in visitor.cookies:
        cookie.value = "forgotten"
    for page in (visitor.get("/visit/0"), visitor.post("/act", {"query": "tea"})):
        assert page.status == 404
        assert "Start a new task" in page.text


@pytest.mark.parametrize("path", ["/fixed_3", "/search_results/fixed_3/['tea']/1", "/done/a/b/{}"])
def test_the_originals_addresses_are_not_played_by_mistake(site, visitor, path):
    page = visitor.get(path)
    assert page.status == 501
    assert "agentquest serve webshop --original-pages" in page.text
    answer = send(f"{site.url}{path}")
    assert answer.status == 501
    assert "agentquest serve webshop --original-pages" in answer.json["error"]


def test_a_page_that_is_not_there_is_explained(site, visitor):
    page = visitor.get("/nowhere")
    assert page.status == 404
    assert "no such page in this shop" in page.text


def test_records_of_another_shop_are_not_mixed(site, cache, shop):
    def refused(*options):
        return subprocess.run(
            [sys.executable, "-c", START, *SERVE, *OPTIONS, *options],
            cwd=site.folder, capture_output=True, text=True, timeout=60,
            env={"AGENTQUEST_CACHE": str(cache), "PATH": ""},
        )  # fmt: skip

    busy, other = refused(), refused("--seed", "5")
    assert busy.returncode == other.returncode == 2
    assert "in use by another process" in busy.stderr
    assert "benchmark_settings.seed: was 0, is 5" in other.stderr
    assert "--records" in other.stderr


@pytest.mark.long
def test_a_flood_of_starts_takes_no_place_from_players_or_newcomers(shop, cache, tmp_path):
    with ServerProcess(tmp_path, cache, *OPTIONS) as process:
        player = Visitor(process.site)
        player.start(3)
        player.search("lamp")
        for _ in range(MAX_VISITS + 100):
            assert Visitor(process.site).start(5).status == 200
        newcomer = Visitor(process.site)
        assert newcomer.start(4).status == 200
        assert newcomer.search("lamp").status == 200
        assert player.search("tea").status == 200
        assert "Results, page 1" in player.page.text
