// Appends the env step of every world to the segments being recorded. Twin of Store in marl/parts/replay.rs.

const ENVS: u32 = 1u;
const AGENTS: u32 = 1u;
const CLOCK: u32 = 0u;
const OBS: u32 = 0u;
const NEXT_OBS: u32 = 0u;
// Numbers of all agents' observations.
const OBS_LEN: u32 = 8u;
const STATE: u32 = 0u;
const NEXT_STATE: u32 = 0u;
const STATE_LEN: u32 = 8u;
const MASK: u32 = 0u;
const NEXT_MASK: u32 = 0u;
const MASK_LEN: u32 = 2u;
const ACTION: u32 = 0u;
const REWARD: u32 = 0u;
const ENDED: u32 = 0u;
// The ring: segments of SEGMENT env steps.
const RING: u32 = 1u;
const SEGMENT: u32 = 1u;
const RING_OBS: u32 = 0u;
const RING_STATE: u32 = 0u;
const RING_MASK: u32 = 0u;
const RING_ACTION: u32 = 0u;
const RING_REWARD: u32 = 0u;
const RING_TERMINAL: u32 = 0u;
const RING_WEIGHT: u32 = 0u;
// Bits that say that a world ended.
const ENDS: u32 = 1u;
const ITERATIONS: u32 = 1u;

const RING_HEAD: u32 = 3u;
const RING_FILL: u32 = 4u;
const SEGMENT_STEP: u32 = 5u;

// The segment that world e writes in iteration t.
fn slot_of(e: u32, t: u32) -> u32 {
    let finished = (words[CLOCK + SEGMENT_STEP] + t) / SEGMENT;
    return (words[CLOCK + RING_HEAD] + finished * ENVS + e) % RING;
}

fn store(first: u32, count: u32, lane: u32, t: u32) {
    let step = (words[CLOCK + SEGMENT_STEP] + t) % SEGMENT;
    for (var i = 0u; i < count; i++) {
        let e = first + i;
        let slot = slot_of(e, t);
        let seen = slot * (SEGMENT + 1u) + step;
        let done = slot * SEGMENT + step;
        for (var k = lane; k < OBS_LEN; k += LANES) {
            reals[RING_OBS + seen * OBS_LEN + k] = reals[OBS + e * OBS_LEN + k];
            reals[RING_OBS + (seen + 1u) * OBS_LEN + k] = reals[NEXT_OBS + e * OBS_LEN + k];
        }
        for (var k = lane; k < STATE_LEN; k += LANES) {
            reals[RING_STATE + seen * STATE_LEN + k] = reals[STATE + e * STATE_LEN + k];
            reals[RING_STATE + (seen + 1u) * STATE_LEN + k] = reals[NEXT_STATE + e * STATE_LEN + k];
        }
        for (var k = lane; k < MASK_LEN; k += LANES) {
            words[RING_MASK + seen * MASK_LEN + k] = words[MASK + e * MASK_LEN + k];
            words[RING_MASK + (seen + 1u) * MASK_LEN + k] = words[NEXT_MASK + e * MASK_LEN + k];
        }
        for (var k = lane; k < AGENTS; k += LANES) {
            words[RING_ACTION + done * AGENTS + k] = words[ACTION + e * AGENTS + k];
        }
        for (var k = lane; k <= AGENTS; k += LANES) {
            reals[RING_REWARD + done * (AGENTS + 1u) + k] = reals[REWARD + e * (AGENTS + 1u) + k];
        }
        if (lane == 0u) {
            reals[RING_TERMINAL + done] = select(0.0, 1.0, (words[ENDED + e] & ENDS) != 0u);
            reals[RING_WEIGHT + done] = 1.0;
        }
    }
}

fn end_store(lane: u32) {
    if (lane == 0u) {
        let steps = words[CLOCK + SEGMENT_STEP] + ITERATIONS;
        let finished = steps / SEGMENT * ENVS;
        words[CLOCK + SEGMENT_STEP] = steps % SEGMENT;
        words[CLOCK + RING_HEAD] = (words[CLOCK + RING_HEAD] + finished) % RING;
        words[CLOCK + RING_FILL] = min(words[CLOCK + RING_FILL] + finished, RING);
    }
}
