//! The stage: episodes of its own, on its own random stream, played with the newest weights; or the training
//! environment itself. Computes what views show of the state on it.

use super::command::Watch;
use super::joint::{Igm, igm, mixed};
use super::run::Run;
use super::snapshot::{JointValues, Mixed, NO_ACTION, Paid, Stage, Thought};
use super::spec::Controller;
use crate::base::rng::Stream;
use crate::env::api::{EnvState, Frame, StateRef, StepOut};
use crate::env::script::Turn;
use crate::marl::learner::Central;
use crate::marl::parts::explore::{Behaviour, epsilon_greedy};
use crate::marl::parts::tally::STEPS_KEPT;
use crate::marl::probe::{Probe, greedy};

/// Joint actions looked at when searching a state where the mixer without |·| breaks IGM: 200 states of two agents with
/// five actions.
const COUNTEREXAMPLE_JOINT_ACTIONS: u32 = 5_000;
/// Points per side of the surface.
const SURFACE_POINTS: u32 = 25;

/// An episode being played, and what is kept of it.
#[derive(Debug)]
pub struct StagePlay {
    state: EnvState,
    episode: u32,
    ended: bool,
    actions: Vec<u32>,
    explored: Vec<bool>,
    rewards: Vec<f64>,
    returns: Vec<f64>,
    /// Raw reward parts of the episode's env steps `[steps, n, parts]`.
    parts: Vec<f64>,
    weights_update: u32,
    /// States of the episode at which IGM held, and all its states.
    igm: (u32, u32),
    environment: Stream,
    explore: Stream,
    /// What people have chosen `[n]`: for the next env step, or where the world flows until they choose otherwise.
    chosen: Vec<Option<u32>>,
    /// Who of the agents was a person's when the episode began `[n]`, without those who have left since.
    people: Vec<bool>,
    /// Where agents move in turns: what the last mover that holds anything of its moves held.
    thought: Option<Thought>,
}

impl StagePlay {
    /// At the start of episode 0 of the run's stage stream.
    pub fn new(run: &Run) -> Self {
        let seed = run.spec.seed;
        let mut play = Self {
            state: EnvState::new(run.learner.env.info()),
            episode: 0,
            ended: false,
            actions: Vec::new(),
            explored: Vec::new(),
            rewards: Vec::new(),
            returns: Vec::new(),
            parts: Vec::new(),
            weights_update: 0,
            igm: (0, 0),
            environment: Stream::new(seed, "stage"),
            explore: Stream::new(seed, "stage explore"),
            chosen: Vec::new(),
            people: Vec::new(),
            thought: None,
        };
        play.begin(run);
        play
    }

    /// Whether the episode is over.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Begins the next episode.
    pub fn next_episode(&mut self, run: &Run) {
        self.episode += 1;
        self.begin(run);
    }

    /// Begins another episode where a person has sat down since this one began: nobody inherits a game, and no result is
    /// told of somebody who had no move in it. Returns whether it did.
    pub fn welcome(&mut self, run: &Run) -> bool {
        let people = people(run);
        let has_come = people.iter().zip(&self.people).any(|(&now, &then)| now && !then);
        if has_come {
            self.next_episode(run);
        } else {
            self.people = people;
        }
        has_come
    }

    /// The agents whose person is to choose now: whoever is to move, or moves with all the others.
    fn asked(&self, run: &Run) -> Vec<u32> {
        let env = &*run.learner.env;
        let to_move = env.to_move(self.state.view());
        let is_asked = |&i: &u32| {
            let is_person = matches!(run.learner.settings.seats.of(i), Controller::Human(_));
            is_person && (!env.info().in_turns || to_move == Some(i))
        };
        if self.ended { Vec::new() } else { (0..run.learner.agents.count).filter(is_asked).collect() }
    }

    /// The agents whose person has not chosen yet; the episode waits for them, unless its world flows.
    pub fn waiting(&self, run: &Run) -> Vec<u32> {
        if run.learner.env.info().flows() {
            return Vec::new();
        }
        let mut asked = self.asked(run);
        asked.retain(|&agent| self.chosen[agent as usize].is_none());
        asked
    }

