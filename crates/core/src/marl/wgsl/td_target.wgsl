// y = r + γ·(1 − terminal)·value of the next state.

const REWARD_COLUMNS: u32 = 0u;
const COLUMNS: u32 = 1u;
const GAMMA: f32 = 0.99;
const STANDARDISES: u32 = 0u;
const MOMENTS: u32 = 0u;
const REWARD: u32 = 0u;
const TERMINAL: u32 = 0u;
const NEXT: u32 = 0u;
const Y: u32 = 0u;

fn td_target(first: u32, count: u32, lane: u32, t: u32) {
    var mean = 0.0;
    var deviation = 1.0;
    if (STANDARDISES == 1u && reals[MOMENTS] > 0.0) {
        mean = reals[MOMENTS + 1u];
        deviation = sqrt(reals[MOMENTS + 2u] / reals[MOMENTS]) + 1e-5;
    }
    for (var k = first * T * COLUMNS + lane; k < (first + count) * T * COLUMNS; k += LANES) {
        let at = k / COLUMNS;
        let r = (reals[REWARD + at * (AGENTS + 1u) + words[REWARD_COLUMNS + k % COLUMNS]] - mean) / deviation;
        reals[Y + k] = r + GAMMA * (1.0 - reals[TERMINAL + at]) * reals[NEXT + k];
    }
}
