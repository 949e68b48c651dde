//! The network kernels bound to buffers: each call names what it reads and writes and defers to its function in
//! [`super::cpu`].

use std::sync::Arc;

use super::cpu;
use super::graph::{Compute, Id, Plan, Reals, Sees, Side, Training, View, Wires};
use super::layers::{Mixer, Mlp, Positivity};
use super::shader::{Domain, Scratch, Shader, Stage};
use crate::base::float::Real;
use crate::base::lanes::padded;
use crate::base::wgsl::Constant;

/// Rows of a buffer that a call serves: the same ones of some items that lie one after the other.
#[derive(Clone, Debug)]
pub struct Rows {
    list: Arc<[u32]>,
    items: u32,
}

impl Rows {
    /// `list` is as long for each of `items`, which begin equally far apart.
    pub fn new(list: Vec<u32>, items: u32) -> Self {
        debug_assert!(list.len().is_multiple_of(items as usize), "items have as many rows each");
        Self { list: list.into(), items }
    }

    /// Rows of an item.
    fn each(&self) -> u32 {
        self.list.len() as u32 / self.items
    }

    /// From an item's first row to the next one's.
    fn stride(&self) -> u32 {
        self.list.get(self.each() as usize).map_or(0, |next| next - self.list[0])
    }

    /// As a shader knows them.
    fn describe(&self, shader: Shader) -> Shader {
        let first = self.list[..self.each() as usize].to_vec();
        shader
            .word("ITEM_ROWS", self.each())
            .word("ITEM_STRIDE", self.stride())
            .set("ITEM_OFFSETS", Constant::Words(first))
    }

    /// A stage that works on them.
    fn stage(&self, entry: &'static str) -> Stage {
        Stage { entry, domain: Domain::Items(self.items), across: false, closes: false, rows: self.each() }
    }
}

impl FromIterator<u32> for Rows {
    /// Rows that are no one's in particular: one item has them all.
    fn from_iter<I: IntoIterator<Item = u32>>(rows: I) -> Self {
        Self::new(rows.into_iter().collect(), 1)
    }
}

impl std::ops::Deref for Rows {
    type Target = [u32];
    fn deref(&self) -> &[u32] {
        &self.list
    }
}

/// A network as a shader knows it.
fn describe(shader: Shader, net: &Mlp) -> Shader {
    shader
        .set("LAYERS", Constant::Rows(net.table()))
        .word("LAST", net.layers.len() as u32 - 1)
        .word("ACTIVATION", net.activation.number())
        .word("X_WIDTH", padded(net.inputs()))
        .word("HIDDEN_WIDTH", net.hidden_width())
        .word("Y_WIDTH", padded(net.outputs()))
}

/// Widest hidden layer of a hypernetwork on a device.
const WIDEST_MIXER: u32 = 64;

