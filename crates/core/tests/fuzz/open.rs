//! Opens an experiment as a page does, looks at it in every way, trains one update, and then asks of it what nobody
//! would: seats of any kind, weights at any time, actions of nobody, specs that no one has judged.

use tandem_core::experiment::command::{Command, LiveChange, TrainSpeed, Watch, Weights};
use tandem_core::experiment::session::{Session, Tick};
use tandem_core::experiment::snapshot::{Report, RunState, Snapshot};
use tandem_core::experiment::spec::{Controller, ExperimentSpec, Seats};

use crate::hostile::{Dice, controller, unjudged};
use crate::meter::MOST;

/// Commands after the first update, and after the second experiment.
const COMMANDS: u32 = 16;
/// Most pieces of work between two of them.
const PATIENCE: u32 = 24;

/// A session under a clock that moves more than a slice per reading, so that a tick is one piece of work.
#[derive(Default)]
struct Opened {
    session: Session,
    seconds: f64,
    last: Option<Box<Snapshot>>,
    refused: bool,
}

/// Trains `spec` for one update under commands nobody would send, and goes on from there.
///
/// # Panics
/// Where the session stops early or refuses, or a run grows larger than it may be.
pub(crate) fn open(spec: ExperimentSpec, dice: &mut Dice) {
    let second = unjudged(&spec, dice);
    let mut opened = Opened::default();
    opened.session.apply(Command::Load { spec: Box::new(spec), run_to: 1 });
    opened.session.apply(Command::Watch(watch(dice)));
    opened.session.apply(Command::StageSpeed(dice.number()));
    opened.session.apply(Command::StageExplores(dice.coin()));
    loop {
        let tick = opened.tick();
        assert!(!opened.refused, "refused after parsing");
        if opened.last.as_deref().is_some_and(has_trained) {
            break;
        }
        assert!(tick.busy || tick.wake_in.is_some(), "the session has stopped early");
    }
    opened.commands(dice);
    // An impossible world is refused, and what was there goes on.
    opened.session.apply(Command::Load { spec: Box::new(second), run_to: dice.number() });
    opened.commands(dice);
}

impl Opened {
    /// Reports travel as bytes, as they do to a page.
    fn tick(&mut self) -> Tick {
        let seconds = &mut self.seconds;
        let tick = self.session.tick(&mut || {
            *seconds += 0.02;
            *seconds
        });
        for report in self.session.take_reports() {
            let bytes = postcard::to_stdvec(&report).expect("a report serialises");
            match postcard::from_bytes(&bytes).expect("a report is read back") {
                Report::Snapshot(snapshot) => self.last = Some(snapshot),
                Report::Started(_) => {}
                Report::Refused(_) => self.refused = true,
            }
        }
        tick
    }

    /// Commands with some work between them.
    fn commands(&mut self, dice: &mut Dice) {
        for _ in 0..COMMANDS {
            let command = self.drawn(dice);
            self.session.apply(command);
            for _ in 0..dice.below(PATIENCE) {
                if !self.tick().busy {
                    break;
                }
            }
            let bytes = self.session.run().map_or(0, |run| run.learner.plan.bytes());
            assert!(bytes <= MOST as u64, "a run of {} MB", bytes >> 20);
        }
    }

    fn drawn(&self, dice: &mut Dice) -> Command {
        match dice.below(21) {
            0 => Command::Live(LiveChange::Lr(f32::from_bits(dice.number()))),
            1 => Command::Live(LiveChange::Epsilon(f32::from_bits(dice.number()))),
            2..=5 => Command::Live(LiveChange::Seats(self.seats(dice))),
            6 => Command::TakeWeights(*dice.pick(&[Weights::Best, Weights::Last])),
            7 | 8 => self.act(dice),
            9 => Command::Continue,
            10..=12 => Command::StepUpdate,
            13 => Command::StepEnv,
            14 => Command::Run,
            15 => Command::Pause,
            16 => {
                Command::Speed(*dice.pick(&[TrainSpeed::One, TrainSpeed::Ten, TrainSpeed::Hundred, TrainSpeed::Full]))
            }
            17 if dice.coin() => Command::RestartEpisode,
            17 => Command::StagePlays(dice.coin()),
            18 => Command::TrainTeams(dice.coin()),
            19 if dice.coin() => Command::Live(LiveChange::Idle(dice.number())),
            19 => Command::Live(LiveChange::Goal(dice.coin().then(|| f32::from_bits(dice.number())))),
            _ => Command::Watch(watch(dice)),
        }
    }

    /// As many as there are agents or not; half of the time such as a page would offer.
    fn seats(&self, dice: &mut Dice) -> Seats {
        let Some(run) = self.session.run().filter(|_| dice.coin()) else {
            return Seats { list: (0..dice.below(12)).map(|_| controller(dice)).collect() };
        };
        let mut list: Vec<Controller> = (0..run.facts.num_agents).map(|i| run.learner.settings.seats.of(i)).collect();
        for seat in &mut list {
            match seat {
                Controller::Frozen if dice.coin() => *seat = Controller::Learner(dice.below(4) as u8),
                Controller::Learner(_) if dice.coin() => *seat = Controller::Frozen,
                _ => {}
            }
        }
        Seats { list }
    }

    /// For whoever is waited for, or for anybody.
    fn act(&self, dice: &mut Dice) -> Command {
        match self.last.as_deref().filter(|_| dice.coin()) {
            Some(Snapshot { stage, .. }) => {
                let agent = stage.waiting.first().copied().unwrap_or(0);
                Command::Act { agent, action: dice.below(8), at: (stage.episode, stage.step) }
            }
            None => Command::Act { agent: dice.number(), action: dice.number(), at: (dice.number(), dice.number()) },
        }
    }
}

fn has_trained(snapshot: &Snapshot) -> bool {
    snapshot.update >= 1 && !matches!(snapshot.state, RunState::Running | RunState::Seeking { .. })
}

fn watch(dice: &mut Dice) -> Watch {
    Watch {
        agent: dice.number(),
        pair: (dice.number(), dice.number()),
        joint_values: dice.coin(),
        without_abs: dice.coin(),
        overlay: dice.coin(),
        teams: dice.coin(),
    }
}
