// The team's reward where every agent has one of its own: the members' sum or mean. Twin of PayTeam in marl/parts/td.rs.

const AGENTS: u32 = 1u;
// Env steps of an item.
const LENGTH: u32 = 1u;
const MEMBERS: u32 = 0u;
const MEMBERS_LEN: u32 = 1u;
const REWARD: u32 = 0u;
const IS_MEAN: u32 = 0u;

fn pay_team(first: u32, count: u32, lane: u32, t: u32) {
    for (var at = first * LENGTH + lane; at < (first + count) * LENGTH; at += LANES) {
        var sum = 0.0;
        for (var k = 0u; k < MEMBERS_LEN; k++) {
            sum += reals[REWARD + at * (AGENTS + 1u) + words[MEMBERS + k]];
        }
        reals[REWARD + at * (AGENTS + 1u) + AGENTS] = sum / select(1.0, f32(MEMBERS_LEN), IS_MEAN == 1u);
    }
}
