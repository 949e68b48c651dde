//! Hand-written players of the particle worlds. They see what their agent observes and nothing else.
//!
//! All steer alike ([`Steering`]): of the five movements the one that brings a predicted place nearest to a target,
//! q = p + 0.1·v + h·(0.75·v + a·u), where u is the movement's direction and a what it adds to the velocity. h = 0.4 is
//! where the agent would come to rest (*coasting*), h = 0.1 where it is two env steps from now (*greedy*). Where an
//! observation has no velocity it is taken for zero and h is chosen larger, which brakes earlier.
//!
//! - *nearest*: coasts to the landmark nearest to it, whoever else does.
//! - *hungarian*, *hungarian_greedy*: to the landmark that is its own when landmarks are given to agents such that the
//!   distances sum to the least, anew at every env step.
//! - *expert*: adversary: good agents split over the landmarks, the adversary stays in their middle. tag: hunters make
//!   for the nearest prey and where it will be, prey for where the nearest hunter is farthest. speaker-listener: one
//!   names the goal, the other coasts to it. reference: both do both. push: the agent coasts to its goal, the adversary
//!   to the landmark that the agent is nearer to.

use super::MAX_AGENTS;
use super::assign::assignment;
use super::physics::{DAMPING, DT, distance, square_distance};
use super::spec::{ParticleSpec, Scenario};
use crate::env::script::{Program, Script, Turn};

/// Horizon of an agent that wants to come to rest: Σ 0.1·0.75^k.
const COASTING: f64 = DT / DAMPING;
/// Horizon of an agent that looks two env steps ahead.
const GREEDY: f64 = DT;
/// Horizon of an agent that does not know its velocity.
const BLIND: f64 = 0.7;
/// How many seconds ahead a hunter expects its prey.
const LEAD: f64 = 0.2;
/// What a step beyond the arena's edge is worth to prey, in lengths of distance to a hunter.
const EDGE: f64 = 4.0;

/// The scripts that suit a world.
pub(super) fn suiting(spec: &ParticleSpec) -> &'static [Script] {
    match spec.scenario {
        // Their players know where everything is.
        _ if spec.near_agents.is_some() || spec.near_landmarks.is_some() => &[Script::Uniform, Script::Idle],
        Scenario::Spread => {
            &[Script::Uniform, Script::Idle, Script::Nearest, Script::Hungarian, Script::HungarianGreedy]
        }
        // The speaker has no word for silence.
        Scenario::SpeakerListener => &[Script::Uniform, Script::Expert],
        Scenario::Adversary | Scenario::Tag | Scenario::Reference | Scenario::Push => {
            &[Script::Uniform, Script::Idle, Script::Expert]
        }
    }
}

/// A script of a world, other than the uniform one.
pub(super) fn program(spec: &ParticleSpec, script: Script) -> Option<Box<dyn Program>> {
    suiting(spec).contains(&script).then(|| Box::new(Player { spec: spec.clone(), script }) as Box<dyn Program>)
}

/// A script in one world.
#[derive(Debug)]
struct Player {
    spec: ParticleSpec,
    script: Script,
}

impl Program for Player {
    fn act(&self, obs: &[f32], _legal: &[u32], turn: &Turn) -> u32 {
        let (mut eyes, agent) = (Eyes(obs), turn.agent as usize);
        match (self.script, self.spec.scenario) {
            (Script::Idle, _) => 0,
            (_, Scenario::Spread) => self.spread(&mut eyes, agent),
            (_, Scenario::Adversary) => self.adversary(&mut eyes, agent),
            (_, Scenario::Tag) => self.tag(&mut eyes, agent),
            (_, Scenario::SpeakerListener) => speaker_listener(&mut eyes, agent),
            (_, Scenario::Reference) => reference(&mut eyes),
            (_, Scenario::Push) => push(&mut eyes, agent),
        }
    }

    fn draws(&self) -> bool {
        false
    }
}

/// Reads an observation from its beginning.
struct Eyes<'a>(&'a [f32]);

impl Eyes<'_> {
    fn pair(&mut self) -> [f64; 2] {
        let pair = [f64::from(self.0[0]), f64::from(self.0[1])];
        self.0 = &self.0[2..];
        pair
    }

    /// The first `count` places are read into a table; the rest of it is zeros.
    fn pairs(&mut self, count: usize) -> [[f64; 2]; MAX_AGENTS] {
        let mut pairs = [[0.0; 2]; MAX_AGENTS];
        pairs[..count].iter_mut().for_each(|pair| *pair = self.pair());
        pairs
    }

    /// The brightest of the next numbers; `None` where all are dark.
    fn brightest(&mut self, count: usize) -> Option<usize> {
        let (numbers, rest) = self.0.split_at(count);
        self.0 = rest;
        let mut brightest = (None, 0.0);
        for (index, &number) in numbers.iter().enumerate() {
            if number > brightest.1 {
                brightest = (Some(index), number);
            }
        }
        brightest.0
    }
}

/// An agent that chooses among the five movements.
#[derive(Clone, Copy)]
struct Steering {
    velocity: [f64; 2],
    /// Change of the velocity by a full push in an env step.
    push: f64,
    horizon: f64,
}

impl Steering {
    /// An agent of the usual strength.
    fn new(velocity: [f64; 2], horizon: f64) -> Self {
        Self { velocity, push: 5.0 * DT, horizon }
    }

    /// The predicted place after each movement, as seen from here.
    fn after(self, movement: usize) -> [f64; 2] {
        const DIRECTIONS: [[f64; 2]; 5] = [[0.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]];
        [0, 1].map(|axis| {
            let v = self.velocity[axis];
            DT * v + self.horizon * ((1.0 - DAMPING) * v + self.push * DIRECTIONS[movement][axis])
        })
    }

