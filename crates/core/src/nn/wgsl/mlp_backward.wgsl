// Gradients of an MLP: from dy = ∂L/∂y to ∂L/∂weights (added). Twin of nn/cpu/mlp_backward.rs.
//
// Layer by layer from the last: dz = dy ⊙ act′(h); ∂L/∂W += xᵀ·dz; ∂L/∂b += Σ dz; ∂L/∂h = dz·Wᵀ. Shapes as in
// mlp_forward.wgsl. A workgroup sums over the rows of its items in their order into numbers of its own; then these are
// added up in the order of the workgroups. FROM .. FROM + LENGTH is the network's part of the flat parameters.

const LAYERS = array<vec4<u32>, 1>(vec4<u32>(0u, 0u, 1u, 8u), );
const LAST: u32 = 0u;
const ACTIVATION: u32 = 1u;
const WEIGHTS: u32 = 0u;
const X: u32 = 0u;
const X_WIDTH: u32 = 8u;
const HIDDEN: u32 = 0u;
const HIDDEN_WIDTH: u32 = 8u;
const DY: u32 = 0u;
const Y_WIDTH: u32 = 8u;
const ITEM_ROWS: u32 = 1u;
const ITEM_STRIDE: u32 = 1u;
const ITEM_OFFSETS: u32 = 0u;
const GRAD: u32 = 0u;
const FROM: u32 = 0u;
const LENGTH: u32 = 16u;
const PARTIAL: u32 = 0u;
const TILES: u32 = 1u;

fn mlp_backward(first: u32, count: u32, lane: u32, t: u32) {
    let partial = PARTIAL + first / TILE * LENGTH;
    let rows = count * ITEM_ROWS;
    for (var chunk = 0u; chunk < rows; chunk += ROWS) {
        take_rows(first, chunk, rows, ITEM_ROWS, ITEM_STRIDE, ITEM_OFFSETS, lane);
        load_gradient(vec2<u32>(DY, Y_WIDTH), vec2<u32>(0u, Y_WIDTH), rows - chunk, lane);
        var behind = HIDDEN_WIDTH;
        for (var below = 0u; below <= LAST; below++) {
            let l = LAST - below;
            let layer = LAYERS[l];
            let columns = vec2<u32>(0u, layer.w);
            var x = vec2<u32>(X, X_WIDTH);
            var width = 0u;
            if (l > 0u) {
                width = LAYERS[l - 1u].w;
                behind -= width;
                x = vec2<u32>(HIDDEN + behind, HIDDEN_WIDTH);
            }
            weight_gradient(layer, columns, FROM, x, partial, chunk == 0u, lane);
            if (l > 0u) {
                input_gradient(layer + vec4<u32>(WEIGHTS, WEIGHTS, 0u, 0u), width, ACTIVATION, lane);
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
