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

// Sums of products that an invocation works on at once: 4 columns × 8 rows, each 4 rows a vector. Few loads a product.
struct Block {
    c0: vec4<f32>, d0: vec4<f32>,
    c1: vec4<f32>, d1: vec4<f32>,
    c2: vec4<f32>, d2: vec4<f32>,
    c3: vec4<f32>, d3: vec4<f32>,
}

// The numbers of 4 rows in column o of the written array y, if they are among the first `count` rows.
fn store_column(z: vec4<f32>, row: u32, y: vec2<u32>, o: u32, count: u32) {
    if (row < count) { reals[y.x + out_at[row] * y.y + o] = z.x; }
    if (row + 1u < count) { reals[y.x + out_at[row + 1u] * y.y + o] = z.y; }
    if (row + 2u < count) { reals[y.x + out_at[row + 2u] * y.y + o] = z.z; }
    if (row + 3u < count) { reals[y.x + out_at[row + 3u] * y.y + o] = z.w; }
}

// y = act(x·W + b) for the first `count` of the 16 rows. layer = (place of W, place of b, inputs, outputs with padding);
// the arrays x and y are given as place of their first number and distance of rows.
fn affine(layer: vec4<u32>, x: vec2<u32>, y: vec2<u32>, activation: u32, count: u32, lane: u32) {
    let inputs = layer.z;
    let outputs = layer.w;
    // Two blocks of rows for each of columns.
    let units = outputs / 2u;
    for (var first = 0u; first < units; first += LANES) {
        let unit = first + lane;
        let o = (unit / 2u) * 4u;
        let half = (unit % 2u) * 2u;
        var z = Block();
        if (unit < units) {
            let bias = layer.y + o;
            z.c0 = vec4<f32>(reals[bias]);
            z.c1 = vec4<f32>(reals[bias + 1u]);
            z.c2 = vec4<f32>(reals[bias + 2u]);
            z.c3 = vec4<f32>(reals[bias + 3u]);
            z.d0 = z.c0;
            z.d1 = z.c1;
            z.d2 = z.c2;
            z.d3 = z.c3;
        }
        for (var begin_at = 0u; begin_at < inputs; begin_at += WIDE) {
            let n = min(WIDE, inputs - begin_at);
            workgroupBarrier();
            load_rows(x.x + begin_at, x.y, n, lane);
            workgroupBarrier();
            if (unit < units) {
                var w = layer.x + begin_at * outputs + o;
                for (var i = 0u; i < n; i++) {
                    let p = a[i * 4u + half];
                    let q = a[i * 4u + half + 1u];
                    let w0 = reals[w];
                    let w1 = reals[w + 1u];
                    let w2 = reals[w + 2u];
                    let w3 = reals[w + 3u];
                    z.c0 += p * w0;
                    z.d0 += q * w0;
                    z.c1 += p * w1;
                    z.d1 += q * w1;
                    z.c2 += p * w2;
                    z.d2 += q * w2;
                    z.c3 += p * w3;
                    z.d3 += q * w3;
                    w += outputs;
                }
            }
        }
        if (unit < units) {
            let row = half * 4u;
            store_column(activated(z.c0, activation), row, y, o, count);
            store_column(activated(z.d0, activation), row + 4u, y, o, count);
            store_column(activated(z.c1, activation), row, y, o + 1u, count);
            store_column(activated(z.d1, activation), row + 4u, y, o + 1u, count);
            store_column(activated(z.c2, activation), row, y, o + 2u, count);
            store_column(activated(z.d2, activation), row + 4u, y, o + 2u, count);
            store_column(activated(z.c3, activation), row, y, o + 3u, count);
            store_column(activated(z.d3, activation), row + 4u, y, o + 3u, count);
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

// Adds 4 numbers to those at a place, or replaces them.
fn add_gradient(g: vec4<f32>, at: u32, fresh: bool) {
    var sum = g;
    if (!fresh) {
        sum += vec4<f32>(reals[at], reals[at + 1u], reals[at + 2u], reals[at + 3u]);
    }
    reals[at] = sum.x;
    reals[at + 1u] = sum.y;
    reals[at + 2u] = sum.z;
    reals[at + 3u] = sum.w;
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
        // Blocks of 4 inputs × 4 outputs.
        let blocks = outputs / 4u;
        for (var k = lane; k < (n + 3u) / 4u * blocks; k += LANES) {
            let i = k / blocks * 4u;
            let o = k % blocks * 4u;
            var g0 = vec4<f32>(0.0);
            var g1 = g0;
            var g2 = g0;
            var g3 = g0;
            for (var q = 0u; q < 4u; q++) {
                let d0 = b[o * 4u + q];
                let d1 = b[o * 4u + 4u + q];
                let d2 = b[o * 4u + 8u + q];
                let d3 = b[o * 4u + 12u + q];
                let x0 = a[i * 4u + q];
                let x1 = a[i * 4u + 4u + q];
                let x2 = a[i * 4u + 8u + q];
                let x3 = a[i * 4u + 12u + q];
                g0 += vec4<f32>(dot(x0, d0), dot(x0, d1), dot(x0, d2), dot(x0, d3));
                g1 += vec4<f32>(dot(x1, d0), dot(x1, d1), dot(x1, d2), dot(x1, d3));
                g2 += vec4<f32>(dot(x2, d0), dot(x2, d1), dot(x2, d2), dot(x2, d3));
                g3 += vec4<f32>(dot(x3, d0), dot(x3, d1), dot(x3, d2), dot(x3, d3));
            }
            let at = sum + layer.x - origin + (begin_at + i) * layer.w + columns.x + o;
            add_gradient(g0, at, fresh);
            if (i + 1u < n) { add_gradient(g1, at + layer.w, fresh); }
            if (i + 2u < n) { add_gradient(g2, at + 2u * layer.w, fresh); }
            if (i + 3u < n) { add_gradient(g3, at + 3u * layer.w, fresh); }
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

// Adds to z dz·Wᵀ of some outputs of a layer, for its inputs i .. i + 4 and 8 rows; dz of columns columns.x .. columns.x +
// columns.y is in b. `half` is 0 for the first 8 rows, 2 for the others.
fn add_input_gradient(start: Block, layer: vec4<u32>, columns: vec2<u32>, i: u32, half: u32) -> Block {
    var z = start;
    // Beyond the last input its weights stand again; what comes of them is not used.
    let last = layer.z - 1u;
    let w = layer.x + columns.x;
    let w0 = w + min(i, last) * layer.w;
    let w1 = w + min(i + 1u, last) * layer.w;
    let w2 = w + min(i + 2u, last) * layer.w;
    let w3 = w + min(i + 3u, last) * layer.w;
    for (var o = 0u; o < columns.y; o++) {
        let p = b[o * 4u + half];
        let q = b[o * 4u + half + 1u];
        z.c0 += p * reals[w0 + o];
        z.d0 += q * reals[w0 + o];
        z.c1 += p * reals[w1 + o];
        z.d1 += q * reals[w1 + o];
        z.c2 += p * reals[w2 + o];
        z.d2 += q * reals[w2 + o];
        z.c3 += p * reals[w3 + o];
        z.d3 += q * reals[w3 + o];
    }
    return z;
}

// z ⊙ act′(h) into a, where h lies, for inputs i .. i + 4 and 8 rows; 0 beyond the layer's inputs.
fn finish_input_gradient(z: Block, inputs: u32, activation: u32, i: u32, half: u32) {
    finish_column(z.c0, z.d0, inputs, activation, i, half);
    finish_column(z.c1, z.d1, inputs, activation, i + 1u, half);
    finish_column(z.c2, z.d2, inputs, activation, i + 2u, half);
    finish_column(z.c3, z.d3, inputs, activation, i + 3u, half);
}

fn finish_column(c: vec4<f32>, d: vec4<f32>, inputs: u32, activation: u32, i: u32, half: u32) {
    let at = i * 4u + half;
    let counts = select(0.0, 1.0, i < inputs);
    a[at] = c * activation_slope(a[at], activation) * counts;
    a[at + 1u] = d * activation_slope(a[at + 1u], activation) * counts;
}

// What is in a into b.
fn take_over(width: u32, lane: u32) {
    workgroupBarrier();
    for (var k = lane; k < width * 4u; k += LANES) {
        b[k] = a[k];
    }
    workgroupBarrier();
}

// From dz in b and a layer's inputs h in a to dz of the layer below in b: (dz·Wᵀ) ⊙ act′(h). `width` is the layer's
// inputs with padding, at most WIDE.
fn input_gradient(layer: vec4<u32>, width: u32, activation: u32, lane: u32) {
    for (var unit = lane; unit < width / 2u; unit += LANES) {
        let i = unit / 2u * 4u;
        let half = (unit % 2u) * 2u;
        let z = add_input_gradient(Block(), layer, vec2<u32>(0u, layer.w), i, half);
        finish_input_gradient(z, layer.z, activation, i, half);
    }
    take_over(width, lane);
}
