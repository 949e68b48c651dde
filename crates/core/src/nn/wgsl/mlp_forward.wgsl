// y = MLP(x) for rows of items: h₁ = act(x·W₁ + b₁), …, y = h·W + b. Twin of nn/cpu/mlp_forward.rs.
//
// x [*, X_WIDTH], hidden [*, HIDDEN_WIDTH], y [*, Y_WIDTH]; an item has ITEM_ROWS rows, row k of item i being row
// i·ITEM_STRIDE + words[ITEM_OFFSETS + k].

const LAYERS = array<vec4<u32>, 1>(vec4<u32>(0u, 0u, 1u, 8u), );
const LAST: u32 = 0u;
const ACTIVATION: u32 = 1u;
const WEIGHTS: u32 = 0u;
const X: u32 = 0u;
const X_WIDTH: u32 = 8u;
const HIDDEN: u32 = 0u;
const HIDDEN_WIDTH: u32 = 8u;
const Y: u32 = 0u;
const Y_WIDTH: u32 = 8u;
const ITEM_ROWS: u32 = 1u;
const ITEM_STRIDE: u32 = 1u;
const ITEM_OFFSETS: u32 = 0u;

fn mlp_forward(first: u32, count: u32, lane: u32, t: u32) {
    let rows = count * ITEM_ROWS;
    for (var chunk = 0u; chunk < rows; chunk += ROWS) {
        take_rows(first, chunk, rows, ITEM_ROWS, ITEM_STRIDE, ITEM_OFFSETS, lane);
        var x = vec2<u32>(X, X_WIDTH);
        var kept = HIDDEN;
        for (var l = 0u; l <= LAST; l++) {
            let layer = LAYERS[l] + vec4<u32>(WEIGHTS, WEIGHTS, 0u, 0u);
            // One place that calls, for a device copies what is called to each.
            var y = vec2<u32>(kept, HIDDEN_WIDTH);
            var activation = ACTIVATION;
            if (l == LAST) {
                y = vec2<u32>(Y, Y_WIDTH);
                activation = 0u;
            }
            affine(layer, x, y, activation, rows - chunk, lane);
            x = y;
            kept += layer.w;
        }
    }
}
