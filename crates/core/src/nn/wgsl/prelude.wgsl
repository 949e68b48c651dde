// What every kernel stands on: the arrays that all buffers lie in, the random numbers, and matrix products of 16 rows.
//
// A workgroup has LANES invocations. What a kernel calls a lane is one of them.

@group(0) @binding(0) var<storage, read_write> reals: array<f32>;
@group(0) @binding(1) var<storage, read_write> words: array<u32>;
@group(0) @binding(2) var<storage, read_write> ints: array<i32>;

// Invocations of a workgroup.
const LANES: u32 = 64u;
// Items of a workgroup.
const TILE: u32 = 1u;
// Iterations of the repeat around the kernel.
const STEPS: u32 = 1u;
// Most inputs that are worked on together, and most outputs of a layer that has an input gradient.
const WIDE: u32 = 8u;

// Rows of a matrix product that are worked on together.
const ROWS: u32 = 16u;

// Their numbers: element i of rows 4q .. 4q+3 is at 4i + q.
var<workgroup> a: array<vec4<f32>, WIDE * 4u>;
var<workgroup> b: array<vec4<f32>, WIDE * 4u>;
// Which rows they are: of what is read, and of what is written.
var<workgroup> in_at: array<u32, ROWS>;
var<workgroup> out_at: array<u32, ROWS>;
// A number of each lane, to be summed.
var<workgroup> lane_sums: array<f32, LANES>;

// ---- random numbers: base/rng.rs ----

fn rotated(x: u32, by: u32) -> u32 {
    return (x << by) | (x >> (32u - by));
}

// Rounds 0 to 3 with one half of Skein's rotations.
fn four_rounds(start: vec4<u32>, first: vec2<u32>, second: vec2<u32>, third: vec2<u32>, fourth: vec2<u32>) -> vec4<u32> {
    var x = start;
    x.x += x.y; x.y = rotated(x.y, first.x) ^ x.x;
    x.z += x.w; x.w = rotated(x.w, first.y) ^ x.z;
    x.x += x.w; x.w = rotated(x.w, second.x) ^ x.x;
    x.z += x.y; x.y = rotated(x.y, second.y) ^ x.z;
    x.x += x.y; x.y = rotated(x.y, third.x) ^ x.x;
    x.z += x.w; x.w = rotated(x.w, third.y) ^ x.z;
    x.x += x.w; x.w = rotated(x.w, fourth.x) ^ x.x;
    x.z += x.y; x.y = rotated(x.y, fourth.y) ^ x.z;
    return x;
}

fn even_rounds(x: vec4<u32>) -> vec4<u32> {
    return four_rounds(x, vec2<u32>(10u, 26u), vec2<u32>(11u, 21u), vec2<u32>(13u, 27u), vec2<u32>(23u, 5u));
}

fn odd_rounds(x: vec4<u32>) -> vec4<u32> {
    return four_rounds(x, vec2<u32>(6u, 20u), vec2<u32>(17u, 11u), vec2<u32>(25u, 10u), vec2<u32>(18u, 20u));
}

// Threefry-4x32 with 20 rounds (Salmon et al. 2011). Word 3 of a stream's key is 0.
fn random(key: vec4<u32>, counter: vec4<u32>) -> vec4<u32> {
    let last = 0x1BD11BDAu ^ key.x ^ key.y ^ key.z ^ key.w;
    var x = counter + key;
    x = even_rounds(x) + vec4<u32>(key.y, key.z, key.w, last + 1u);
    x = odd_rounds(x) + vec4<u32>(key.z, key.w, last, key.x + 2u);
    x = even_rounds(x) + vec4<u32>(key.w, last, key.x, key.y + 3u);
    x = odd_rounds(x) + vec4<u32>(last, key.x, key.y, key.z + 4u);
    return even_rounds(x) + vec4<u32>(key.x, key.y, key.z, key.w + 5u);
}

// In [0, 1).
fn uniform01(word: u32) -> f32 {
    return f32(word >> 8u) * (1.0 / 16777216.0);
}

// floor(word·n / 2^32), from four 16-bit products.
fn below(word: u32, n: u32) -> u32 {
    let low = (word & 0xFFFFu) * (n & 0xFFFFu);
    let one = (word >> 16u) * (n & 0xFFFFu);
    let two = (word & 0xFFFFu) * (n >> 16u);
    let high = (word >> 16u) * (n >> 16u);
    let carried = ((low >> 16u) + (one & 0xFFFFu) + (two & 0xFFFFu)) >> 16u;
    return high + (one >> 16u) + (two >> 16u) + carried;
}

// ---- sums ----

