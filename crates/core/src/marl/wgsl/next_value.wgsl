// q_i' = Q_i⁻(o_i', a_i'), a_i' the best legal action of the chooser; 0 where nothing is legal.

const CHOOSER: u32 = 0u;
const TARGET_Q: u32 = 0u;
const MASK: u32 = 0u;
const NEXT: u32 = 0u;

fn next_value(first: u32, count: u32, lane: u32, t: u32) {
    for (var k = first * T * MEMBERS_LEN + lane; k < (first + count) * T * MEMBERS_LEN; k += LANES) {
        let at = k / MEMBERS_LEN;
        let i = words[MEMBERS + k % MEMBERS_LEN];
        let row = (at / T * (T + 1u) + at % T + 1u) * AGENTS + i;
        var best = ACTIONS;
        var largest = 0.0;
        for (var a = 0u; a < ACTIONS; a++) {
            let q = reals[CHOOSER + row * OUTPUT_WIDTH + a];
            if (words[MASK + row * ACTIONS + a] != 0u && (best == ACTIONS || q > largest)) {
                best = a;
                largest = q;
            }
        }
        reals[NEXT + k] = select(0.0, reals[TARGET_Q + row * OUTPUT_WIDTH + min(best, ACTIONS - 1u)], best < ACTIONS);
    }
}
