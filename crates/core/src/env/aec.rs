//! Agents one after the other: PettingZoo's AEC API (Terry et al. 2021, arXiv 2009.14471) over any [`Env`].
//!
//! What is kept here is the reference's accounting, to the letter: an agent's cumulative reward is what it has collected
//! since its own last action, who is finished takes one dead step with no action, and the order of those steps is the
//! reference's. What a turn does is the world's: one that moves agents in turn plays it ([`Sequential`]); where all act
//! at once turns collect actions and the joint env step runs on the last agent's turn. [`Aec::step_with`] lets a caller
//! play the turn itself, with recorded draws or other actions, and keeps the accounts all the same.
//!
//! [`Sequential`]: super::api::Sequential

use crate::base::rng::{Draws, Stream};
use crate::env::api::{Ended, Env, EnvState, StateMut, StateRef, StepOut};

/// A world played agent by agent.
#[derive(Clone, Debug)]
pub struct Aec<'a> {
    env: &'a dyn Env,
    stream: Stream,
    /// Episodes begun.
    episodes: u32,
    state: EnvState,
    agents: Vec<u32>,
    selection: u32,
    /// By agent, also of those that are gone.
    accounts: Vec<Account>,
    /// Whom the selection goes back to when no dead agent is left.
    skip: Option<u32>,
    joint: Vec<u32>,
    rewards: Vec<f64>,
    parts: Vec<f64>,
    /// Steps and resets so far.
    moves: u64,
}

/// What is known of one agent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Account {
    /// What the last turn paid it.
    pub reward: f64,
    /// What it has collected since its own last action.
    pub cumulative: f64,
    /// Whether the world has ended for it.
    pub terminated: bool,
    /// Whether its episode was cut off. An illegal move sets both.
    pub truncated: bool,
}

impl Account {
    /// Whether its only step left is the dead one.
    pub fn is_dead(self) -> bool {
        self.terminated || self.truncated
    }
}

/// What the selected agent is told before it acts.
#[derive(Clone, Debug, PartialEq)]
pub struct Last {
    /// Its observation, as long as its role's.
    pub obs: Vec<f32>,
    /// Its legal actions `[|A|]`.
    pub mask: Vec<u32>,
    /// Its account; the reward is the cumulative one.
    pub account: Account,
}

/// A turn to be played by [`Aec::step_with`].
#[derive(Debug)]
pub struct Playing<'a> {
    /// The world.
    pub state: StateMut<'a>,
    /// Whose turn it is.
    pub agent: u32,
    /// Whether every other agent has had its turn in this env step.
    pub is_last: bool,
    /// Draws of this env step.
    pub draws: &'a Draws,
    /// What this turn pays `[n]`, zeros so far.
    pub rewards: &'a mut [f64],
}

/// What cannot be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AecError {
    /// Nothing has begun.
    #[error("The episode has not begun: reset the environment first.")]
    NotReset,
    /// An iterator was asked twice for the same turn.
    #[error("Agent {0} is still to move: step or reset before asking for the next turn.")]
    NotStepped(u32),
    /// A number that is no action.
    #[error("Agent {agent} was given action {given}: 0 to {last} are possible.")]
    OutOfRange {
        /// Who was to act.
        agent: u32,
        /// The number.
        given: i64,
        /// Its last action.
        last: u32,
    },
    /// No action for an agent that is to act.
    #[error("Agent {0} is alive but was given no action: give it one of its actions.")]
    Missing(u32),
    /// An action for an agent whose episode is over.
    #[error("Agent {0} has finished its episode: its last step takes no action.")]
    Finished(u32),
}

