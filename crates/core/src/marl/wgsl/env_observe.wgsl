// What the worlds show now: where a world has gone on since its env step, what followed then. Twin of Observe in
// marl/parts/world.rs, but that numbers are copied where buffers change places there.

const OBS: u32 = 0u;
const MASK: u32 = 0u;
const STATE: u32 = 0u;

fn is_new(e: u32) -> bool {
    return words[TIME + e * 2u + 1u] == 0u || words[ENDED + e] != 0u;
}

fn env_observe(first: u32, count: u32, lane: u32, t: u32) {
    for (var k = lane; k < count * AGENTS; k += LANES) {
        let e = first + k / AGENTS;
        if (is_new(e)) {
            show_agent(e, k % AGENTS, OBS, MASK);
        }
    }
    for (var k = lane; k < count; k += LANES) {
        if (is_new(first + k)) {
            show_state(first + k, STATE);
        }
    }
    let obs_len = AGENTS * OBS_WIDTH;
    for (var k = lane; k < count * obs_len; k += LANES) {
        if (!is_new(first + k / obs_len)) {
            reals[OBS + first * obs_len + k] = reals[NEXT_OBS + first * obs_len + k];
        }
    }
    let mask_len = AGENTS * ACTIONS * (1u - FIXED_MASK);
    for (var k = lane; k < count * mask_len; k += LANES) {
        if (!is_new(first + k / max(mask_len, 1u))) {
            words[MASK + first * mask_len + k] = words[NEXT_MASK + first * mask_len + k];
        }
    }
    for (var k = lane; k < count * STATE_WIDTH; k += LANES) {
        if (!is_new(first + k / max(STATE_WIDTH, 1u))) {
            reals[STATE + first * STATE_WIDTH + k] = reals[NEXT_STATE + first * STATE_WIDTH + k];
        }
    }
}

// Rules that are shown and not stepped draw nothing and pay nobody.
const ACTION: u32 = 0u;
const REWARD: u32 = 0u;
const PARTS: u32 = 0u;
const PARTS_LEN: u32 = 1u;
const WORLD_DRAWS: u32 = 0u;

fn draw(e: u32, episode: u32, step: u32, agent: u32, number: u32) -> vec4<u32> {
    return vec4<u32>(0u);
}
