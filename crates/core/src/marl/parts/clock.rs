//! Counters and schedules as data. The first kernel of each list advances the clock and writes what changes from
//! update to update, so that nothing outside touches the buffers between two updates.

use crate::base::float::Real;
use crate::nn::graph::{Compute, Execution, Id, Plan, Reals, Training, View, Wires, Words};
use crate::nn::shader::{Domain, Shader};

/// Index into the `clock` buffer: updates begun.
pub const UPDATE: usize = 0;
/// Gradient steps begun.
pub const GRADIENT_STEP: usize = 1;
/// Env steps taken, all environments together.
pub const ENV_STEP: usize = 2;
/// Replay slot the next segment goes to.
pub const RING_HEAD: usize = 3;
/// Segments in the replay ring.
pub const RING_FILL: usize = 4;
/// Env step within the segment or rollout being recorded.
pub const SEGMENT_STEP: usize = 5;
/// Training episodes finished.
pub const EPISODES: usize = 6;
const CLOCK_LEN: u32 = 7;

/// Index into `settings`, written from outside between updates: learning rate at env step 0.
pub const LR: usize = 0;
/// Learning rate from `LR_OVER` on.
pub const LR_END: usize = 1;
/// Env steps of its fall.
pub const LR_OVER: usize = 2;
/// ε at env step 0.
pub const EPS: usize = 3;
/// ε from `EPS_OVER` on.
pub const EPS_END: usize = 4;
/// Env steps of its fall.
pub const EPS_OVER: usize = 5;
/// The critic's learning rate as a multiple of the actors'.
pub const CRITIC_RATE: usize = 6;
/// Weight of the entropy at env step 0.
pub const ENTROPY: usize = 7;
/// Weight of the entropy from `ENTROPY_OVER` on.
pub const ENTROPY_END: usize = 8;
/// Env steps of its fall.
pub const ENTROPY_OVER: usize = 9;
const SETTINGS_LEN: u32 = 10;

/// Index into `scalars`, written by the kernels: learning rate of this gradient step.
pub const LR_NOW: usize = 0;
/// Factor on the gradient that keeps its norm within the limit.
pub const CLIP_SCALE: usize = 1;
/// Gradient norm before clipping.
pub const GRAD_NORM: usize = 2;
/// Loss of this gradient step.
pub const LOSS: usize = 3;
/// The critic's learning rate of this gradient step.
pub const CRITIC_LR_NOW: usize = 4;
/// Weight of the entropy in this gradient step.
pub const ENTROPY_NOW: usize = 5;
const SCALARS_LEN: u32 = 6;

/// The clock and what it drives.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Counters, see the constants above.
    pub counters: Id<Words, Training>,
    /// Schedules as set from outside.
    pub settings: Id<Reals, Training>,
    /// Values of this update.
    pub scalars: Id<Reals, Training>,
    /// ε of this update `[1]`: what an agent needs to act.
    pub epsilon: Id<Reals, Execution>,
}

impl Clock {
    /// Its buffers.
    pub fn new(plan: &mut Plan) -> Self {
        Self {
            counters: plan.buffer("clock", &[CLOCK_LEN]),
            settings: plan.buffer("settings", &[SETTINGS_LEN]),
            scalars: plan.buffer("scalars", &[SCALARS_LEN]),
            epsilon: plan.buffer("epsilon", &[1]),
        }
    }

    fn shader(&self, name: &'static str) -> Shader {
        Shader::new(name, include_str!("../wgsl/clock.wgsl"))
            .buffer("CLOCK", self.counters)
            .buffer("SETTINGS", self.settings)
    }
}

/// First kernel of the rollout: counts the update, sets ε.
#[derive(Clone, Copy, Debug)]
pub struct BeginUpdate {
    /// What it advances.
    pub clock: Clock,
}

impl Compute for BeginUpdate {
    type Side = Training;
    const NAME: &'static str = "begin_update";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.clock.settings).writes(self.clock.counters).writes(self.clock.epsilon);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let mut clock = view.write(self.clock.counters);
        clock[UPDATE] += 1;
        let s = view.read(self.clock.settings);
        view.write(self.clock.epsilon)[0] = linear(s[EPS], s[EPS_END], s[EPS_OVER], clock[ENV_STEP]);
    }
    fn shaders(&self, _: &Plan) -> Option<Vec<Shader>> {
        let shader = self.clock.shader(Self::NAME).buffer("EPSILON", self.clock.epsilon);
        Some(vec![shader.stage(Self::NAME, Domain::Solo)])
    }
}

/// First kernel of an evaluation: its ε is 0, or that of the behaviour policy at this moment.
#[derive(Clone, Copy, Debug)]
pub struct BeginEvaluation {
    /// Schedules and env step.
    pub clock: Clock,
    /// Whether it explores.
    pub explores: bool,
    /// Its ε `[1]`.
    pub epsilon: Id<Reals, Execution>,
}

impl Compute for BeginEvaluation {
    type Side = Training;
    const NAME: &'static str = "begin_evaluation";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.clock.settings).reads(self.clock.counters).writes(self.epsilon);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let s = view.read(self.clock.settings);
        let env_step = view.read(self.clock.counters)[ENV_STEP];
        let behaviour = linear(s[EPS], s[EPS_END], s[EPS_OVER], env_step);
        view.write(self.epsilon)[0] = if self.explores { behaviour } else { R::ZERO };
    }
}

/// First kernel of a gradient step: counts it, sets learning rates and the weight of the entropy.
#[derive(Clone, Copy, Debug)]
pub struct BeginGradientStep {
    /// What it advances.
    pub clock: Clock,
}

impl Compute for BeginGradientStep {
    type Side = Training;
    const NAME: &'static str = "begin_gradient_step";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.clock.settings).writes(self.clock.counters).writes(self.clock.scalars);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let mut clock = view.write(self.clock.counters);
        clock[GRADIENT_STEP] += 1;
        let s = view.read(self.clock.settings);
        let mut scalars = view.write(self.clock.scalars);
        scalars[LR_NOW] = linear(s[LR], s[LR_END], s[LR_OVER], clock[ENV_STEP]);
        scalars[CRITIC_LR_NOW] = scalars[LR_NOW] * s[CRITIC_RATE];
        scalars[ENTROPY_NOW] = linear(s[ENTROPY], s[ENTROPY_END], s[ENTROPY_OVER], clock[ENV_STEP]);
    }
    fn shaders(&self, _: &Plan) -> Option<Vec<Shader>> {
        let shader = self.clock.shader(Self::NAME).buffer("SCALARS", self.clock.scalars);
        Some(vec![shader.stage(Self::NAME, Domain::Solo)])
    }
}

/// From `start` at env step 0 in a straight line to `end` at env step `over`, and exactly `end` from there on; `start` for
/// ever where `over` is 0.
pub fn linear<R: Real>(start: R, end: R, over: R, env_step: u32) -> R {
    let env_step = R::from_u32(env_step);
    if over <= R::ZERO {
        start
    } else if env_step >= over {
        end
    } else {
        start + (end - start) * (env_step / over)
    }
}

#[cfg(test)]
mod tests {
    use super::linear;

    #[test]
    fn a_line_starts_and_ends_exactly() {
        let epsilon = |env_step| linear(1.0_f32, 0.05, 10_000.0, env_step);
        assert_eq!([0, 10_000, u32::MAX].map(epsilon), [1.0, 0.05, 0.05]);
        assert!((epsilon(5_000) - 0.525).abs() < 1e-6);
        assert_eq!(linear(0.3_f32, 0.1, 0.0, 7), 0.3, "a line of no length is a constant");
    }
}
