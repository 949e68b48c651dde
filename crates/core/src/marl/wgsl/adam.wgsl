// Adam on one block of parameters (Kingma and Ba 2015). Twin of Adam in marl/parts/optimise.rs and nn/cpu/adam.rs.

const GRAD: u32 = 0u;
const WEIGHTS: u32 = 0u;
const M: u32 = 0u;
const V: u32 = 0u;
const POWERS: u32 = 0u;
const SCALARS: u32 = 0u;
// Which scalar is the learning rate.
const RATE: u32 = 0u;
// The part that each parameter belongs to; NO_PART where it keeps its bits.
const PART_OF: u32 = 0u;
// Of each part, whether it learns.
const LEARNS: u32 = 0u;
const PARTS: u32 = 1u;
const BETA_1: f32 = 0.9;
const BETA_2: f32 = 0.999;
const ADAM_EPS: f32 = 1e-5;

const NO_PART: u32 = 0xFFFFFFFFu;

fn raise_powers(lane: u32) {
    for (var part = lane; part < PARTS; part += LANES) {
        if (words[LEARNS + part] == 1u) {
            reals[POWERS + part * 2u] *= BETA_1;
            reals[POWERS + part * 2u + 1u] *= BETA_2;
        }
    }
}

fn adam(k: u32) {
    let part = words[PART_OF + k];
    if (part == NO_PART) {
        return;
    }
    let g = reals[GRAD + k] * reals[SCALARS + 1u];
    let m = BETA_1 * reals[M + k] + (1.0 - BETA_1) * g;
    let v = BETA_2 * reals[V + k] + (1.0 - BETA_2) * g * g;
    reals[M + k] = m;
    reals[V + k] = v;
    let unbiased = m / (1.0 - reals[POWERS + part * 2u]);
    let root = sqrt(v / (1.0 - reals[POWERS + part * 2u + 1u]));
    reals[WEIGHTS + k] -= reals[SCALARS + RATE] * unbiased / (root + ADAM_EPS);
}