impl<'a> Aec<'a> {
    /// Not begun yet. Draws are those of environment 0 of `stream`, as a run has them.
    pub fn new(env: &'a dyn Env, stream: Stream) -> Self {
        let info = env.info();
        let n = info.num_agents as usize;
        Self {
            env,
            stream,
            episodes: 0,
            state: EnvState::new(info),
            agents: Vec::new(),
            selection: 0,
            accounts: vec![Account::default(); n],
            skip: None,
            joint: vec![0; n],
            rewards: vec![0.0; n],
            parts: vec![0.0; n * info.part_names.len()],
            moves: 0,
        }
    }

    /// Begins an episode as the rules draw it.
    pub fn reset(&mut self) {
        let env = self.env;
        self.reset_with(|state, draws| env.reset(state, draws));
    }

    /// Begins an episode at the state that `set` writes.
    pub fn reset_with(&mut self, set: impl FnOnce(StateMut<'_>, &Draws)) {
        set(self.state.view_mut(), &self.stream.env(0, self.episodes, 0));
        self.episodes += 1;
        self.moves += 1;
        self.agents = (0..self.env.info().num_agents).collect();
        self.accounts.fill(Account::default());
        self.skip = None;
        self.selection = self.env.to_move(self.state.view()).unwrap_or(0);
    }

    /// The rules.
    pub fn env(&self) -> &'a dyn Env {
        self.env
    }

