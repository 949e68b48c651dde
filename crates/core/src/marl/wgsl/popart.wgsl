// Value normalisation by PopArt (van Hasselt et al. 2016). Twin of marl/parts/popart.rs: takes the targets into the
// moments, rescales the last layers, brings targets and values to the new scale.

const ITEMS: u32 = 1u;
const OUTPUTS: u32 = 1u;
// Bits of the columns that are trained.
const TRAINED: u32 = 1u;
const WEIGHT: u32 = 0u;
const VALUE: u32 = 0u;
const TARGET: u32 = 0u;
const WEIGHTS: u32 = 0u;
// Of each output: place of its last layer's W and of b, inputs, outputs with padding.
const LAST_LAYERS = array<vec4<u32>, 1>(vec4<u32>(0u, 0u, 1u, 8u), );
// Whether the outputs are columns of one layer.
const ARE_COLUMNS: u32 = 1u;
const KEEP: f32 = 0.99;

fn is_of(k: u32, output: u32) -> bool {
    return IS_SHARED == 1u || k % COLUMNS == output;
}

fn teaches(k: u32, output: u32) -> bool {
    return is_of(k, output) && ((TRAINED >> (k % COLUMNS)) & 1u) == 1u && reals[WEIGHT + k / COLUMNS] != 0.0;
}

fn popart(lane: u32) {
    for (var output = 0u; output < OUTPUTS; output++) {
        let at = MOMENTS + output * 3u;
        let old = vec3<f32>(reals[at], reals[at + 1u], reals[at + 2u]);
        var seen = 0.0;
        var sum = 0.0;
        for (var k = lane; k < ITEMS * COLUMNS; k += LANES) {
            if (teaches(k, output)) {
                seen += 1.0;
                sum += reals[TARGET + k];
            }
        }
        let count = sum_of_lanes(seen, lane);
        let batch_mean = sum_of_lanes(sum, lane) / max(count, 1.0);
        var square = 0.0;
        for (var k = lane; k < ITEMS * COLUMNS; k += LANES) {
            if (teaches(k, output)) {
                let x = reals[TARGET + k] - batch_mean;
                square += x * x;
            }
        }
        let batch_variance = sum_of_lanes(square, lane) / max(count, 1.0);
        var fresh = old;
        if (count > 0.0) {
            let kept = KEEP * old.x;
            let added = 1.0 - KEEP;
            let total = kept + added;
            let mean = old.y + added / total * (batch_mean - old.y);
            let of_old = old.z + (old.y - mean) * (old.y - mean);
            let of_batch = batch_variance + (batch_mean - mean) * (batch_mean - mean);
            fresh = vec3<f32>(total, mean, (kept * of_old + added * of_batch) / total);
        }
        let from_scale = scale_of(old.x, old.y, old.z);
        let to_scale = scale_of(fresh.x, fresh.y, fresh.z);
        storageBarrier();
        workgroupBarrier();
        if (lane == 0u) {
            reals[at] = fresh.x;
            reals[at + 1u] = fresh.y;
            reals[at + 2u] = fresh.z;
        }
        let layer = LAST_LAYERS[output];
        let column = select(0u, output, ARE_COLUMNS == 1u);
        for (var i = lane; i < layer.z; i += LANES) {
            reals[WEIGHTS + layer.x + i * layer.w + column] *= from_scale.y / to_scale.y;
        }
        if (lane == 0u) {
            let bias = WEIGHTS + layer.y + column;
            reals[bias] = (from_scale.y * reals[bias] + from_scale.x - to_scale.x) / to_scale.y;
        }
        for (var k = lane; k < ITEMS * COLUMNS; k += LANES) {
            if (is_of(k, output)) {
                reals[VALUE + k] = (reals[VALUE + k] - to_scale.x) / to_scale.y;
                reals[TARGET + k] = (reals[TARGET + k] - to_scale.x) / to_scale.y;
            }
        }
    }
}
