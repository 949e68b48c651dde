"""W1 to W5 in JAX, everything inside `jit`, small updates many to a call, so that the cost of a call is shared.

In the loop over updates of W1 and W5 the compiler moves the target network's part out of the loop, because the batch
stays the same. No training run could save that, but it is left to JAX: its best figure is the one to compare with.
W3 is an environment of its own, written for speed; JaxMARL's is measured by jaxmarl_env.py.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn, random, tree

import work
from work import ACTIONS, AGENTS, ENVS, EPOCHS, GAMMA, LAMBDA, MINIBATCHES, STEPS, measured, report

IDS = jnp.eye(AGENTS)
ITEMS = STEPS * ENVS
PUSH = jnp.array([[0, 0], [-5, 0], [5, 0], [0, -5], [0, 5]], jnp.float32)
OTHERS = jnp.array([[1, 2], [0, 2], [0, 1]])


def dense(layer, x):
    return x @ layer[0] + layer[1]


def mlp(layers, x, activation):
    first, second, last = layers
    return dense(last, activation(dense(second, activation(dense(first, x)))))


def with_adam(parameters):
    """What a training carries: parameters, both moments, and the number of steps."""
    zeros = tree.map(jnp.zeros_like, parameters)
    return parameters, zeros, zeros, 0


def descend(carried, gradient, largest_norm):
    parameters, m, v, t = carried
    norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in tree.leaves(gradient)))
    scale = jnp.minimum(1, largest_norm / (norm + 1e-6))
    gradient, t = tree.map(lambda g: g * scale, gradient), t + 1
    m = tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, gradient)
    v = tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, gradient)
    m_bias, v_bias = 1 - 0.9**t, 1 - 0.999**t
    moved = lambda p, m, v: p - work.RATE * (m / m_bias) / (jnp.sqrt(v / v_bias) + work.EPS)
    return tree.map(moved, parameters, m, v), m, v, t


def pick(values, index):
    return jnp.take_along_axis(values, index[..., None], -1)[..., 0]


def first_ones(step, carried, count, data=()):
    """The numbers that the first steps give; `step` goes from what is carried and data to what is carried and a number."""
    step, outcomes = jax.jit(step), []
    for _ in range(count):
        carried, outcome = step(carried, data)
        outcomes.append(outcome)
    return outcomes


def repeated(step, carried, checks, units, unit, at_once=1, data=()):
    """Measures such a `step`, a number of them in one call."""
    many = jax.jit(lambda carried, data: lax.scan(lambda carried, _: step(carried, data), carried, length=at_once))
    kept = [carried]

    def run():
        kept[0], outcome = many(kept[0], data)
        outcome.block_until_ready()

    return measured(run, at_once * units, unit, checks)


def mix(layers, q, state):
    w1, b1, w2, v0, v1 = layers
    weights = jnp.abs(dense(w1, state)).reshape(*q.shape, -1)
    # As a product and a sum it takes twice as long: the compiler would compute the weights again for each use.
    hidden = nn.elu(jnp.einsum("btn,btne->bte", q, weights) + dense(b1, state))
    return (hidden * jnp.abs(dense(w2, state))).sum(-1) + dense(v1, nn.relu(dense(v0, state)))[..., 0]


def qmix(name, at_once):
    layers = tree.map(jnp.asarray, work.qmix_layers(work.QMIX[name]))
    batch = tree.map(jnp.asarray, work.qmix_batch(work.QMIX[name]))

    def loss(online, target, batch):
        q = mlp(online[0], batch["obs"], nn.relu)
        best = lax.stop_gradient(q[:, 1:]).argmax(-1)
        following = pick(mlp(target[0], batch["obs"][:, 1:], nn.relu), best)
        following = mix(target[1], following, batch["state"][:, 1:])
        y = lax.stop_gradient(batch["reward"] + GAMMA * (1 - batch["ended"]) * following)
        return ((mix(online[1], pick(q[:, :-1], batch["action"]), batch["state"][:, :-1]) - y) ** 2).mean()

    def update(trained, data):
        value, gradient = jax.value_and_grad(loss)(trained[0], *data)
        return descend(trained, gradient, work.QMIX_CLIP), value

    # Handed in, as what is closed over would be a constant to the compiler.
    data = layers, batch
    losses = first_ones(update, with_adam(layers), 31, data)
    checks = {"first_loss": losses[0], "loss31": losses[30]}
    return repeated(update, with_adam(layers), checks, 1, "updates/s", at_once, data)


def advantages(value, reward, done):
    def back(following, item):
        reward, value, next_value, goes_on = item
        following = reward + GAMMA * next_value * goes_on - value + GAMMA * LAMBDA * goes_on * following
        return following, following

    items = (reward, value[:-1], value[1:], 1 - done)
    return lax.scan(back, jnp.zeros(ENVS), items, reverse=True)[1]


def log_policy(actor, obs):
    ids = jnp.broadcast_to(IDS, (*obs.shape[:-1], AGENTS))
    return nn.log_softmax(mlp(actor, jnp.concatenate([obs, ids], -1), jnp.tanh))


def mappo_loss(networks, obs, state, action, logp, advantage, target):
    advantage = ((advantage - advantage.mean()) / (advantage.std() + 1e-8))[:, None]
    policy = log_policy(networks[0], obs)
    ratio = jnp.exp(pick(policy, action) - logp)
    gain = jnp.minimum(ratio * advantage, ratio.clip(0.8, 1.2) * advantage).mean()
    entropy = -(jnp.exp(policy) * policy).sum(-1).mean()
    error = mlp(networks[1], state, jnp.tanh)[:, 0] - target
    return 0.5 * (error**2).mean() - gain - 0.01 * entropy


def mappo_update(trained, rollout, orders):
    advantage = advantages(rollout["value"], rollout["reward"], rollout["done"])
    target = advantage + rollout["value"][:-1]
    columns = [rollout[name] for name in ("obs", "state", "action", "logp")] + [advantage, target]
    columns = [column.reshape(ITEMS, *column.shape[2:]) for column in columns]

    def step(trained, minibatch):
        loss, gradient = jax.value_and_grad(mappo_loss)(trained[0], *[column[minibatch] for column in columns])
        return descend(trained, gradient, work.MAPPO_CLIP), loss

    return lax.scan(step, trained, orders.reshape(EPOCHS * MINIBATCHES, -1))


def w2():
    data = tree.map(jnp.asarray, (work.mappo_rollout(), work.mappo_orders()))
    trained = with_adam(tree.map(jnp.asarray, work.mappo_layers()))
    iteration = lambda trained, data: mappo_update(trained, *data)
    [losses] = first_ones(iteration, trained, 1, data)
    checks = {"first_loss": losses[0], "loss16": losses[15]}
    return repeated(iteration, trained, checks, 1, "iterations/s", data=data)


def reset(key):
    p, landmarks = random.uniform(key, (2, ENVS, AGENTS, 2), minval=-1, maxval=1)
    return p, jnp.zeros_like(p), landmarks


def observations(world):
    p, v, landmarks = world
    to_landmarks = (landmarks[:, None] - p[:, :, None]).reshape(ENVS, AGENTS, 6)
    to_others = (p[:, OTHERS] - p[:, :, None]).reshape(ENVS, AGENTS, 4)
    return jnp.concatenate([v, p, to_landmarks, to_others, jnp.zeros((ENVS, AGENTS, 4))], -1)


def distances(p):
    """Vectors from agent j to agent i and their lengths; an agent is 1 away from itself, so it meets nobody."""
    apart = p[:, :, None] - p[:, None]
    return apart, jnp.sqrt((apart**2).sum(-1)) + IDS


def env_step(world, action):
    p, v, landmarks = world
    apart, distance = distances(p)
    overlap = jnp.logaddexp(0, (0.3 - distance) / 1e-3) * 1e-3 * (1 - IDS)
    force = PUSH[action] + (apart * (100 * overlap / distance)[..., None]).sum(2)
    # The position moves first, with the old velocity.
    p, v = p + 0.1 * v, 0.75 * v + 0.1 * force
    shared = -jnp.sqrt(((p[:, :, None] - landmarks[:, None]) ** 2).sum(-1)).min(1).sum(-1)
    collisions = (distances(p)[1] < 0.3).sum(2)
    return (p, v, landmarks), 0.5 * shared[:, None] - 0.5 * collisions


def w3():
    def episodes(carried, _):
        key, start, acting = random.split(carried[0], 3)
        world = reset(start)

        def step(carried, action):
            world, reward = env_step(carried[0], action)
            # Observations are carried, as a policy would need them; else the compiler would leave them out.
            return (world, observations(world)), reward.mean()

        actions = random.randint(acting, (STEPS, ENVS, AGENTS), 0, ACTIONS)
        (_, seen), reward = lax.scan(step, (world, observations(world)), actions)
        return (key, seen), reward.sum()

    unseen = jnp.zeros((ENVS, AGENTS, 18))
    checks = {"mean_return": np.mean(first_ones(episodes, (random.PRNGKey(1), unseen), 40))}
    return repeated(episodes, (random.PRNGKey(0), unseen), checks, ITEMS, "env steps/s")


def w4():
    def iteration(carried, _):
        trained, key = carried
        key, start, acting, shuffling = random.split(key, 4)
        (actor, critic), world = trained[0], reset(start)

        def act(carried, key):
            world, obs = carried
            policy = log_policy(actor, obs)
            action = random.categorical(key, policy)
            value = mlp(critic, obs.reshape(ENVS, -1), jnp.tanh)[:, 0]
            world, reward = env_step(world, action)
            item = dict(obs=obs, action=action, logp=pick(policy, action), value=value, reward=reward.mean(1))
            return (world, observations(world)), item

        _, rollout = lax.scan(act, (world, observations(world)), random.split(acting, STEPS))
        rollout["state"] = rollout["obs"].reshape(STEPS, ENVS, -1)
        rollout["value"] = jnp.concatenate([rollout["value"], jnp.zeros((1, ENVS))])
        rollout["done"] = jnp.zeros((STEPS, ENVS)).at[-1].set(1)
        orders = jax.vmap(lambda key: random.permutation(key, ITEMS))(random.split(shuffling, EPOCHS))
        trained, _ = mappo_update(trained, rollout, orders)
        return (trained, key), rollout["reward"].sum(0).mean()

    carried = (with_adam(tree.map(jnp.asarray, work.mappo_layers())), random.PRNGKey(0))
    returns = first_ones(iteration, carried, 60)
    checks = {
        "return_first": np.mean(returns[:3]),
        "return_after": np.mean(returns[-3:]),
    }
    return repeated(iteration, carried, checks, ITEMS, "env steps/s")


report({"W1": lambda: qmix("W1", 20), "W2": w2, "W3": w3, "W4": w4, "W5": lambda: qmix("W5", 500)})
