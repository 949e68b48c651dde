//! Value normalisation by PopArt (van Hasselt et al. 2016, arXiv 1602.07714): the critic learns returns less their
//! mean, divided by their deviation, and whenever these move its last layer is moved against them, so that what it says
//! in the rewards' unit stays as it was (eq. 9).

use super::critic::Critic;
use crate::base::float::Real;
use crate::base::wgsl::Constant;
use crate::nn::graph::{Compute, Doubles, Id, Plan, Reals, Training, View, Wires};
use crate::nn::layers::Layer;
use crate::nn::shader::{Domain, Shader};

/// Share of the old moments that an update keeps.
const KEEP: f64 = 0.99;
/// Smallest deviation, so that returns that hardly differ are not blown up.
const LEAST: f64 = 1e-2;

/// Running mean and variance of the returns, of each network's each output.
#[derive(Clone, Copy, Debug)]
pub struct Moments {
    /// Weight of what was seen, mean, variance `[outputs, 3]`; all 0 at first.
    pub numbers: Id<Doubles, Training>,
}

impl Moments {
    /// Of that many outputs.
    pub fn new(plan: &mut Plan, name: &str, outputs: u32) -> Self {
        Self { numbers: plan.buffer(&format!("{name}.moments"), &[outputs, 3]) }
    }
}

/// An output's scale: V = mean + deviation·y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Mean of the returns, 0 at first.
    pub mean: f64,
    /// Their deviation, 1 at first.
    pub deviation: f64,
}

impl Scale {
    /// Of one row of [`Moments::numbers`].
    pub fn new([seen, mean, variance]: [f64; 3]) -> Self {
        let deviation = if seen > 0.0 { Real::max(variance.sqrt(), LEAST) } else { 1.0 };
        Self { mean, deviation }
    }

    /// Of output number `output`; V = y where nothing is normalised.
    pub(super) fn of<R: Real>(moments: Option<Moments>, output: usize, view: &View<'_, R, Training>) -> Self {
        moments.map_or(Self::new([0.0; 3]), |moments| Self::of_row(&view.read(moments.numbers), output))
    }

    /// Of output number `output` of [`Moments::numbers`].
    pub fn of_row(numbers: &[f64], output: usize) -> Self {
        Self::new(row(numbers, output))
    }

    /// A value on the network's scale, in the rewards' unit.
    pub fn restore<R: Real>(self, y: R) -> R {
        R::from_f64(self.mean) + R::from_f64(self.deviation) * y
    }

    /// A value in the rewards' unit, on the network's scale.
    pub fn normalise<R: Real>(self, value: R) -> R {
        (value - R::from_f64(self.mean)) / R::from_f64(self.deviation)
    }
}

fn row(numbers: &[f64], output: usize) -> [f64; 3] {
    [numbers[output * 3], numbers[output * 3 + 1], numbers[output * 3 + 2]]
}

/// Takes the rollout's targets into the moments, rescales the last layers, and brings targets and the values they were
/// made from to the new scale, where losses and value clipping compare them with the networks' outputs.
#[derive(Clone, Debug)]
pub struct PopArt {
    /// Networks and moments.
    pub critic: Critic,
    /// 1 for env steps that happened `[items]`.
    pub weight: Id<Reals, Training>,
    /// V of the rollout `[items, M]`.
    pub value: Id<Reals, Training>,
    /// What V should have been `[items, M]`.
    pub target: Id<Reals, Training>,
}

