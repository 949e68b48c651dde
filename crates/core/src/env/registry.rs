//! Every environment behind one type: what a user sets up becomes rules here. Menus and links have their choice of
//! environment from the knob table.

use crate::env::api::Env;
use crate::env::board::BoardSpec;
use crate::env::foraging::{ForagingError, ForagingSpec};
use crate::env::matrix_game::{MatrixError, MatrixSpec};
use crate::env::particles::{ParticleError, ParticleSpec};
use crate::env::pellet::{PelletError, PelletSpec};
use crate::env::pursuit::{PursuitError, PursuitSpec};
use crate::env::two_step::{TwoStepError, TwoStepSpec};

/// An environment as the user sets it up.
#[derive(Clone, Debug, PartialEq)]
pub enum EnvSpec {
    /// The pellet gridworld.
    Pellet(PelletSpec),
    /// A matrix game.
    Matrix(MatrixSpec),
    /// QMIX's two-step game.
    TwoStep(TwoStepSpec),
    /// A particle world.
    Particles(ParticleSpec),
    /// Connect Four or tic-tac-toe.
    Board(BoardSpec),
    /// Level-based foraging.
    Foraging(ForagingSpec),
    /// Pursuit.
    Pursuit(PursuitSpec),
}

/// Why an [`EnvSpec`] is no world.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(transparent)]
pub enum EnvError {
    /// The pellet gridworld.
    Pellet(#[from] PelletError),
    /// A matrix game.
    Matrix(#[from] MatrixError),
    /// QMIX's two-step game.
    TwoStep(#[from] TwoStepError),
    /// A particle world.
    Particles(#[from] ParticleError),
    /// Level-based foraging.
    Foraging(#[from] ForagingError),
    /// Pursuit.
    Pursuit(#[from] PursuitError),
}

impl EnvSpec {
    /// The rules, or why there are none.
    pub fn build(&self) -> Result<Box<dyn Env>, EnvError> {
        Ok(match self {
            Self::Pellet(spec) => Box::new(spec.validate()?),
            Self::Matrix(spec) => Box::new(spec.validate()?),
            Self::TwoStep(spec) => Box::new(spec.validate()?),
            Self::Particles(spec) => Box::new(spec.validate()?),
            Self::Board(spec) => Box::new(spec.build()),
            Self::Foraging(spec) => Box::new(spec.validate()?),
            Self::Pursuit(spec) => Box::new(spec.validate()?),
        })
    }
}
