"""W3 in NumPy: simple_spread_v3 (mpe2 1.1.1, three agents), many environments in lockstep.

The world that PyTorch's W4 is trained in, too.
"""

import numpy as np

from work import AGENTS, ENVS, STEPS, measured, report

PUSH = np.array([[0, 0], [-5, 0], [5, 0], [0, -5], [0, 5]], np.float32)
OTHERS = np.array([[1, 2], [0, 2], [0, 1]])
EACH = np.arange(AGENTS)


class Spread:
    """Position, velocity and landmarks of `envs` environments, [envs, 3, 2] each."""

    def __init__(self, envs, seed=0):
        self.envs, self.random = envs, np.random.default_rng(seed)

    def reset(self):
        self.p, self.landmarks = self.random.uniform(-1, 1, (2, self.envs, AGENTS, 2)).astype(np.float32)
        self.v = np.zeros_like(self.p)
        return self.observations()

    def step(self, action):
        """Moves everybody: observations [envs, 3, 18] and rewards [envs, 3]."""
        apart, distance = self.distances()
        overlap = np.logaddexp(np.float32(0), (np.float32(0.3) - distance) / np.float32(1e-3)) * np.float32(1e-3)
        overlap[:, EACH, EACH] = 0
        force = PUSH[action] + (apart * (100 * overlap / distance)[..., None]).sum(2)
        # The position moves first, with the old velocity.
        self.p += np.float32(0.1) * self.v
        self.v = np.float32(0.75) * self.v + np.float32(0.1) * force
        to_landmarks = self.p[:, :, None] - self.landmarks[:, None]
        shared = -np.sqrt((to_landmarks**2).sum(-1)).min(1).sum(-1)
        _, distance = self.distances()
        collisions = (distance < np.float32(0.3)).sum(2)
        return self.observations(), (0.5 * shared[:, None] - 0.5 * collisions).astype(np.float32)

    def distances(self):
        """Vectors from agent j to agent i and their lengths; an agent is 1 away from itself, so it meets nobody."""
        apart = self.p[:, :, None] - self.p[:, None]
        distance = np.sqrt((apart**2).sum(-1))
        distance[:, EACH, EACH] = 1
        return apart, distance

    def observations(self):
        obs = np.zeros((self.envs, AGENTS, 18), np.float32)
        obs[..., 0:2], obs[..., 2:4] = self.v, self.p
        obs[..., 4:10] = (self.landmarks[:, None] - self.p[:, :, None]).reshape(self.envs, AGENTS, 6)
        obs[..., 10:14] = (self.p[:, OTHERS] - self.p[:, :, None]).reshape(self.envs, AGENTS, 4)
        return obs


def w3():
    env, random = Spread(ENVS), np.random.default_rng(1)

    def episode():
        env.reset()
        total = 0.0
        for _ in range(STEPS):
            _, reward = env.step(random.integers(0, 5, (ENVS, AGENTS)))
            total += reward.mean()
        return total

    checks = {"mean_return": np.mean([episode() for _ in range(40)])}
    return measured(episode, ENVS * STEPS, "env steps/s", checks)


if __name__ == "__main__":
    report({"W3": w3})
