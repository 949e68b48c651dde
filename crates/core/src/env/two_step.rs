//! QMIX's two-step game (Rashid et al. 2018, section 6.1): agent 1's first action chooses one of two payoff tables.
//!
//! Rules: in state 1 action 1 of agent 1 leads to state 2A, action 2 to state 2B, whatever agent 2 does, with reward 0;
//! the second joint action is paid by that state's table and the game *terminates*. Observations and state are the
//! one-hot of the state, so every agent knows where it is. The end keeps the one-hot of 2A or 2B.

use crate::base::rng::Draws;
use crate::base::wgsl::Constant;
use crate::env::api::{
    Ended, Env, EnvInfo, EnvState, Frame, Headline, Label, Optimum, Role, StateMut, StateRef, StepOut, WgslRules,
};
use crate::env::bimatrix::additive_fit;

/// What a cell may pay.
pub const PAYOFF: std::ops::RangeInclusive<f32> = -1000.0..=1000.0;

/// The game as the user sets it up. Tables are `[action of agent 1, action of agent 2]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoStepSpec {
    /// Common payoffs of state 2A.
    pub payoffs_2a: [f32; 4],
    /// Common payoffs of state 2B.
    pub payoffs_2b: [f32; 4],
}

impl Default for TwoStepSpec {
    /// The paper's numbers.
    fn default() -> Self {
        Self { payoffs_2a: [7.0; 4], payoffs_2b: [0.0, 1.0, 1.0, 8.0] }
    }
}

/// Why a [`TwoStepSpec`] is no game.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TwoStepError {
    /// A payoff out of range.
    #[error("A payoff in state {state} is {given}: numbers from -1000 to 1000 are possible.")]
    Payoff {
        /// `2A` or `2B`.
        state: &'static str,
        /// The offending number.
        given: f32,
    },
}

/// The rules.
#[derive(Clone, Debug)]
pub struct TwoStep {
    spec: TwoStepSpec,
    info: EnvInfo,
}

/// Joint values at the game's three states (1, 2A, 2B), each `[action of agent 1, action of agent 2]`.
pub type JointTables = [[f64; 4]; 3];

impl TwoStepSpec {
    /// The rules, or why there are none.
    pub fn validate(&self) -> Result<TwoStep, TwoStepError> {
        for (state, payoffs) in [("2A", self.payoffs_2a), ("2B", self.payoffs_2b)] {
            // `contains` is false for NaN.
            if let Some(&given) = payoffs.iter().find(|p| !PAYOFF.contains(p)) {
                return Err(TwoStepError::Payoff { state, given });
            }
        }
        let one_hot = ["obs.two_step.1", "obs.two_step.2a", "obs.two_step.2b"].map(|id| Label::new(id, &[]));
        let info = EnvInfo {
            num_agents: 2,
            num_actions: 2,
            obs_len: 3,
            state_len: 3,
            roles: vec![Role::agent(&["action.1", "action.2"], one_hot.to_vec())],
            role_of: vec![0; 2],
            part_names: vec!["part.payoff".to_owned()],
            part_weights: vec![1.0],
            mix: None,
            idle_action: None,
            max_steps: 2,
            fixed_length: true,
            common_reward: true,
            team_reward: true,
            in_turns: false,
            fixed_mask: true,
            obs_determines_state: true,
            headline: Headline::Mean { first: 0, count: 2 },
            enumerated_starts: 1,
            ints: 4,
            reals: 0,
            revision: 1,
        };
        Ok(TwoStep { spec: *self, info })
    }
}

impl TwoStep {
    /// Optimal joint Q-values Q*(s, a).
    pub fn exact_tables(&self, gamma: f64) -> JointTables {
        let [a, b] = self.payoffs();
        [first_table(gamma, max(&a), max(&b)), a, b]
    }

    /// What VDN converges to from uniform joint actions: in 2A and 2B the additive least-squares fit of the payoffs,
    /// in state 1 the discounted maxima of these fits (which depend on agent 1 alone, hence are additive).
    pub fn vdn_tables(&self, gamma: f64) -> JointTables {
        let [a, b] = self.payoffs().map(|payoffs| {
            let fit = additive_fit(2, 2, &payoffs);
            [fit[0], fit[1], fit[2], fit[3]]
        });
        [first_table(gamma, max(&a), max(&b)), a, b]
    }

