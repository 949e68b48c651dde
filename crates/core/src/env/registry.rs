//! The one list of environments: menus, links, documents and tests iterate over it.

use crate::env::api::Env;
use crate::env::matrix_game::{MatrixError, MatrixSpec};
use crate::env::pellet::{PelletError, PelletSpec};
use crate::env::two_step::{TwoStepError, TwoStepSpec};

/// Which environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EnvKind {
    /// The pellet gridworld.
    Pellet,
    /// A matrix game.
    Matrix,
    /// QMIX's two-step game.
    TwoStep,
}

impl EnvKind {
    /// Every environment, in menu order.
    pub const ALL: [Self; 3] = [Self::Pellet, Self::Matrix, Self::TwoStep];

    /// The id in links, text ids and documents; permanent.
    pub fn id(self) -> &'static str {
        match self {
            Self::Pellet => "pellet",
            Self::Matrix => "matrix",
            Self::TwoStep => "two_step",
        }
    }

    /// The environment of that id.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.id() == id)
    }

    /// Its set-up before anyone changes it.
    pub fn default_spec(self) -> EnvSpec {
        match self {
            Self::Pellet => EnvSpec::Pellet(PelletSpec::default()),
            Self::Matrix => EnvSpec::Matrix(MatrixSpec::default()),
            Self::TwoStep => EnvSpec::TwoStep(TwoStepSpec::default()),
        }
    }
}

/// An environment as the user sets it up.
#[derive(Clone, Debug, PartialEq)]
pub enum EnvSpec {
    /// The pellet gridworld.
    Pellet(PelletSpec),
    /// A matrix game.
    Matrix(MatrixSpec),
    /// QMIX's two-step game.
    TwoStep(TwoStepSpec),
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
}

impl EnvSpec {
    /// Which environment it sets up.
    pub fn kind(&self) -> EnvKind {
        match self {
            Self::Pellet(_) => EnvKind::Pellet,
            Self::Matrix(_) => EnvKind::Matrix,
            Self::TwoStep(_) => EnvKind::TwoStep,
        }
    }

    /// The rules, or why there are none.
    pub fn build(&self) -> Result<Box<dyn Env>, EnvError> {
        Ok(match self {
            Self::Pellet(spec) => Box::new(spec.validate()?),
            Self::Matrix(spec) => Box::new(spec.validate()?),
            Self::TwoStep(spec) => Box::new(spec.validate()?),
        })
    }
}
