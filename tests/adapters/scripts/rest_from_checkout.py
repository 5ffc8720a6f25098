"""A script beside a checkout, whose own modules it uses together with the environments."""

from alfworld.agents.agent import Policy
from alfworld.agents.environment import get_environment
from alfworld.agents.modules.generic import HistoryScoreCache, load_config
from web_agent_site.engine.goal import get_reward
from web_agent_site.envs import WebAgentSiteEnv
from web_agent_site.models import RandomPolicy

for each in (Policy, get_environment, HistoryScoreCache, load_config, get_reward, WebAgentSiteEnv,
             RandomPolicy):  # fmt: skip
    print(each.__module__)
