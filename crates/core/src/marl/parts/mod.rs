//! Pieces that several algorithms share, each a few kernels and the code that puts them on a list.

pub mod acting;
pub mod advantage;
pub mod agents;
pub mod clock;
pub mod counterfactual;
pub mod critic;
pub mod explore;
pub mod joint_critic;
pub mod minibatch;
pub mod optimise;
pub mod policy_loss;
pub mod pool;
pub mod popart;
pub mod replay;
pub mod scripted;
pub mod shown;
pub mod sum_mixer;
pub mod tally;
pub mod td;
pub mod td_lambda;
pub mod trajectories;
pub mod turn_replay;
pub mod turns;
pub mod world;
