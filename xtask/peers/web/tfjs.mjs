// W1, W2 and W5 in TensorFlow.js on its wasm backend, one thread. tfjs.html loads the library as `tf`.

import {
  ADAM, GAMMA, LAMBDA, MAPPO, MAPPO_CLIP, QMIX, QMIX_CLIP,
  mappoLayers, mappoOrders, mappoRollout, measured, qmixBatch, qmixLayers, report,
} from './work.mjs';

const { tf } = globalThis;
const { reshape } = tf;
const tensor = ({ data, shape }) => tf.tensor(data, shape);
const constants = (layers) => layers.map((layer) => layer.map(tensor));
const variables = (layers) => constants(layers).map((layer) => layer.map((weights) => tf.variable(weights)));

const dense = ([weights, bias], x, activation = 'linear') => tf.fused.matMul({ a: x, b: weights, bias, activation });
const relu = (layer, x) => dense(layer, x, 'relu');
const tanh = (layer, x) => tf.tanh(dense(layer, x));
const mlp = ([first, second, last], x, hidden) => dense(last, hidden(second, hidden(first, x)));

/** Entries of `values` [rows, choices] that `picks` (one-hot) names. */
const pick = (values, picks) => tf.sum(tf.mul(values, picks), 1);

const read = async (loss) => {
  const [value] = await loss.data();
  loss.dispose();
  return value;
};

/** The function that takes one gradient step of a loss and returns its value. */
function optimiser(trained, largestNorm) {
  const adam = tf.train.adam(ADAM.rate, ADAM.beta1, ADAM.beta2, ADAM.eps);
  return (loss) => tf.tidy(() => {
    const { value, grads } = tf.variableGrads(loss, trained);
    const squares = Object.values(grads).map((gradient) => tf.sum(tf.square(gradient)));
    const norm = tf.sqrt(tf.addN(squares));
    const scale = tf.minimum(1, tf.div(largestNorm, tf.add(norm, 1e-6)));
    const scaled = Object.entries(grads).map(([name, gradient]) => [name, tf.mul(gradient, scale)]);
    adam.applyGradients(Object.fromEntries(scaled));
    return value;
  });
}

/** QMIX's monotonic mixer: utilities [rows, N] and states [rows, S] to Q_tot [rows]. */
function mix([w1, b1, w2, v0, v1], q, state) {
  const [rows, agents] = q.shape;
  const weights = reshape(tf.abs(dense(w1, state)), [rows, agents, -1]);
  const mixed = reshape(tf.matMul(reshape(q, [rows, 1, agents]), weights), [rows, -1]);
  const hidden = tf.elu(tf.add(mixed, dense(b1, state)));
  const value = reshape(dense(v1, relu(v0, state)), [rows]);
  return tf.add(pick(hidden, tf.abs(dense(w2, state))), value);
}

async function qmix(name) {
  const { B, T, N, O, S, A } = QMIX[name];
  const layers = qmixLayers(QMIX[name]);
  const batch = qmixBatch(QMIX[name]);
  const agent = variables(layers.agent);
  const mixer = variables(layers.mixer);
  const target = { agent: constants(layers.agent), mixer: constants(layers.mixer) };
  const obs = tf.tensor(batch.obs, [B, T + 1, N, O + N]);
  const state = tf.tensor(batch.state, [B, T + 1, S]);
  const action = tf.tensor(batch.action, [B * T * N], 'int32');
  const reward = tf.tensor(batch.reward);
  const goesOn = tf.tensor(batch.goesOn);
  // Env steps `from` to `from` + T of every episode, as rows.
  const steps = (values, from, width) => {
    const begin = [0, from, ...values.shape.slice(2).fill(0)];
    return reshape(tf.slice(values, begin, [B, T, ...values.shape.slice(2)]), [-1, width]);
  };
  const descend = optimiser([...agent, ...mixer].flat(), QMIX_CLIP);

  const update = () => descend(() => {
    const q = reshape(mlp(agent, reshape(obs, [-1, O + N]), relu), [B, T + 1, N, A]);
    const chosen = reshape(pick(steps(q, 0, A), tf.oneHot(action, A)), [-1, N]);
    const best = tf.oneHot(tf.argMax(steps(q, 1, A), 1), A);
    const following = reshape(pick(mlp(target.agent, steps(obs, 1, O + N), relu), best), [-1, N]);
    const y = tf.add(reward, tf.mul(tf.mul(GAMMA, goesOn), mix(target.mixer, following, steps(state, 1, S))));
    return tf.mean(tf.squaredDifference(mix(mixer, chosen, steps(state, 0, S)), y));
  });

  const losses = [];
  while (losses.length < 31) losses.push(await read(update()));
  const checks = { first_loss: losses[0], loss31: losses[30] };
  return measured({ step: update, read, unit: 'updates/s', checks });
}

