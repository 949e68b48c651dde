//! The exact engine's kernels: pure functions on flat buffers, one a file, named as the file.
//!
//! Every kernel is generic over [`Real`](crate::base::float::Real), so that the code that trains in f32 is the code
//! whose gradients are checked in f64. Every sum has one written order; no result depends on how calls are tiled.

mod dense;

pub mod adam;
pub mod masked_argmax;
pub mod masked_softmax;
pub mod mix_at;
pub mod mixer_backward;
pub mod mixer_forward;
pub mod mlp_backward;
pub mod mlp_forward;
pub mod polyak;
pub mod sq_norm;

pub use adam::{AdamParams, adam};
pub use masked_argmax::masked_argmax;
pub use masked_softmax::MaskedSoftmax;
pub use mix_at::MixerAt;
pub use mixer_backward::mixer_backward;
pub(super) use mixer_forward::Parts as MixerTrace;
pub use mixer_forward::mixer_forward;
pub use mlp_backward::mlp_backward;
pub use mlp_forward::mlp_forward;
pub use polyak::polyak;
pub use sq_norm::sq_norm;
