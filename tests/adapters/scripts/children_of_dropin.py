"""Environments in child processes, as trainers have them: spawned, started by hand, Ray's."""

import multiprocessing
import os
import subprocess
import sys


def tell(*_):
    import alfworld.agents.environment as environment
    import textworld
    import web_agent_site.envs as envs

    return " ".join(
        each.__module__ for each in (environment.AlfredTWEnv, textworld.start, envs.WebAgentTextEnv)
    )


def tell_in_ray():
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # Ray stays on the loopback
    import ray

    ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    assert ray.util.get_node_ip_address() == "127.0.0.1"
    return ray.get(ray.remote(tell).remote())


if __name__ == "__main__":
    if sys.argv[1:] == ["child"]:
        print(tell())
    elif sys.argv[1:] == ["ray"]:
        print(tell_in_ray())
    else:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(*pool.map(tell, [None]))
        print(subprocess.run([sys.executable, __file__, "child"], stdout=-1, text=True).stdout)
