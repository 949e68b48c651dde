// target += mix·(weights − target). Twin of UpdateTarget in marl/parts/optimise.rs and nn/cpu/polyak.rs.

const CLOCK: u32 = 0u;
const WEIGHTS: u32 = 0u;
const TARGET: u32 = 0u;
// Gradient steps between copies; 0: TAU each time.
const EVERY: u32 = 0u;
const TAU: f32 = 0.01;

const GRADIENT_STEP: u32 = 1u;

fn update_target(k: u32) {
    if (EVERY == 0u) {
        reals[TARGET + k] += TAU * (reals[WEIGHTS + k] - reals[TARGET + k]);
    } else if (words[CLOCK + GRADIENT_STEP] % max(EVERY, 1u) == 0u) {
        reals[TARGET + k] = reals[WEIGHTS + k];
    }
}
