// L = Σ w·c·(y − v)² / (M·Σ w), and ∂L/∂v. Every workgroup sums the weights for itself.

const COLUMNS: u32 = 1u;
const TRANSITIONS: u32 = 1u;
const BETA: f32 = 1.0;
const VALUE: u32 = 0u;
const Y: u32 = 0u;
const WEIGHT: u32 = 0u;
const DVALUE: u32 = 0u;
const SCALARS: u32 = 0u;
// Each workgroup's part of the loss.
const LOSSES: u32 = 0u;
const TILES: u32 = 1u;

fn td_loss(first: u32, count: u32, lane: u32, t: u32) {
    var weight = 0.0;
    for (var at = lane; at < TRANSITIONS; at += LANES) {
        weight += reals[WEIGHT + at];
    }
    let sum = sum_of_lanes(weight, lane);
    let total = select(1.0, sum, sum > 0.0) * f32(COLUMNS);
    var loss = 0.0;
    for (var k = first * T * COLUMNS + lane; k < (first + count) * T * COLUMNS; k += LANES) {
        let error = reals[VALUE + k] - reals[Y + k];
        let c = reals[WEIGHT + k / COLUMNS] * select(1.0, BETA, error > 0.0);
        loss += c * error * error;
        reals[DVALUE + k] = 2.0 * c * error / total;
    }
    loss = sum_of_lanes(loss, lane);
    if (lane == 0u) {
        reals[LOSSES + first / TILE] = loss / total;
    }
}

fn end_loss(lane: u32) {
    if (lane == 0u) {
        var loss = 0.0;
        for (var tile = 0u; tile < TILES; tile++) {
            loss += reals[LOSSES + tile];
        }
        reals[SCALARS + 3u] = loss;
    }
}
