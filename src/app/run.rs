//! The run on the page as its reports tell it: facts, newest snapshot, the whole curve, and the curves of earlier runs.
//!
//! At most one `Load` is under way, so a slider dragged through a hundred values loads the first and the last of
//! those the session had time for.

use tandem_core::experiment::command::Command;
use tandem_core::experiment::knobs::{self, Kind, Knob};
use tandem_core::experiment::link::{Link, write};
use tandem_core::experiment::snapshot::{EvalPoint, Facts, Report, RunState, Sentence, Snapshot};
use tandem_core::experiment::spec::{EnvChoice, ExperimentSpec};

use crate::view::api::KeptCurve;
use crate::view::text::Texts;

/// Most curves kept of one environment.
const MOST_KEPT: usize = 6;
/// Most differences named in a kept curve's label.
const MOST_NAMED: usize = 3;

/// An experiment to load: its description and the update to run to.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// The experiment.
    pub spec: ExperimentSpec,
    /// Update to run to at full speed.
    pub run_to: u32,
}

/// The run and what is known of it.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// What Set-up shows and Share writes; the run may not have caught up with it yet.
    pub wanted: ExperimentSpec,
    /// What facts and snapshot are about.
    pub spec: ExperimentSpec,
    /// Keys of the link that this release does not know, written back by Share.
    pub unknown: Vec<(String, String)>,
    /// Fixed facts.
    pub facts: Facts,
    /// Newest snapshot.
    pub snapshot: Snapshot,
    /// All evaluation points.
    pub curve: Vec<EvalPoint>,
    /// Curves of earlier runs on this environment, labelled by what differs.
    pub shown: Vec<KeptCurve>,
    kept: Vec<Kept>,
    in_flight: Option<ExperimentSpec>,
    waiting: Option<Load>,
}

#[derive(Clone, Debug)]
struct Kept {
    spec: ExperimentSpec,
    /// A setting was changed while it trained, so that its link makes another curve.
    is_changed: bool,
    points: Vec<EvalPoint>,
    color_index: u32,
}

/// What a report asks of the page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// To be sent to the session.
    pub send: Option<Command>,
    /// The experiment that cannot be, and why.
    pub refused: Option<Sentence>,
    /// A run was built.
    pub started: bool,
}

impl Run {
    /// Asks for an experiment. Returns the command to send, or nothing while an earlier one is still being built.
    pub fn load(&mut self, load: Load) -> Option<Command> {
        self.wanted = load.spec.clone();
        if self.in_flight.is_some() {
            self.waiting = Some(load);
            return None;
        }
        self.in_flight = Some(load.spec.clone());
        Some(Command::Load { spec: Box::new(load.spec), run_to: load.run_to })
    }

    /// The session is gone, and with it whatever it was building; what it last told stays to be looked at.
    pub fn stop(&mut self) {
        self.in_flight = None;
        self.waiting = None;
        self.snapshot.state = RunState::Paused;
        self.snapshot.updates_per_sec = 0.0;
        self.snapshot.env_steps_per_sec = 0.0;
    }

    /// Takes a report in.
    pub fn take(&mut self, report: Report, texts: Texts) -> Reply {
        match report {
            Report::Started(facts) => {
                self.start(*facts, texts);
                Reply { send: self.next_load(), started: true, refused: None }
            }
            Report::Refused(sentence) => {
                self.in_flight = None;
                let send = self.next_load();
                if send.is_none() {
                    self.wanted = self.spec.clone();
                }
                Reply { send, refused: Some(sentence), started: false }
            }
            Report::Snapshot(snapshot) => {
                if snapshot.run == self.facts.run {
                    let known = (snapshot.evals_from as usize).min(self.curve.len());
                    self.curve.truncate(known);
                    self.curve.extend_from_slice(&snapshot.evals);
                    self.snapshot = *snapshot;
                }
                Reply::default()
            }
        }
    }

    fn next_load(&mut self) -> Option<Command> {
        let load = self.waiting.take()?;
        self.load(load)
    }

