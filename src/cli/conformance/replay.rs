//! An episode of the reference played again by our rules, step by step, with everything that the file carries compared.
//!
//! Both APIs are played through [`Aec`], turn by turn: a joint step pays what its turns pay together.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Map, Value};
use tandem_core::base::rng::Stream;
use tandem_core::env::aec::{Account, Aec, AecError};
use tandem_core::env::api::{Env, EnvState, StateRef};
use tandem_core::experiment::snapshot::Sentence;

use super::check::{Check, Stop, Tolerance};
use super::format::{Api, Episode, GlobalState, JointStep, Malformed, Shown, TurnStep, numbers};

/// One of our worlds in the place of the reference's.
pub(super) trait Subject {
    /// The rules.
    fn env(&self) -> &dyn Env;

    /// The agents' names in the reference, in order.
    fn names(&self) -> Vec<String>;

    /// The state that the file sets right after a reset.
    fn start(&self) -> EnvState;

    /// How far observations may be off.
    fn obs_tolerance(&self) -> Tolerance {
        Tolerance::Exact
    }

    /// How far rewards may be off.
    fn reward_tolerance(&self) -> Tolerance {
        Tolerance::Exact
    }

    /// How far the simulator's state may be off.
    fn sim_tolerance(&self) -> Tolerance {
        Tolerance::Exact
    }

    /// The simulator's state, by the file's keys.
    fn sim(&self, state: StateRef<'_>) -> Vec<(&'static str, Vec<f64>)> {
        let _ = state;
        Vec::new()
    }

    /// The settings that a name stands for, by the file's keys.
    fn effective(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    /// How the reference reports an end: terminated, truncated.
    fn flags(&self, account: Account) -> (bool, bool) {
        (account.terminated, account.truncated)
    }

    /// Plays the selected agent's turn.
    fn play(&self, aec: &mut Aec<'_>, turn: &Turn<'_>, draws: &mut Draws) -> Result<(), AecError> {
        let _ = draws;
        let actions = self.env().info().role(aec.selection()).actions.len() as u32;
        let action = turn.action(aec, actions)?;
        aec.step(Some(i64::from(action)))
    }

    /// Compares targets that are known exactly.
    fn analytic(&self, known: &Map<String, Value>, check: &mut Check<'_>) -> Result<(), Stop> {
        let _ = (known, check);
        Ok(())
    }
}

/// What a book has of an account.
type Entry = fn(&dyn Subject, Account) -> f64;

/// A turn to be played.
pub(super) struct Turn<'a> {
    /// The actions of this env step so far; the last one is the selected agent's.
    pub(super) actions: &'a [Value],
}

impl Turn<'_> {
    /// The selected agent's action as one of `count`.
    pub(super) fn action(&self, aec: &Aec<'_>, count: u32) -> Result<u32, AecError> {
        let (agent, last) = (aec.selection(), count - 1);
        let given = self.actions.last().and_then(Value::as_i64).ok_or(AecError::Missing(agent))?;
        let action = u32::try_from(given).ok().filter(|&action| action <= last);
        action.ok_or(AecError::OutOfRange { agent, given, last })
    }
}

/// What the reference drew in a step, to be taken in order and to the last.
#[derive(Debug, Default)]
pub(super) struct Draws {
    left: BTreeMap<String, VecDeque<Value>>,
    /// A draw that was not there.
    missing: Option<&'static str>,
    /// The first that is no action, and how many there are.
    odd: Option<(&'static str, String, u32)>,
}

impl Draws {
    fn new(rng: &Map<String, Value>) -> Result<Self, Malformed> {
        let list = |(key, value): (&String, &Value)| {
            let items = value.as_array().ok_or_else(|| Malformed(format!("rng.{key}: {value}")))?;
            Ok((key.clone(), items.iter().cloned().collect()))
        };
        Ok(Self { left: rng.iter().map(list).collect::<Result<_, Malformed>>()?, missing: None, odd: None })
    }

    /// The next draw of that kind, one of `count` actions.
    pub(super) fn action(&mut self, key: &'static str, count: u32) -> Option<u32> {
        let draw = self.take(key)?;
        let action = draw.as_u64().and_then(|action| u32::try_from(action).ok()).filter(|action| *action < count);
        if action.is_none() {
            self.odd.get_or_insert((key, draw.to_string(), count));
        }
        action
    }

    /// The next draw of that kind.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Value> {
        let draw = self.left.get_mut(key).and_then(VecDeque::pop_front);
        if draw.is_none() {
            self.missing = Some(key);
        }
        draw
    }

