//! Networks: shapes, initial weights, the kernels that run and train them, and lists of kernels on buffers. Knows no
//! environment.

pub mod buffers;
pub mod calls;
pub mod cpu;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod graph;
pub mod init;
pub mod layers;
#[cfg(feature = "gpu")]
pub mod memory;
#[cfg(feature = "gpu")]
mod module;
#[cfg(feature = "gpu")]
pub mod program;
pub mod shader;
