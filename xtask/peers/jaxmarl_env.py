"""W3 with JaxMARL's simple_spread_v3, vectorised and jitted as its own training scripts do it."""

import jax
import jaxmarl
import numpy as np
from jax import lax, random

from work import ACTIONS, ENVS, STEPS, measured, report


def w3():
    env = jaxmarl.make("MPE_simple_spread_v3")

    @jax.jit
    def episodes(key):
        start, acting = random.split(key)
        obs, state = jax.vmap(env.reset)(random.split(start, ENVS))

        def step(carried, key):
            _, state = carried
            drawing, stepping = random.split(key)
            drawn = random.randint(drawing, (env.num_agents, ENVS), 0, ACTIONS)
            actions = dict(zip(env.agents, drawn))
            obs, state, reward, *_ = jax.vmap(env.step)(random.split(stepping, ENVS), state, actions)
            # Observations are carried, as a policy would need them; else the compiler would leave them out.
            return (obs, state), sum(reward[agent] for agent in env.agents).mean() / env.num_agents

        (obs, _), reward = lax.scan(step, (obs, state), random.split(acting, STEPS))
        return reward.sum(), obs

    keys = iter(range(1 << 30))
    run = lambda: episodes(random.PRNGKey(next(keys)))[0].block_until_ready()
    checks = {"mean_return": np.mean([run() for _ in range(40)])}
    return measured(run, STEPS * ENVS, "env steps/s", checks)


report({"W3": w3})