    fn finish(self, check: &mut Check<'_>) -> Result<(), Stop> {
        let told = |id: &str, key: &str, more: &[&str]| {
            let key = format!("rng.{key}");
            Err(Stop::Failed(Sentence::new(id, &[&[check.episode, &check.step, &key], more].concat())))
        };
        if let Some((key, draw, count)) = &self.odd {
            return told("conformance.draw_odd", key, &[draw, &(count - 1).to_string()]);
        }
        if let Some(key) = self.missing {
            return told("conformance.draw_missing", key, &[]);
        }
        if let Some((key, left)) = self.left.iter().find(|(_, left)| !left.is_empty()) {
            return told("conformance.draws_left", key, &[&left.len().to_string()]);
        }
        check.numbers("rng", "rng", &[], &[], Tolerance::Exact)
    }
}

/// Plays an episode; how it went is in `check`.
pub(super) fn replay(subject: &dyn Subject, episode: &Episode, check: &mut Check<'_>) -> Result<(), Stop> {
    "reset".clone_into(&mut check.step);
    check.words("agents", &episode.agents, &subject.names())?;
    for (key, ours) in subject.effective() {
        if let Some(given) = episode.effective.get(key) {
            // 0 and 0.0 are one number.
            let same = given == &ours || matches!((given.as_f64(), ours.as_f64()), (Some(a), Some(b)) if a == b);
            if !same {
                return Err(check.differs(&format!("effective.{key}"), &given.to_string(), &ours.to_string()));
            }
        }
    }
    subject.analytic(&episode.analytic, check)?;
    let start = subject.start();
    let mut aec = Aec::new(subject.env(), Stream::new(0, "env"));
    aec.reset_with(|state, _| {
        state.ints.copy_from_slice(&start.ints);
        state.reals.copy_from_slice(&start.reals);
    });
    let mut replay = Replay { subject, episode, aec, check };
    match episode.api {
        Api::Parallel | Api::Gym => replay.joint_steps(),
        Api::Aec => replay.turns(),
    }
}

/// An episode under way.
struct Replay<'a, 'c> {
    subject: &'a dyn Subject,
    episode: &'a Episode,
    aec: Aec<'a>,
    check: &'a mut Check<'c>,
}

impl Replay<'_, '_> {
    fn joint_steps(&mut self) -> Result<(), Stop> {
        if let Some(reset) = &self.episode.reset {
            self.shown(reset)?;
        }
        for (at, step) in self.episode.steps_as::<JointStep>()?.into_iter().enumerate() {
            self.check.step = at.to_string();
            self.joint_step(&step)?;
        }
        Ok(())
    }

    fn joint_step(&mut self, step: &JointStep) -> Result<(), Stop> {
        let n = self.subject.env().info().num_agents as usize;
        if step.actions.len() != n || step.rewards.len() != n {
            let count = |list: &[Value]| list.len().to_string();
            let name = if step.actions.len() == n { "rewards" } else { "actions" };
            let given = if step.actions.len() == n { count(&step.rewards) } else { count(&step.actions) };
            return Err(self.check.differs(name, &given, &n.to_string()));
        }
        let mut draws = Draws::new(&step.rng)?;
        let mut rewards = vec![0.0; n];
        for turn in 0..n {
            self.play(&step.actions[..=turn], &mut draws)?;
            for (agent, sum) in rewards.iter_mut().enumerate() {
                *sum += self.account(agent as u32)?.reward;
            }
        }
        draws.finish(self.check)?;
        self.shown(&step.shown)?;
        let tolerance = self.subject.reward_tolerance();
        for (agent, (expected, found)) in step.rewards.iter().zip(&rewards).enumerate() {
            let name = format!("rewards of {}", self.episode.agents[agent]);
            self.check.numbers("rewards", &name, &numbers("rewards", expected)?, &[*found], tolerance)?;
        }
        let flags = (0..n as u32).map(|agent| Ok(self.subject.flags(self.account(agent)?)));
        let flags: Vec<(bool, bool)> = flags.collect::<Result<_, Stop>>()?;
        // A gymnasium has one flag for the team.
        let shown = if self.episode.api == Api::Gym { &flags[..1] } else { &flags[..] };
        let (term, trunc): (Vec<f64>, Vec<f64>) = shown.iter().map(|&(a, b)| (number(a), number(b))).unzip();
        self.check.numbers("flags", "term", &numbers("term", &step.term)?, &term, Tolerance::Exact)?;
        self.check.numbers("flags", "trunc", &numbers("trunc", &step.trunc)?, &trunc, Tolerance::Exact)?;
        if let Some(sim) = &step.sim {
            self.sim(sim)?;
        }
        while self.aec.account(self.aec.selection()).is_some_and(|account| account.is_dead()) {
            self.aec.step(None).ok().ok_or_else(|| self.over())?;
        }
        if let Some(live) = step.live {
            let found = self.aec.agents().len() as f64;
            self.check.numbers("live", "live", &[f64::from(live)], &[found], Tolerance::Exact)?;
        }
        Ok(())
    }