    /// A person's action at env step `at` (episode and step as shown); whether it changes anything. Where the world
    /// flows it holds from now on, whenever it was meant for.
    pub fn choose(&mut self, run: &Run, agent: u32, action: u32, at: (u32, u32)) -> bool {
        let env = &*run.learner.env;
        let (info, state) = (env.info(), self.state.view());
        let is_in_time = info.flows() || at == (self.episode + 1, env.step_count(state));
        let is_new = self.chosen.get(agent as usize).is_some_and(|chosen| match chosen {
            None => true,
            Some(chosen) => info.flows() && *chosen != action,
        });
        let mut legal = vec![0; info.num_actions as usize];
        env.legal(state, agent.min(info.num_agents - 1), &mut legal);
        let is_legal = legal.get(action as usize).is_some_and(|&legal| legal != 0);
        let is_person = matches!(run.learner.settings.seats.of(agent), Controller::Human(_));
        let is_asked = if info.flows() { is_person } else { self.asked(run).contains(&agent) };
        let counts = is_in_time && is_new && is_legal && is_asked;
        if counts {
            self.chosen[agent as usize] = Some(action);
        }
        counts
    }

    /// An agent's action and whether it explores: as its controller has it.
    fn action(&self, run: &Run, agent: u32, explores: bool) -> (u32, bool) {
        let (env, state) = (&*run.learner.env, self.state.view());
        let step = env.step_count(state);
        let mut legal = vec![0; env.info().num_actions as usize];
        env.legal(state, agent, &mut legal);
        let is_person = matches!(run.learner.settings.seats.of(agent), Controller::Human(_));
        // Who has left the seat is not listened to any more.
        if let Some(action) = self.chosen[agent as usize].filter(|_| is_person) {
            return (action, false);
        }
        if is_person && env.info().flows() {
            return (0, false);
        }
        if let Some(program) = &run.learner.agents.programs[agent as usize] {
            let mut obs = vec![0.0; env.info().obs_len as usize];
            env.observe(state, agent, &mut obs);
            let turn = Turn { stream: self.explore, at: [0, self.episode, step], agent };
            return (program.act(&obs, &legal, &turn), false);
        }
        let (behaviour, epsilon) =
            if explores { (run.learner.behaviour, run.epsilon()) } else { (Behaviour::EpsilonGreedy, 0.0) };
        let learns = run.learner.settings.seats.of(agent).learns();
        let probe = Probe { learner: &run.learner, buffers: &run.buffers };
        let words = self.explore.words([0, self.episode, step, agent * 256]);
        behaviour.choose(&probe.output(state, agent), &legal, if learns { epsilon } else { 0.0 }, words)
    }

    /// One env step with the newest weights.
    pub fn step(&mut self, run: &Run, explores: bool) {
        let env = &*run.learner.env;
        let n = env.info().num_agents;
        let step = env.step_count(self.state.view());
        self.thought = thought(run, self.state.view()).or(self.thought.take());
        (self.actions, self.explored) = (0..n).map(|agent| self.action(run, agent, explores)).unzip();
        for (chosen, agent) in self.chosen.iter_mut().zip(0..) {
            let is_person = matches!(run.learner.settings.seats.of(agent), Controller::Human(_));
            // What was chosen for this env step is done; a key that is held is held as long as its person sits there.
            *chosen = chosen.filter(|_| is_person && env.info().flows());
        }
        let before = self.parts.len();
        self.parts.resize(before + n as usize * env.info().part_names.len(), 0.0);
        let mut out = StepOut { rewards: &mut self.rewards, parts: &mut self.parts[before..] };
        let draws = self.environment.env(0, self.episode, step + 1);
        self.ended = env.step(self.state.view_mut(), &self.actions, &draws, &mut out).any();
        for (sum, r) in self.returns.iter_mut().zip(&self.rewards) {
            *sum += r;
        }
        self.weights_update = run.weights_update();
        self.judge(run);
    }

    fn begin(&mut self, run: &Run) {
        let env = &*run.learner.env;
        let n = env.info().num_agents as usize;
        env.reset(self.state.view_mut(), &self.environment.env(0, self.episode, 0));
        (self.ended, self.igm) = (false, (0, 0));
        self.thought = None;
        self.actions.clear();
        self.explored.clear();
        self.parts.clear();
        self.rewards = vec![0.0; n];
        self.returns = vec![0.0; n];
        // Where the world flows, a key that is held goes on being held.
        if !env.info().flows() {
            self.chosen.clear();
        }
        self.chosen.resize(n, None);
        self.people = people(run);
        self.weights_update = run.weights_update();
        self.judge(run);
    }

