"""WebShop's text environment on our shop."""

import random

import pytest
from adapter_scripts import SCRIPTS, run, with_dropin
from foreign import foreign_python

from agentquest.adapters.webshop_dropin import WebAgentSiteEnv, WebAgentTextEnv
from agentquest.adapters.webshop_server import SimServer, get_reward
from agentquest.errors import DataError, UserError


@pytest.fixture(scope="module")
def server():
    return SimServer(file_path="builtin")


@pytest.fixture
def env(server):
    return WebAgentTextEnv(observation_mode="text", server=server)


def _without_prices(record):
    return {key: record[key] for key in ("asin", "goal_options", "attributes", "weight")}


def test_reset_and_step_return_what_the_original_returns(env):
    first, info = env.reset(session=7)
    assert info is None
    assert first.startswith("WebShop [SEP] Instruction: [SEP] ")
    assert env.session == "7"
    assert env.instruction_text == f"Instruction: {env.server.goals[7]['instruction_text']}"
    assert env.get_available_actions() == {"has_search_bar": True, "clickables": ["search"]}
    state, reward, done, info = env.step("click[search]")
    assert (state, reward, type(reward), done, info) == (first, 0, int, False, None)
    state, reward, done, info = env.step("search[shirt]")
    assert (reward, type(reward), done) == (0.0, float, False)
    assert "Page 1 (Total results:" in state
    assert env.get_available_actions()["has_search_bar"] is False
    assert env.get_instruction_text() == f"Instruction:{env.server.goals[7]['instruction_text']}"
    assert env.browser.current_url == "http://127.0.0.1:3000/search_results/7/shirt/1"
    assert env.state["url"] == env.browser.current_url


def test_the_default_is_the_originals_html(server):
    env = WebAgentTextEnv(server=server)
    first, _ = env.reset(session=3)
    assert env.observation_mode == "html"
    assert 'id="search_input"' in first
    assert env.server.goals[3]["instruction_text"].split(" with ")[0] in first
    assert env.state["html"] == env.browser.page_source == first
    assert "product-link" in env.step("search[shirt]")[0]


def test_earlier_pages_and_actions_come_with_the_state(server):
    env = WebAgentTextEnv("text", server=server, num_prev_obs=1, num_prev_actions=2)
    first, _ = env.reset(session=1)
    second = env.step("search[a]")[0].split(" [SEP] search[a] [SEP] ")
    assert second[0] == first
    third = env.step("nonsense")[0]
    assert third == f"search[a] [SEP] {env.prev_obs[-2]} [SEP] nonsense [SEP] {env.prev_obs[-1]}"


def test_an_episode_goes_on_after_the_purchase_as_in_the_original(env):
    env.reset(session=2)
    env.step("search[shirt]")
    env.step(f"click[{env.get_available_actions()['clickables'][-1]}]")
    state, reward, done, _ = env.step("click[buy now]")
    assert done
    assert state.startswith("Thank you for shopping with us!")
    with pytest.raises(AttributeError, match="no instruction"):
        env.get_instruction_text()
    kept = env.server.user_sessions["2"]
    assert kept["done"]
    assert kept["reward"] == reward
    assert "r_type" in kept["verbose_info"]
    assert env.step("click[buy now]")[1:3] == (0, False)
    assert env.step("search[b]")[2] is False


def test_what_is_kept_of_a_session_follows_the_game(env):
    env.reset(session=2)
    kept = env.server.user_sessions["2"]
    assert (kept["asin"], kept["keywords"], dict(kept["actions"])) == (None, None, {})
    env.step("search[shirt]")
    assert (kept["keywords"], kept["page"]) == (["shirt"], 1)
    products = env.server.product_item_dict
    shown = [each.upper() for each in env.get_available_actions()["clickables"]]
    product = next(each for each in shown if each in products and products[each]["options"])
    name, (value, *_) = next(iter(products[product]["options"].items()))
    for action in (f"click[{product}]", f"click[{value}]", "click[description]", "nonsense"):
        env.step(action)
    assert (kept["asin"], kept["asins"], kept["options"]) == (product, {product}, {name: value})
    assert dict(kept["actions"]) == {"search": 1, "asin": 1, "options": 1, "Description": 1}
    env.step("click[< prev]")
    env.step("click[buy now]")
    assert kept["done"]
    assert kept["actions"]["purchase"] == 1
    env.reset(session=2)
    env.step("search[shirt]")
    env.step("click[back to search]")
    assert dict(env.server.user_sessions["2"]["actions"]) == {}


def test_goals_are_drawn_from_the_global_random_after_its_shuffle():
    draws = []
    for _ in range(2):
        random.seed(99)
        env = WebAgentTextEnv("text", file_path="builtin")
        draws.append([env.session, *(env.reset()[0] for _ in range(3)), random.random()])
    assert draws[0] == draws[1]
    random.seed(5)
    first = env.reset()[0]
    random.seed(5)
    assert env.reset()[0] == first


