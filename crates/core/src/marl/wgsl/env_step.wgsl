// One env step of every world, with auto-reset; what follows is shown before the reset. Twin of Step in
// marl/parts/world.rs. The rules give reset_world, step_world, observe_agent, state_vector, legal_actions.

const KEY_LOW: u32 = 0u;
const KEY_HIGH: u32 = 0u;
const KEY_NAME: u32 = 0u;
const ACTION: u32 = 0u;
const REWARD: u32 = 0u;
const PARTS: u32 = 0u;
// Parts of all agents' rewards.
const PARTS_LEN: u32 = 1u;
const LIVE: u32 = 0u;
const AUTO_RESET: u32 = 1u;

// The world's own draws.
const WORLD_DRAWS: u32 = 0x00FFFFFFu;

// Four words of an agent's draw number `draw` at a step of an episode of world e.
fn draw(e: u32, episode: u32, step: u32, agent: u32, number: u32) -> vec4<u32> {
    return random(vec4<u32>(KEY_LOW, KEY_HIGH, KEY_NAME, 0u), vec4<u32>(e, episode, step, agent * 256u + number));
}

fn env_step(first: u32, count: u32, lane: u32, t: u32) {
    if (lane < count) {
        for (var e = first + lane; e < first + count; e += LANES) {
            if (AUTO_RESET == 0u && words[ENDED + e] != 0u) {
                words[LIVE + e] = 0u;
                for (var i = 0u; i <= AGENTS; i++) { reals[REWARD + e * (AGENTS + 1u) + i] = 0.0; }
                for (var k = 0u; k < PARTS_LEN; k++) { reals[PARTS + e * PARTS_LEN + k] = 0.0; }
            } else {
                words[LIVE + e] = 1u;
                words[ENDED + e] = step_world(e, words[TIME + e * 2u], words[TIME + e * 2u + 1u] + 1u);
            }
        }
    }
}

fn show_next(first: u32, count: u32, lane: u32, t: u32) {
    for (var k = lane; k < count * AGENTS; k += LANES) {
        let e = first + k / AGENTS;
        if (words[LIVE + e] == 1u) {
            show_agent(e, k % AGENTS, NEXT_OBS, NEXT_MASK);
        }
    }
    for (var k = lane; k < count; k += LANES) {
        if (words[LIVE + first + k] == 1u) {
            show_state(first + k, NEXT_STATE);
        }
    }
}

fn end_step(first: u32, count: u32, lane: u32, t: u32) {
    for (var k = lane; k < count; k += LANES) {
        let e = first + k;
        if (words[LIVE + e] == 1u) {
            words[TIME + e * 2u + 1u] += 1u;
            if (AUTO_RESET == 1u && words[ENDED + e] != 0u) {
                words[TIME + e * 2u] += 1u;
                words[TIME + e * 2u + 1u] = 0u;
                reset_world(e, words[TIME + e * 2u]);
            }
        }
    }
}
