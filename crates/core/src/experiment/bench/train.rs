//! Work W4: a run of MAPPO in simple_spread as the page trains it, from its link: rollouts of one episode in each of
//! 128 environments, then GAE and 4 epochs of 4 minibatches.
//!
//! Where others give every agent the mean of all agents' rewards, here each agent has its own and the critic a head for
//! each. The mean over the agents, which the checks look at, is the same measure.

use super::{Check, Quantity, Work};
use crate::experiment::link::parse;
use crate::experiment::run::Run;

/// The experiment. An episode's end has no value beyond (`timeout_terminal`), as in the implementations it is compared
/// with; evaluations after that of update 0 are further away than any measurement lasts.
const LINK: &str = "v=1&env=spread&timeout_terminal=on&algo=mappo&lr=0.0005&critic_lr=0.0005&gamma=0.99&lambda=0.95\
    &clip_ratio=0.2&value_coef=0.5&value_norm=off&clip=0.5&hidden=64&layers=2&act=tanh&orthogonal=off&entropy=0.01&envs=128\
    &rollout=25&epochs=4&minibatches=4&seed=1&budget=10000000&eval_every=10000000&eval_episodes=1";

/// Iterations that are checked; the mean return is that of the first and of the last few.
const ITERATIONS: usize = 60;
const FIRST: usize = 3;
const LAST: usize = 5;

/// A run.
#[derive(Debug)]
pub(super) struct Training(Run);

impl Training {
    pub(super) fn new() -> Self {
        let mut run = Run::new(parse(LINK).spec, 1).expect("the work's link is an experiment");
        run.prepare();
        Self(run)
    }

    /// One iteration; the mean over environments and agents of its episodes' returns.
    fn iteration(&mut self) -> f64 {
        self.0.update();
        let rollout = self.0.learner.on_policy().expect("MAPPO learns from its rollout").rollout;
        let reward = self.0.buffers.read(rollout.reward);
        let width = reward.len() / rollout.count() as usize;
        let sum: f64 = reward.chunks_exact(width).flat_map(|row| &row[..width - 1]).map(|&r| f64::from(r)).sum();
        sum / (rollout.envs as usize * (width - 1)) as f64
    }
}

impl Work for Training {
    fn checks(&mut self) -> Vec<Check> {
        let returns: Vec<f64> = (0..ITERATIONS).map(|_| self.iteration()).collect();
        let mean = |returns: &[f64]| returns.iter().sum::<f64>() / returns.len() as f64;
        let (first, last) = (mean(&returns[..FIRST]), mean(&returns[ITERATIONS - LAST..]));
        vec![Check::new(Quantity::ReturnFirst, first, -26.0, 2.5), Check::new(Quantity::ReturnAfter, last, -21.5, 1.5)]
    }

    fn run(&mut self) -> u32 {
        self.0.update();
        self.0.learner.env_steps_per_update()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_is_read_as_it_stands() {
        let link = parse(LINK);
        assert_eq!(link.notices, []);
        assert!(link.spec.learner.timeout_terminal && !link.spec.learner.value_norm);
        let learner = &link.spec.learner;
        assert_eq!((learner.envs * learner.rollout, learner.epochs * learner.minibatches), (3_200, 16));
    }
}
