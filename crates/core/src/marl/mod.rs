//! Algorithms: environments' rules and network kernels put on lists.

pub mod bouts;
pub mod coma;
pub mod coma_step;
pub mod evaluation;
mod handover;
pub mod ippo;
pub mod iql;
pub mod learner;
pub mod mappo;
pub mod matches;
pub mod parts;
pub mod policy_gradient;
pub mod ppo_step;
pub mod probe;
pub mod q_step;
pub mod qmix;
pub mod registry;
pub mod seats;
pub mod settings;
pub mod value_based;
pub mod vdn;
