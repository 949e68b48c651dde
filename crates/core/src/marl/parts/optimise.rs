//! The optimiser step: gradient norm, Adam, target parameters, trace.

use super::clock::{BETA1_POWER, BETA2_POWER, CLIP_SCALE, Clock, GRAD_NORM, GRADIENT_STEP, LOSS};
use crate::base::float::Real;
use crate::base::hash::TraceHash;
use crate::nn::cpu::{self, AdamParams};
use crate::nn::graph::{Compute, Execution, Id, Plan, Reals, Training, View, Wires, Words};

/// Adam's decay rates (Kingma and Ba 2015).
pub const BETAS: [f32; 2] = [0.9, 0.999];
/// Adam's ε, added to √v̂.
pub const ADAM_EPS: f32 = 1e-5;

/// A flat parameter buffer with everything that trains it. `W` is the side of the parameters: agents' networks are
/// execution data, mixers and critics are not.
#[derive(Clone, Copy, Debug)]
pub struct Block<W> {
    /// Parameters.
    pub weights: Id<Reals, W>,
    /// ∂L/∂weights.
    pub grad: Id<Reals, Training>,
    /// First moment.
    pub m: Id<Reals, Training>,
    /// Second moment.
    pub v: Id<Reals, Training>,
}

impl<W: crate::nn::graph::Side> Block<W> {
    /// Buffers of `len` numbers each, named `{name}.…`.
    pub fn new(plan: &mut Plan, name: &str, len: u32) -> Self {
        Self {
            weights: plan.buffer(&format!("{name}.weights"), &[len]),
            grad: plan.buffer(&format!("{name}.gradient"), &[len]),
            m: plan.buffer(&format!("{name}.adam_m"), &[len]),
            v: plan.buffer(&format!("{name}.adam_v"), &[len]),
        }
    }
}

impl Block<Execution> {
    /// As the optimiser sees it.
    pub fn seen_by_training(self) -> Block<Training> {
        Block { weights: self.weights.seen_by_training(), grad: self.grad, m: self.m, v: self.v }
    }
}

/// Gradients to zero.
#[derive(Clone, Debug)]
pub struct ZeroGradient {
    /// All blocks.
    pub blocks: Vec<Block<Training>>,
}

impl Compute for ZeroGradient {
    type Side = Training;
    const NAME: &'static str = "zero_gradient";
    fn wires(&self, wires: &mut Wires) {
        for block in &self.blocks {
            wires.writes(block.grad);
        }
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        for block in &self.blocks {
            view.write(block.grad).fill(R::ZERO);
        }
    }
}

/// One norm over all gradients; factor min(1, limit / (‖g‖ + 1e-6)).
#[derive(Clone, Debug)]
pub struct ClipNorm {
    /// All blocks.
    pub blocks: Vec<Block<Training>>,
    /// Largest norm.
    pub limit: f32,
    /// Where norm and factor go.
    pub clock: Clock,
}

impl Compute for ClipNorm {
    type Side = Training;
    const NAME: &'static str = "clip_norm";
    fn wires(&self, wires: &mut Wires) {
        for block in &self.blocks {
            wires.reads(block.grad);
        }
        wires.writes(self.clock.scalars);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let square = self.blocks.iter().fold(R::ZERO, |sum, block| sum + cpu::sq_norm(&view.read(block.grad)));
        let norm = square.sqrt();
        let mut scalars = view.write(self.clock.scalars);
        scalars[GRAD_NORM] = norm;
        scalars[CLIP_SCALE] = (R::from_f32(self.limit) / (norm + R::from_f32(1e-6))).min(R::ONE);
    }
}

/// Adam on one block.
#[derive(Clone, Debug)]
pub struct Adam {
    /// The block.
    pub block: Block<Training>,
    /// The parts of it that learn, the others keeping their bits; `None`: all.
    pub only: Option<Vec<std::ops::Range<usize>>>,
    /// Which of the clock's scalars is its learning rate.
    pub rate: usize,
    /// Learning rates, βᵗ, clip factor.
    pub clock: Clock,
}

