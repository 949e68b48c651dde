//! The mixer at one state, for views: Q_tot of many q without running the hypernetworks again.
//!
//! Same arithmetic, hence same bits, as [`mixer_forward`](mod@crate::nn::cpu::mixer_forward).

use crate::base::float::Real;
use crate::nn::cpu::mixer_forward::{Parts, hyper_tile, mix_row, mixing_weights};
use crate::nn::layers::Mixer;

/// The mixing function q ↦ Q_tot of one state.
#[derive(Clone, Debug)]
pub struct MixerAt<'a, R> {
    net: &'a Mixer,
    /// A trace row with b1 in h's place.
    hyper: Vec<R>,
    /// h of the last point.
    h: Vec<R>,
}

impl<'a, R: Real> MixerAt<'a, R> {
    /// Runs the hypernetworks at `state` `[padded(state_len)]`.
    pub fn new(net: &'a Mixer, weights: &[R], state: &[R]) -> Self {
        let mut hyper = vec![R::ZERO; net.trace_width() as usize];
        hyper_tile::<R, 1, 1>(net, weights, state, [0], &mut hyper, [0]);
        mixing_weights(net, &mut hyper);
        Self { net, hyper, h: vec![R::ZERO; net.embed as usize] }
    }

    /// Q_tot for `q` `[agents]`.
    pub fn q_tot(&mut self, q: &[R]) -> R {
        let parts = Parts::new(self.net);
        self.h.copy_from_slice(&self.hyper[parts.h..parts.w2]);
        let (w1, w2) = (&self.hyper[..parts.h], &self.hyper[parts.w2..parts.value]);
        mix_row(w1, &mut self.h, w2, self.hyper[parts.value], q)
    }
}
