//! The mixer of value decomposition networks: a sum.

use super::td::Dims;
use crate::base::float::Real;
use crate::nn::graph::{Compute, Id, Plan, Reals, Training, View, Wires};
use crate::nn::shader::Shader;

/// VDN's mixer: Q_tot = Σ_i q_i.
#[derive(Clone, Copy, Debug)]
pub struct Sum {
    /// Sizes.
    pub dims: Dims,
    /// q_i `[B, T, N]`.
    pub q: Id<Reals, Training>,
    /// Q_tot `[B, T]`.
    pub q_tot: Id<Reals, Training>,
}

impl Compute for Sum {
    type Side = Training;
    const NAME: &'static str = "sum_mixer";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.q).writes(self.q_tot);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let q = view.read(self.q);
        let agents = q.chunks_exact(self.dims.count());
        for (q_tot, q) in view.write(self.q_tot).iter_mut().zip(agents) {
            *q_tot = q.iter().fold(R::ZERO, |sum, &q| sum + q);
        }
    }
    fn shaders(&self, _: &Plan) -> Option<Vec<Shader>> {
        let shader = self
            .dims
            .shader(Self::NAME, include_str!("../wgsl/sum_mixer.wgsl"))
            .buffer("Q", self.q)
            .buffer("Q_TOT", self.q_tot)
            .stage(Self::NAME, self.dims.domain());
        Some(vec![shader])
    }
}

/// ∂L/∂q_i = ∂L/∂Q_tot for every i.
#[derive(Clone, Copy, Debug)]
pub struct SumBackward {
    /// Sizes.
    pub dims: Dims,
    /// ∂L/∂Q_tot `[B, T]`.
    pub dq_tot: Id<Reals, Training>,
    /// ∂L/∂q_i `[B, T, N]`.
    pub dq: Id<Reals, Training>,
}

impl Compute for SumBackward {
    type Side = Training;
    const NAME: &'static str = "sum_mixer_backward";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.dq_tot).writes(self.dq);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let dq_tot = view.read(self.dq_tot);
        let mut dq = view.write(self.dq);
        for (dq, &dq_tot) in dq.chunks_exact_mut(self.dims.count()).zip(dq_tot.iter()) {
            dq.fill(dq_tot);
        }
    }
    fn shaders(&self, _: &Plan) -> Option<Vec<Shader>> {
        let shader = self
            .dims
            .shader(Self::NAME, include_str!("../wgsl/sum_mixer_backward.wgsl"))
            .buffer("DQ_TOT", self.dq_tot)
            .buffer("DQ", self.dq)
            .stage(Self::NAME, self.dims.domain());
        Some(vec![shader])
    }
}
