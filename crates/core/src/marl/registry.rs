//! The one list of algorithms and what each asks of an environment.

use super::parts::critic::CriticView;
use super::parts::explore::Behaviour;
use super::settings::{AlgoChoice, TeamRewardChoice};
use crate::env::api::EnvInfo;

/// What is known of an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct AlgoInfo {
    /// Which.
    pub choice: AlgoChoice,
    /// Id in links and text ids; permanent.
    pub id: &'static str,
    /// Name as written in papers.
    pub name: &'static str,
    /// Whether it learns one value for the team (and so needs one team reward).
    pub team_value: bool,
    /// Whether it mixes with a network on the state.
    pub has_mixer: bool,
    /// What its networks' outputs mean.
    pub behaviour: Behaviour,
    /// What its critic sees, if it has one.
    pub critic: Option<CriticView>,
    /// Whether that critic values actions, so that each is judged against the agent's others (COMA).
    pub is_counterfactual: bool,
}

impl AlgoInfo {
    /// Whether its policies are trained by clipped ratios, a value V judging what was done.
    pub fn is_ppo(&self) -> bool {
        self.behaviour == Behaviour::Softmax && !self.is_counterfactual
    }

    /// Whether it acts at random with probability ε while data is gathered.
    pub fn has_epsilon(&self) -> bool {
        !self.is_ppo()
    }

    /// Whether it bootstraps from a slow copy.
    pub fn has_target(&self) -> bool {
        !self.is_ppo()
    }
}

const fn value_based(choice: AlgoChoice, id: &'static str, name: &'static str) -> AlgoInfo {
    let behaviour = Behaviour::EpsilonGreedy;
    AlgoInfo {
        choice,
        id,
        name,
        team_value: false,
        has_mixer: false,
        behaviour,
        critic: None,
        is_counterfactual: false,
    }
}

const fn policy_gradient(choice: AlgoChoice, id: &'static str, name: &'static str, critic: CriticView) -> AlgoInfo {
    AlgoInfo { behaviour: Behaviour::Softmax, critic: Some(critic), ..value_based(choice, id, name) }
}

/// Every algorithm, in menu order.
pub const ALGORITHMS: [AlgoInfo; 6] = [
    value_based(AlgoChoice::Iql, "iql", "IQL"),
    AlgoInfo { team_value: true, ..value_based(AlgoChoice::Vdn, "vdn", "VDN") },
    AlgoInfo { team_value: true, has_mixer: true, ..value_based(AlgoChoice::Qmix, "qmix", "QMIX") },
    policy_gradient(AlgoChoice::Ippo, "ippo", "IPPO", CriticView::Local),
    policy_gradient(AlgoChoice::Mappo, "mappo", "MAPPO", CriticView::Central),
    AlgoInfo {
        team_value: true,
        is_counterfactual: true,
        ..policy_gradient(AlgoChoice::Coma, "coma", "COMA", CriticView::Central)
    },
];

impl AlgoChoice {
    /// Its entry in the list.
    pub fn info(self) -> &'static AlgoInfo {
        ALGORITHMS.iter().find(|a| a.choice == self).expect("every choice is listed")
    }

    /// Whether agents follow a stochastic policy trained by its gradient, rather than Q values.
    pub fn is_policy_gradient(self) -> bool {
        self.info().behaviour == Behaviour::Softmax
    }
}

/// Why an algorithm cannot train an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// VDN, QMIX and COMA learn one value of the team from one team reward.
    #[error("{algorithm} needs one team reward; this game has {rewards}")]
    IndividualRewards {
        /// Its name.
        algorithm: &'static str,
        /// How many different rewards there are.
        rewards: u32,
    },
    /// What one player of a board wins the other loses: the sum of their rewards is 0 whatever they do.
    #[error("{algorithm} needs a reward of the whole team; these rewards add up to 0")]
    ZeroSum {
        /// Its name.
        algorithm: &'static str,
    },
}

/// Whether `algo` can train a world with these facts, its team being paid by `team`.
pub fn accepts(algo: AlgoChoice, team: TeamRewardChoice, info: &EnvInfo) -> Result<(), Refusal> {
    let algorithm = algo.info();
    let name = algorithm.name;
    match team {
        _ if !algorithm.team_value || info.team_reward => Ok(()),
        _ if info.in_turns => Err(Refusal::ZeroSum { algorithm: name }),
        TeamRewardChoice::Given => Err(Refusal::IndividualRewards { algorithm: name, rewards: info.num_agents }),
        TeamRewardChoice::Sum | TeamRewardChoice::Mean => Ok(()),
    }
}
