// The team's reward where every agent has one of its own: the members' sum or mean.

const REWARD: u32 = 0u;
const IS_MEAN: u32 = 0u;

fn pay_team(first: u32, count: u32, lane: u32, t: u32) {
    for (var at = first * T + lane; at < (first + count) * T; at += LANES) {
        var sum = 0.0;
        for (var k = 0u; k < MEMBERS_LEN; k++) {
            sum += reals[REWARD + at * (AGENTS + 1u) + words[MEMBERS + k]];
        }
        reals[REWARD + at * (AGENTS + 1u) + AGENTS] = sum / select(1.0, f32(MEMBERS_LEN), IS_MEAN == 1u);
    }
}
