// V in the rewards' own unit.

const VALUE: u32 = 0u;

fn values(first: u32, count: u32, lane: u32, t: u32) {
    for (var k = first * COLUMNS + lane; k < (first + count) * COLUMNS; k += LANES) {
        let scale = scale_at(k % COLUMNS);
        reals[VALUE + k] = scale.x + scale.y * reals[output_at(k / COLUMNS, k % COLUMNS)];
    }
}