// The sum of every lane's x, in one order; all lanes get it and all must call.
fn sum_of_lanes(x: f32, lane: u32) -> f32 {
    workgroupBarrier();
    lane_sums[lane] = x;
    workgroupBarrier();
    for (var half = LANES / 2u; half > 0u; half /= 2u) {
        if (lane < half) {
            lane_sums[lane] += lane_sums[lane + half];
        }
        workgroupBarrier();
    }
    return lane_sums[0];
}

// The largest of every lane's x; all lanes get it and all must call.
fn max_of_lanes(x: f32, lane: u32) -> f32 {
    workgroupBarrier();
    lane_sums[lane] = x;
    workgroupBarrier();
    for (var half = LANES / 2u; half > 0u; half /= 2u) {
        if (lane < half) {
            lane_sums[lane] = max(lane_sums[lane], lane_sums[lane + half]);
        }
        workgroupBarrier();
    }
    return lane_sums[0];
}

// A schedule: marl/parts/clock.rs.
fn linear(start: f32, end: f32, over: f32, env_step: u32) -> f32 {
    if (over <= 0.0) {
        return start;
    }
    if (f32(env_step) >= over) {
        return end;
    }
    return start + (end - start) * (f32(env_step) / over);
}

// ---- matrix products ----

// Elements from .. from + count of the 16 rows of the array at `base`, whose rows are `stride` apart, into a.
fn load_rows(base: u32, stride: u32, count: u32, lane: u32) {
    for (var k = lane; k < count * 4u; k += LANES) {
        let q = k / count;
        let i = k % count;
        let x = vec4<f32>(
            reals[base + in_at[q * 4u] * stride + i],
            reals[base + in_at[q * 4u + 1u] * stride + i],
            reals[base + in_at[q * 4u + 2u] * stride + i],
            reals[base + in_at[q * 4u + 3u] * stride + i],
        );
        a[i * 4u + q] = x;
    }
}

// max(x, 0), tanh x or x. Beyond 15 tanh is 1 in single precision; some devices give NaN for large numbers.
fn activated(x: vec4<f32>, activation: u32) -> vec4<f32> {
    if (activation == 1u) {
        return max(x, vec4<f32>(0.0));
    }
    if (activation == 2u) {
        return tanh(clamp(x, vec4<f32>(-15.0), vec4<f32>(15.0)));
    }
    return x;
}

// The slope of an activation where it gave h.
fn activation_slope(h: vec4<f32>, activation: u32) -> vec4<f32> {
    if (activation == 1u) {
        return select(vec4<f32>(0.0), vec4<f32>(1.0), h > vec4<f32>(0.0));
    }
    if (activation == 2u) {
        return vec4<f32>(1.0) - h * h;
    }
    return vec4<f32>(1.0);
}

// The rows from `chunk` on of the items from `first` on, `rows` of them in all, for what is read and what is written. An
// item has `each` rows, row k of item i being row i·stride + words[offsets + k]; behind the last the last stands again.
fn take_rows(first: u32, chunk: u32, rows: u32, each: u32, stride: u32, offsets: u32, lane: u32) {
    workgroupBarrier();
    if (lane < ROWS) {
        let k = min(chunk + lane, rows - 1u);
        let row = (first + k / each) * stride + words[offsets + k % each];
        in_at[lane] = row;
        out_at[lane] = row;
    }
    workgroupBarrier();
}

// y = act(x·W + b) for the first `count` of the 16 rows. layer = (place of W, place of b, inputs, outputs with padding);
// the arrays x and y are given as place of their first number and distance of rows.
fn affine(layer: vec4<u32>, x: vec2<u32>, y: vec2<u32>, activation: u32, count: u32, lane: u32) {
    let inputs = layer.z;
    let outputs = layer.w;
    for (var first = 0u; first < outputs; first += LANES) {
        let o = first + lane;
        var z0 = vec4<f32>(0.0);
        if (o < outputs) {
            z0 = vec4<f32>(reals[layer.y + o]);
        }
        var z1 = z0;
        var z2 = z0;
        var z3 = z0;
        for (var begin_at = 0u; begin_at < inputs; begin_at += WIDE) {
            let n = min(WIDE, inputs - begin_at);
            workgroupBarrier();
            load_rows(x.x + begin_at, x.y, n, lane);
            workgroupBarrier();
            if (o < outputs) {
                for (var i = 0u; i < n; i++) {
                    let w = reals[layer.x + (begin_at + i) * outputs + o];
                    z0 += a[i * 4u] * w;
                    z1 += a[i * 4u + 1u] * w;
                    z2 += a[i * 4u + 2u] * w;
                    z3 += a[i * 4u + 3u] * w;
                }
            }
        }
        if (o < outputs) {
            z0 = activated(z0, activation);
            z1 = activated(z1, activation);
            z2 = activated(z2, activation);
            z3 = activated(z3, activation);
            for (var j = 0u; j < 4u; j++) {
                if (j < count) { reals[y.x + out_at[j] * y.y + o] = z0[j]; }
                if (j + 4u < count) { reals[y.x + out_at[j + 4u] * y.y + o] = z1[j]; }
                if (j + 8u < count) { reals[y.x + out_at[j + 8u] * y.y + o] = z2[j]; }
                if (j + 12u < count) { reals[y.x + out_at[j + 12u] * y.y + o] = z3[j]; }
            }
        }
    }
    storageBarrier();
    workgroupBarrier();
}

