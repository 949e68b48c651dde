// One norm over all gradients; factor min(1, limit / (‖g‖ + 1e-6)). Twin of ClipNorm in marl/parts/optimise.rs.

// Place and length of each block's gradient.
const GRAD_0: u32 = 0u;
const LEN_0: u32 = 0u;
const GRAD_1: u32 = 0u;
const LEN_1: u32 = 0u;
const LIMIT: f32 = 10.0;
const SCALARS: u32 = 0u;

fn clip_norm(lane: u32) {
    var square = 0.0;
    for (var k = lane; k < LEN_0; k += LANES) {
        square += reals[GRAD_0 + k] * reals[GRAD_0 + k];
    }
    for (var k = lane; k < LEN_1; k += LANES) {
        square += reals[GRAD_1 + k] * reals[GRAD_1 + k];
    }
    let norm = sqrt(sum_of_lanes(square, lane));
    if (lane == 0u) {
        reals[SCALARS + 2u] = norm;
        reals[SCALARS + 1u] = min(LIMIT / (norm + 1e-6), 1.0);
    }
}
