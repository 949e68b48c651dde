//! What `tandem train` prints: a line for each evaluation and a summary for each seed, as JSON or for a person.

use serde::Serialize;
use tandem_core::base::hash::hex;
use tandem_core::env::api::Headline;
use tandem_core::experiment::divergence::Divergence;
use tandem_core::experiment::ladder::Score;
use tandem_core::experiment::run::Run;
use tandem_core::experiment::snapshot::{Cause, EvalPoint, MatchResult, RunState};
use tandem_core::marl::parts::clock::ENV_STEP;

use crate::platform::console::Lines;
use crate::view::numbers;
use crate::view::text::Texts;

/// Standard output as lines of one kind.
#[derive(Debug)]
pub(super) struct Report {
    texts: Texts,
    json: bool,
    lines: Lines,
}

/// A line of JSON. Numbers that do not exist yet are null.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Line<'a> {
    Eval {
        seed: u64,
        env_steps: u32,
        updates: u32,
        wall_s: f64,
        to_go_s: Option<f64>,
        metric: &'a str,
        better: &'a str,
        mean: f32,
        min: f32,
        max: f32,
        ci95: f32,
        per_agent: &'a [f32],
        #[serde(skip_serializing_if = "Vec::is_empty")]
        matches: Vec<Match>,
    },
    Ladder {
        seed: u64,
        games: u32,
        snapshots: &'a [u32],
        scores: Vec<&'a [Score]>,
    },
    Summary {
        seed: u64,
        env_steps: u32,
        updates: u32,
        wall_s: f64,
        ended: &'static str,
        best: Option<f32>,
        last3: &'a [f32],
        trace_hash: Option<&'a str>,
        weights_hash: Option<String>,
        diverged: Option<Diverged<'a>>,
    },
}

/// Games of the greedy network in a seat, counted from 1, against a script.
#[derive(Serialize)]
struct Match {
    opponent: &'static str,
    seat: u32,
    won: u32,
    drawn: u32,
    lost: u32,
}

impl Match {
    fn of(&MatchResult { opponent, seat, won, drawn, lost }: &MatchResult) -> Self {
        Self { opponent: opponent.info().id, seat: seat + 1, won, drawn, lost }
    }
}

/// Where and how a run came to its end.
#[derive(Serialize)]
struct Diverged<'a> {
    update: u32,
    tensor: &'a str,
    cause: &'static str,
}

impl Report {
    pub(super) fn new(texts: Texts, json: bool) -> std::io::Result<Self> {
        Ok(Self { texts, json, lines: Lines::stdout()? })
    }

    /// One evaluation.
    pub(super) fn evaluation(&mut self, run: &Run, point: &EvalPoint, seconds: f64) -> std::io::Result<()> {
        let metric = metric(run);
        if self.json {
            return self.write(&Line::Eval {
                seed: run.spec.seed,
                env_steps: point.env_steps,
                updates: point.update,
                wall_s: millis(seconds),
                to_go_s: to_go(run, point, seconds).map(millis),
                metric,
                better: if run.facts.lower_is_better { "lower" } else { "higher" },
                mean: point.mean,
                min: point.min,
                max: point.max,
                ci95: point.ci95,
                per_agent: &point.returns,
                matches: point.matches.iter().map(Match::of).collect(),
            });
        }
        let [mean, min, max, ci95] = [point.mean, point.min, point.max, point.ci95].map(numbers::value);
        // Where every start was played nothing was sampled, and there is no interval.
        let spread = if run.facts.exhausted_starts > 0 { "cli.every_start" } else { "cli.sampled" };
        let spread = self.texts.f(spread, &[&min, &max, &ci95]);
        let id = if metric == "steps" { "cli.eval_steps" } else { "cli.eval_return" };
        let (seed, steps) = (run.spec.seed.to_string(), numbers::count(point.env_steps));
        let (update, wall) = (numbers::count(point.update), format!("{seconds:.1}"));
        let line = self.texts.f(id, &[&seed, &steps, &update, &mean, &spread, &wall]);
        match to_go(run, point, seconds) {
            Some(left) => self.lines.write(&self.texts.f("cli.to_go", &[&line, &numbers::duration(left as f32)]))?,
            None => self.lines.write(&line)?,
        }
        point.matches.chunk_by(|a, b| a.opponent == b.opponent).try_for_each(|seats| self.matches(seats))
    }

    /// The seats of the networks side by side against one script.
    fn matches(&mut self, seats: &[MatchResult]) -> std::io::Result<()> {
        let seat = |&MatchResult { seat, won, drawn, lost, .. }: &MatchResult| {
            let id = if seat == 0 { "cli.match.first" } else { "cli.match.second" };
            self.texts.f(id, &[won, drawn, lost].map(|games| games.to_string()).each_ref().map(String::as_str))
        };
        let told: Vec<String> = seats.iter().map(seat).collect();
        let opponent = format!("choice.seats.{}", seats[0].opponent.info().id);
        self.lines.write(&self.texts.f("cli.match", &[self.texts.t(&opponent), &told.join("; ")]))
    }

