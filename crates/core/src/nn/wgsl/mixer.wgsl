// QMIX's mixing network: its hypernetworks, and where the parts of a transition's trace lie. Shapes as in
// nn/cpu/mixer_forward.rs: W1 [n, E], h [E], w2 [E], V [8], raw W1, raw w2, hidden layers of W1, w2 and V.

const AGENTS: u32 = 1u;
const EMBED: u32 = 8u;
// 0 |x|, 1 softplus, 2 x itself.
const POSITIVITY: u32 = 0u;
const WEIGHTS: u32 = 0u;
const STATE: u32 = 0u;
const STATE_WIDTH: u32 = 8u;
const Q: u32 = 0u;
const TRACE: u32 = 0u;
const TRACE_WIDTH: u32 = 64u;
// State rows of an item.
const ITEM_ROWS: u32 = 1u;
const ITEM_STRIDE: u32 = 1u;
const ITEM_OFFSETS: u32 = 0u;
// Of W1, b1, w2 and V: the first layer, and the second where there is one.
const FIRST = array<vec4<u32>, 4>(vec4<u32>(), vec4<u32>(), vec4<u32>(), vec4<u32>(), );
const SECOND = array<vec4<u32>, 4>(vec4<u32>(), vec4<u32>(), vec4<u32>(), vec4<u32>(), );
// Where its outputs and its hidden layer lie in the trace, and whether it has one.
const LIES = array<vec4<u32>, 4>(vec4<u32>(), vec4<u32>(), vec4<u32>(), vec4<u32>(), );
// The widest piece of a layer is its last number.
const WIDTHS = array<vec4<u32>, 1>(vec4<u32>(0u, 0u, 0u, 8u), );
// Parts of the trace.
const H: u32 = 0u;
const W2: u32 = 0u;
const VALUE: u32 = 0u;
const RAW_W1: u32 = 0u;
const RAW_W2: u32 = 0u;

// The state's rows are read; written is transition by transition.
fn take_states(first: u32, chunk: u32, rows: u32, lane: u32) {
    take_rows(first, chunk, rows, ITEM_ROWS, ITEM_STRIDE, ITEM_OFFSETS, lane);
    if (lane < ROWS) {
        out_at[lane] = first * ITEM_ROWS + min(chunk + lane, rows - 1u);
    }
    workgroupBarrier();
}

// What was written is read.
fn take_traces(lane: u32) {
    workgroupBarrier();
    if (lane < ROWS) {
        in_at[lane] = out_at[lane];
    }
    workgroupBarrier();
}
