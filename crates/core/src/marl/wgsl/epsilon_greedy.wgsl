// With probability ε uniform over the legal actions, else the greedy one. Twin of EpsilonGreedy in marl/parts/explore.rs.

const KEY_LOW: u32 = 0u;
const KEY_HIGH: u32 = 0u;
const KEY_NAME: u32 = 0u;
const AGENTS: u32 = 1u;
const ACTIONS: u32 = 2u;
const OUTPUT_WIDTH: u32 = 8u;
// Bits of the agents that explore.
const EXPLORERS: u32 = 1u;
const Q: u32 = 0u;
const MASK: u32 = 0u;
const EPSILON: u32 = 0u;
const TIME: u32 = 0u;
const ACTION: u32 = 0u;
const EXPLORED: u32 = 0u;

fn epsilon_greedy(first: u32, count: u32, lane: u32, t: u32) {
    for (var k = lane; k < count * AGENTS; k += LANES) {
        let e = first + k / AGENTS;
        let agent = k % AGENTS;
        let row = e * AGENTS + agent;
        let time = vec2<u32>(words[TIME + e * 2u], words[TIME + e * 2u + 1u]);
        let drawn = random(vec4<u32>(KEY_LOW, KEY_HIGH, KEY_NAME, 0u), vec4<u32>(e, time, agent * 256u));
        var legal = 0u;
        var best = ACTIONS;
        for (var a = 0u; a < ACTIONS; a++) {
            if (words[MASK + row * ACTIONS + a] != 0u) {
                legal += 1u;
                if (best == ACTIONS || reals[Q + row * OUTPUT_WIDTH + a] > reals[Q + row * OUTPUT_WIDTH + min(best, ACTIONS - 1u)]) {
                    best = a;
                }
            }
        }
        let epsilon = select(0.0, reals[EPSILON], ((EXPLORERS >> agent) & 1u) == 1u);
        var choice = 0u;
        var by_chance = 0u;
        if (legal > 0u) {
            choice = best;
            if (uniform01(drawn.x) < epsilon) {
                by_chance = 1u;
                var before = below(drawn.y, legal);
                for (var a = 0u; a < ACTIONS; a++) {
                    if (words[MASK + row * ACTIONS + a] != 0u) {
                        if (before == 0u) {
                            choice = a;
                            break;
                        }
                        before -= 1u;
                    }
                }
            }
        }
        words[ACTION + row] = choice;
        words[EXPLORED + row] = by_chance;
    }
}
