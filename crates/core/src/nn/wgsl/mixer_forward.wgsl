// Q_tot = ELU(q·W1(s) + b1(s))·w2(s) + V(s) (Rashid et al. 2018, figure 2). Twin of nn/cpu/mixer_forward.rs.

const Q_TOT: u32 = 0u;

fn positive(raw: f32) -> f32 {
    if (POSITIVITY == 0u) {
        return abs(raw);
    }
    if (POSITIVITY == 1u) {
        return max(raw, 0.0) + log(1.0 + exp(0.0 - abs(raw)));
    }
    return raw;
}

fn mixer_forward(first: u32, count: u32, lane: u32, t: u32) {
    let rows = count * ITEM_ROWS;
    for (var chunk = 0u; chunk < rows; chunk += ROWS) {
        let valid = min(ROWS, rows - chunk);
        take_states(first, chunk, rows, lane);
        // All first layers, then all second ones; one place that calls, for a device copies what is called to each.
        for (var step = 0u; step < 8u; step++) {
            let net = step % 4u;
            let lies = LIES[net];
            if (step == 4u) {
                take_traces(lane);
            }
            if (step < 4u || lies.z == 1u) {
                var layer = FIRST[net];
                var x = vec2<u32>(STATE, STATE_WIDTH);
                var to = lies.x;
                if (step >= 4u) {
                    layer = SECOND[net];
                    x = vec2<u32>(TRACE + lies.y, TRACE_WIDTH);
                } else if (lies.z == 1u) {
                    to = lies.y;
                }
                let activation = select(0u, 1u, step < 4u && lies.z == 1u);
                let weights = layer + vec4<u32>(WEIGHTS, WEIGHTS, 0u, 0u);
                affine(weights, x, vec2<u32>(TRACE + to, TRACE_WIDTH), activation, valid, lane);
            }
        }
        // W1, w2 ≥ 0, and h.
        for (var k = lane; k < valid * EMBED; k += LANES) {
            let at = first * ITEM_ROWS + chunk + k / EMBED;
            let e = k % EMBED;
            let row = TRACE + at * TRACE_WIDTH;
            var z = reals[row + H + e];
            for (var agent = 0u; agent < AGENTS; agent++) {
                let w = positive(reals[row + RAW_W1 + agent * EMBED + e]);
                reals[row + agent * EMBED + e] = w;
                z += w * reals[Q + at * AGENTS + agent];
            }
            reals[row + H + e] = select(exp(z) - 1.0, z, z > 0.0);
            reals[row + W2 + e] = positive(reals[row + RAW_W2 + e]);
        }
        storageBarrier();
        workgroupBarrier();
        for (var k = lane; k < valid; k += LANES) {
            let at = first * ITEM_ROWS + chunk + k;
            let row = TRACE + at * TRACE_WIDTH;
            var sum = 0.0;
            for (var e = 0u; e < EMBED; e++) {
                sum += reals[row + H + e] * reals[row + W2 + e];
            }
            reals[Q_TOT + at] = sum + reals[row + VALUE];
        }
    }
}