    fn turns(&mut self) -> Result<(), Stop> {
        let mut actions = Vec::new();
        for (at, step) in self.episode.steps_as::<TurnStep>()?.into_iter().enumerate() {
            self.check.step = at.to_string();
            self.before(&step)?;
            let mut draws = Draws::new(&step.rng)?;
            if step.action.is_null() {
                self.aec.step(None).ok().ok_or_else(|| self.no_action(&step.action))?;
            } else {
                if self.aec.selection() == 0 {
                    actions.clear();
                }
                actions.push(step.action.clone());
                self.play(&actions, &mut draws)?;
            }
            draws.finish(self.check)?;
            self.after(&step)?;
        }
        Ok(())
    }

    fn before(&mut self, step: &TurnStep) -> Result<(), Stop> {
        let selection = self.aec.selection();
        self.check.words("selection", &step.agent, &self.episode.agents[selection as usize])?;
        let last = self.aec.last().ok().ok_or_else(|| self.over())?;
        let (reward, terminated, truncated) = &step.last;
        let tolerance = self.subject.reward_tolerance();
        let name = "cumulative reward of last";
        self.check.numbers("last", name, &numbers("last", reward)?, &[last.account.cumulative], tolerance)?;
        let flags = self.subject.flags(last.account);
        self.check.words("flags", &(*terminated, *truncated), &flags)?;
        self.observed(selection, &step.obs)?;
        self.masked(selection, step.mask.as_ref())?;
        for (name, seen) in &step.others {
            let agent = self.agent(name)?;
            let obs = seen.get("obs").ok_or_else(|| Malformed(format!("others.{name}")))?;
            self.observed(agent, obs)?;
            self.masked(agent, seen.get("mask"))?;
        }
        if self.episode.state == GlobalState::Concat {
            let all = (0..self.subject.env().info().num_agents).map(|agent| self.obs(agent));
            let all: Vec<Vec<f64>> = all.collect::<Result<_, Stop>>()?;
            self.state(&all.concat())?;
        }
        Ok(())
    }

    fn after(&mut self, step: &TurnStep) -> Result<(), Stop> {
        let after = &step.after;
        let name = |agent: &u32| self.episode.agents[*agent as usize].clone();
        let live: Vec<String> = self.aec.agents().iter().map(name).collect();
        let selection = name(&self.aec.selection());
        self.check.words("agents", &after.agents, &live)?;
        self.check.words("selection", &after.selection, &selection)?;
        let tolerance = self.subject.reward_tolerance();
        let books: [(&str, &Map<String, Value>, Entry, Tolerance); 4] = [
            ("rewards", &after.rewards, |_, account| account.reward, tolerance),
            ("cumulative", &after.cumulative, |_, account| account.cumulative, tolerance),
            ("term", &after.term, |subject, account| number(subject.flags(account).0), Tolerance::Exact),
            ("trunc", &after.trunc, |subject, account| number(subject.flags(account).1), Tolerance::Exact),
        ];
        for (key, book, of, tolerance) in books {
            let count = [book.len() as f64];
            self.check.numbers("after", key, &count, &[live.len() as f64], Tolerance::Exact)?;
            for (name, value) in book {
                let account = self.account(self.agent(name)?)?;
                let label = format!("after.{key} of {name}");
                let found = [of(self.subject, account)];
                self.check.numbers("after", &label, &numbers(key, value)?, &found, tolerance)?;
            }
        }
        match &after.sim {
            Some(sim) => self.sim(sim),
            None => Ok(()),
        }
    }

    fn play(&mut self, actions: &[Value], draws: &mut Draws) -> Result<(), Stop> {
        if self.aec.agents().is_empty() {
            return Err(self.over());
        }
        let played = self.subject.play(&mut self.aec, &Turn { actions }, draws);
        played.ok().ok_or_else(|| self.no_action(actions.last().unwrap_or(&Value::Null)))
    }

