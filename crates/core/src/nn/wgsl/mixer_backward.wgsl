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

// Adds dz·Wᵀ of some columns, dz being in b, for input number `lane`.
fn add_input_gradient(layer: vec4<u32>, columns: vec2<u32>, z: array<vec4<f32>, 4>, lane: u32) -> array<vec4<f32>, 4> {
    var sum = z;
    if (lane < layer.z) {
        for (var o = 0u; o < columns.y; o++) {
            let w = reals[WEIGHTS + layer.x + lane * layer.w + columns.x + o];
            sum[0] += b[o * 4u] * w;
            sum[1] += b[o * 4u + 1u] * w;
            sum[2] += b[o * 4u + 2u] * w;
            sum[3] += b[o * 4u + 3u] * w;
        }
    }
    return sum;
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
            var below = array<vec4<f32>, 4>();
            for (var column = 0u; column < last.w; column += WIDE) {
                let columns = vec2<u32>(column, min(WIDE, last.w - column));
                workgroupBarrier();
                load_gradient(vec2<u32>(D + begin_at, D_WIDTH), columns, valid, lane);
                weight_gradient(last, columns, FROM, x, partial, fresh, lane);
                if (lies.z == 1u) {
                    below = add_input_gradient(last, columns, below, lane);
                }
            }
            begin_at += last.w;
            if (lies.z == 1u) {
                // The hidden layer's inputs lie in a; it is as wide as there are lanes at most.
                workgroupBarrier();
                let width = FIRST[net].w;
                if (lane < width) {
                    for (var q = 0u; q < 4u; q++) {
                        b[lane * 4u + q] = below[q] * activation_slope(a[lane * 4u + q], 1u);
                    }
                }
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
