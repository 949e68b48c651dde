//! Rewards by part, as a session tells them: per env step of the episode on stage and per evaluation.

use tandem_core::env::api::weighted;
use tandem_core::experiment::command::{Command, TrainSpeed, Watch};
use tandem_core::experiment::session::Session;
use tandem_core::experiment::snapshot::{EvalPoint, Facts, Report, Snapshot};
use tandem_core::experiment::spec::{AlgoChoice, EnvChoice, ExperimentSpec, RewardChoice};

/// A session under a clock that moves a little per reading, and what it has told.
#[derive(Default)]
struct Bench {
    session: Session,
    now: f64,
    facts: Facts,
    evals: Vec<EvalPoint>,
    newest: Snapshot,
}

impl Bench {
    fn load(spec: ExperimentSpec) -> Self {
        let mut bench = Self::default();
        bench.tell(Command::Load { spec: Box::new(spec), run_to: 0 });
        bench
    }

    /// Hands over a command and waits until nothing moves but the stage.
    fn tell(&mut self, command: Command) {
        self.session.apply(command);
        while self.tick() {}
        self.now += 0.1;
        self.session.apply(Command::Watch(Watch::default()));
        self.tick();
    }

    fn tick(&mut self) -> bool {
        let now = &mut self.now;
        let tick = self.session.tick(&mut || {
            *now += 0.001;
            *now
        });
        for report in self.session.take_reports() {
            match report {
                Report::Started(facts) => self.facts = *facts,
                Report::Snapshot(snapshot) => {
                    self.evals.extend(snapshot.evals.iter().cloned());
                    self.newest = *snapshot;
                }
                Report::Refused(sentence) => panic!("refused: {sentence:?}"),
            }
        }
        tick.busy
    }

    /// Each agent's weighted parts, summed over the env steps kept.
    fn returns_by_part(&self) -> Vec<f32> {
        let (n, p) = (self.facts.num_agents as usize, self.facts.part_names.len());
        let rows: Vec<&[f32]> = self.newest.stage.paid.parts.chunks_exact(p).collect();
        (0..n)
            .map(|i| rows.iter().skip(i).step_by(n).map(|row| weighted(&self.facts.part_weights, row)).sum())
            .collect()
    }

    fn steps_paid(&self) -> u32 {
        let row = self.facts.num_agents as usize * self.facts.part_names.len();
        (self.newest.stage.paid.parts.len() / row) as u32
    }
}

/// Two learners who are paid partly for their own arrivals and pay for their moves.
fn mixed() -> ExperimentSpec {
    let mut spec = ExperimentSpec::defaults(EnvChoice::Pellet, AlgoChoice::Iql);
    (spec.pellet.reward, spec.pellet.alpha, spec.pellet.move_cost) = (RewardChoice::First, 0.25, 0.05);
    (spec.learner.hidden, spec.budget) = (16, 1_000);
    spec
}

fn assert_close(a: &[f32], b: &[f32], what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4), "{what}: {a:?} is not {b:?}");
}

#[test]
fn an_evaluations_parts_add_up_to_its_returns_whatever_the_world() {
    let mut cooperative = ExperimentSpec::defaults(EnvChoice::Pellet, AlgoChoice::Vdn);
    (cooperative.pellet.move_cost, cooperative.learner.hidden, cooperative.budget) = (0.1, 16, 500);
    let matrix = ExperimentSpec { budget: 2_000, ..ExperimentSpec::defaults(EnvChoice::Matrix, AlgoChoice::Iql) };
    let two_step = ExperimentSpec { budget: 2_000, ..ExperimentSpec::defaults(EnvChoice::TwoStep, AlgoChoice::Vdn) };
    for spec in [mixed(), cooperative, matrix, two_step] {
        let mut bench = Bench::load(spec);
        bench.tell(Command::Run);
        assert!(bench.evals.len() >= 2, "it was evaluated as it trained");
        let parts = bench.facts.part_names.len();
        for point in &bench.evals {
            let rows = point.parts.chunks_exact(parts);
            let returns: Vec<f32> = rows.map(|row| weighted(&bench.facts.part_weights, row)).collect();
            assert_close(&returns, &point.returns, "an evaluation");
        }
    }
}

#[test]
fn the_training_episode_is_kept_step_by_step_and_stays_until_the_next_begins() {
    let mut bench = Bench::load(mixed());
    bench.tell(Command::StepEnv);
    assert_eq!(bench.steps_paid(), 1);
    let mut ends = 0;
    let mut before = bench.newest.stage.paid.clone();
    for _ in 0..120 {
        bench.tell(Command::StepEnv);
        let stage = &bench.newest.stage;
        assert!(stage.is_training_env, "stepped by hand, the stage is the training environment");
        let steps = stage.paid.from + bench.steps_paid();
        if before.ended {
            assert_eq!((steps, stage.paid.episode), (1, before.episode + 1), "the next episode's first env step");
        }
        if stage.paid.ended {
            ends += 1;
            assert_eq!((stage.step, stage.episode), (0, stage.paid.episode + 1), "the world has begun anew");
        } else {
            assert_eq!((steps, stage.paid.episode), (stage.step, stage.episode));
            assert_close(&bench.returns_by_part(), &stage.returns, "the episode so far");
        }
        before = bench.newest.stage.paid.clone();
    }
    assert!(ends > 1, "{ends} episodes ended");
}

#[test]
fn the_stages_own_episode_is_kept_too() {
    let mut bench = Bench::load(mixed());
    bench.tell(Command::StageSpeed(60));
    bench.tell(Command::Speed(TrainSpeed::Full));
    bench.tell(Command::RestartEpisode);
    let mut longest = 0;
    for _ in 0..2_000 {
        bench.now += 0.02;
        bench.tick();
        let stage = &bench.newest.stage;
        assert!(!stage.is_training_env);
        assert_eq!((stage.paid.from + bench.steps_paid(), stage.paid.episode), (stage.step, stage.episode));
        assert_close(&bench.returns_by_part(), &stage.returns, "the stage's episode");
        longest = longest.max(stage.step);
    }
    assert!(longest > 10, "it has played {longest} env steps");
}

#[test]
fn a_long_episode_keeps_its_newest_env_steps() {
    let mut spec = mixed();
    // Agents who wander take long to find the last of many pellets.
    spec.pellet.pellets = 8;
    (spec.pellet.width, spec.pellet.height, spec.pellet.limit) = (16, 16, 10_000);
    (spec.learner.eps_end, spec.budget) = (1.0, 100_000);
    let mut bench = Bench::load(spec);
    let mut kept = (0, 0);
    for _ in 0..260 {
        bench.tell(Command::StepEnv);
        kept = kept.max((bench.newest.stage.paid.from, bench.steps_paid()));
    }
    assert!(kept.0 > 0 && kept.1 == 200, "{kept:?}");
}