    /// Observations, masks and global state of a reset or a joint step.
    fn shown(&mut self, shown: &Shown) -> Result<(), Stop> {
        let n = self.subject.env().info().num_agents;
        let count = [shown.obs.len() as f64];
        self.check.numbers("obs", "number of observations", &count, &[f64::from(n)], Tolerance::Exact)?;
        for (agent, obs) in (0..n).zip(&shown.obs) {
            self.observed(agent, obs)?;
        }
        if let Some(masks) = &shown.mask {
            let count = [masks.len() as f64];
            self.check.numbers("mask", "number of masks", &count, &[f64::from(n)], Tolerance::Exact)?;
            for (agent, mask) in (0..n).zip(masks) {
                self.masked(agent, Some(mask))?;
            }
        }
        let expected = match self.episode.state {
            GlobalState::None => return Ok(()),
            GlobalState::Concat => numbers("obs", &Value::Array(shown.obs.clone()))?,
            GlobalState::Obs0 => numbers("obs", &shown.obs[0])?,
            GlobalState::Explicit => {
                let state = shown.state.as_ref().ok_or_else(|| Malformed(format!("{}: state", self.episode.id)))?;
                numbers("state", state)?
            }
        };
        self.state(&expected)
    }

    fn state(&mut self, expected: &[f64]) -> Result<(), Stop> {
        let env = self.subject.env();
        let mut state = vec![0.0; env.info().state_len as usize];
        env.state(self.aec.state(), &mut state);
        let expected = in_single(expected);
        self.check.numbers("state", "state", &expected, &widened(&state), self.subject.obs_tolerance())
    }

    fn observed(&mut self, agent: u32, expected: &Value) -> Result<(), Stop> {
        let found = self.obs(agent)?;
        let name = format!("obs of {}", self.episode.agents[agent as usize]);
        let expected = in_single(&numbers("obs", expected)?);
        self.check.numbers("obs", &name, &expected, &found, self.subject.obs_tolerance())
    }

    fn masked(&mut self, agent: u32, expected: Option<&Value>) -> Result<(), Stop> {
        let Some(expected) = expected else { return Ok(()) };
        let mask = self.aec.mask(agent).ok().ok_or_else(|| self.over())?;
        let found: Vec<f64> = mask.into_iter().map(f64::from).collect();
        let name = format!("mask of {}", self.episode.agents[agent as usize]);
        self.check.numbers("mask", &name, &numbers("mask", expected)?, &found, Tolerance::Exact)
    }

    fn sim(&mut self, expected: &Map<String, Value>) -> Result<(), Stop> {
        let ours = self.subject.sim(self.aec.state());
        for (key, value) in expected {
            let Some((_, found)) = ours.iter().find(|(ours, _)| ours == key) else {
                return Err(Stop::Unsupported(Sentence::new("conformance.unknown_sim", &[key])));
            };
            let expected = numbers(key, value)?;
            self.check.numbers("sim", &format!("sim.{key}"), &expected, found, self.subject.sim_tolerance())?;
        }
        Ok(())
    }

    fn obs(&self, agent: u32) -> Result<Vec<f64>, Stop> {
        self.aec.observe(agent).map(|obs| widened(&obs)).ok().ok_or_else(|| self.over())
    }

    fn account(&self, agent: u32) -> Result<Account, Stop> {
        self.aec.account(agent).copied().ok_or_else(|| self.over())
    }

    fn agent(&self, name: &str) -> Result<u32, Stop> {
        let at = self.episode.agents.iter().position(|agent| agent == name);
        at.map(|at| at as u32).ok_or_else(|| Malformed(format!("{}: {name}", self.episode.id)).into())
    }

    /// The reference goes on after our episode's end.
    fn over(&self) -> Stop {
        Stop::Failed(Sentence::new("conformance.over", &[self.check.episode, &self.check.step]))
    }

    fn no_action(&self, action: &Value) -> Stop {
        let agent = &self.episode.agents[self.aec.selection() as usize];
        let said = [self.check.episode, &self.check.step, agent, &action.to_string()];
        Stop::Failed(Sentence::new("conformance.no_action", &said))
    }
}

fn number(flag: bool) -> f64 {
    f64::from(u8::from(flag))
}

/// Numbers of an f32 array, written down such that they are it once rounded.
fn in_single(numbers: &[f64]) -> Vec<f64> {
    numbers.iter().map(|&number| f64::from(number as f32)).collect()
}

fn widened(numbers: &[f32]) -> Vec<f64> {
    numbers.iter().copied().map(f64::from).collect()
}
