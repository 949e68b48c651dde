// ∂L/∂Q_i(o_i, ·): ∂L/∂q_i at the action taken, 0 elsewhere.

const DTAKEN: u32 = 0u;
const ACTION: u32 = 0u;
const DQ: u32 = 0u;

fn taken_value_backward(first: u32, count: u32, lane: u32, t: u32) {
    for (var k = first * T * MEMBERS_LEN + lane; k < (first + count) * T * MEMBERS_LEN; k += LANES) {
        let at = k / MEMBERS_LEN;
        let i = words[MEMBERS + k % MEMBERS_LEN];
        let row = DQ + ((at / T * (T + 1u) + at % T) * AGENTS + i) * OUTPUT_WIDTH;
        for (var a = 0u; a < OUTPUT_WIDTH; a++) {
            reals[row + a] = select(0.0, reals[DTAKEN + k], a == words[ACTION + at * AGENTS + i]);
        }
    }
}
