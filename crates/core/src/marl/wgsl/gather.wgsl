// Copies the rows of this gradient step's items. Twin of Gather in marl/parts/minibatch.rs. Pairs of buffers with so many
// numbers an item; 0 where there is no such pair.

const CLOCK: u32 = 0u;
const ORDER: u32 = 0u;
const MINIBATCHES: u32 = 1u;
// Gradient steps of an update.
const PER_UPDATE: u32 = 1u;
const COUNT: u32 = 1u;
const REAL_FROM_0: u32 = 0u;
const REAL_FROM_1: u32 = 0u;
const REAL_FROM_2: u32 = 0u;
const REAL_FROM_3: u32 = 0u;
const REAL_FROM_4: u32 = 0u;
const REAL_FROM_5: u32 = 0u;
const REAL_FROM_6: u32 = 0u;
const REAL_TO_0: u32 = 0u;
const REAL_TO_1: u32 = 0u;
const REAL_TO_2: u32 = 0u;
const REAL_TO_3: u32 = 0u;
const REAL_TO_4: u32 = 0u;
const REAL_TO_5: u32 = 0u;
const REAL_TO_6: u32 = 0u;
const REAL_LEN_0: u32 = 0u;
const REAL_LEN_1: u32 = 0u;
const REAL_LEN_2: u32 = 0u;
const REAL_LEN_3: u32 = 0u;
const REAL_LEN_4: u32 = 0u;
const REAL_LEN_5: u32 = 0u;
const REAL_LEN_6: u32 = 0u;
const WORD_FROM_0: u32 = 0u;
const WORD_FROM_1: u32 = 0u;
const WORD_TO_0: u32 = 0u;
const WORD_TO_1: u32 = 0u;
const WORD_LEN_0: u32 = 0u;
const WORD_LEN_1: u32 = 0u;

const GRADIENT_STEP: u32 = 1u;

fn copy_reals(from_at: u32, to_at: u32, len: u32, lane: u32) {
    for (var k = lane; k < len; k += LANES) {
        reals[to_at + k] = reals[from_at + k];
    }
}

fn copy_words(from_at: u32, to_at: u32, len: u32, lane: u32) {
    for (var k = lane; k < len; k += LANES) {
        words[to_at + k] = words[from_at + k];
    }
}

fn gather(first: u32, count: u32, lane: u32, t: u32) {
    // The gradient step has been counted, from 1.
    let batch = (words[CLOCK + GRADIENT_STEP] - 1u) % PER_UPDATE % MINIBATCHES;
    for (var i = first; i < first + count; i++) {
        let item = words[ORDER + batch * COUNT + i];
        copy_reals(REAL_FROM_0 + item * REAL_LEN_0, REAL_TO_0 + i * REAL_LEN_0, REAL_LEN_0, lane);
        copy_reals(REAL_FROM_1 + item * REAL_LEN_1, REAL_TO_1 + i * REAL_LEN_1, REAL_LEN_1, lane);
        copy_reals(REAL_FROM_2 + item * REAL_LEN_2, REAL_TO_2 + i * REAL_LEN_2, REAL_LEN_2, lane);
        copy_reals(REAL_FROM_3 + item * REAL_LEN_3, REAL_TO_3 + i * REAL_LEN_3, REAL_LEN_3, lane);
        copy_reals(REAL_FROM_4 + item * REAL_LEN_4, REAL_TO_4 + i * REAL_LEN_4, REAL_LEN_4, lane);
        copy_reals(REAL_FROM_5 + item * REAL_LEN_5, REAL_TO_5 + i * REAL_LEN_5, REAL_LEN_5, lane);
        copy_reals(REAL_FROM_6 + item * REAL_LEN_6, REAL_TO_6 + i * REAL_LEN_6, REAL_LEN_6, lane);
        copy_words(WORD_FROM_0 + item * WORD_LEN_0, WORD_TO_0 + i * WORD_LEN_0, WORD_LEN_0, lane);
        copy_words(WORD_FROM_1 + item * WORD_LEN_1, WORD_TO_1 + i * WORD_LEN_1, WORD_LEN_1, lane);
    }
}
