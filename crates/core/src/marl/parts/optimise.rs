//! The optimiser step: gradient norm, Adam, target parameters, trace.

use std::ops::Range;

use super::clock::{CLIP_SCALE, Clock, GRAD_NORM, GRADIENT_STEP, LOSS};
use crate::base::float::Real;
use crate::base::hash::TraceHash;
use crate::base::wgsl::Constant;
use crate::marl::settings::{LearnerSettings, TargetChoice};
use crate::nn::cpu::{self, AdamParams};
use crate::nn::graph::{Compute, Execution, Id, Plan, Reals, Training, View, Wires, Words};
use crate::nn::shader::{Domain, Shader};

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
    /// β₁ᵗ and β₂ᵗ of each part of the block `[parts, 2]`, t being the gradient steps its moments are made of: what
    /// corrects their bias towards 0. They go wherever the moments go; with new moments they begin at 1.
    pub powers: Id<Reals, Training>,
}

impl<W: crate::nn::graph::Side> Block<W> {
    /// Buffers of `len` numbers each, named `{name}.…`, in `parts` that may begin to learn at different times.
    pub fn new(plan: &mut Plan, name: &str, len: u32, parts: u32) -> Self {
        Self {
            weights: plan.buffer(&format!("{name}.weights"), &[len]),
            grad: plan.buffer(&format!("{name}.gradient"), &[len]),
            m: plan.buffer(&format!("{name}.adam_m"), &[len]),
            v: plan.buffer(&format!("{name}.adam_v"), &[len]),
            powers: plan.buffer(&format!("{name}.adam_powers"), &[parts, 2]),
        }
    }
}

impl Block<Execution> {
    /// As the optimiser sees it.
    pub fn seen_by_training(self) -> Block<Training> {
        let Self { weights, grad, m, v, powers } = self;
        Block { weights: weights.seen_by_training(), grad, m, v, powers }
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
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>> {
        let of = |block: &Block<Training>| {
            Shader::new(Self::NAME, include_str!("../wgsl/zero_gradient.wgsl"))
                .buffer("GRAD", block.grad)
                .stage(Self::NAME, Domain::Elements(plan.len(block.grad)))
        };
        Some(self.blocks.iter().map(of).collect())
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
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>> {
        let names = [("GRAD_0", "LEN_0"), ("GRAD_1", "LEN_1")];
        let shader = Shader::new(Self::NAME, include_str!("../wgsl/clip_norm.wgsl"))
            .real("LIMIT", self.limit)
            .buffer("SCALARS", self.clock.scalars)
            .stage(Self::NAME, Domain::Solo);
        let blocks = self.blocks.iter().zip(names);
        debug_assert!(self.blocks.len() <= names.len(), "a run has agents and what joins them");
        Some(vec![blocks.fold(shader, |shader, (block, (grad, len))| {
            shader.buffer(grad, block.grad).word(len, plan.len(block.grad))
        })])
    }
}

/// Adam on one block.
#[derive(Clone, Debug)]
pub struct Adam {
    /// The block.
    pub block: Block<Training>,
    /// Where each of its parts lies. One that does not learn has no place here and keeps its bits.
    pub parts: Vec<Vec<Range<usize>>>,
    /// Which of the clock's scalars is its learning rate.
    pub rate: usize,
    /// Learning rates, clip factor.
    pub clock: Clock,
}

impl Compute for Adam {
    type Side = Training;
    const NAME: &'static str = "adam";
    fn wires(&self, wires: &mut Wires) {
        let b = &self.block;
        wires.reads(b.grad).reads(self.clock.scalars).writes(b.weights).writes(b.m).writes(b.v).writes(b.powers);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let b = &self.block;
        let s = view.read(self.clock.scalars);
        let [beta1, beta2] = BETAS.map(R::from_f32);
        let (grad, mut weights) = (view.read(b.grad), view.write(b.weights));
        let (mut m, mut v, mut powers) = (view.write(b.m), view.write(b.v), view.write(b.powers));
        let learning = self.parts.iter().zip(powers.chunks_exact_mut(2)).filter(|(part, _)| !part.is_empty());
        for (part, powers) in learning {
            powers[0] *= beta1;
            powers[1] *= beta2;
            let params = AdamParams {
                lr: s[self.rate],
                beta1,
                beta2,
                eps: R::from_f32(ADAM_EPS),
                bias1: R::ONE - powers[0],
                bias2: R::ONE - powers[1],
            };
            for range in part {
                let range = || range.clone();
                let numbers = (&mut weights[range()], &mut m[range()], &mut v[range()]);
                cpu::adam(&params, s[CLIP_SCALE], &grad[range()], numbers.0, numbers.1, numbers.2);
            }
        }
    }
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>> {
        let (b, len) = (&self.block, plan.len(self.block.weights));
        let mut part_of = vec![u32::MAX; len as usize];
        for (part, ranges) in (0..).zip(&self.parts) {
            for range in ranges {
                part_of[range.clone()].fill(part);
            }
        }
        let learns = self.parts.iter().map(|part| u32::from(!part.is_empty())).collect();
        let shader = Shader::new(Self::NAME, include_str!("../wgsl/adam.wgsl"))
            .buffer("GRAD", b.grad)
            .buffer("WEIGHTS", b.weights)
            .buffer("M", b.m)
            .buffer("V", b.v)
            .buffer("POWERS", b.powers)
            .buffer("SCALARS", self.clock.scalars)
            .word("RATE", self.rate as u32)
            .set("PART_OF", Constant::Words(part_of))
            .set("LEARNS", Constant::Words(learns))
            .word("PARTS", self.parts.len() as u32)
            .real("BETA_1", BETAS[0])
            .real("BETA_2", BETAS[1])
            .real("ADAM_EPS", ADAM_EPS)
            .stage("raise_powers", Domain::Solo)
            .stage(Self::NAME, Domain::Elements(len));
        Some(vec![shader])
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

impl TargetRule {
    /// As a learner is told.
    pub fn of(settings: &LearnerSettings) -> Self {
        match settings.target {
            TargetChoice::Hard => Self::Hard(settings.target_every),
            TargetChoice::Soft => Self::Soft(settings.tau),
        }
    }
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
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>> {
        let (every, tau) = match self.rule {
            TargetRule::Hard(every) => (every, 1.0),
            TargetRule::Soft(tau) => (0, tau),
        };
        let shader = Shader::new(Self::NAME, include_str!("../wgsl/update_target.wgsl"))
            .buffer("CLOCK", self.clock.counters)
            .buffer("WEIGHTS", self.target.weights)
            .buffer("TARGET", self.target.target)
            .word("EVERY", every)
            .real("TAU", tau)
            .stage(Self::NAME, Domain::Elements(plan.len(self.target.target)));
        Some(vec![shader])
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
    /// A device reads nothing back in every step, so it has no trace.
    fn shaders(&self, _: &Plan) -> Option<Vec<Shader>> {
        Some(Vec::new())
    }
}