def test_a_named_session_keeps_its_goal(env):
    first = env.reset(session="somebody")[0]
    env.step("search[a]")
    assert env.reset(session="somebody")[0] == first
    assert env.session == "somebody"


def test_goals_can_be_filtered_and_limited(server):
    every = [_without_prices(goal) for goal in server.goals[:40]]
    some = SimServer(file_path="builtin", filter_goals=lambda i, goal: i < 40 and i % 2)
    assert [_without_prices(goal) for goal in some.goals] == every[1::2]
    few = SimServer(file_path="builtin", limit_goals=5)
    assert len(few.goals) == 5
    assert len({str(goal) for goal in few.goals}) == 5
    with pytest.raises(UserError, match="no goal"):
        SimServer(file_path="builtin", filter_goals=lambda i, goal: False)


def test_another_shuffle_deals_the_same_goals_in_another_order(server):
    other = SimServer(file_path="builtin", shuffle_seed=42)
    assert len(other.goals) == len(server.goals)
    ours = sorted(str(_without_prices(goal)) for goal in server.goals)
    theirs = sorted(str(_without_prices(goal)) for goal in other.goals)
    assert ours == theirs
    assert server.goals[0] != other.goals[0]
    # In file order, which is what a seed shuffles.
    numbers = list(range(len(server.goals)))
    random.Random(42).shuffle(numbers)
    by_file = {int(place): i for i, place in enumerate(server.shop.goals.order)}
    assert other.goals[0] == server.goals[by_file[numbers[0]]]


def test_human_goals_attributes_and_products(server):
    human = WebAgentTextEnv("text", file_path="builtin", human_goals=True, show_attrs=True)
    assert isinstance(human.server.goals[0]["goal_options"], list)
    human.reset(session=0)
    human.step("search[shirt]")
    human.step(f"click[{human.get_available_actions()['clickables'][-1]}]")
    assert "attributes" in human.get_available_actions()["clickables"]
    asin = server.goals[0]["asin"]
    assert server.product_item_dict[asin]["Title"] == server.goals[0]["name"]
    assert asin in server.product_item_dict
    assert "nothing" not in server.product_item_dict
    assert len(list(server.product_item_dict)) == len(server.product_item_dict)


def test_what_is_not_offered_is_refused_by_name(server):
    with pytest.raises(ValueError, match="braille"):
        WebAgentTextEnv("braille", server=server)
    with pytest.raises(NotImplementedError, match="image"):
        WebAgentTextEnv("text", server=server, get_image=1)
    with pytest.raises(NotImplementedError, match="shuffle_seed"):
        WebAgentTextEnv("text", server=server, seed=42)
    for number in (0, -1, True, 1.5, "7"):
        with pytest.raises(DataError, match="num_products must be 1 or more"):
            SimServer(num_products=number)
    with pytest.raises(DataError, match="no such file"):
        SimServer(file_path="/nowhere/items_shuffle.json")
    env = WebAgentTextEnv("text", server=server)
    with pytest.raises(UserError, match="must be text"):
        env.step(3)
    with pytest.raises(UserError, match="no goal 10000000"):
        env.reset(session=10_000_000)


def test_a_script_runs_unchanged():
    out = with_dropin(SCRIPTS / "webshop_script.py", "builtin").splitlines()
    assert out[-1].startswith("1.0 True None True ")


def test_the_gym_id_works_with_the_real_gym():
    python = foreign_python("gym")
    out = run([python, "-m", "agentquest.dropin", SCRIPTS / "webshop_gym.py"])
    assert out.splitlines()[-1] == "50 None 4 (0.0, False, None)"


def test_the_reward_function_is_the_shops(env):
    env.reset(session=3)
    goal = env.server.goals[3]
    bought = env.server.product_item_dict[goal["asin"]]
    price = env.server.product_prices[goal["asin"]]
    assert get_reward(bought, goal, price, dict(goal["goal_options"])) == 1.0
    value, parts = get_reward(bought, goal, goal["price_upper"] + 1, {}, verbose=True)
    assert value < 1.0
    assert parts["r_price"] is False
    assert len(list(env.server.product_prices)) == len(env.server.product_prices) == 1000
    with pytest.raises(KeyError):
        env.server.product_prices["nothing"]


def test_the_environment_over_the_site_plays_the_same_shop(server):
    env = WebAgentSiteEnv(observation_mode="text", server=server, render=False, session=5)
    first, _ = env.reset()
    assert env.session == "5"
    assert server.goals[5]["instruction_text"] in first
    assert "Page 1 (Total results:" in env.step("search[shirt]")[0]
