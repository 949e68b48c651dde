//! Environments: the contract they share, their rules one by one, and the numbers known about them.

mod aec;
mod auto_reset;
mod board_players;
mod boards;
mod contract;
mod grid_players;
mod legal_play;
mod matrix;
mod particles;
mod pellet_mirror;
mod pellet_optimum;
mod pellet_rules;
mod pellet_views;
mod playthroughs;
mod scripts;
mod support;
mod two_step;
mod worlds;
