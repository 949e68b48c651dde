//! Who moves an agent, as plain data: learning, a frozen copy, a script or a person. Independent learning, teams
//! against scripts, freezing and playing by hand are settings of this list.
//!
//! Serde for the same reason as in `settings.rs`: it crosses to the worker inside a spec of the same build.

use serde::{Deserialize, Serialize};

use crate::env::script::Script;

/// Groups of learners there may be: one for each of the most agents a world has.
pub const GROUPS: u8 = 8;

/// Who moves an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Controller {
    /// It learns; where networks are shared, with its group (0 is written `a`).
    Learner(u8),
    /// It acts with the weights of the moment it was frozen (the initial ones where a run begins so) and does not
    /// learn.
    Frozen,
    /// A program plays.
    Scripted(Script),
    /// A person plays on the stage; elsewhere this script does.
    Human(Script),
}

impl Default for Controller {
    fn default() -> Self {
        Self::Learner(0)
    }
}

impl Controller {
    /// Whether it learns.
    pub fn learns(self) -> bool {
        matches!(self, Self::Learner(_))
    }

    /// Whether it acts with a network.
    pub fn has_network(self) -> bool {
        matches!(self, Self::Learner(_) | Self::Frozen)
    }

    /// The script that plays wherever no person does.
    pub fn script(self) -> Option<Script> {
        match self {
            Self::Scripted(script) | Self::Human(script) => Some(script),
            Self::Learner(_) | Self::Frozen => None,
        }
    }
}

/// The controller of each agent; whoever is not listed learns in the first group. The empty list, everyone learning
/// together, is the default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seats {
    /// In the order of the agents.
    pub list: Vec<Controller>,
}

impl Seats {
    /// Who moves `agent`.
    pub fn of(&self, agent: u32) -> Controller {
        self.list.get(agent as usize).copied().unwrap_or_default()
    }

    /// The same seats but for one agent of `agents`.
    #[must_use]
    pub fn with(&self, agents: u32, agent: u32, controller: Controller) -> Self {
        Self::all(agents, |i| if i == agent { controller } else { self.of(i) })
    }

    /// Only `agent` of `agents` learns; who else had a network is frozen.
    #[must_use]
    pub fn only(&self, agents: u32, agent: u32) -> Self {
        Self::all(agents, |i| match self.of(i) {
            Controller::Learner(group) if i == agent => Controller::Learner(group),
            _ if i == agent => Controller::default(),
            Controller::Learner(_) => Controller::Frozen,
            other => other,
        })
    }

    /// The seats of `agents`, in their shortest form.
    fn all(agents: u32, of: impl Fn(u32) -> Controller) -> Self {
        let list: Vec<Controller> = (0..agents).map(of).collect();
        let is_default = list.iter().all(|&controller| controller == Controller::default());
        Self { list: if is_default { Vec::new() } else { list } }
    }

    /// Whether a running experiment can change to the seats `to`: whoever then acts with a network has one now, its own
    /// or, where a group is `shared`, that of the group.
    pub fn can_become(&self, to: &Self, agents: u32, shared: bool) -> bool {
        let has_group = |group| shared && (0..agents).any(|i| self.of(i) == Controller::Learner(group));
        (0..agents).all(|i| match (self.of(i), to.of(i)) {
            (from, to) if from == to || !to.has_network() => true,
            (from, Controller::Learner(group)) => has_group(group) || (from.has_network() && !from.learns()),
            (from, _) => from.has_network(),
        })
    }
}

/// Some of the agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Members(u32);

impl Members {
    /// The agents of `agents` that `is_member` names.
    pub fn of(agents: u32, is_member: impl Fn(u32) -> bool) -> Self {
        Self((0..agents).filter(|&agent| is_member(agent)).fold(0, |bits, agent| bits | 1 << agent))
    }

    /// All of `agents`.
    pub fn all(agents: u32) -> Self {
        Self::of(agents, |_| true)
    }

    /// In ascending order.
    pub fn iter(self) -> impl Iterator<Item = u32> + Clone {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let agent = (rest != 0).then(|| rest.trailing_zeros());
            rest &= rest.wrapping_sub(1);
            agent
        })
    }

    /// Bit i is agent i.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// How many.
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether `agent` is one.
    pub fn contains(self, agent: u32) -> bool {
        self.0 >> agent & 1 == 1
    }
}
