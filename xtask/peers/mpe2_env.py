"""W3 with PettingZoo's simple_spread_v3 itself (package mpe2), through its parallel interface, as its users run it."""

import numpy as np
from mpe2 import simple_spread_v3

from work import STEPS, measured, report


def w3():
    env = simple_spread_v3.parallel_env(N=3, local_ratio=0.5, max_cycles=STEPS, continuous_actions=False)
    random = np.random.default_rng(0)
    env.reset(seed=0)

    def episode():
        env.reset()
        total = 0.0
        for actions in random.integers(0, 5, (STEPS, len(env.agents))).tolist():
            _, reward, *_ = env.step(dict(zip(env.agents, actions)))
            total += sum(reward.values()) / 3
        return total

    checks = {"mean_return": np.mean([episode() for _ in range(400)])}
    return measured(episode, STEPS, "env steps/s", checks)


report({"W3": w3})
