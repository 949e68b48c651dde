//! The one list of algorithms and what each asks of an environment.

use super::settings::AlgoChoice;
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
}

/// Every algorithm, in menu order.
pub const ALGORITHMS: [AlgoInfo; 3] = [
    AlgoInfo { choice: AlgoChoice::Iql, id: "iql", name: "IQL", team_value: false, has_mixer: false },
    AlgoInfo { choice: AlgoChoice::Vdn, id: "vdn", name: "VDN", team_value: true, has_mixer: false },
    AlgoInfo { choice: AlgoChoice::Qmix, id: "qmix", name: "QMIX", team_value: true, has_mixer: true },
];

impl AlgoChoice {
    /// Its entry in the list.
    pub fn info(self) -> &'static AlgoInfo {
        ALGORITHMS.iter().find(|a| a.choice == self).expect("every choice is listed")
    }
}

/// Why an algorithm cannot train an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// VDN and QMIX learn one Q_tot from one team reward.
    #[error("{algorithm} needs one team reward; this game has {rewards}")]
    IndividualRewards {
        /// Its name.
        algorithm: &'static str,
        /// How many different rewards there are.
        rewards: u32,
    },
}

/// Whether `algo` can train a world with these facts.
pub fn accepts(algo: AlgoChoice, info: &EnvInfo) -> Result<(), Refusal> {
    let algorithm = algo.info();
    if algorithm.team_value && !info.team_reward {
        return Err(Refusal::IndividualRewards { algorithm: algorithm.name, rewards: info.num_agents });
    }
    Ok(())
}
