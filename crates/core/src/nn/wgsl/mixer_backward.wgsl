// Gradients of the mixing network: from g = ∂L/∂Q_tot to ∂L/∂weights (added) and ∂L/∂q. Twin of
// nn/cpu/mixer_backward.rs: ∂L/∂V = g; ∂L/∂w2 = g·h ⊙ pos′; dz = g·w2 ⊙ ELU′; ∂L/∂b1 = dz; ∂L/∂W1[a] = q_a·dz ⊙ pos′;
// ∂L/∂q_a = W1[a]·dz; these enter the hypernetworks' own backward passes. Sums as in mlp_backward.wgsl.

const DQ_TOT: u32 = 0u;
const DQ: u32 = 0u;
const GRAD: u32 = 0u;
const FROM: u32 = 0u;
const LENGTH: u32 = 16u;
const PARTIAL: u32 = 0u;
const TILES: u32 = 1u;
// Gradients at the hypernetworks' outputs, of each transition: raw W1 [n, E], b1 [E], raw w2 [E], V [8].
const D: u32 = 0u;
const D_WIDTH: u32 = 64u;

fn positive_slope(raw: f32) -> f32 {
    if (POSITIVITY == 0u) {
        return sign(raw);
    }
    if (POSITIVITY == 1u) {
        return 1.0 / (1.0 + exp(0.0 - raw));
    }
    return 1.0;
}

fn mixer_backward(first: u32, count: u32, lane: u32, t: u32) {
    let partial = PARTIAL + first / TILE * LENGTH;
    let rows = count * ITEM_ROWS;
    for (var chunk = 0u; chunk < rows; chunk += ROWS) {
        let valid = min(ROWS, rows - chunk);
        let fresh = chunk == 0u;
        for (var k = lane; k < valid * EMBED; k += LANES) {
            let at = first * ITEM_ROWS + chunk + k / EMBED;
            let e = k % EMBED;
            let row = TRACE + at * TRACE_WIDTH;
            let d = D + at * D_WIDTH;
            let g = reals[DQ_TOT + at];
            let h = reals[row + H + e];
            let dz = g * reals[row + W2 + e] * select(h + 1.0, 1.0, h > 0.0);
            for (var agent = 0u; agent < AGENTS; agent++) {
                let raw = reals[row + RAW_W1 + agent * EMBED + e];
                reals[d + agent * EMBED + e] = reals[Q + at * AGENTS + agent] * dz * positive_slope(raw);
            }
            reals[d + AGENTS * EMBED + e] = dz;
            reals[d + (AGENTS + 1u) * EMBED + e] = g * h * positive_slope(reals[row + RAW_W2 + e]);
            if (e < 8u) {
                reals[d + (AGENTS + 2u) * EMBED + e] = select(0.0, g, e == 0u);
            }
        }
        storageBarrier();
        workgroupBarrier();
        for (var k = lane; k < valid * AGENTS; k += LANES) {
            let at = first * ITEM_ROWS + chunk + k / AGENTS;
            let agent = k % AGENTS;
            var sum = 0.0;
            for (var e = 0u; e < EMBED; e++) {
                sum += reals[TRACE + at * TRACE_WIDTH + agent * EMBED + e] * reals[D + at * D_WIDTH + AGENTS * EMBED + e];
            }
            reals[DQ + at * AGENTS + agent] = sum;
        }
        var begin_at = 0u;
        for (var net = 0u; net < 4u; net++) {
            let lies = LIES[net];
            var last = FIRST[net];
            if (lies.z == 1u) {
                last = SECOND[net];
            }
            take_states(first, chunk, rows, lane);
            if (lies.z == 1u) {
                take_traces(lane);
            }
            var x = vec2<u32>(STATE, STATE_WIDTH);
            if (lies.z == 1u) {
                x = vec2<u32>(TRACE + lies.y, TRACE_WIDTH);
            }
            // A hidden layer is at most twice as wide as there are lanes.
            var below = Block();
            let i = lane / 2u * 4u;
            let half = (lane % 2u) * 2u;
            let width = FIRST[net].w;
            let is_busy = lies.z == 1u && lane < width / 2u;
            for (var column = 0u; column < last.w; column += WIDE) {
                let columns = vec2<u32>(column, min(WIDE, last.w - column));
                workgroupBarrier();
                load_gradient(vec2<u32>(D + begin_at, D_WIDTH), columns, valid, lane);
                weight_gradient(last, columns, FROM, x, partial, fresh, lane);
                if (is_busy) {
                    below = add_input_gradient(below, last + vec4<u32>(WEIGHTS, WEIGHTS, 0u, 0u), columns, i, half);
                }
            }
            begin_at += last.w;
            if (lies.z == 1u) {
                workgroupBarrier();
                if (is_busy) {
                    finish_input_gradient(below, last.z, 1u, i, half);
                }
                take_over(width, lane);
                take_states(first, chunk, rows, lane);
                weight_gradient(FIRST[net], vec2<u32>(0u, width), FROM, vec2<u32>(STATE, STATE_WIDTH), partial, fresh, lane);
            }
        }
    }
}

fn add_up(k: u32) {
    if (k < FROM || k >= FROM + LENGTH) {
        return;
    }
    var sum = 0.0;
    for (var tile = 0u; tile < TILES; tile++) {
        sum += reals[PARTIAL + tile * LENGTH + k - FROM];
    }
    reals[GRAD + k] += sum;
}
