// The works W1, W2 and W5 as data, and how a rate is taken in a page: work.py once more, for peers that run in a browser.
//
// Every number comes from a formula over (tensor, element), so that all implementations meet the same input.
// A peer's page is asked like Tandem's own (`?bench=W1,W5`) and answers like it, in `tandemMeasured`.

export const GAMMA = 0.99;
export const LAMBDA = 0.95;
export const ADAM = { rate: 5e-4, beta1: 0.9, beta2: 0.999, eps: 1e-5 };
export const QMIX_CLIP = 10;
export const MAPPO_CLIP = 0.5;

export const QMIX = {
  W1: { B: 32, T: 25, N: 3, O: 18, S: 54, A: 5, H: 64, E: 32 },
  W5: { B: 64, T: 1, N: 2, O: 8, S: 6, A: 5, H: 32, E: 32 },
};
export const MAPPO = { T: 25, E: 128, N: 3, O: 18, S: 54, A: 5, H: 64, epochs: 4, minibatches: 4 };

/** Tensor `k`: mulberry32 as a function of the element's index, in [0, 1). */
export function uniform(k, length) {
  return Float64Array.from({ length }, (_, i) => {
    const a = (Math.imul(1000003, k) + Math.imul(i + 1, 0x6d2b79f5)) | 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  });
}

/** Tensor `k` in [-scale, scale). */
export const signed = (k, length, scale = 1) => Float32Array.from(uniform(k, length), (u) => (2 * u - 1) * scale);

/** Weights and bias of a layer, each with its shape. */
function layer(k, rows, columns) {
  const scale = 1 / Math.sqrt(rows);
  return [
    { data: signed(k, rows * columns, scale), shape: [rows, columns] },
    { data: signed(k + 1, columns, scale), shape: [columns] },
  ];
}

/** Agent (3 layers), then w1, b1, w2 and the two layers of V. */
export function qmixLayers({ N, O, S, A, H, E }) {
  return {
    agent: [layer(1, O + N, H), layer(3, H, H), layer(5, H, A)],
    mixer: [layer(7, S, N * E), layer(9, S, E), layer(11, S, E), layer(13, S, E), layer(15, E, 1)],
  };
}

/** B episodes of T env steps; observations carry the agent's id. */
export function qmixBatch({ B, T, N, O, S, A }) {
  return {
    obs: withIds(signed(20, B * (T + 1) * N * O), N, O),
    state: signed(21, B * (T + 1) * S),
    action: Int32Array.from(uniform(22, B * T * N), (u) => Math.floor(A * u)),
    reward: signed(23, B * T),
    goesOn: Float32Array.from(uniform(24, B * T), (u) => (u < 0.02 ? 0 : 1)),
  };
}

/** Actor and critic, three layers each. */
export const mappoLayers = ({ N, O, S, A, H }) => ({
  actor: [layer(31, O + N, H), layer(33, H, H), layer(35, H, A)],
  critic: [layer(37, S, H), layer(39, H, H), layer(41, H, 1)],
});

/** T x E items, each with its N agents; observations carry the agent's id. */
export function mappoRollout({ T, E, N, O, S, A }) {
  const items = T * E;
  return {
    obs: withIds(signed(50, items * N * O), N, O),
    state: signed(51, items * S),
    action: Int32Array.from(uniform(52, items * N), (u) => Math.floor(A * u)),
    logp: Float32Array.from(uniform(53, items * N), (u) => 0.1 * (2 * u - 1) - Math.log(5)),
    value: signed(54, items + E),
    reward: signed(55, items),
    goesOn: Float32Array.from(uniform(56, items), (u) => (u < 0.04 ? 0 : 1)),
  };
}

/** The items' order in each epoch. */
export function mappoOrders({ T, E, epochs }) {
  return Array.from({ length: epochs }, (_, epoch) => {
    const keys = uniform(60 + epoch, T * E);
    return Int32Array.from(keys.keys()).sort((i, j) => keys[i] - keys[j] || i - j);
  });
}

/** Rows of `size` numbers, row r being agent r mod `agents`, followed by the agent's id as one of `agents`. */
function withIds(rows, agents, size) {
  const width = size + agents;
  const wide = new Float32Array((rows.length / size) * width);
  for (let row = 0; row * size < rows.length; row += 1) {
    wide.set(rows.subarray(row * size, (row + 1) * size), row * width);
    wide[row * width + size + (row % agents)] = 1;
  }
  return wide;
}

/** Updates back to back before a loss is read: libraries that only queue what they are told slow down when it piles up. */
const AT_ONCE = 10;

/**
 * Times `step`, which does one unit of work and returns a loss: the median of some repetitions and their range.
 * @param {object} what `step()`, `read(loss)` (a promise of the number), `unit`, `checks` by name
 */
export async function measured({ step, read, unit, checks, repetitions = 5, seconds = 0.5 }) {
  const timed = async (count) => {
    const begun = performance.now();
    for (let done = 1; done <= count; done += 1) {
      const loss = step();
      if (done % AT_ONCE === 0 || done === count) await read(loss);
      else loss.dispose();
    }
    return (performance.now() - begun) / 1e3;
  };
  await timed(1);
  const count = Math.ceil(seconds / (await timed(1)));
  const times = [];
  while (times.length < repetitions) times.push(await timed(count));
  const rates = times.map((time) => count / time).sort((a, b) => a - b);
  return {
    rate: rates[repetitions >> 1],
    unit,
    range: [rates[0], rates[repetitions - 1]],
    seconds: times.reduce((a, b) => a + b),
    checks: Object.entries(checks).map(([name, value]) => ({ name, value })),
  };
}

/** Does the works that the address names. */
export async function report(works) {
  const lines = [];
  for (const work of new URLSearchParams(location.search).get('bench').split(',')) {
    lines.push({ work, ...(await works[work]()) });
  }
  globalThis.tandemMeasured = lines;
}
