// q_i = Q_i(o_i, a_i).

const Q: u32 = 0u;
const ACTION: u32 = 0u;
const VALUE: u32 = 0u;

fn taken_value(first: u32, count: u32, lane: u32, t: u32) {
    for (var k = first * T * MEMBERS_LEN + lane; k < (first + count) * T * MEMBERS_LEN; k += LANES) {
        let at = k / MEMBERS_LEN;
        let i = words[MEMBERS + k % MEMBERS_LEN];
        let row = (at / T * (T + 1u) + at % T) * AGENTS + i;
        reals[VALUE + k] = reals[Q + row * OUTPUT_WIDTH + words[ACTION + at * AGENTS + i]];
    }
}
