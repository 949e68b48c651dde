// Draws a minibatch uniformly with replacement; where it is as large as the ring, takes the ring in order. Twin of Sample
// in marl/parts/replay.rs. An item has so many numbers of each kind.

const KEY_LOW: u32 = 0u;
const KEY_HIGH: u32 = 0u;
const KEY_NAME: u32 = 0u;
const CLOCK: u32 = 0u;
const TAKES_ALL: u32 = 0u;
const SLOT: u32 = 0u;
const RING_OBS: u32 = 0u;
const OBS: u32 = 0u;
const OBS_LEN: u32 = 8u;
const RING_STATE: u32 = 0u;
const STATE: u32 = 0u;
const STATE_LEN: u32 = 8u;
const RING_MASK: u32 = 0u;
const MASK: u32 = 0u;
const MASK_LEN: u32 = 2u;
const RING_ACTION: u32 = 0u;
const ACTION: u32 = 0u;
const ACTION_LEN: u32 = 1u;
const RING_REWARD: u32 = 0u;
const REWARD: u32 = 0u;
const REWARD_LEN: u32 = 2u;
const RING_TERMINAL: u32 = 0u;
const TERMINAL: u32 = 0u;
const RING_WEIGHT: u32 = 0u;
const WEIGHT: u32 = 0u;
const STEP_LEN: u32 = 1u;

const GRADIENT_STEP: u32 = 1u;
const RING_FILL: u32 = 4u;

fn sample(first: u32, count: u32, lane: u32, t: u32) {
    for (var item = first; item < first + count; item++) {
        var slot = item;
        if (TAKES_ALL == 0u) {
            let drawn = random(vec4<u32>(KEY_LOW, KEY_HIGH, KEY_NAME, 0u), vec4<u32>(words[CLOCK + GRADIENT_STEP], 0u, item, 0u));
            slot = below(drawn.x, max(words[CLOCK + RING_FILL], 1u));
        }
        if (lane == 0u) {
            words[SLOT + item] = slot;
        }
        for (var k = lane; k < OBS_LEN; k += LANES) {
            reals[OBS + item * OBS_LEN + k] = reals[RING_OBS + slot * OBS_LEN + k];
        }
        for (var k = lane; k < STATE_LEN; k += LANES) {
            reals[STATE + item * STATE_LEN + k] = reals[RING_STATE + slot * STATE_LEN + k];
        }
        for (var k = lane; k < MASK_LEN; k += LANES) {
            words[MASK + item * MASK_LEN + k] = words[RING_MASK + slot * MASK_LEN + k];
        }
        for (var k = lane; k < ACTION_LEN; k += LANES) {
            words[ACTION + item * ACTION_LEN + k] = words[RING_ACTION + slot * ACTION_LEN + k];
        }
        for (var k = lane; k < REWARD_LEN; k += LANES) {
            reals[REWARD + item * REWARD_LEN + k] = reals[RING_REWARD + slot * REWARD_LEN + k];
        }
        for (var k = lane; k < STEP_LEN; k += LANES) {
            reals[TERMINAL + item * STEP_LEN + k] = reals[RING_TERMINAL + slot * STEP_LEN + k];
            reals[WEIGHT + item * STEP_LEN + k] = reals[RING_WEIGHT + slot * STEP_LEN + k];
        }
    }
}
