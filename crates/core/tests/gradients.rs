//! Gradients of every network and of every algorithm's list against central differences in f64, the mixer's
//! monotonicity, and two whole QMIX updates against the losses that PyTorch, JAX and TensorFlow.js agree on.

#[path = "gradients/differences.rs"]
mod differences;
#[path = "gradients/lists.rs"]
mod lists;
#[path = "gradients/monotone.rs"]
mod monotone;
#[path = "gradients/qmix_update.rs"]
mod qmix_update;