    fn start(&mut self, facts: Facts, texts: Texts) {
        let spec = self.in_flight.take().unwrap_or_else(|| self.spec.clone());
        let earlier = std::mem::replace(&mut self.spec, spec);
        let points = std::mem::take(&mut self.curve);
        let is_changed = self.snapshot.changed_at.is_some();
        self.kept.retain(|kept| kept.is_changed || kept.spec != self.spec);
        if points.len() >= 2 && (is_changed || earlier != self.spec) {
            self.keep(earlier, is_changed, points);
        }
        self.snapshot =
            Snapshot { run: facts.run, budget: facts.budget, speed: self.snapshot.speed, ..Snapshot::default() };
        self.facts = facts;
        self.relabel(texts);
    }

    fn keep(&mut self, spec: ExperimentSpec, is_changed: bool, points: Vec<EvalPoint>) {
        self.kept.retain(|kept| kept.is_changed || kept.spec != spec);
        let same: Vec<usize> =
            (0..self.kept.len()).filter(|&index| same_world(&self.kept[index].spec, &spec)).collect();
        if same.len() >= MOST_KEPT {
            self.kept.remove(same[0]);
        }
        let used = |index: &u32| self.kept.iter().any(|k| same_world(&k.spec, &spec) && k.color_index == *index);
        let color_index = (0..MOST_KEPT as u32).find(|index| !used(index)).unwrap_or(0);
        self.kept.push(Kept { spec, is_changed, points, color_index });
    }

    /// Names the kept curves of this environment by what differs, in the language of `texts`.
    pub fn relabel(&mut self, texts: Texts) {
        let of_this_world = self.kept.iter().filter(|kept| same_world(&kept.spec, &self.spec));
        self.shown = of_this_world
            .map(|kept| KeptCurve {
                label: label(&self.spec, kept, texts),
                link: (!kept.is_changed).then(|| write(&Link::of(kept.spec.clone()))),
                points: kept.points.clone(),
                color_index: kept.color_index,
            })
            .collect();
    }

    /// Forgets the kept curves of this environment.
    pub fn clear_kept(&mut self) {
        let spec = &self.spec;
        self.kept.retain(|kept| !same_world(&kept.spec, spec));
        self.shown.clear();
    }
}

/// Whether both are the same environment with the same rules, so that their curves may share axes.
fn same_world(a: &ExperimentSpec, b: &ExperimentSpec) -> bool {
    a.env == b.env
        && match a.env {
            EnvChoice::Pellet => a.pellet == b.pellet,
            EnvChoice::Matrix => a.matrix == b.matrix,
            EnvChoice::TwoStep => a.two_step == b.two_step,
            EnvChoice::Foraging => a.foraging == b.foraging,
            EnvChoice::Pursuit => a.pursuit == b.pursuit,
            EnvChoice::Particles(_) => a.particles == b.particles,
            EnvChoice::Board(_) => true,
        }
}

/// What `other` has that `this` has not: `IQL`, `Seed 8`.
fn label(this: &ExperimentSpec, other: &Kept, texts: Texts) -> String {
    let mut differences = knobs::differences(this, &other.spec);
    // The algorithm first, and what only follows from it not at all.
    let follows = |knob: &Knob| {
        let of = |spec: &ExperimentSpec| knob.text(spec) == knob.text(&ExperimentSpec::defaults(spec.env, spec.algo));
        this.algo != other.spec.algo && knob.key != "algo" && of(this) && of(&other.spec)
    };
    differences.retain(|(knob, _)| !follows(knob));
    differences.sort_by_key(|(knob, _)| knob.key != "algo");
    let mut names: Vec<String> =
        differences.iter().take(MOST_NAMED).map(|(knob, value)| value_name(knob, value, texts)).collect();
    if differences.len() > MOST_NAMED {
        names.push("…".to_owned());
    }
    let name = if names.is_empty() { texts.t("kept.same").to_owned() } else { names.join(", ") };
    if other.is_changed { texts.f("kept.changed", &[&name]) } else { name }
}