    fn judge(&mut self, run: &Run) {
        if self.ended {
            return; // nobody acts there
        }
        if let Some(verdict) = verdict(run, self.state.view()) {
            self.igm.0 += u32::from(verdict.holds);
            self.igm.1 += 1;
        }
    }

    fn paid(&self, run: &Run) -> Paid {
        let info = run.learner.env.info();
        let width = info.num_agents as usize * info.part_names.len();
        let steps = self.parts.len() / width;
        let from = steps.saturating_sub(STEPS_KEPT as usize);
        let parts = in_f32(&self.parts[from * width..]);
        Paid { episode: self.episode + 1, ended: self.ended, from: from as u32, parts }
    }

    /// What the page shows of this episode.
    pub fn show(
        &self,
        run: &Run,
        watch: &Watch,
        explores: bool,
        found: &mut Counterexample,
    ) -> (Stage, Option<JointValues>) {
        let stage = Stage {
            is_training_env: false,
            env_index: 0,
            episode: self.episode + 1,
            weights_update: self.weights_update,
            explores,
            ended: self.ended,
            actions: self.actions.clone(),
            explored: self.explored.clone(),
            rewards: in_f32(&self.rewards),
            returns: in_f32(&self.returns),
            waiting: self.waiting(run),
            chosen: self.chosen.clone(),
            thought: thought(run, self.state.view())
                .or_else(|| self.thought.clone().map(|thought| Thought { is_past: true, ..thought })),
            paid: self.paid(run),
            ..look(run, self.state.view(), watch)
        };
        let joint = joint(run, self.state.view(), watch, share(self.igm), found);
        (stage, joint)
    }
}

/// Whether each agent is a person's `[n]`.
fn people(run: &Run) -> Vec<bool> {
    let seats = &run.learner.settings.seats;
    (0..run.learner.agents.count).map(|agent| matches!(seats.of(agent), Controller::Human(_))).collect()
}

/// What the page shows of the first training environment.
pub fn show_training(run: &Run, watch: &Watch, found: &mut Counterexample) -> (Stage, Option<JointValues>) {
    let world = &run.learner.world;
    let info = world.env.info();
    let n = info.num_agents as usize;
    let (ints, reals) = (run.buffers.read(world.ints), run.buffers.read(world.reals));
    let at = StateRef { ints: &ints[..info.ints as usize], reals: &reals[..info.reals as usize] };
    let time = run.buffers.read(world.time);
    // At the first observation of an episode the buffers still hold the last step of the one before.
    let agents = if time[1] > 0 { 0..n } else { 0..0 };
    let stage = Stage {
        is_training_env: true,
        env_index: 0,
        episode: time[0] + 1,
        weights_update: run.weights_update(),
        explores: true,
        ended: false,
        actions: run.buffers.read(world.action)[agents.clone()].to_vec(),
        explored: run.buffers.read(world.explored)[agents.clone()].iter().map(|&e| e != 0).collect(),
        rewards: run.buffers.read(world.reward)[agents].to_vec(),
        returns: run.buffers.read(run.learner.tally.running)[..n].to_vec(),
        paid: paid_in_training(run, time[0] + 1),
        thought: thought(run, at),
        ..look(run, at, watch)
    };
    let held = verdict(run, at).map_or((0, 0), |v| (u32::from(v.holds), 1));
    let joint = joint(run, at, watch, share(held), found);
    (stage, joint)
}

/// What the episode of the first training environment has paid; `episode` is the number of the one it is in.
fn paid_in_training(run: &Run, episode: u32) -> Paid {
    let tally = &run.learner.tally;
    let (steps, kept) = (run.buffers.read(tally.episode_steps), run.buffers.read(tally.episode_parts));
    let width = kept.len() / STEPS_KEPT as usize;
    let (steps, ended) = (steps[0], steps[1] != 0);
    let from = steps.saturating_sub(STEPS_KEPT);
    let row = |step: u32| &kept[(step % STEPS_KEPT) as usize * width..][..width];
    Paid { episode: episode - u32::from(ended), ended, from, parts: (from..steps).flat_map(row).copied().collect() }
}

