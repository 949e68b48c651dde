"""W1, W2, W4 and W5 in PyTorch, eager, with its fused Adam; W4 in the world of numpy_env.py."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import work
from numpy_env import Spread
from work import AGENTS, ENVS, EPOCHS, GAMMA, LAMBDA, MINIBATCHES, STEPS, measured, report

torch.set_num_threads(1)
IDS = torch.eye(AGENTS)
ITEMS = STEPS * ENVS


def linear(weights):
    w, b = map(torch.from_numpy, weights)
    module = nn.Linear(*w.shape)
    with torch.no_grad():
        module.weight.copy_(w.T)
        module.bias.copy_(b)
    return module


def mlp(layers, activation):
    first, second, last = map(linear, layers)
    return nn.Sequential(first, activation(), second, activation(), last)


def tensors(arrays):
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def optimiser(parameters, largest_norm):
    """The function that turns gradients into a step."""
    adam = torch.optim.Adam(parameters, lr=work.RATE, eps=work.EPS, fused=True)

    def descend(loss):
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, largest_norm)
        adam.step()

    return descend


class Mixer(nn.Module):
    """QMIX's monotonic mixer: hypernetworks of one layer, V of two."""

    def __init__(self, layers):
        super().__init__()
        self.w1, self.b1, self.w2, self.v0, self.v1 = map(linear, layers)

    def forward(self, q, state):
        """Utilities [rows, agents] and states [rows, size] to Q_tot [rows]."""
        w1 = self.w1(state).abs().view(*q.shape, -1)
        hidden = F.elu(torch.bmm(q.unsqueeze(1), w1).squeeze(1) + self.b1(state))
        return (hidden * self.w2(state).abs()).sum(1) + self.v1(F.relu(self.v0(state))).squeeze(1)


def qmix(name):
    c = work.QMIX[name]
    agent_layers, mixer_layers = work.qmix_layers(c)
    agent, mixer = mlp(agent_layers, nn.ReLU), Mixer(mixer_layers)
    target_agent, target_mixer = mlp(agent_layers, nn.ReLU), Mixer(mixer_layers)
    descend = optimiser([*agent.parameters(), *mixer.parameters()], work.QMIX_CLIP)
    batch = tensors(work.qmix_batch(c))
    now, later = batch["state"][:, :-1].flatten(0, 1), batch["state"][:, 1:].flatten(0, 1)
    action, ended = batch["action"].unsqueeze(-1), batch["ended"].flatten()

    def update():
        q = agent(batch["obs"])
        chosen = q[:, :-1].gather(-1, action).view(-1, c["N"])
        with torch.no_grad():
            best = q[:, 1:].argmax(-1, keepdim=True)
            following = target_agent(batch["obs"][:, 1:]).gather(-1, best).view(-1, c["N"])
            target = batch["reward"].flatten() + GAMMA * (1 - ended) * target_mixer(following, later)
        loss = F.mse_loss(mixer(chosen, now), target)
        descend(loss)
        return loss

    losses = [update().item() for _ in range(31)]
    checks = {"first_loss": losses[0], "loss31": losses[30]}
    return measured(update, 1, "updates/s", checks)


def advantages(value, reward, done):
    advantage, following = torch.empty_like(reward), torch.zeros(reward.shape[1])
    for t in reversed(range(STEPS)):
        goes_on = 1 - done[t]
        error = reward[t] + GAMMA * value[t + 1] * goes_on - value[t]
        following = error + GAMMA * LAMBDA * goes_on * following
        advantage[t] = following
    return advantage


class Mappo:
    """Actor, critic and the update of both from a rollout."""

    def __init__(self):
        actor, critic = work.mappo_layers()
        self.actor, self.critic = mlp(actor, nn.Tanh), mlp(critic, nn.Tanh)
        self.descend = optimiser([*self.actor.parameters(), *self.critic.parameters()], work.MAPPO_CLIP)

    def log_policy(self, obs):
        ids = IDS.expand(*obs.shape[:-2], AGENTS, AGENTS)
        return F.log_softmax(self.actor(torch.cat([obs, ids], -1)), -1)

    def loss(self, obs, state, action, logp, advantage, target):
        advantage = (advantage - advantage.mean()) / (advantage.std(correction=0) + 1e-8)
        policy = self.log_policy(obs)
        ratio = torch.exp(policy.gather(-1, action.unsqueeze(-1)).squeeze(-1) - logp)
        advantage = advantage.unsqueeze(-1)
        gain = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        entropy = -(policy.exp() * policy).sum(-1).mean()
        return 0.5 * F.mse_loss(self.critic(state).squeeze(-1), target) - gain - 0.01 * entropy

    def update(self, rollout, orders):
        """The losses of all gradient steps."""
        advantage = advantages(rollout["value"], rollout["reward"], rollout["done"])
        target = advantage + rollout["value"][:-1]
        columns = [rollout[name].flatten(0, 1) for name in ("obs", "state", "action", "logp")]
        columns += [advantage.flatten(), target.flatten()]
        losses = []
        for minibatch in orders.reshape(EPOCHS * MINIBATCHES, -1):
            losses.append(self.loss(*[column[minibatch] for column in columns]))
            self.descend(losses[-1])
        return losses


def w2():
    mappo, rollout = Mappo(), tensors(work.mappo_rollout())
    orders = torch.from_numpy(work.mappo_orders())
    losses = mappo.update(rollout, orders)
    checks = {"first_loss": losses[0].item(), "loss16": losses[15].item()}
    return measured(lambda: mappo.update(rollout, orders), 1, "iterations/s", checks)


def w4():
    mappo, env = Mappo(), Spread(ENVS)
    torch.manual_seed(0)

    @torch.no_grad()
    def rollout():
        data = dict(
            obs=torch.empty(STEPS, ENVS, AGENTS, 18),
            action=torch.empty(STEPS, ENVS, AGENTS, dtype=torch.long),
            logp=torch.empty(STEPS, ENVS, AGENTS),
            value=torch.zeros(STEPS + 1, ENVS),
            reward=torch.empty(STEPS, ENVS),
            done=torch.zeros(STEPS, ENVS),
        )
        data["done"][-1] = 1
        obs = env.reset()
        for t in range(STEPS):
            data["obs"][t] = torch.from_numpy(obs)
            policy = mappo.log_policy(data["obs"][t])
            # The largest of log-probabilities with Gumbel noise is a draw from the softmax.
            action = (policy - torch.empty_like(policy).exponential_().log()).argmax(-1)
            data["action"][t] = action
            data["logp"][t] = policy.gather(-1, action.unsqueeze(-1)).squeeze(-1)
            data["value"][t] = mappo.critic(data["obs"][t].flatten(1)).squeeze(-1)
            obs, reward = env.step(action.numpy())
            data["reward"][t] = torch.from_numpy(reward.mean(1))
        return data | {"state": data["obs"].flatten(2)}

    def iteration():
        data = rollout()
        mappo.update(data, torch.stack([torch.randperm(ITEMS) for _ in range(EPOCHS)]))
        return data["reward"].sum(0).mean().item()

    returns = [iteration() for _ in range(60)]
    checks = {"return_first": np.mean(returns[:3]), "return_after": np.mean(returns[-3:])}
    return measured(iteration, ITEMS, "env steps/s", checks)


report({"W1": lambda: qmix("W1"), "W2": w2, "W4": w4, "W5": lambda: qmix("W5")})