fn value_name(knob: &Knob, value: &str, texts: Texts) -> String {
    let text = match knob.kind {
        Kind::Choice { .. } => texts.t(&knob.choice_id(value)).to_owned(),
        Kind::Bool { .. } => texts.t(if value == "on" { "switch.on" } else { "switch.off" }).to_owned(),
        _ => value.to_owned(),
    };
    if knob.key == "algo" { text } else { format!("{} {text}", texts.t(&knob.text_id())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(spec: &ExperimentSpec) -> Load {
        Load { spec: spec.clone(), run_to: 0 }
    }

    fn started(run: u32) -> Report {
        Report::Started(Box::new(Facts { run, ..Facts::default() }))
    }

    fn with_points(run: u32) -> Report {
        let evals = [0, 500].map(|env_steps| EvalPoint { env_steps, ..EvalPoint::default() }).to_vec();
        Report::Snapshot(Box::new(Snapshot { run, evals, ..Snapshot::default() }))
    }

    #[test]
    fn edits_while_a_run_is_built_wait_and_the_last_wins() {
        let mut run = Run::default();
        let seeds: Vec<ExperimentSpec> = (1..4).map(|seed| ExperimentSpec { seed, ..run.wanted.clone() }).collect();
        assert!(run.load(load(&seeds[0])).is_some());
        assert!(run.load(load(&seeds[1])).is_none());
        assert!(run.load(load(&seeds[2])).is_none());
        let reply = run.take(started(1), Texts::default());
        let Some(Command::Load { spec, .. }) = reply.send else { panic!("the last edit was not sent") };
        assert_eq!(spec.seed, 3);
        assert_eq!(run.spec.seed, 1);
        assert!(run.take(started(2), Texts::default()).send.is_none());
        assert_eq!(run.spec.seed, 3);
    }

    #[test]
    fn a_refused_experiment_leaves_the_earlier_one() {
        let mut run = Run::default();
        let first = run.wanted.clone();
        run.load(load(&first));
        run.take(started(1), Texts::default());
        run.load(load(&ExperimentSpec { seed: 99, ..first.clone() }));
        let reply = run.take(Report::Refused(Sentence::new("x", &[])), Texts::default());
        assert!(reply.refused.is_some());
        assert_eq!(run.wanted, first);
    }

    #[test]
    fn curves_of_the_same_world_are_kept_and_named_by_what_differs() {
        let mut run = Run::default();
        let first = run.wanted.clone();
        for seed in 1..=8 {
            run.load(load(&ExperimentSpec { seed, ..first.clone() }));
            run.take(started(seed as u32), Texts::default());
            run.take(with_points(seed as u32), Texts::default());
        }
        assert_eq!(run.shown.len(), MOST_KEPT, "the oldest goes");
        assert!(run.shown.iter().all(|kept| kept.label.ends_with(|c: char| c.is_ascii_digit())), "{:?}", run.shown);
        let mut indices: Vec<u32> = run.shown.iter().map(|kept| kept.color_index).collect();
        indices.sort_unstable();
        indices.dedup();
        assert_eq!(indices.len(), MOST_KEPT, "each its own colour");

        let mut elsewhere = first;
        elsewhere.pellet.width = 6;
        run.load(load(&elsewhere));
        run.take(started(9), Texts::default());
        assert!(run.shown.is_empty(), "another world has another scale");
    }

    #[test]
    fn a_curve_with_a_change_in_it_says_so_and_has_no_link() {
        let mut run = Run::default();
        let first = run.wanted.clone();
        run.load(load(&first));
        run.take(started(1), Texts::default());
        run.take(with_points(1), Texts::default());
        run.snapshot.changed_at = Some(3);
        // Its settings are those of the link, but not its past.
        run.load(load(&first));
        run.take(started(2), Texts::default());
        run.take(with_points(2), Texts::default());
        run.load(load(&ExperimentSpec { seed: 99, ..first }));
        run.take(started(3), Texts::default());
        let links: Vec<bool> = run.shown.iter().map(|kept| kept.link.is_some()).collect();
        assert_eq!(links, [false, true]);
        assert!(run.shown[0].label.contains("changed while training"), "{}", run.shown[0].label);
    }

    #[test]
    fn reports_of_an_earlier_run_change_nothing() {
        let mut run = Run::default();
        run.load(load(&ExperimentSpec::default()));
        run.take(started(2), Texts::default());
        run.take(with_points(1), Texts::default());
        assert!(run.curve.is_empty());
    }
}
