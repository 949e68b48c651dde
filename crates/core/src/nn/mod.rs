//! Networks: shapes, initial weights, the kernels that run and train them, and lists of kernels on buffers. Knows no
//! environment.

pub mod buffers;
pub mod calls;
pub mod cpu;
pub mod graph;
pub mod init;
pub mod layers;
