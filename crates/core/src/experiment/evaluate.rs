//! An evaluation's episodes, summed up.

use super::policy;
use super::snapshot::{EvalPoint, MatchResult};
use crate::base::stats::summary;
use crate::env::api::Headline;
use crate::env::script::Script;
use crate::marl::learner::Learner;
use crate::marl::matches::OUTCOMES;
use crate::marl::parts::clock::{ENV_STEP, UPDATE};
use crate::marl::parts::world::TERMINATED;
use crate::nn::graph::Buffers;

/// What the evaluation list has just played: with the parameters just trained, on streams of its own.
pub fn summed_up(learner: &Learner, buffers: &Buffers<f32>) -> EvalPoint {
    let evaluation = &learner.evaluation;
    let info = learner.env.info();
    let (n, episodes) = (info.num_agents as usize, evaluation.world.envs as usize);
    let (returns, time) = (buffers.read(evaluation.returns), buffers.read(evaluation.world.time));
    let ended = buffers.read(evaluation.world.ended);
    let sum_of = |e: usize, first: u32, count: u32| {
        returns[e * n + first as usize..][..count as usize].iter().map(|&r| f64::from(r)).sum::<f64>()
    };
    let headline: Vec<f64> = (0..episodes)
        .map(|e| match info.headline {
            Headline::Steps => f64::from(time[e * 2 + 1]),
            Headline::Mean { first, count } => sum_of(e, first, count) / f64::from(count),
            Headline::Sum => sum_of(e, 0, info.num_agents),
        })
        .collect();
    let of_headline = summary(&headline).expect("an evaluation has an episode");
    let parts = buffers.read(evaluation.parts);
    let width = parts.len() / episodes;
    let mean_part = |k: usize| (0..episodes).map(|e| f64::from(parts[e * width + k])).sum::<f64>() / episodes as f64;
    let mean_return = |i: usize| (0..episodes).map(|e| f64::from(returns[e * n + i])).sum::<f64>() / episodes as f64;
    let clock = buffers.read(learner.clock.counters);
    EvalPoint {
        env_steps: clock[ENV_STEP],
        update: clock[UPDATE],
        mean: of_headline.mean as f32,
        min: of_headline.min as f32,
        max: of_headline.max as f32,
        // Every start and nothing by chance: there is no sampling error.
        ci95: if evaluation.exhausted_starts > 0 { 0.0 } else { of_headline.ci95 as f32 },
        returns: (0..n).map(|i| mean_return(i) as f32).collect(),
        parts: (0..width).map(|k| mean_part(k) as f32).collect(),
        policy: policy::told(learner, buffers),
        matches: matches(learner, buffers),
        solved: ended.iter().filter(|&&e| e & TERMINATED != 0).count() as f32 / episodes as f32,
        episodes: episodes as u32,
    }
}

/// What the matches have just given.
fn matches(learner: &Learner, buffers: &Buffers<f32>) -> Vec<MatchResult> {
    let Some(matches) = &learner.matches else { return Vec::new() };
    let results = buffers.read(matches.results);
    let row = |(&(opponent, seat), counts): (&(Script, u32), &[u32; OUTCOMES])| {
        let &[won, drawn, lost] = counts;
        MatchResult { opponent, seat, won, drawn, lost }
    };
    matches.pairings.iter().zip(results.as_chunks().0).map(row).collect()
}
