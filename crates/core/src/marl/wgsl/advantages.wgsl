// A = R − V and the critic's target R: GAE(λ) or n-step returns. Twin of Advantages in marl/parts/advantage.rs. Items are
// environments.

const T: u32 = 1u;
const ENVS: u32 = 1u;
const COLUMNS: u32 = 1u;
const REWARD: u32 = 0u;
const REWARD_WIDTH: u32 = 2u;
const FIRST_REWARD: u32 = 0u;
const TERMINAL: u32 = 0u;
const ENDED: u32 = 0u;
const WEIGHT: u32 = 0u;
const VALUE: u32 = 0u;
const NEXT_VALUE: u32 = 0u;
const ADVANTAGE: u32 = 0u;
const TARGET: u32 = 0u;
const GAMMA: f32 = 0.99;
// 0: n-step returns of LOOKAHEAD env steps.
const IS_GAE: u32 = 1u;
const LAMBDA: f32 = 0.95;
const LOOKAHEAD: u32 = 1u;

fn value_of_next(e: u32, m: u32, t: u32) -> f32 {
    let item = t * ENVS + e;
    return (1.0 - reals[TERMINAL + item]) * reals[NEXT_VALUE + item * COLUMNS + m];
}

fn reward_of(e: u32, m: u32, t: u32) -> f32 {
    return reals[REWARD + (t * ENVS + e) * REWARD_WIDTH + FIRST_REWARD + m];
}

fn advantages(first: u32, count: u32, lane: u32, iteration: u32) {
    for (var k = lane; k < count * COLUMNS; k += LANES) {
        let e = first + k / COLUMNS;
        let m = k % COLUMNS;
        var later = 0.0;
        for (var behind = 0u; behind < T; behind++) {
            let t = T - 1u - behind;
            let item = t * ENVS + e;
            let at = item * COLUMNS + m;
            var advantage = 0.0;
            if (IS_GAE == 1u) {
                let delta = reward_of(e, m, t) + GAMMA * value_of_next(e, m, t) - reals[VALUE + at];
                advantage = delta + GAMMA * LAMBDA * (1.0 - reals[ENDED + item]) * later;
            } else {
                var last = t;
                while (last + 1u < min(t + LOOKAHEAD, T) && reals[ENDED + last * ENVS + e] == 0.0) {
                    last += 1u;
                }
                var all = value_of_next(e, m, last);
                for (var back = 0u; back <= last - t; back++) {
                    all = reward_of(e, m, last - back) + GAMMA * all;
                }
                advantage = all - reals[VALUE + at];
            }
            later = advantage * reals[WEIGHT + item];
            reals[ADVANTAGE + at] = later;
            reals[TARGET + at] = later + reals[VALUE + at];
        }
    }
}
