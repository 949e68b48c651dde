//! Gradients of every network and of every algorithm's list against central differences in f64, and the mixer's
//! monotonicity.

#[path = "gradients/differences.rs"]
mod differences;
#[path = "gradients/lists.rs"]
mod lists;
#[path = "gradients/monotone.rs"]
mod monotone;
#[path = "gradients/policies.rs"]
mod policies;
#[path = "gradients/step.rs"]
mod step;