/** Advantages and returns, on the host: T steps of E numbers are no work for tensors. */
function advantages({ value, reward, goesOn }, { T, E }) {
  const advantage = new Float32Array(T * E);
  for (let i = T * E - 1; i >= 0; i -= 1) {
    const following = i + E < T * E ? advantage[i + E] : 0;
    const error = reward[i] + GAMMA * value[i + E] * goesOn[i] - value[i];
    advantage[i] = error + GAMMA * LAMBDA * goesOn[i] * following;
  }
  return { advantage, target: advantage.map((a, i) => a + value[i]) };
}

async function mappo() {
  const { T, E, N, O, S, A, minibatches } = MAPPO;
  const layers = mappoLayers(MAPPO);
  const rollout = mappoRollout(MAPPO);
  const orders = mappoOrders(MAPPO);
  const actor = variables(layers.actor);
  const critic = variables(layers.critic);
  const items = T * E;
  const columns = {
    obs: tf.tensor(rollout.obs, [items, N * (O + N)]),
    state: tf.tensor(rollout.state, [items, S]),
    action: tf.tensor(rollout.action, [items, N], 'int32'),
    logp: tf.tensor(rollout.logp, [items, N]),
  };
  const descend = optimiser([...actor, ...critic].flat(), MAPPO_CLIP);

  const gradientStep = (order, advantages, targets) => tf.tidy(() => {
    const index = tf.tensor(order, [order.length], 'int32');
    const of = (column) => tf.gather(column, index);
    const obs = reshape(of(columns.obs), [-1, O + N]);
    const picks = tf.oneHot(reshape(of(columns.action), [-1]), A);
    const [state, logp, target] = [of(columns.state), reshape(of(columns.logp), [-1]), of(targets)];
    const { mean, variance } = tf.moments(of(advantages));
    const normal = tf.div(tf.sub(of(advantages), mean), tf.add(tf.sqrt(variance), 1e-8));
    const advantage = reshape(tf.tile(reshape(normal, [-1, 1]), [1, N]), [-1]);
    return descend(() => {
      const policy = tf.logSoftmax(mlp(actor, obs, tanh));
      const ratio = tf.exp(tf.sub(pick(policy, picks), logp));
      const clipped = tf.clipByValue(ratio, 0.8, 1.2);
      const gain = tf.mean(tf.minimum(tf.mul(ratio, advantage), tf.mul(clipped, advantage)));
      const entropy = tf.neg(tf.mean(tf.sum(tf.mul(tf.exp(policy), policy), 1)));
      const error = tf.mean(tf.squaredDifference(reshape(mlp(critic, state, tanh), [-1]), target));
      return tf.sub(tf.sub(tf.mul(0.5, error), gain), tf.mul(0.01, entropy));
    });
  });

  /** All losses of an iteration. */
  const iteration = () => {
    const { advantage, target } = advantages(rollout, MAPPO);
    const [a, t] = [tf.tensor(advantage), tf.tensor(target)];
    const size = items / minibatches;
    const losses = orders.flatMap((order) => Array.from({ length: minibatches }, (_, m) => (
      gradientStep(order.subarray(m * size, (m + 1) * size), a, t)
    )));
    a.dispose();
    t.dispose();
    return losses;
  };

  const losses = await Promise.all(iteration().map(read));
  const checks = { first_loss: losses[0], loss16: losses[15] };
  const step = () => {
    const all = iteration();
    const last = all.pop();
    for (const loss of all) loss.dispose();
    return last;
  };
  return measured({ step, read, unit: 'iterations/s', checks });
}

tf.wasm.setThreadsCount(1);
await tf.setBackend('wasm');
await report({ W1: () => qmix('W1'), W2: mappo, W5: () => qmix('W5') });
