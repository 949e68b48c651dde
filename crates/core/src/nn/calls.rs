//! The network kernels bound to buffers: each call names what it reads and writes and defers to its function in
//! [`super::cpu`].

use std::sync::Arc;

use super::cpu;
use super::graph::{Compute, Id, Reals, Sees, Side, Training, View, Wires};
use super::layers::{Mixer, Mlp};
use crate::base::float::Real;

/// Rows of a buffer that a call serves.
pub type Rows = Arc<[u32]>;

/// y = mlp(x) for some rows; hidden activations are kept for the backward pass.
#[derive(Clone, Debug)]
pub struct MlpForward<S> {
    /// The network.
    pub net: Mlp,
    /// Rows served.
    pub rows: Rows,
    /// Its parameters.
    pub weights: Id<Reals, S>,
    /// Inputs `[*, padded(inputs)]`.
    pub x: Id<Reals, S>,
    /// Kept activations `[*, hidden_width]`.
    pub hidden: Id<Reals, S>,
    /// Outputs `[*, padded(outputs)]`.
    pub y: Id<Reals, S>,
}

impl<S: Side + Sees<S>> Compute for MlpForward<S> {
    type Side = S;
    const NAME: &'static str = "mlp_forward";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.weights).reads(self.x).writes(self.hidden).writes(self.y);
    }
    fn run<R: Real>(&self, view: View<'_, R, S>) {
        cpu::mlp_forward(
            &self.net,
            &view.read(self.weights),
            &self.rows,
            &view.read(self.x),
            &mut view.write(self.hidden),
            &mut view.write(self.y),
        );
    }
}

/// Adds ∂L/∂weights of an MLP to `grad`, given ∂L/∂y.
#[derive(Clone, Debug)]
pub struct MlpBackward {
    /// The network.
    pub net: Mlp,
    /// Rows served.
    pub rows: Rows,
    /// Its parameters.
    pub weights: Id<Reals, Training>,
    /// Inputs of the forward pass.
    pub x: Id<Reals, Training>,
    /// Activations kept by the forward pass.
    pub hidden: Id<Reals, Training>,
    /// ∂L/∂y `[*, padded(outputs)]`.
    pub dy: Id<Reals, Training>,
    /// Working space, any length.
    pub scratch: Id<Reals, Training>,
    /// ∂L/∂weights, added to.
    pub grad: Id<Reals, Training>,
}

impl Compute for MlpBackward {
    type Side = Training;
    const NAME: &'static str = "mlp_backward";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.weights).reads(self.x).reads(self.hidden).reads(self.dy);
        wires.writes(self.scratch).writes(self.grad);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        cpu::mlp_backward(
            &self.net,
            &view.read(self.weights),
            &self.rows,
            &view.read(self.x),
            &view.read(self.hidden),
            &view.read(self.dy),
            &mut view.write(self.scratch),
            &mut view.write(self.grad),
        );
    }
}

/// Q_tot = mixer(q; s).
#[derive(Clone, Debug)]
pub struct MixerForward {
    /// The mixer.
    pub net: Mixer,
    /// State row of each transition.
    pub rows: Rows,
    /// Its parameters.
    pub weights: Id<Reals, Training>,
    /// States `[*, padded(state_len)]`.
    pub state: Id<Reals, Training>,
    /// Chosen utilities `[transitions, n]`.
    pub q: Id<Reals, Training>,
    /// Kept for the backward pass `[transitions, trace_width]`.
    pub trace: Id<Reals, Training>,
    /// Q_tot `[transitions]`.
    pub q_tot: Id<Reals, Training>,
}

impl Compute for MixerForward {
    type Side = Training;
    const NAME: &'static str = "mixer_forward";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.weights).reads(self.state).reads(self.q).writes(self.trace).writes(self.q_tot);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        cpu::mixer_forward(
            &self.net,
            &view.read(self.weights),
            &self.rows,
            &view.read(self.state),
            &view.read(self.q),
            &mut view.write(self.trace),
            &mut view.write(self.q_tot),
        );
    }
}

/// Adds ∂L/∂weights of the mixer to `grad` and gives ∂L/∂q, given ∂L/∂Q_tot.
#[derive(Clone, Debug)]
pub struct MixerBackward {
    /// The mixer.
    pub net: Mixer,
    /// State row of each transition.
    pub rows: Rows,
    /// Its parameters.
    pub weights: Id<Reals, Training>,
    /// States of the forward pass.
    pub state: Id<Reals, Training>,
    /// Utilities of the forward pass.
    pub q: Id<Reals, Training>,
    /// Kept by the forward pass.
    pub trace: Id<Reals, Training>,
    /// ∂L/∂Q_tot `[transitions]`.
    pub dq_tot: Id<Reals, Training>,
    /// Working space, any length.
    pub scratch: Id<Reals, Training>,
    /// ∂L/∂weights, added to.
    pub grad: Id<Reals, Training>,
    /// ∂L/∂q `[transitions, n]`.
    pub dq: Id<Reals, Training>,
}

impl Compute for MixerBackward {
    type Side = Training;
    const NAME: &'static str = "mixer_backward";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.weights).reads(self.state).reads(self.q).reads(self.trace).reads(self.dq_tot);
        wires.writes(self.scratch).writes(self.grad).writes(self.dq);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        cpu::mixer_backward(
            &self.net,
            &view.read(self.weights),
            &self.rows,
            &view.read(self.state),
            &view.read(self.q),
            &view.read(self.trace),
            &view.read(self.dq_tot),
            &mut view.write(self.scratch),
            &mut view.write(self.grad),
            &mut view.write(self.dq),
        );
    }
}
