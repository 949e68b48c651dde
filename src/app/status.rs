//! Where the page stands, as JSON: what tests, measurements and bug reports read.

use serde_json::json;
use tandem_core::base::hash::hex;
use tandem_core::experiment::knobs::knob;
use tandem_core::experiment::snapshot::RunState;

use super::desk::Share;
use super::{Page, ThemeChoice};
use tandem_core::experiment::link::write;

/// One JSON object.
pub fn json(page: &Page) -> String {
    let snapshot = &page.run.snapshot;
    let state = match &snapshot.state {
        RunState::Paused => "paused",
        RunState::Running => "running",
        RunState::Seeking { .. } => "seeking",
        RunState::Finished => "finished",
        RunState::Reached => "reached",
        RunState::Diverged { .. } => "diverged",
    };
    let texts = page.texts();
    let diverged = match &snapshot.state {
        RunState::Diverged { tensor, update, .. } => json!({ "tensor": tensor, "update": update }),
        _ => json!(null),
    };
    json!({
        "ready": page.run.facts.run > 0 && snapshot.stage.frame.is_some(),
        "run": page.run.facts.run,
        "state": state,
        "update": snapshot.update,
        "envSteps": snapshot.env_steps,
        "gradientSteps": snapshot.gradient_steps,
        "budget": snapshot.budget,
        "traceHash": hex(snapshot.trace_hash),
        "traceAt": snapshot.trace_at,
        "weightsHash": snapshot.weights_hash.map(hex),
        "diverged": diverged,
        "weightsOf": snapshot.weights_of,
        "changedAt": snapshot.changed_at,
        "loss": snapshot.loss,
        "headline": page.run.curve.last().map(|point| point.mean),
        "firstHeadline": page.run.curve.first().map(|point| point.mean),
        "optimum": page.run.facts.optimum.map(|optimum| optimum.value),
        "curveLength": page.run.curve.len(),
        "kept": page.run.shown.len(),
        "updatesPerSec": snapshot.updates_per_sec,
        "envStepsPerSec": snapshot.env_steps_per_sec,
        "stageStep": snapshot.stage.step,
        "stageWeights": snapshot.stage.weights_update,
        "jointValues": snapshot.joint.is_some(),
        "engine": knob("engine").map(|knob| knob.text(&page.run.spec)),
        "seed": page.run.wanted.seed.to_string(),
        "lang": page.desk.lang.key(),
        "theme": page.desk.theme.key(),
        "dark": page.theme.dark,
        "followsSystem": page.desk.theme == ThemeChoice::Auto,
        "view": page.desk.view.0,
        "link": write(&page.link(&Share::default())),
        "notices": page.desk.notices.iter().map(|sentence| texts.sentence(sentence)).collect::<Vec<_>>(),
        "failure": page.desk.failure.as_ref().map(|failure| texts.t(failure)),
        "frames": page.frames,
        "uiMsMedian": median(&page.times),
    })
    .to_string()
}

fn median(times: &[f32]) -> f32 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f32::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}
