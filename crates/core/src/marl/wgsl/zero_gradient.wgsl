// Gradients to zero. Twin of ZeroGradient in marl/parts/optimise.rs.

const GRAD: u32 = 0u;

fn zero_gradient(k: u32) {
    reals[GRAD + k] = 0.0;
}
