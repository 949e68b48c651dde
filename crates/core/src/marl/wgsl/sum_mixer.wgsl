// VDN's mixer: Q_tot = Σ_i q_i.

const Q: u32 = 0u;
const Q_TOT: u32 = 0u;

fn sum_mixer(first: u32, count: u32, lane: u32, t: u32) {
    for (var at = first * T + lane; at < (first + count) * T; at += LANES) {
        var sum = 0.0;
        for (var k = 0u; k < MEMBERS_LEN; k++) {
            sum += reals[Q + at * MEMBERS_LEN + k];
        }
        reals[Q_TOT + at] = sum;
    }
}
