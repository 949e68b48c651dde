//! When a run can no longer be trusted: a number left the finite range, or a norm left every reasonable one.
//!
//! Networks here have norms of some tens and gradients of at most some thousands, a million where payoffs are as large
//! as they may be and games are long. Both limits leave those far behind, and their squares are still far from the
//! end of single precision (3.4·10³⁸), so an explosion is named before it is a NaN.
//!
//! One bad number spoils all others within a gradient step, so parameters are looked at before each one and gradients
//! after it: what is named is where it began.

use super::snapshot::Cause;
use crate::marl::learner::Learner;
use crate::marl::parts::clock::{GRAD_NORM, LOSS};
use crate::nn::cpu::sq_norm;
use crate::nn::graph::{Buffers, Id, Reals, Training};
use crate::nn::layers::Layout;

/// Largest gradient norm before clipping, over everything that is trained.
pub const LARGEST_GRADIENT: f32 = 1e12;
/// Largest norm of the parameters of the agents, and of what is trained beside them.
pub const LARGEST_WEIGHTS: f32 = 1e6;

/// Where it was seen first, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Name of the tensor, or `loss`.
    pub tensor: String,
    /// What is wrong with it.
    pub cause: Cause,
}

/// Looks at the parameters, which a gradient step starts from and leaves behind.
pub fn of_parameters(learner: &Learner, buffers: &Buffers<f32>) -> Option<Divergence> {
    let is_small = |weights: Id<Reals, Training>| sq_norm(&buffers.read(weights)).sqrt() <= LARGEST_WEIGHTS;
    if learner.blocks().all(|(_, block)| is_small(block.weights)) {
        return None;
    }
    let weights: Vec<Numbers<'_>> = learner.blocks().map(|(layout, block)| (layout, block.weights)).collect();
    let exploded = || Divergence { tensor: largest(&weights, buffers), cause: Cause::Weights };
    Some(not_finite(&weights, buffers).unwrap_or_else(exploded))
}

/// Looks at loss and gradients of the gradient step just taken; tensor by tensor only where one of them is out of range.
pub fn of_gradients(learner: &Learner, buffers: &Buffers<f32>) -> Option<Divergence> {
    let (loss, norm) = {
        let scalars = buffers.read(learner.clock.scalars);
        (scalars[LOSS], scalars[GRAD_NORM])
    };
    if loss.is_finite() && norm <= LARGEST_GRADIENT {
        return None;
    }
    let gradients: Vec<Numbers<'_>> = learner.blocks().map(|(layout, block)| (layout, block.grad)).collect();
    Some(not_finite(&gradients, buffers).unwrap_or_else(|| {
        if loss.is_finite() {
            Divergence { tensor: largest(&gradients, buffers), cause: Cause::Gradient }
        } else {
            Divergence { tensor: "loss".to_owned(), cause: Cause::NotFinite }
        }
    }))
}

/// Tensors' places and the buffer they lie in.
type Numbers<'a> = (&'a Layout, Id<Reals, Training>);

/// The first that is no number, in the order in which the backward pass reaches them.
fn not_finite(all: &[Numbers<'_>], buffers: &Buffers<f32>) -> Option<Divergence> {
    all.iter().rev().find_map(|&(layout, id)| {
        let numbers = buffers.read(id);
        let is_bad = |x: &f32| !x.is_finite();
        let bad = layout.tensors.iter().rev().find(|tensor| numbers[tensor.range()].iter().any(is_bad))?;
        Some(Divergence { tensor: bad.name.clone(), cause: Cause::NotFinite })
    })
}

/// The tensor of largest norm.
fn largest(all: &[Numbers<'_>], buffers: &Buffers<f32>) -> String {
    let mut most = (f32::NEG_INFINITY, "");
    for &(layout, id) in all {
        let numbers = buffers.read(id);
        for tensor in &layout.tensors {
            let norm = sq_norm(&numbers[tensor.range()]);
            if norm > most.0 {
                most = (norm, &tensor.name);
            }
        }
    }
    most.1.to_owned()
}