fn in_f32(numbers: &[f64]) -> Vec<f32> {
    numbers.iter().map(|&x| x as f32).collect()
}

fn share((held, all): (u32, u32)) -> (f32, u32) {
    (if all == 0 { 0.0 } else { held as f32 / all as f32 }, all)
}

/// What the agent to move holds of its moves: nothing of a person, who shall think for itself, nor of a script that does
/// not look ahead.
fn thought(run: &Run, at: StateRef<'_>) -> Option<Thought> {
    let env = &*run.learner.env;
    let agent = env.to_move(at)?;
    if matches!(run.learner.settings.seats.of(agent), Controller::Human(_)) {
        return None;
    }
    let mut mask = vec![0; env.info().num_actions as usize];
    env.legal(at, agent, &mut mask);
    let per_action = Probe { learner: &run.learner, buffers: &run.buffers }.per_action(at, agent);
    let foreseen = run.learner.agents.programs[agent as usize].as_ref().map_or_else(Vec::new, |program| {
        let mut obs = vec![0.0; env.info().obs_len as usize];
        env.observe(at, agent, &mut obs);
        program.foresees(&obs, &mask)
    });
    let legal = mask.iter().map(|&legal| legal != 0).collect();
    let holds = !per_action.is_empty() || !foreseen.is_empty();
    holds.then_some(Thought { agent, is_past: false, per_action, foreseen, legal })
}

/// The parts of the stage that depend on the state alone.
fn look(run: &Run, at: StateRef<'_>, watch: &Watch) -> Stage {
    let env = &*run.learner.env;
    let info = env.info();
    let probe = Probe { learner: &run.learner, buffers: &run.buffers };
    let (outputs, legal) = (probe.outputs(at), probe.legal(at));
    let observations = (0..info.num_agents)
        .map(|i| {
            let mut obs = vec![0.0; info.obs_len as usize];
            env.observe(at, i, &mut obs);
            obs
        })
        .collect();
    let mut state = vec![0.0; info.state_len as usize];
    env.state(at, &mut state);
    let frame = env.frame(at);
    let agent = watch.agent.min(info.num_agents - 1);
    let overlay = match &frame {
        Frame::Grid { width, height, .. } if watch.overlay => (0..width * height)
            .map(|cell| {
                env.standing_at(at, agent, cell).map_or_else(Vec::new, |there| probe.per_action(there.view(), agent))
            })
            .collect(),
        _ => Vec::new(),
    };
    let frequency = run.buffers.read(run.learner.tally.frequency);
    Stage {
        step: env.step_count(at),
        to_move: env.to_move(at),
        observations,
        state,
        greedy: outputs
            .iter()
            .zip(&legal)
            .map(|(outputs, legal)| if outputs.is_empty() { NO_ACTION } else { greedy(outputs, legal) })
            .collect(),
        legal: legal.iter().map(|row| row.iter().map(|&m| m != 0).collect()).collect(),
        per_action: (0..info.num_agents).map(|i| probe.per_action(at, i)).collect(),
        values: probe.values(at),
        overlay,
        overlay_agent: agent,
        frequencies: frequency
            .chunks_exact(info.num_actions as usize)
            .map(|row| {
                let sum: f32 = row.iter().sum();
                row.iter().map(|f| if sum > 0.0 { f / sum } else { 0.0 }).collect()
            })
            .collect(),
        frame: Some(frame),
        ..Stage::default()
    }
}

fn verdict(run: &Run, at: StateRef<'_>) -> Option<Igm> {
    let probe = Probe { learner: &run.learner, buffers: &run.buffers };
    let value = probe.team_value(at, false)?;
    let (members, q, legal) = of_members(run, at);
    (!members.is_empty()).then(|| igm(&value, &q, &legal, (0, 1)))
}

/// The agents that the team's value joins, with their utilities and legal actions.
fn of_members(run: &Run, at: StateRef<'_>) -> (Vec<u32>, Vec<Vec<f32>>, Vec<Vec<u32>>) {
    let probe = Probe { learner: &run.learner, buffers: &run.buffers };
    let members: Vec<u32> = run.learner.agents.networked().iter().collect();
    let legal = probe.legal(at);
    let q = members.iter().map(|&i| probe.output(at, i)).collect();
    let legal = members.iter().map(|&i| legal[i as usize].clone()).collect();
    (members, q, legal)
}