    /// Snapshots of the run against each other, where there are such.
    pub(super) fn ladder(&mut self, run: &Run) -> std::io::Result<()> {
        let Some(ladder) = run.ladder() else { return Ok(()) };
        if self.json {
            let scores = ladder.rows().map(|(_, scores)| scores).collect();
            return self.write(&Line::Ladder {
                seed: run.spec.seed,
                games: ladder.games,
                snapshots: &ladder.env_steps,
                scores,
            });
        }
        self.lines.write(&self.texts.f("cli.ladder", &[&ladder.games.to_string()]))?;
        ladder.rows().try_for_each(|(first, scores)| {
            let lead = |score: &Score| {
                numbers::signed(score.won as f32 - score.lost as f32, |lead| numbers::integer(lead as i32))
            };
            let cell = |(second, score): (&u32, &Score)| {
                self.texts.f("cli.ladder.cell", &[&lead(score), &numbers::count(*second)])
            };
            let told: Vec<String> = ladder.env_steps.iter().zip(scores).map(cell).collect();
            self.lines.write(&self.texts.f("cli.ladder.row", &[&numbers::count(first), &told.join("; ")]))
        })
    }

    /// The end of a seed's run, wherever it came: `ended` says why, `steps`, `goal`, `diverged` or `interrupted`.
    pub(super) fn summary(&mut self, run: &Run, seconds: f64) -> std::io::Result<()> {
        let means: Vec<f32> = run.evals.iter().map(|point| point.mean).collect();
        let best = means.iter().copied().reduce(|a, b| if (b < a) == run.facts.lower_is_better { b } else { a });
        let last3 = &means[means.len().saturating_sub(3)..];
        let weights_hash = run.diverged.is_none().then(|| hex(run.weights_hash()));
        let trace = (!run.is_on_device()).then(|| hex(run.trace));
        let env_steps = run.count(ENV_STEP);
        let (ended, why) = match run.end() {
            Some(RunState::Finished) => ("steps", "cli.ended.steps"),
            Some(RunState::Reached) => ("goal", "cli.ended.goal"),
            Some(RunState::Diverged { .. }) => ("diverged", "cli.ended.diverged"),
            _ => ("interrupted", "cli.ended.interrupted"),
        };
        if self.json {
            return self.write(&Line::Summary {
                seed: run.spec.seed,
                env_steps,
                updates: run.updates(),
                wall_s: millis(seconds),
                ended,
                best,
                last3,
                trace_hash: trace.as_deref(),
                weights_hash,
                diverged: run.diverged.as_ref().map(|Divergence { tensor, cause }| Diverged {
                    update: run.updates(),
                    tensor,
                    cause: match cause {
                        Cause::NotFinite => "not_finite",
                        Cause::Gradient => "gradient",
                        Cause::Weights => "weights",
                    },
                }),
            });
        }
        let none = || "–".to_owned();
        let (best, weights) = (best.map_or_else(none, numbers::value), weights_hash.unwrap_or_else(none));
        let last3: Vec<String> = last3.iter().copied().map(numbers::value).collect();
        let (seed, steps) = (run.spec.seed.to_string(), numbers::count(env_steps));
        let (update, wall) = (numbers::count(run.updates()), format!("{seconds:.1}"));
        let (last3, trace) = (last3.join(", "), trace.unwrap_or_else(none));
        let why = self.texts.t(why);
        let said = [&seed, &steps, &update, &wall, why, &best, &last3, &trace, &weights];
        self.lines.write(&self.texts.f("cli.summary", &said))
    }

    fn write(&mut self, line: &Line<'_>) -> std::io::Result<()> {
        self.lines.write(&serde_json::to_string(line)?)
    }
}

/// The environment's headline measure.
fn metric(run: &Run) -> &'static str {
    match run.learner.env.info().headline {
        Headline::Steps => "steps",
        Headline::Mean { .. } | Headline::Sum => "return",
    }
}

/// Seconds to the end of the budget at the pace so far; `None` at the start, which has none, and at the end.
fn to_go(run: &Run, point: &EvalPoint, seconds: f64) -> Option<f64> {
    let left = run.budget.saturating_sub(point.env_steps);
    (point.env_steps > 0 && left > 0).then(|| seconds * f64::from(left) / f64::from(point.env_steps))
}

fn millis(seconds: f64) -> f64 {
    (seconds * 1e3).round() / 1e3
}