impl Compute for Adam {
    type Side = Training;
    const NAME: &'static str = "adam";
    fn wires(&self, wires: &mut Wires) {
        let b = &self.block;
        wires.reads(b.grad).reads(self.clock.scalars).writes(b.weights).writes(b.m).writes(b.v);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let b = &self.block;
        let s = view.read(self.clock.scalars);
        let params = AdamParams {
            lr: s[self.rate],
            beta1: R::from_f32(BETAS[0]),
            beta2: R::from_f32(BETAS[1]),
            eps: R::from_f32(ADAM_EPS),
            bias1: R::ONE - s[BETA1_POWER],
            bias2: R::ONE - s[BETA2_POWER],
        };
        let (grad, mut weights) = (view.read(b.grad), view.write(b.weights));
        let (mut m, mut v) = (view.write(b.m), view.write(b.v));
        let all = 0..grad.len();
        for part in self.only.as_deref().unwrap_or(std::slice::from_ref(&all)) {
            let part = || part.clone();
            let numbers = (&mut weights[part()], &mut m[part()], &mut v[part()]);
            cpu::adam(&params, s[CLIP_SCALE], &grad[part()], numbers.0, numbers.1, numbers.2);
        }
    }
}

/// Parameters with a copy that follows them slowly: what value-based learners bootstrap from.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Parameters.
    pub weights: Id<Reals, Training>,
    /// The copy.
    pub target: Id<Reals, Training>,
}

impl Target {
    /// A copy of `len` numbers, named `{name}.target`.
    pub fn new(plan: &mut Plan, name: &str, weights: Id<Reals, Training>, len: u32) -> Self {
        Self { weights, target: plan.buffer(&format!("{name}.target"), &[len]) }
    }
}

/// How target parameters follow the online ones.
#[derive(Clone, Copy, Debug)]
pub enum TargetRule {
    /// Copied after every so many gradient steps.
    Hard(u32),
    /// target += τ·(online − target) after each.
    Soft(f32),
}

/// target += mix·(weights − target).
#[derive(Clone, Copy, Debug)]
pub struct UpdateTarget {
    /// Parameters and copy.
    pub target: Target,
    /// What the mix of this gradient step is.
    pub rule: TargetRule,
    /// The gradient step.
    pub clock: Clock,
}

impl Compute for UpdateTarget {
    type Side = Training;
    const NAME: &'static str = "update_target";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.target.weights).reads(self.clock.counters).writes(self.target.target);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let mix = match self.rule {
            TargetRule::Hard(every) if view.read(self.clock.counters)[GRADIENT_STEP].is_multiple_of(every) => R::ONE,
            TargetRule::Hard(_) => R::ZERO,
            TargetRule::Soft(tau) => R::from_f32(tau),
        };
        cpu::polyak(mix, &view.read(self.target.weights), &mut view.write(self.target.target));
    }
}

/// Adds the gradient step (its number, the bits of its loss) to the trace hash; a loss without a value leaves no
/// record, since the bits of NaN differ between processors.
#[derive(Clone, Copy, Debug)]
pub struct TraceLoss {
    /// Gradient step and loss.
    pub clock: Clock,
    /// The hash's two words.
    pub trace: Id<Words, Training>,
}

impl Compute for TraceLoss {
    type Side = Training;
    const NAME: &'static str = "trace_loss";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.clock.counters).reads(self.clock.scalars).writes(self.trace);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let loss = view.read(self.clock.scalars)[LOSS].to_f32();
        if !loss.is_finite() {
            return;
        }
        let mut trace = view.write(self.trace);
        let mut hash = TraceHash([trace[0], trace[1]]);
        // The first word tells a gradient step from an env step, whose first word is an environment's index.
        hash.add(&[u32::MAX, view.read(self.clock.counters)[GRADIENT_STEP], loss.to_bits()]);
        trace.copy_from_slice(&hash.0);
    }
}
