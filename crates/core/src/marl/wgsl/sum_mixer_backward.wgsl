// ∂L/∂q_i = ∂L/∂Q_tot for every i.

const DQ_TOT: u32 = 0u;
const DQ: u32 = 0u;

fn sum_mixer_backward(first: u32, count: u32, lane: u32, t: u32) {
    for (var k = first * T * MEMBERS_LEN + lane; k < (first + count) * T * MEMBERS_LEN; k += LANES) {
        reals[DQ + k] = reals[DQ_TOT + k / MEMBERS_LEN];
    }
}
