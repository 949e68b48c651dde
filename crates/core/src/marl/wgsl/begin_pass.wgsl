// A new order of the rollout's items, and statistics from the beginning. Twin of BeginPass in marl/parts/minibatch.rs and
// of Permutation in base/rng.rs.

const KEY_LOW: u32 = 0u;
const KEY_HIGH: u32 = 0u;
const KEY_NAME: u32 = 0u;
const CLOCK: u32 = 0u;
const ORDER: u32 = 0u;
const ITEMS: u32 = 1u;
// Half of the bits that hold an item's number.
const HALF: u32 = 1u;
const HISTOGRAM: u32 = 0u;
const BINS: u32 = 32u;
const SUMS: u32 = 0u;
const SUMS_LEN: u32 = 6u;

const GRADIENT_STEP: u32 = 1u;

fn begin_pass(k: u32) {
    if (k < BINS) {
        words[HISTOGRAM + k] = 0u;
    }
    if (k < SUMS_LEN) {
        reals[SUMS + k] = 0.0;
    }
    if (k >= ITEMS) {
        return;
    }
    let counter = vec4<u32>(words[CLOCK + GRADIENT_STEP], 0u, 0u, 0u);
    let keys = random(vec4<u32>(KEY_LOW, KEY_HIGH, KEY_NAME, 0u), counter);
    let mask = (1u << HALF) - 1u;
    var x = k;
    loop {
        var left = x >> HALF;
        var right = x & mask;
        for (var round = 0u; round < 6u; round++) {
            var h = right ^ (keys[round % 4u] + round * 0x9E3779B9u);
            h = (h ^ (h >> 16u)) * 0x85EBCA6Bu;
            h = (h ^ (h >> 13u)) * 0xC2B2AE35u;
            h ^= h >> 16u;
            let mixed = (left ^ h) & mask;
            left = right;
            right = mixed;
        }
        x = (left << HALF) | right;
        if (x < ITEMS) {
            break;
        }
    }
    words[ORDER + k] = x;
}
