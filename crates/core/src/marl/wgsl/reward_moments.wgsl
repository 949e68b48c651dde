// Running count, mean and sum of squared deviations of the rewards (Welford 1962), one reward at a time.

const MOMENTS: u32 = 0u;
const REWARD: u32 = 0u;
const WEIGHT: u32 = 0u;
const TRANSITIONS: u32 = 1u;
const REWARD_COLUMNS: u32 = 0u;
const COLUMNS: u32 = 1u;

fn reward_moments(lane: u32) {
    if (lane == 0u) {
        var seen = reals[MOMENTS];
        var mean = reals[MOMENTS + 1u];
        var squares = reals[MOMENTS + 2u];
        for (var at = 0u; at < TRANSITIONS; at++) {
            if (reals[WEIGHT + at] != 0.0) {
                for (var m = 0u; m < COLUMNS; m++) {
                    let r = reals[REWARD + at * (AGENTS + 1u) + words[REWARD_COLUMNS + m]];
                    seen += 1.0;
                    let moved = mean + (r - mean) / seen;
                    squares += (r - mean) * (r - moved);
                    mean = moved;
                }
            }
        }
        reals[MOMENTS] = seen;
        reals[MOMENTS + 1u] = mean;
        reals[MOMENTS + 2u] = squares;
    }
}
