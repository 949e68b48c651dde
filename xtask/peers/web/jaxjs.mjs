// W1 and W5 in jax-js on its wasm device, the whole update in one `jit`. Without cross-origin isolation, which nobody
// here asks for, it runs in one thread.
//
// Arrays are moved: whoever uses one again takes `.ref` before. Rows are ordered [time, episode, agent], because slices of
// leading rows are views.

import { defaultDevice, init, jit, lax, nn, numpy as np, tree, valueAndGrad } from './jax-js/index.js';
import { ADAM, GAMMA, QMIX, QMIX_CLIP, measured, qmixBatch, qmixLayers, report } from './work.mjs';

const array = ({ data, shape }) => np.array(data).reshape(shape);
const arrays = (layers) => layers.map((layer) => layer.map(array));
const dense = ([weights, bias], x) => np.matmul(x, weights).add(bias);
const mlp = ([first, second, last], x) => dense(last, nn.relu(dense(second, nn.relu(dense(first, x)))));
const pick = (values, picks) => np.sum(values.mul(picks), 1);
const read = async (loss) => (await loss.data())[0];

/** `values` [outer, inner, width] as [inner, outer, width]. */
function swapped(values, outer, inner, width) {
  const moved = values.slice();
  for (let o = 0; o < outer; o += 1) {
    for (let i = 0; i < inner; i += 1) {
      moved.set(values.subarray((o * inner + i) * width, (o * inner + i + 1) * width), (i * outer + o) * width);
    }
  }
  return moved;
}

async function qmix(name) {
  const { B, T, N, O, S, A } = QMIX[name];
  const layers = qmixLayers(QMIX[name]);
  const batch = qmixBatch(QMIX[name]);
  const rows = B * T;

  const mix = ([w1, b1, w2, v0, v1], q, state) => {
    const weights = np.abs(dense(w1, state.ref)).reshape([rows, N, -1]);
    const hidden = nn.elu(np.sum(q.reshape([rows, N, 1]).mul(weights), 1).add(dense(b1, state.ref)));
    const output = np.abs(dense(w2, state.ref));
    return np.sum(hidden.mul(output), 1).add(dense(v1, nn.relu(dense(v0, state))).reshape([rows]));
  };

  const loss = (online, target, data) => {
    const q = mlp(online.agent, data.obs.ref);
    const chosen = pick(q.ref.slice([0, rows * N]), data.picks).reshape([rows, N]);
    const later = [B * N, B * N + rows * N];
    const best = nn.oneHot(np.argmax(lax.stopGradient(q).slice(later), 1), A);
    const following = pick(mlp(target.agent, data.obs.slice(later)), best).reshape([rows, N]);
    const next = mix(target.mixer, following, data.state.ref.slice([B, B + rows]));
    const y = lax.stopGradient(data.reward.add(data.goesOn.mul(GAMMA).mul(next)));
    const error = mix(online.mixer, chosen, data.state.slice([0, rows])).sub(y);
    return np.mean(np.square(error));
  };

  const update = jit((online, m, v, target, data, rate, vScale) => {
    const [value, gradients] = valueAndGrad(loss)(tree.ref(online), target, data);
    const norm = np.sqrt(tree.leaves(tree.ref(gradients)).map((g) => np.sum(np.square(g))).reduce((a, b) => a.add(b)));
    const scale = np.minimum(np.array(1), np.array(QMIX_CLIP).div(norm.add(1e-6)));
    const scaled = tree.map((g) => g.mul(scale.ref), gradients);
    const m1 = tree.map((m, g) => m.mul(ADAM.beta1).add(g.mul(1 - ADAM.beta1)), m, tree.ref(scaled));
    const v1 = tree.map((v, g) => v.mul(ADAM.beta2).add(np.square(g).mul(1 - ADAM.beta2)), v, scaled);
    const moved = (p, m, v) => p.sub(m.mul(rate.ref).div(np.sqrt(v.mul(vScale.ref)).add(ADAM.eps)));
    const stepped = tree.map(moved, online, tree.ref(m1), tree.ref(v1));
    for (const used of [scale, rate, vScale]) used.dispose();
    return [stepped, m1, v1, value];
  });

  const picks = new Float32Array(rows * N * A);
  swapped(batch.action, B, T, N).forEach((action, row) => { picks[row * A + action] = 1; });
  const data = {
    obs: array({ data: swapped(batch.obs, B, T + 1, N * (O + N)), shape: [-1, O + N] }),
    state: array({ data: swapped(batch.state, B, T + 1, S), shape: [-1, S] }),
    picks: array({ data: picks, shape: [-1, A] }),
    reward: np.array(swapped(batch.reward, B, T, 1)),
    goesOn: np.array(swapped(batch.goesOn, B, T, 1)),
  };
  const fresh = () => ({ agent: arrays(layers.agent), mixer: arrays(layers.mixer) });
  const zeros = () => tree.map((weights) => weights.mul(0), fresh());
  const target = fresh();
  let [online, m, v, count] = [fresh(), zeros(), zeros(), 0];
  const step = () => {
    count += 1;
    const rate = np.array(ADAM.rate / (1 - ADAM.beta1 ** count));
    const vScale = np.array(1 / (1 - ADAM.beta2 ** count));
    let value;
    [online, m, v, value] = update(online, m, v, tree.ref(target), tree.ref(data), rate, vScale);
    return value;
  };

  const losses = [];
  while (losses.length < 31) losses.push(await read(step()));
  const checks = { first_loss: losses[0], loss31: losses[30] };
  return measured({ step, read, unit: 'updates/s', checks });
}

await init('wasm');
defaultDevice('wasm');
await report({ W1: () => qmix('W1'), W5: () => qmix('W5') });
