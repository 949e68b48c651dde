// V of what followed every item: V of its environment's next item, or of what was seen before a reset or at the end. Here
// the networks have been asked about all of them.

const ITEMS: u32 = 1u;
const ENVS: u32 = 1u;
const ENDED: u32 = 0u;
const VALUE: u32 = 0u;
const NEXT_VALUE: u32 = 0u;

fn next_values(first: u32, count: u32, lane: u32, t: u32) {
    for (var k = first * COLUMNS + lane; k < (first + count) * COLUMNS; k += LANES) {
        let item = k / COLUMNS;
        if (item + ENVS >= ITEMS || reals[ENDED + item] != 0.0) {
            let scale = scale_at(k % COLUMNS);
            reals[NEXT_VALUE + k] = scale.x + scale.y * reals[output_at(item, k % COLUMNS)];
        } else {
            reals[NEXT_VALUE + k] = reals[VALUE + k + ENVS * COLUMNS];
        }
    }
}