fn joint(
    run: &Run,
    at: StateRef<'_>,
    watch: &Watch,
    igm_share: (f32, u32),
    found: &mut Counterexample,
) -> Option<JointValues> {
    let (members, q, legal) = of_members(run, at);
    let n = members.len() as u32;
    if !watch.joint_values || n < 2 {
        return None;
    }
    let probe = Probe { learner: &run.learner, buffers: &run.buffers };
    let value = probe.team_value(at, false)?;
    // Among the members: who is none is replaced by one who is.
    let place = |agent: u32| members.iter().position(|&member| member == agent).map(|place| place as u32);
    let first = place(watch.pair.0).unwrap_or(0);
    let second = place(watch.pair.1).filter(|&second| second != first).unwrap_or((first + 1) % n);
    let pair = (first, second);
    let can_free = run.learner.central.mixer().is_some() && watch.without_abs;
    Some(JointValues {
        pair: (members[first as usize], members[second as usize]),
        is_sum: matches!(run.learner.central, Central::Sum),
        learned: mixed(&value, &q, &legal, pair, SURFACE_POINTS),
        without_abs: can_free
            .then(|| probe.team_value(at, true))
            .flatten()
            .map(|free| mixed(&free, &q, &legal, pair, SURFACE_POINTS)),
        counterexample: if can_free { found.of(run, pair) } else { None },
        exact: if run.learner.agents.count == 2 { run.learner.env.exact_q(at, run.spec.learner.gamma) } else { None },
        igm_share,
    })
}

/// The last search for a state at which the mixer without |·| breaks IGM; repeated only when its question changes.
#[derive(Debug, Default)]
pub struct Counterexample {
    question: Option<(u32, u32, (u32, u32))>,
    found: Option<(Frame, Mixed)>,
}

impl Counterexample {
    fn of(&mut self, run: &Run, pair: (u32, u32)) -> Option<(Frame, Mixed)> {
        let question = Some((run.facts.run, run.updates(), pair));
        if self.question != question {
            (self.question, self.found) = (question, counterexample(run, pair));
        }
        self.found.clone()
    }
}

/// A state, reached by uniformly random play on a stream of its own, at which the mixer without |·| breaks IGM.
fn counterexample(run: &Run, pair: (u32, u32)) -> Option<(Frame, Mixed)> {
    let env = &*run.learner.env;
    let info = env.info();
    let n = info.num_agents as usize;
    let probe = Probe { learner: &run.learner, buffers: &run.buffers };
    let (world, random) =
        (Stream::new(run.spec.seed, "counterexample"), Stream::new(run.spec.seed, "counterexample explore"));
    let mut state = EnvState::new(info);
    let (mut rewards, mut parts) = (vec![0.0; n], vec![0.0; n * info.part_names.len()]);
    let no_preference = vec![0.0_f32; info.num_actions as usize];
    let (mut episode, mut step) = (0, 0);
    let mut enumerated = 0;
    env.reset(state.view_mut(), &world.env(0, 0, 0));
    while enumerated < COUNTEREXAMPLE_JOINT_ACTIONS {
        let (_, q, legal) = of_members(run, state.view());
        let free = probe.team_value(state.view(), true)?;
        let verdict = igm(&free, &q, &legal, pair);
        enumerated += verdict.enumerated;
        if !verdict.holds {
            return Some((env.frame(state.view()), mixed(&free, &q, &legal, pair, SURFACE_POINTS)));
        }
        let legal = probe.legal(state.view());
        let actions: Vec<u32> = (0..n)
            .map(|i| epsilon_greedy(&no_preference, &legal[i], 1.0, random.words([0, episode, step, i as u32 * 256])).0)
            .collect();
        step += 1;
        let mut out = StepOut { rewards: &mut rewards, parts: &mut parts };
        if env.step(state.view_mut(), &actions, &world.env(0, episode, step), &mut out).any() {
            (episode, step) = (episode + 1, 0);
            env.reset(state.view_mut(), &world.env(0, episode, 0));
        }
    }
    None
}
