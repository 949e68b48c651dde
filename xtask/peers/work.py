"""The works W1, W2 and W5 as data, the settings all works share, and how a rate is taken.

The works are described in docs/PERFORMANCE.md. Every number comes from a formula over (tensor, element), so that all
implementations meet the same input. Peers report what their numbers came to; what they should come to only the runner
knows (xtask/src/bench/contest.rs).
"""

import json
import math
import statistics
import sys
import time

import numpy as np

GAMMA, LAMBDA = 0.99, 0.95
RATE, EPS = 5e-4, 1e-5  # Adam; its betas are the usual 0.9 and 0.999
QMIX_CLIP, MAPPO_CLIP = 10.0, 0.5  # largest gradient norm
STEPS, ENVS, AGENTS, ACTIONS = 25, 128, 3, 5  # of W2, W3 and W4
EPOCHS, MINIBATCHES = 4, 4

QMIX = {
    "W1": dict(B=32, T=25, N=3, O=18, S=54, A=5, H=64, E=32),
    "W5": dict(B=64, T=1, N=2, O=8, S=6, A=5, H=32, E=32),
}


def uniform(k, *shape):
    """Tensor `k`: mulberry32 as a function of the element's index, in [0, 1), f64."""
    a = np.uint32((1000003 * k) & 0xFFFFFFFF) + np.arange(1, math.prod(shape) + 1, dtype=np.uint32) * np.uint32(0x6D2B79F5)
    t = (a ^ (a >> np.uint32(15))) * (a | np.uint32(1))
    t ^= t + (t ^ (t >> np.uint32(7))) * (t | np.uint32(61))
    return ((t ^ (t >> np.uint32(14))) / 2.0**32).reshape(shape)


def signed(k, *shape):
    """Tensor `k` in [-1, 1), f32."""
    return (2 * uniform(k, *shape) - 1).astype(np.float32)


def layer(k, rows, columns):
    """Weights [rows, columns] and bias [columns] of a layer, f32."""
    scale = 1 / math.sqrt(rows)
    w, b = uniform(k, rows, columns), uniform(k + 1, columns)
    return ((2 * w - 1) * scale).astype(np.float32), ((2 * b - 1) * scale).astype(np.float32)


def qmix_layers(c):
    """Agent (3 layers), then w1, b1, w2 and the two layers of V."""
    agent = [layer(1, c["O"] + c["N"], c["H"]), layer(3, c["H"], c["H"]), layer(5, c["H"], c["A"])]
    mixer = [layer(7, c["S"], c["N"] * c["E"]), layer(9, c["S"], c["E"]), layer(11, c["S"], c["E"])]
    return agent, [*mixer, layer(13, c["S"], c["E"]), layer(15, c["E"], 1)]


def qmix_batch(c):
    """B episodes of T env steps; observations carry the agent's id."""
    B, T, N, O, S, A = (c[key] for key in "BTNOSA")
    ids = np.broadcast_to(np.eye(N, dtype=np.float32), (B, T + 1, N, N))
    return dict(
        obs=np.concatenate([signed(20, B, T + 1, N, O), ids], -1),
        state=signed(21, B, T + 1, S),
        action=(A * uniform(22, B, T, N)).astype(np.int64),
        reward=signed(23, B, T),
        ended=(uniform(24, B, T) < 0.02).astype(np.float32),
    )


def mappo_layers():
    """Actor and critic, three layers each."""
    actor = [layer(31, 18 + AGENTS, 64), layer(33, 64, 64), layer(35, 64, ACTIONS)]
    return actor, [layer(37, 54, 64), layer(39, 64, 64), layer(41, 64, 1)]


def mappo_rollout():
    """STEPS x ENVS items, each with its agents."""
    items = (STEPS, ENVS)
    return dict(
        obs=signed(50, *items, AGENTS, 18),
        state=signed(51, *items, 54),
        action=(ACTIONS * uniform(52, *items, AGENTS)).astype(np.int64),
        logp=(-math.log(5) + 0.1 * (2 * uniform(53, *items, AGENTS) - 1)).astype(np.float32),
        value=signed(54, STEPS + 1, ENVS),
        reward=signed(55, *items),
        done=(uniform(56, *items) < 0.04).astype(np.float32),
    )


def mappo_orders():
    """The items' order in each epoch, [EPOCHS, STEPS * ENVS]."""
    return np.stack([np.argsort(uniform(60 + epoch, STEPS * ENVS), kind="stable") for epoch in range(EPOCHS)])


def measured(step, units, unit, checks, repetitions=5, seconds=0.5):
    """Times `step`, which does `units` of work: the median of some repetitions and their range."""

    def timed(count):
        begun = time.perf_counter()
        for _ in range(count):
            step()
        return time.perf_counter() - begun

    timed(1)
    count = max(1, math.ceil(seconds / timed(1)))
    times = [timed(count) for _ in range(repetitions)]
    rates = [units * count / each for each in times]
    return dict(
        rate=statistics.median(rates),
        unit=unit,
        range=[min(rates), max(rates)],
        seconds=sum(times),
        checks=[dict(name=name, value=float(value)) for name, value in checks.items()],
    )


def report(works):
    """Does the works named on the command line and prints a line of JSON for each."""
    for name in sys.argv[1:]:
        print(json.dumps(dict(work=name, **works[name]())), flush=True)
