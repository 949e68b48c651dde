//! Experiments and links at random, for properties.

use proptest::prelude::*;
use tandem_core::base::rng::{Stream, below};
use tandem_core::env::script::Script;
use tandem_core::experiment::knobs::{KNOBS, Kind, forget_unused, normalise, switch_algo, why_not};
use tandem_core::experiment::spec::{
    AlgoChoice, CellKind, Controller, EnvChoice, ExperimentSpec, GameChoice, GridMap, Payoffs, Seats,
};
use tandem_core::experiment::world;

/// Draws one after another.
pub(crate) struct Dice {
    stream: Stream,
    count: u32,
}

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self { stream: Stream::new(seed, "test"), count: 0 }
    }

    pub(crate) fn word(&mut self) -> u32 {
        self.count += 1;
        self.stream.words([self.count, 0, 0, 0])[0]
    }

    /// Below `n`, at most 65,536.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        below(self.word(), n as u32) as usize
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    pub(crate) fn coin(&mut self) -> bool {
        self.word() & 1 == 0
    }
}

/// Any experiment in canonical form: in range, possible, its algorithm not refused, nothing without effect.
pub(crate) fn canonical_spec() -> impl Strategy<Value = ExperimentSpec> {
    any::<u64>().prop_map(|seed| canonical(random_spec(&mut Dice::new(seed))))
}

/// What opening the experiment's link must give.
pub(crate) fn canonical(mut spec: ExperimentSpec) -> ExperimentSpec {
    let _ = normalise(&mut spec);
    if world::build(&spec).is_err() {
        spec.pellet.map = None;
        let _ = normalise(&mut spec);
    }
    if why_not(&spec, spec.algo).is_some() {
        switch_algo(&mut spec, AlgoChoice::Iql);
        let _ = normalise(&mut spec);
    }
    forget_unused(&mut spec);
    spec
}

/// Every field anywhere in its range or, now and then, at its default; fields need not agree with one another.
pub(crate) fn random_spec(dice: &mut Dice) -> ExperimentSpec {
    let env = *dice.pick(&EnvChoice::ALL);
    let algo = *dice.pick(&[AlgoChoice::Iql, AlgoChoice::Vdn, AlgoChoice::Qmix]);
    let mut spec = ExperimentSpec::defaults(env, algo);
    for knob in KNOBS.iter().filter(|knob| !matches!(knob.key, "env" | "algo")) {
        if dice.coin() {
            continue;
        }
        let word = dice.word();
        match knob.kind {
            Kind::Int { min, max, step, set, .. } => set(&mut spec, min + word % ((max - min) / step + 1) * step),
            Kind::Float { min, max, set, .. } => set(&mut spec, random_float(dice, min, max)),
            Kind::Choice { ids, set, .. } => set(&mut spec, ids[word as usize % ids.len()]),
            Kind::Bool { set, .. } => set(&mut spec, word.is_multiple_of(2)),
            Kind::Size { min, max, set, .. } => {
                let side = |word: u32| min + word % (max - min + 1);
                set(&mut spec, (side(word), side(dice.word())));
            }
            Kind::OptionalInt { min, max, set, .. } => {
                set(&mut spec, (!word.is_multiple_of(3)).then(|| min + dice.word() % (max - min + 1)));
            }
            Kind::Seats { set, .. } => set(&mut spec, random_seats(dice)),
            Kind::Seed { set, .. } => set(&mut spec, u64::from(word) << 32 | u64::from(dice.word())),
        }
    }
    if dice.coin() {
        edit_world(&mut spec, dice);
    }
    spec
}

/// Anyone on any seat, as many seats as come.
fn random_seats(dice: &mut Dice) -> Seats {
    let seat = |dice: &mut Dice| match dice.below(5) {
        0 | 1 => Controller::Learner(dice.below(4) as u8),
        2 => Controller::Frozen,
        3 => Controller::Scripted(*dice.pick(&Script::ALL)),
        _ => Controller::Human(*dice.pick(&Script::ALL)),
    };
    Seats { list: (0..dice.below(10)).map(|_| seat(dice)).collect() }
}

/// Any finite bits in the range, or an end of it.
fn random_float(dice: &mut Dice, min: f32, max: f32) -> f32 {
    let bits = f32::from_bits(dice.word());
    match dice.below(4) {
        0 => min,
        1 => max,
        2 if bits.is_finite() => bits.clamp(min, max),
        _ => min + (max - min) * (dice.word() as f32 / u32::MAX as f32),
    }
}

fn edit_world(spec: &mut ExperimentSpec, dice: &mut Dice) {
    match spec.env {
        EnvChoice::Pellet => {
            let cells = spec.pellet.width * spec.pellet.height;
            let walls = 1 + dice.below(40);
            let kind = |dice: &mut Dice| match dice.below(walls) {
                0 => CellKind::Wall,
                1 => CellKind::NoPellet,
                _ => CellKind::Free,
            };
            let map = (0..cells).map(|_| kind(dice)).collect();
            let starts = (0..dice.below(10)).map(|_| dice.below(cells as usize) as u32).collect();
            spec.pellet.map = Some(GridMap { cells: map, starts });
        }
        EnvChoice::Matrix => {
            let (rows, columns) = (2 + dice.word() % 5, 2 + dice.word() % 5);
            let is_common = dice.coin();
            let cell = |_| {
                let first = payoff(dice);
                (first, if is_common { first } else { payoff(dice) })
            };
            let cells = (0..rows * columns).map(cell).collect();
            spec.matrix.payoffs = Some(Payoffs { rows, columns, cells });
            spec.matrix.game = GameChoice::Custom;
        }
        EnvChoice::TwoStep => {
            spec.two_step.a = std::array::from_fn(|_| payoff(dice));
            spec.two_step.b = std::array::from_fn(|_| payoff(dice));
        }
        EnvChoice::Foraging | EnvChoice::Pursuit | EnvChoice::Particles(_) | EnvChoice::Board(_) => {}
    }
}

fn payoff(dice: &mut Dice) -> f32 {
    random_float(dice, -1000.0, 1000.0)
}
