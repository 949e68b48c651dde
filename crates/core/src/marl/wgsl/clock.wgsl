// Counters and schedules. Twin of marl/parts/clock.rs, whose indices these are.

const CLOCK: u32 = 0u;
const SETTINGS: u32 = 0u;
const SCALARS: u32 = 0u;
const EPSILON: u32 = 0u;

const UPDATE: u32 = 0u;
const GRADIENT_STEP: u32 = 1u;
const ENV_STEP: u32 = 2u;

fn scheduled(at: u32) -> f32 {
    let s = SETTINGS + at;
    return linear(reals[s], reals[s + 1u], reals[s + 2u], words[CLOCK + ENV_STEP]);
}

fn begin_update(lane: u32) {
    if (lane == 0u) {
        words[CLOCK + UPDATE] += 1u;
        reals[EPSILON] = scheduled(3u);
    }
}

fn begin_gradient_step(lane: u32) {
    if (lane == 0u) {
        words[CLOCK + GRADIENT_STEP] += 1u;
        let rate = scheduled(0u);
        reals[SCALARS] = rate;
        reals[SCALARS + 4u] = rate * reals[SETTINGS + 6u];
        reals[SCALARS + 5u] = scheduled(7u);
    }
}
