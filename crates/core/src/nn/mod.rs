//! Networks: shapes, initial weights and the kernels that run and train them. Knows no environment.

pub mod cpu;
pub mod init;
pub mod layers;