// Columns columns.x .. columns.x + columns.y of the 16 written rows of the array dy into b, 0 behind the first `count` rows.
fn load_gradient(dy: vec2<u32>, columns: vec2<u32>, count: u32, lane: u32) {
    for (var k = lane; k < columns.y * 4u; k += LANES) {
        let q = k / columns.y * 4u;
        let o = k % columns.y;
        let at = dy.x + columns.x + o;
        b[o * 4u + q / 4u] = vec4<f32>(
            select(0.0, reals[at + out_at[q] * dy.y], q < count),
            select(0.0, reals[at + out_at[q + 1u] * dy.y], q + 1u < count),
            select(0.0, reals[at + out_at[q + 2u] * dy.y], q + 2u < count),
            select(0.0, reals[at + out_at[q + 3u] * dy.y], q + 3u < count),
        );
    }
}

// Adds xᵀ·dz of the 16 rows to the numbers at `sum` that lie like W and b of `layer` from `origin` on, or replaces them
// by it where they are `fresh`. dz is in b, of the outputs columns.x .. columns.x + columns.y alone; the inputs x are an
// array as in `affine`, and lie in a afterwards where they are no more than WIDE.
fn weight_gradient(
    layer: vec4<u32>, columns: vec2<u32>, origin: u32, x: vec2<u32>, sum: u32, fresh: bool, lane: u32,
) {
    let inputs = layer.z;
    let outputs = columns.y;
    for (var begin_at = 0u; begin_at < inputs; begin_at += WIDE) {
        let n = min(WIDE, inputs - begin_at);
        workgroupBarrier();
        load_rows(x.x + begin_at, x.y, n, lane);
        workgroupBarrier();
        for (var k = lane; k < n * outputs; k += LANES) {
            let i = (k / outputs) * 4u;
            let o = (k % outputs) * 4u;
            let g = dot(a[i], b[o]) + dot(a[i + 1u], b[o + 1u]) + dot(a[i + 2u], b[o + 2u]) + dot(a[i + 3u], b[o + 3u]);
            let at = sum + layer.x - origin + (begin_at + k / outputs) * layer.w + columns.x + k % outputs;
            reals[at] = select(reals[at], 0.0, fresh) + g;
        }
    }
    for (var o = lane; o < outputs; o += LANES) {
        let one = vec4<f32>(1.0);
        let g = dot(one, b[o * 4u]) + dot(one, b[o * 4u + 1u]) + dot(one, b[o * 4u + 2u]) + dot(one, b[o * 4u + 3u]);
        let at = sum + layer.y - origin + columns.x + o;
        reals[at] = select(reals[at], 0.0, fresh) + g;
    }
    workgroupBarrier();
}

// From dz in b and a layer's inputs h in a to dz of the layer below in b: (dz·Wᵀ) ⊙ act′(h). `width` is the layer's
// inputs with padding, at most WIDE.
fn input_gradient(layer: vec4<u32>, width: u32, activation: u32, lane: u32) {
    let outputs = layer.w;
    for (var i = lane; i < width; i += LANES) {
        var z0 = vec4<f32>(0.0);
        var z1 = z0;
        var z2 = z0;
        var z3 = z0;
        if (i < layer.z) {
            for (var o = 0u; o < outputs; o++) {
                let w = reals[layer.x + i * outputs + o];
                z0 += b[o * 4u] * w;
                z1 += b[o * 4u + 1u] * w;
                z2 += b[o * 4u + 2u] * w;
                z3 += b[o * 4u + 3u] * w;
            }
            z0 *= activation_slope(a[i * 4u], activation);
            z1 *= activation_slope(a[i * 4u + 1u], activation);
            z2 *= activation_slope(a[i * 4u + 2u], activation);
            z3 *= activation_slope(a[i * 4u + 3u], activation);
        }
        a[i * 4u] = z0;
        a[i * 4u + 1u] = z1;
        a[i * 4u + 2u] = z2;
        a[i * 4u + 3u] = z3;
    }
    workgroupBarrier();
    for (var k = lane; k < width * 4u; k += LANES) {
        b[k] = a[k];
    }
    workgroupBarrier();
}