/// A mixing network as a shader knows it; nothing where no device can have it.
fn describe_mixer(shader: Shader, net: &Mixer) -> Option<Shader> {
    let parts = cpu::MixerTrace::new(net);
    let nets = [
        (&net.hyper_w1, parts.raw_w1, parts.w1_hidden),
        (&net.hyper_b1, parts.h, 0),
        (&net.hyper_w2, parts.raw_w2, parts.w2_hidden),
        (&net.value, parts.value, parts.value_hidden),
    ];
    let layer = |at: usize| nets.map(|(net, ..)| net.table().get(at).copied().unwrap_or_default()).to_vec();
    let lies = nets.map(|(net, to, hidden)| [to as u32, hidden as u32, u32::from(net.layers.len() > 1), 0]);
    // A layer is worked on in pieces, but for the hidden ones, of which a workgroup keeps all.
    let hidden = nets.iter().filter(|(net, ..)| net.layers.len() > 1).map(|(net, ..)| net.hidden_width()).max();
    if hidden > Some(WIDEST_MIXER) {
        return None;
    }
    let shader = shader
        .word("AGENTS", net.agents)
        .word("EMBED", net.embed)
        .word(
            "POSITIVITY",
            match net.positivity {
                Positivity::Abs => 0,
                Positivity::Softplus => 1,
                Positivity::Free => 2,
            },
        )
        .word("STATE_WIDTH", padded(net.state_len()))
        .word("TRACE_WIDTH", net.trace_width())
        .set("FIRST", Constant::Rows(layer(0)))
        .set("SECOND", Constant::Rows(layer(1)))
        .set("LIES", Constant::Rows(lies.to_vec()))
        .set("WIDTHS", Constant::Rows(vec![[0, 0, 0, hidden.unwrap_or(0).max(net.embed)]]))
        .word("H", parts.h as u32)
        .word("W2", parts.w2 as u32)
        .word("VALUE", parts.value as u32)
        .word("RAW_W1", parts.raw_w1 as u32)
        .word("RAW_W2", parts.raw_w2 as u32);
    Some(shader)
}

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
    fn shaders(&self, _: &Plan) -> Option<Vec<Shader>> {
        let shader = Shader::new(Self::NAME, include_str!("wgsl/mlp_forward.wgsl"))
            .buffer("WEIGHTS", self.weights)
            .buffer("X", self.x)
            .buffer("HIDDEN", self.hidden)
            .buffer("Y", self.y)
            .then(self.rows.stage("mlp_forward"));
        Some(vec![self.rows.describe(describe(shader, &self.net))])
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
    fn shaders(&self, _: &Plan) -> Option<Vec<Shader>> {
        let part = self.net.range();
        let shader = Shader::new(Self::NAME, include_str!("wgsl/mlp_backward.wgsl"))
            .buffer("WEIGHTS", self.weights)
            .buffer("X", self.x)
            .buffer("HIDDEN", self.hidden)
            .buffer("DY", self.dy)
            .buffer("GRAD", self.grad)
            .word("FROM", part.start as u32)
            .word("LENGTH", part.len() as u32)
            .own(Scratch { name: "PARTIAL", len: part.len() as u32, per_tile: true, per_step: false })
            .then(self.rows.stage("mlp_backward"))
            .stage("add_up", Domain::Elements(part.end as u32));
        Some(vec![self.rows.describe(describe(shader, &self.net))])
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
    fn shaders(&self, _: &Plan) -> Option<Vec<Shader>> {
        let shader = Shader::new(Self::NAME, include_str!("wgsl/mixer.wgsl"))
            .with(include_str!("wgsl/mixer_forward.wgsl"), Vec::new())
            .buffer("WEIGHTS", self.weights)
            .buffer("STATE", self.state)
            .buffer("Q", self.q)
            .buffer("TRACE", self.trace)
            .buffer("Q_TOT", self.q_tot)
            .then(self.rows.stage("mixer_forward"));
        Some(vec![self.rows.describe(describe_mixer(shader, &self.net)?)])
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
    fn shaders(&self, _: &Plan) -> Option<Vec<Shader>> {
        let part = self.net.hyper_w1.range().start..self.net.value.range().end;
        let gradients = (self.net.agents + 2) * self.net.embed + padded(1);
        let shader = Shader::new(Self::NAME, include_str!("wgsl/mixer.wgsl"))
            .with(include_str!("wgsl/mixer_backward.wgsl"), Vec::new())
            .buffer("WEIGHTS", self.weights)
            .buffer("STATE", self.state)
            .buffer("Q", self.q)
            .buffer("TRACE", self.trace)
            .buffer("DQ_TOT", self.dq_tot)
            .buffer("DQ", self.dq)
            .buffer("GRAD", self.grad)
            .word("FROM", part.start as u32)
            .word("LENGTH", part.len() as u32)
            .word("D_WIDTH", gradients)
            .scratch("D", self.rows.len() as u32 * gradients)
            .own(Scratch { name: "PARTIAL", len: part.len() as u32, per_tile: true, per_step: false })
            .then(self.rows.stage("mixer_backward"))
            .stage("add_up", Domain::Elements(part.end as u32));
        Some(vec![self.rows.describe(describe_mixer(shader, &self.net)?)])
    }
}
