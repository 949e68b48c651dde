//! Opens an experiment as a page does, looks at it in every way, and trains one update.

use tandem_core::experiment::command::{Command, LiveChange, TrainSpeed, Watch};
use tandem_core::experiment::session::Session;
use tandem_core::experiment::snapshot::{Report, RunState, Snapshot};
use tandem_core::experiment::spec::ExperimentSpec;

use crate::hostile::Dice;

/// Trains `spec` for one update under commands nobody would send. Reports travel as bytes, as they do to a page.
///
/// # Panics
/// Where the session stops early or refuses.
pub(crate) fn open(spec: ExperimentSpec, dice: &mut Dice) {
    let mut session = Session::new();
    session.apply(Command::Load { spec: Box::new(spec), run_to: 1 });
    session.apply(Command::Watch(watch(dice)));
    session.apply(Command::StageSpeed(dice.number()));
    session.apply(Command::StageExplores(dice.coin()));
    let mut seconds = 0.0;
    loop {
        let tick = session.tick(&mut || {
            seconds += 0.02;
            seconds
        });
        let mut last = None;
        for report in session.take_reports() {
            let bytes = postcard::to_stdvec(&report).expect("a report serialises");
            match postcard::from_bytes(&bytes).expect("a report is read back") {
                Report::Snapshot(snapshot) => last = Some(snapshot),
                Report::Started(_) => {}
                Report::Refused(sentence) => panic!("refused after parsing: {sentence:?}"),
            }
        }
        if last.is_some_and(|snapshot| has_trained(&snapshot)) {
            break;
        }
        assert!(tick.busy || tick.wake_in.is_some(), "the session has stopped early");
    }
    // The end is reached: what is asked of it now may do anything but panic.
    for command in [
        Command::Live(LiveChange::Lr(f32::from_bits(dice.number()))),
        Command::Live(LiveChange::Epsilon(f32::from_bits(dice.number()))),
        Command::Speed(TrainSpeed::Ten),
        Command::RestartEpisode,
        Command::TrainTeams(true),
        Command::StepEnv,
        Command::TrainTeams(dice.coin()),
        Command::Pause,
    ] {
        session.apply(command);
        session.tick(&mut || {
            seconds += 0.02;
            seconds
        });
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
