//! How fast a run trains, measured over its last second. Time is handed in.

use std::collections::VecDeque;

use super::run::Run;
use super::snapshot::RunState;
use crate::marl::parts::clock::ENV_STEP;

/// Seconds over which rates are measured.
const RATE_SECS: f64 = 1.0;

/// Updates and env steps per second over the last second; 0 while nothing trains.
pub(super) fn rates(samples: &mut VecDeque<(f64, u32, u32)>, now: f64, run: &Run, state: &RunState) -> (f32, f32) {
    if !matches!(state, RunState::Running | RunState::Seeking { .. }) {
        samples.clear();
        return (0.0, 0.0);
    }
    samples.push_back((now, run.updates(), run.count(ENV_STEP)));
    while samples.len() > 2 && now - samples[1].0 >= RATE_SECS {
        samples.pop_front();
    }
    let (then, updates, env_steps) = samples[0];
    let secs = now - then;
    if secs <= 0.0 {
        return (0.0, 0.0);
    }
    let per_sec = |after: u32, before: u32| (f64::from(after.saturating_sub(before)) / secs) as f32;
    (per_sec(run.updates(), updates), per_sec(run.count(ENV_STEP), env_steps))
}
