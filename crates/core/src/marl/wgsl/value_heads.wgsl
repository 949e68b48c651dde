// Where the M value columns of an item lie among a critic's outputs, and their scale. Twin of Heads in
// marl/parts/critic.rs and Scale in marl/parts/popart.rs.

const COLUMNS: u32 = 1u;
const HEAD_ROWS: u32 = 1u;
const HEAD_WIDTH: u32 = 8u;
const Y: u32 = 0u;
const IS_SHARED: u32 = 0u;
const NORMALISES: u32 = 0u;
const MOMENTS: u32 = 0u;

fn output_at(item: u32, m: u32) -> u32 {
    if (HEAD_ROWS == 1u) {
        return Y + item * HEAD_WIDTH + m;
    }
    return Y + (item * HEAD_ROWS + m) * HEAD_WIDTH;
}

// (mean, deviation) of a row of moments.
fn scale_of(seen: f32, mean: f32, variance: f32) -> vec2<f32> {
    return vec2<f32>(mean, select(1.0, max(sqrt(variance), 1e-2), seen > 0.0));
}

fn scale_at(m: u32) -> vec2<f32> {
    if (NORMALISES == 0u) {
        return vec2<f32>(0.0, 1.0);
    }
    let at = MOMENTS + select(m, 0u, IS_SHARED == 1u) * 3u;
    return scale_of(reals[at], reals[at + 1u], reals[at + 2u]);
}