impl Compute for PopArt {
    type Side = Training;
    const NAME: &'static str = "popart";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.weight).writes(self.value).writes(self.target).writes(self.critic.block.weights);
        if let Some(moments) = self.critic.moments {
            wires.writes(moments.numbers);
        }
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let Some(moments) = self.critic.moments else { return };
        let heads = self.critic.heads;
        let columns = heads.columns as usize;
        let weight = view.read(self.weight);
        let (mut value, mut target) = (view.write(self.value), view.write(self.target));
        let (mut numbers, mut weights) = (view.write(moments.numbers), view.write(self.critic.block.weights));
        for output in 0..numbers.len() / 3 {
            let of_output = |m: &usize| heads.statistics(*m) == output;
            let old = row(&numbers, output);
            let taught = |m: &usize| of_output(m) && heads.trained.contains(*m as u32);
            let seen = || {
                let items = weight.iter().zip(target.chunks_exact(columns)).filter(|(w, _)| **w != R::ZERO);
                items.flat_map(|(_, row)| (0..columns).filter(taught).map(|m| row[m].to_f64()))
            };
            let new = taken_in(old, seen);
            numbers[output * 3..output * 3 + 3].copy_from_slice(&new);
            let (from, to) = (Scale::new(old), Scale::new(new));
            let (net, place) = match self.critic.nets.len() {
                1 => (0, if heads.is_shared { 0 } else { output }),
                _ => (output, 0),
            };
            let layers = &self.critic.nets[net].layers;
            if from != to {
                rescale(&layers[layers.len() - 1], place, from, to, &mut weights);
            }
            for m in (0..columns).filter(of_output) {
                for x in value.iter_mut().skip(m).step_by(columns) {
                    *x = to.normalise(*x);
                }
                for x in target.iter_mut().skip(m).step_by(columns) {
                    *x = to.normalise(*x);
                }
            }
        }
    }
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>> {
        let (critic, heads) = (&self.critic, self.critic.heads);
        let moments = critic.moments?;
        let outputs = plan.len(moments.numbers) / 3;
        let last = |output: u32| {
            let net = if critic.nets.len() == 1 { 0 } else { output as usize };
            critic.nets[net].table().pop()
        };
        let shader = heads
            .shader(Self::NAME, include_str!("../wgsl/popart.wgsl"), self.value, Some(moments))
            .word("ITEMS", plan.len(self.weight))
            .word("OUTPUTS", outputs)
            .word("TRAINED", heads.trained.bits())
            .buffer("WEIGHT", self.weight)
            .buffer("VALUE", self.value)
            .buffer("TARGET", self.target)
            .buffer("WEIGHTS", critic.block.weights)
            .set("LAST_LAYERS", Constant::Rows((0..outputs).filter_map(last).collect()))
            .flag("ARE_COLUMNS", critic.nets.len() == 1 && !heads.is_shared)
            .stage(Self::NAME, Domain::Solo);
        Some(vec![shader])
    }
}

/// Moments after another rollout: an average that forgets, freed of its start at 0 (as Adam's), in a form without
/// cancellation.
fn taken_in<I: Iterator<Item = f64>>([weight, mean, variance]: [f64; 3], seen: impl Fn() -> I) -> [f64; 3] {
    let count = seen().count() as f64;
    if count == 0.0 {
        return [weight, mean, variance];
    }
    let batch_mean = seen().sum::<f64>() / count;
    let batch_variance = seen().map(|x| (x - batch_mean) * (x - batch_mean)).sum::<f64>() / count;
    let (old, new) = (KEEP * weight, 1.0 - KEEP);
    let total = old + new;
    let next_mean = mean + new / total * (batch_mean - mean);
    let about = |mean: f64, variance: f64| variance + (mean - next_mean) * (mean - next_mean);
    let next_variance = (old * about(mean, variance) + new * about(batch_mean, batch_variance)) / total;
    [total, next_mean, next_variance]
}

/// w ← w·σ/σ', b ← (σ·b + μ − μ')/σ' for one output of a layer.
fn rescale<R: Real>(layer: &Layer, output: usize, from: Scale, to: Scale, weights: &mut [R]) {
    let stride = layer.weight.stride() as usize;
    let ratio = R::from_f64(from.deviation / to.deviation);
    for row in weights[layer.weight.range()].chunks_exact_mut(stride) {
        row[output] *= ratio;
    }
    let bias = &mut weights[layer.bias.range()][output];
    *bias = R::from_f64((from.deviation * bias.to_f64() + from.mean - to.mean) / to.deviation);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_what_was_seen() {
        let first = taken_in([0.0; 3], || [1.0, 5.0].into_iter());
        assert!((first[1] - 3.0).abs() < 1e-15 && (first[2] - 4.0).abs() < 1e-15, "{first:?}");
        // Two rollouts count 0.99 and 1: the mean of the squares less the square of the mean.
        let [weight, mean, variance] = taken_in(first, || [9.0].into_iter());
        let expected = (0.99 * 3.0 + 9.0) / 1.99;
        assert!((mean - expected).abs() < 1e-14);
        assert!((variance - ((0.99 * 13.0 + 81.0) / 1.99 - expected * expected)).abs() < 1e-12);
        assert!((weight - (1.0 - 0.99 * 0.99)).abs() < 1e-15);
    }
}