    /// The movement of least cost, the first of equals.
    fn least(self, cost: impl Fn([f64; 2]) -> f64) -> u32 {
        let mut best = (0, f64::INFINITY);
        for movement in 0..5 {
            let cost = cost(self.after(movement));
            if cost < best.1 {
                best = (movement as u32, cost);
            }
        }
        best.0
    }

    fn to(self, target: [f64; 2]) -> u32 {
        self.least(|place| square_distance(place, target))
    }
}

/// The place nearest to `from`; `from` where there is none.
fn nearest(from: [f64; 2], places: &[[f64; 2]]) -> [f64; 2] {
    let mut best = (from, f64::INFINITY);
    for &place in places {
        let square = square_distance(place, from);
        if square < best.1 {
            best = (place, square);
        }
    }
    best.0
}

/// The landmark of `agent` when `agents` (itself among them at the origin, in everyone's order) share them out.
fn own_landmark(agent: usize, n: usize, others: &[[f64; 2]], landmarks: &[[f64; 2]]) -> [f64; 2] {
    let mut cost = [[0.0; MAX_AGENTS]; MAX_AGENTS];
    for (row, cost) in cost[..n].iter_mut().enumerate() {
        let place = match row.cmp(&agent) {
            std::cmp::Ordering::Less => others[row],
            std::cmp::Ordering::Equal => [0.0; 2],
            std::cmp::Ordering::Greater => others[row - 1],
        };
        cost.iter_mut().zip(landmarks).for_each(|(cost, &landmark)| *cost = distance(place, landmark));
    }
    landmarks[assignment(n, &cost)[agent]]
}

impl Player {
    fn spread(&self, eyes: &mut Eyes<'_>, agent: usize) -> u32 {
        let n = self.spec.agents as usize;
        let (velocity, _place) = (eyes.pair(), eyes.pair());
        let landmarks = eyes.pairs(n);
        let landmarks = &landmarks[..n];
        if self.script == Script::Nearest {
            return Steering::new(velocity, COASTING).to(nearest([0.0; 2], landmarks));
        }
        let others = eyes.pairs(n - 1);
        let horizon = if self.script == Script::HungarianGreedy { GREEDY } else { COASTING };
        Steering::new(velocity, horizon).to(own_landmark(agent, n, &others, landmarks))
    }

    fn adversary(&self, eyes: &mut Eyes<'_>, agent: usize) -> u32 {
        let n = self.spec.agents as usize;
        let steering = Steering::new([0.0; 2], BLIND);
        if agent == 0 {
            let sum = eyes.pairs(n).iter().fold([0.0; 2], |sum, at| [sum[0] + at[0], sum[1] + at[1]]);
            return steering.to(sum.map(|x| x / n as f64));
        }
        let _goal = eyes.pair();
        let landmarks = eyes.pairs(n);
        let _adversary = eyes.pair();
        let others = eyes.pairs(n - 1);
        steering.to(own_landmark(agent - 1, n, &others, &landmarks[..n]))
    }

    fn tag(&self, eyes: &mut Eyes<'_>, agent: usize) -> u32 {
        let spec = &self.spec;
        let (hunters, prey) = (spec.adversaries as usize, spec.good as usize);
        let (velocity, place) = (eyes.pair(), eyes.pair());
        let _obstacles = eyes.pairs(spec.obstacles as usize);
        if agent < hunters {
            let _hunters = eyes.pairs(hunters - 1);
            let (mut targets, velocities) = (eyes.pairs(prey), eyes.pairs(prey));
            for (target, v) in targets.iter_mut().zip(velocities) {
                *target = [target[0] + LEAD * v[0], target[1] + LEAD * v[1]];
            }
            let steering = Steering { push: 3.0 * DT, ..Steering::new(velocity, GREEDY) };
            return steering.to(nearest([0.0; 2], &targets[..prey]));
        }
        let seen = eyes.pairs(hunters);
        let steering = Steering { push: 4.0 * DT, ..Steering::new(velocity, COASTING) };
        steering.least(|at| {
            let hunter = distance(nearest(at, &seen[..hunters]), at);
            let beyond = |axis: usize| {
                let over = (place[axis] + at[axis]).abs() - 0.9;
                if over > 0.0 { over } else { 0.0 }
            };
            EDGE * (beyond(0) + beyond(1)) - hunter
        })
    }
}

fn speaker_listener(eyes: &mut Eyes<'_>, agent: usize) -> u32 {
    if agent == 0 {
        return eyes.brightest(3).unwrap_or(0) as u32;
    }
    let (velocity, landmarks) = (eyes.pair(), eyes.pairs(3));
    eyes.brightest(3).map_or(0, |word| Steering::new(velocity, COASTING).to(landmarks[word]))
}

fn reference(eyes: &mut Eyes<'_>) -> u32 {
    let (velocity, landmarks) = (eyes.pair(), eyes.pairs(3));
    let goal_of_other = eyes.brightest(3).unwrap_or(0) as u32;
    let heard = eyes.brightest(10).filter(|&word| word < 3);
    let movement = heard.map_or(0, |word| Steering::new(velocity, COASTING).to(landmarks[word]));
    5 * goal_of_other + movement
}

fn push(eyes: &mut Eyes<'_>, agent: usize) -> u32 {
    let steering = Steering::new(eyes.pair(), COASTING);
    if agent == 1 {
        return steering.to(eyes.pair());
    }
    let (landmarks, other) = (eyes.pairs(2), eyes.pair());
    steering.to(nearest(other, &landmarks[..2]))
}