    /// The world.
    pub fn state(&self) -> StateRef<'_> {
        self.state.view()
    }

    /// Live agents, in order.
    pub fn agents(&self) -> &[u32] {
        &self.agents
    }

    /// Who is to step. Once nobody is left it names one that is gone.
    pub fn selection(&self) -> u32 {
        self.selection
    }

    /// The account of a live agent.
    pub fn account(&self, agent: u32) -> Option<&Account> {
        self.agents.contains(&agent).then(|| &self.accounts[agent as usize])
    }

    /// What an agent observes now, at any time, as long as its role's observation.
    pub fn observe(&self, agent: u32) -> Result<Vec<f32>, AecError> {
        self.begun()?;
        let info = self.env.info();
        let mut obs = vec![0.0; info.obs_len as usize];
        self.env.observe(self.state.view(), agent, &mut obs);
        obs.truncate(info.role(agent).obs.len());
        Ok(obs)
    }

    /// Legal actions of an agent. Where one moves at a time, nobody but the selected agent has any.
    pub fn mask(&self, agent: u32) -> Result<Vec<u32>, AecError> {
        self.begun()?;
        let mut mask = vec![0; self.env.info().num_actions as usize];
        if !self.env.info().in_turns || agent == self.selection {
            self.env.legal(self.state.view(), agent, &mut mask);
        }
        Ok(mask)
    }

    /// What the selected agent is told.
    pub fn last(&self) -> Result<Last, AecError> {
        let agent = self.selection;
        let account = self.accounts[agent as usize];
        Ok(Last { obs: self.observe(agent)?, mask: self.mask(agent)?, account })
    }

    /// The selected agent acts, or takes its dead step with no action. After everybody is gone nothing happens.
    pub fn step(&mut self, action: Option<i64>) -> Result<(), AecError> {
        self.begun()?;
        if self.agents.is_empty() {
            return Ok(());
        }
        let (env, agent) = (self.env, self.selection);
        let actions = env.info().role(agent).actions.len() as u32;
        let action = match (action, self.accounts[agent as usize].is_dead()) {
            (None, true) => {
                self.dead_step();
                return Ok(());
            }
            (Some(given), _) if !(0..i64::from(actions)).contains(&given) => {
                return Err(AecError::OutOfRange { agent, given, last: actions - 1 });
            }
            (Some(_), true) => return Err(AecError::Finished(agent)),
            (None, false) => return Err(AecError::Missing(agent)),
            (Some(given), false) => given as u32,
        };
        let is_illegal = env.info().in_turns && self.mask(agent)?[action as usize] == 0;
        self.joint[agent as usize] = action;
        // Lent to the turn, which must not see the accounts.
        let (joint, mut parts) = (std::mem::take(&mut self.joint), std::mem::take(&mut self.parts));
        let played = self.step_with(|turn| match env.sequential() {
            Some(rules) => rules.turn(turn.state, turn.agent, action, turn.draws, turn.rewards),
            None if turn.is_last => {
                env.step(turn.state, &joint, turn.draws, &mut StepOut { rewards: turn.rewards, parts: &mut parts })
            }
            None => Ended::default(),
        });
        (self.joint, self.parts) = (joint, parts);
        if is_illegal {
            self.end_illegally(agent);
        }
        played
    }

    /// The selected agent, which is alive, has its turn, whatever that is: `play` moves the world and pays.
    pub fn step_with(&mut self, play: impl FnOnce(Playing<'_>) -> Ended) -> Result<(), AecError> {
        self.begun()?;
        let agent = self.selection;
        if self.account(agent).is_none_or(|account| account.is_dead()) {
            return Err(AecError::Finished(agent));
        }
        let draws = self.stream.env(0, self.episodes - 1, self.env.step_count(self.state.view()) + 1);
        self.rewards.fill(0.0);
        let next = (agent + 1) % self.env.info().num_agents;
        let ended = play(Playing {
            state: self.state.view_mut(),
            agent,
            is_last: next == 0,
            draws: &draws,
            rewards: &mut self.rewards,
        });
        self.pay();
        for account in &mut self.accounts {
            (account.terminated, account.truncated) = (ended.terminated, ended.truncated);
        }
        self.selection = self.env.to_move(self.state.view()).unwrap_or(next);
        self.moves += 1;
        Ok(())
    }

    pub(super) fn begun(&self) -> Result<(), AecError> {
        if self.episodes == 0 { Err(AecError::NotReset) } else { Ok(()) }
    }

    /// The rewards of the selected agent's turn. It starts anew before they are added, so it keeps its own.
    fn pay(&mut self) {
        self.accounts[self.selection as usize].cumulative = 0.0;
        for (account, &reward) in self.accounts.iter_mut().zip(&self.rewards) {
            account.reward = reward;
            account.cumulative += reward;
        }
    }

    /// The rules have ended the game and charged who tried it. In the reference's `TerminateIllegalWrapper` it is cut off,
    /// too, and the first agent goes first, whoever erred.
    fn end_illegally(&mut self, erring: u32) {
        for account in &mut self.accounts {
            (account.terminated, account.truncated) = (true, true);
        }
        self.skip = Some(erring);
        self.selection = self.agents[0];
    }

    /// The selected agent leaves; other dead ones follow before whoever was to move.
    fn dead_step(&mut self) {
        let gone = self.selection;
        self.agents.retain(|&agent| agent != gone);
        match self.agents.iter().find(|&&agent| self.accounts[agent as usize].is_dead()) {
            Some(&dead) => {
                self.skip.get_or_insert(gone);
                self.selection = dead;
            }
            None => self.selection = self.skip.take().unwrap_or(gone),
        }
        for account in &mut self.accounts {
            account.reward = 0.0;
        }
        self.moves += 1;
    }
}

/// The turns of an episode (`agent_iter`), each to be followed by a step:
/// `while let Some(agent) = turns.next(&aec)? { … }`.
#[derive(Clone, Debug)]
pub struct AgentIter {
    left: u64,
    asked_at: Option<u64>,
}

impl AgentIter {
    /// At most `limit` turns.
    pub fn new(limit: u64) -> Self {
        Self { left: limit, asked_at: None }
    }

    /// Who is to step now; `None` when nobody is left or enough turns were given.
    pub fn next(&mut self, aec: &Aec<'_>) -> Result<Option<u32>, AecError> {
        aec.begun()?;
        if aec.agents.is_empty() || self.left == 0 {
            return Ok(None);
        }
        if self.asked_at == Some(aec.moves) {
            return Err(AecError::NotStepped(aec.selection));
        }
        self.left -= 1;
        self.asked_at = Some(aec.moves);
        Ok(Some(aec.selection))
    }
}
