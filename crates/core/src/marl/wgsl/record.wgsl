// Keeps the env step of every world in the rollout. Twin of Record in marl/parts/trajectories.rs; item t·E + e.

const ENVS: u32 = 1u;
const AGENTS: u32 = 1u;
const ACTIONS: u32 = 2u;
const CLOCK: u32 = 0u;
const OBS: u32 = 0u;
const NEXT_OBS: u32 = 0u;
// Numbers of an agent's observation before its id, and of its input.
const OBS_OWN: u32 = 1u;
const OBS_WIDTH: u32 = 8u;
const STATE: u32 = 0u;
const NEXT_STATE: u32 = 0u;
// 0 where nobody reads the state.
const STATE_LEN: u32 = 8u;
const MASK: u32 = 0u;
const NEXT_MASK: u32 = 0u;
const ACTION: u32 = 0u;
const LOG_PROB: u32 = 0u;
const REWARD: u32 = 0u;
const ENDED: u32 = 0u;
const LIVE: u32 = 0u;
// The rollout, of T env steps.
const T: u32 = 1u;
const TO_OBS: u32 = 0u;
const TO_NEXT_OBS: u32 = 0u;
const TO_STATE: u32 = 0u;
const TO_NEXT_STATE: u32 = 0u;
const TO_MASK: u32 = 0u;
const TO_ACTION: u32 = 0u;
const TO_LOG_PROB: u32 = 0u;
const TO_REWARD: u32 = 0u;
const TO_TERMINAL: u32 = 0u;
const TO_ENDED: u32 = 0u;
const TO_WEIGHT: u32 = 0u;
// Bits that say that a world ended.
const ENDS: u32 = 1u;
// Whether an agent without a legal action is given zeros.
const ZERO_INACTIVE: u32 = 0u;
const ITERATIONS: u32 = 1u;

const SEGMENT_STEP: u32 = 5u;

fn can_act(mask: u32) -> bool {
    for (var a = 0u; a < ACTIONS; a++) {
        if (words[mask + a] != 0u) {
            return true;
        }
    }
    return false;
}

fn record(first: u32, count: u32, lane: u32, t: u32) {
    let step = (words[CLOCK + SEGMENT_STEP] + t) % T;
    for (var i = 0u; i < count; i++) {
        let e = first + i;
        let item = step * ENVS + e;
        for (var k = lane; k < AGENTS * OBS_WIDTH; k += LANES) {
            var now = reals[OBS + e * AGENTS * OBS_WIDTH + k];
            var next = reals[NEXT_OBS + e * AGENTS * OBS_WIDTH + k];
            if (ZERO_INACTIVE == 1u && k % OBS_WIDTH < OBS_OWN) {
                let mask = (e * AGENTS + k / OBS_WIDTH) * ACTIONS;
                now = select(0.0, now, can_act(MASK + mask));
                next = select(0.0, next, can_act(NEXT_MASK + mask));
            }
            reals[TO_OBS + item * AGENTS * OBS_WIDTH + k] = now;
            reals[TO_NEXT_OBS + item * AGENTS * OBS_WIDTH + k] = next;
        }
        for (var k = lane; k < STATE_LEN; k += LANES) {
            reals[TO_STATE + item * STATE_LEN + k] = reals[STATE + e * STATE_LEN + k];
            reals[TO_NEXT_STATE + item * STATE_LEN + k] = reals[NEXT_STATE + e * STATE_LEN + k];
        }
        for (var k = lane; k < AGENTS * ACTIONS; k += LANES) {
            words[TO_MASK + item * AGENTS * ACTIONS + k] = words[MASK + e * AGENTS * ACTIONS + k];
        }
        for (var k = lane; k < AGENTS; k += LANES) {
            words[TO_ACTION + item * AGENTS + k] = words[ACTION + e * AGENTS + k];
            reals[TO_LOG_PROB + item * AGENTS + k] = reals[LOG_PROB + e * AGENTS + k];
        }
        for (var k = lane; k <= AGENTS; k += LANES) {
            reals[TO_REWARD + item * (AGENTS + 1u) + k] = reals[REWARD + e * (AGENTS + 1u) + k];
        }
        if (lane == 0u) {
            let ended = words[ENDED + e];
            reals[TO_TERMINAL + item] = select(0.0, 1.0, (ended & ENDS) != 0u);
            reals[TO_ENDED + item] = select(0.0, 1.0, ended != 0u);
            reals[TO_WEIGHT + item] = select(0.0, 1.0, words[LIVE + e] != 0u);
        }
    }
}

fn end_record(lane: u32) {
    if (lane == 0u) {
        words[CLOCK + SEGMENT_STEP] = (words[CLOCK + SEGMENT_STEP] + ITERATIONS) % T;
    }
}