    fn payoffs(&self) -> [[f64; 4]; 2] {
        [self.spec.payoffs_2a.map(f64::from), self.spec.payoffs_2b.map(f64::from)]
    }

    /// Payoffs paid at a state.
    fn paid_at(&self, stage: i32) -> [f32; 4] {
        match stage {
            0 => [0.0; 4],
            1 => self.spec.payoffs_2a,
            _ => self.spec.payoffs_2b,
        }
    }
}

/// Values of state 1, given the values of 2A and 2B.
fn first_table(gamma: f64, of_2a: f64, of_2b: f64) -> [f64; 4] {
    [gamma * of_2a, gamma * of_2a, gamma * of_2b, gamma * of_2b]
}

fn max(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Word of the state: 0, 1 = 2A, 2 = 2B.
const STAGE: usize = 0;
/// Word of the env steps taken.
const TIME: usize = 1;
/// First of the two words with the joint action just played, −1 before the first.
const LAST: usize = 2;

fn one_hot(state: StateRef<'_>, out: &mut [f32]) {
    out.fill(0.0);
    out[state.ints[STAGE] as usize] = 1.0;
}

impl Env for TwoStep {
    fn info(&self) -> &EnvInfo {
        &self.info
    }

    fn reset(&self, state: StateMut<'_>, _draws: &Draws) {
        state.ints.copy_from_slice(&[0, 0, -1, -1]);
    }

    fn reset_to(&self, state: StateMut<'_>, _start: u32) -> bool {
        state.ints.copy_from_slice(&[0, 0, -1, -1]);
        false
    }

    fn step(&self, state: StateMut<'_>, actions: &[u32], _draws: &Draws, out: &mut StepOut<'_>) -> Ended {
        let [first, second] = [actions[0].min(1), actions[1].min(1)];
        let reward = f64::from(self.paid_at(state.ints[STAGE])[(first * 2 + second) as usize]);
        out.rewards.fill(reward);
        out.parts.fill(reward);
        let terminated = state.ints[STAGE] != 0;
        if !terminated {
            state.ints[STAGE] = 1 + first as i32;
        }
        state.ints[TIME] += 1;
        state.ints[LAST] = first as i32;
        state.ints[LAST + 1] = second as i32;
        Ended { terminated, truncated: false }
    }

    fn observe(&self, state: StateRef<'_>, _agent: u32, obs: &mut [f32]) {
        one_hot(state, obs);
    }

    fn state(&self, state: StateRef<'_>, out: &mut [f32]) {
        one_hot(state, out);
    }

    fn legal(&self, _state: StateRef<'_>, _agent: u32, mask: &mut [u32]) {
        mask.fill(1);
    }

    fn step_count(&self, state: StateRef<'_>) -> u32 {
        state.ints[TIME] as u32
    }

    /// The table of the state the agents are in; the joint action is lit once that table has paid.
    fn frame(&self, state: StateRef<'_>) -> Frame {
        let paid = self.step_count(state) == 2;
        Frame::Matrix {
            payoffs: self.paid_at(state.ints[STAGE]).map(|payoff| (payoff, payoff)).to_vec(),
            rows: 2,
            columns: 2,
            played: paid.then(|| (state.ints[LAST] as u32, state.ints[LAST + 1] as u32)),
            stage: state.ints[STAGE] as u32,
            stages: ["stage.1", "stage.2a", "stage.2b"].map(str::to_owned).to_vec(),
            repetition: (1, 1),
        }
    }

    fn standing_at(&self, _state: StateRef<'_>, _agent: u32, _cell: u32) -> Option<EnvState> {
        None
    }

    fn optimum(&self) -> Option<Optimum> {
        let [a, b] = self.payoffs();
        Some(Optimum { value: max(&a).max(max(&b)), starts: 1, exact: true, full_information: false })
    }

    fn wgsl(&self) -> Option<WgslRules> {
        let payoffs = (0..3).flat_map(|stage| self.paid_at(stage)).collect();
        let constants = vec![("PAYOFFS", Constant::Reals(payoffs))];
        Some(WgslRules { source: include_str!("wgsl/two_step.wgsl"), constants })
    }

    fn exact_q(&self, state: StateRef<'_>, gamma: f32) -> Option<Vec<f32>> {
        let table = self.exact_tables(f64::from(gamma))[state.ints[STAGE] as usize];
        Some(table.map(|q| q as f32).to_vec())
    }
}
