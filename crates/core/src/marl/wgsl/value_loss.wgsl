// c_v·(V − R)² of the critic as it is now, and ∂L/∂outputs. Twin of ValueLoss in marl/parts/policy_loss.rs.

const ITEMS: u32 = 1u;
const ACTIONS: u32 = 2u;
// Bits of the columns that are trained.
const TRAINED: u32 = 1u;
const COEFFICIENT: f32 = 0.5;
const CLIP: f32 = 0.0;
// Whether an agent without a legal action has no value loss.
const MASKS_INACTIVE: u32 = 0u;
const MASK: u32 = 0u;
const WEIGHT: u32 = 0u;
const VALUE: u32 = 0u;
const TARGET: u32 = 0u;
const DY: u32 = 0u;
const SCALARS: u32 = 0u;
const SUMS: u32 = 0u;
// Weight of each value; each workgroup's loss.
const ROW_WEIGHT: u32 = 0u;
const LOSSES: u32 = 0u;
const TILES: u32 = 1u;

fn value_rows(first: u32, count: u32, lane: u32, t: u32) {
    for (var k = first * COLUMNS + lane; k < (first + count) * COLUMNS; k += LANES) {
        var counts = ((TRAINED >> (k % COLUMNS)) & 1u) == 1u;
        if (MASKS_INACTIVE == 1u) {
            var legal = 0u;
            for (var a = 0u; a < ACTIONS; a++) {
                legal += select(0u, 1u, words[MASK + k * ACTIONS + a] != 0u);
            }
            counts = counts && legal > 0u;
        }
        reals[ROW_WEIGHT + k] = select(0.0, reals[WEIGHT + k / COLUMNS], counts);
    }
}

fn value_loss(first: u32, count: u32, lane: u32, t: u32) {
    var weight = 0.0;
    for (var k = lane; k < ITEMS * COLUMNS; k += LANES) {
        weight += reals[ROW_WEIGHT + k];
    }
    let total = sum_of_lanes(weight, lane);
    let share = select(0.0, 1.0 / total, total > 0.0);
    let width = HEAD_ROWS * HEAD_WIDTH;
    for (var k = first * width + lane; k < (first + count) * width; k += LANES) {
        reals[DY + k] = 0.0;
    }
    storageBarrier();
    workgroupBarrier();
    var loss = 0.0;
    for (var k = first * COLUMNS + lane; k < (first + count) * COLUMNS; k += LANES) {
        let w = reals[ROW_WEIGHT + k];
        if (w != 0.0) {
            let at = output_at(k / COLUMNS, k % COLUMNS);
            let y = reals[at];
            let free = y - reals[TARGET + k];
            let moved = y - reals[VALUE + k];
            let held = reals[VALUE + k] + clamp(moved, 0.0 - CLIP, CLIP) - reals[TARGET + k];
            let is_held = CLIP > 0.0 && abs(moved) > CLIP && held * held > free * free;
            let error = select(free, held, is_held);
            loss += w * share * error * error;
            reals[DY + at - Y] = COEFFICIENT * w * share * 2.0 * error * select(1.0, 0.0, is_held);
        }
    }
    let all = sum_of_lanes(loss, lane);
    if (lane == 0u) {
        reals[LOSSES + first / TILE] = all;
    }
}

fn end_value_loss(lane: u32) {
    if (lane == 0u) {
        var loss = 0.0;
        for (var tile = 0u; tile < TILES; tile++) {
            loss += reals[LOSSES + tile];
        }
        reals[SCALARS + 3u] += COEFFICIENT * loss;
        reals[SUMS + 4u] += loss;
        reals[SUMS + 5u] += 1.0;
    }
}
