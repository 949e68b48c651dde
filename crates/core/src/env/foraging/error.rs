//! What can be wrong with a foraging world, in sentences for whoever set it up.

use super::spec::{FOOD, ForagingSpec, LEVEL, PENALTY, PLAYERS, SIDE, SIGHT, TIME_LIMIT, limit};
use crate::env::range::{OutOfRange, within};

/// Why a [`ForagingSpec`] is no world, or a scene none of its states.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ForagingError {
    /// A number out of its range.
    #[error(transparent)]
    Range(#[from] OutOfRange),
    /// A list of limits of the wrong length.
    #[error("The parameter {name} lists {given} levels: one for all is possible, or {needed}, one of each.")]
    Count {
        /// The parameter.
        name: &'static str,
        /// Levels listed.
        given: u32,
        /// Things that have one.
        needed: u32,
    },
    /// A lowest level above the highest.
    #[error(
        "The parameter {least_name} is {least}, but {most_name} is {most}: the lowest level must not be above the highest."
    )]
    Levels {
        /// The lower limit's name.
        least_name: &'static str,
        /// The lower limit.
        least: u32,
        /// The upper limit's name.
        most_name: &'static str,
        /// The upper limit.
        most: u32,
    },
    /// Food that a team of the lowest levels could not have: its level could not be drawn.
    #[error(
        "The parameter min_food_level is {least}, but the three lowest players may reach only {most} together, the highest level \
         of a food: it must be from 1 to {most}."
    )]
    FoodLevel {
        /// The lower limit.
        least: u32,
        /// The smallest upper limit there can be.
        most: u32,
    },
    /// Every interior cell may be taken by players.
    #[error(
        "The parameter players is {players}, but food lies off the edge and the field has {interior} cells there: \
         take fewer players than that, or a larger field."
    )]
    Crowded {
        /// Players.
        players: u32,
        /// Cells off the edge.
        interior: u32,
    },
    /// A thing of a scene that cannot be where it is said to be.
    #[error("In the scene {what} at row {row}, column {column} is outside the field or on another one's cell.")]
    Place {
        /// `player 1`, `food 2`.
        what: String,
        /// Row.
        row: i64,
        /// Column.
        column: i64,
    },
    /// A scene of another number of things.
    #[error("The scene has {given} {what}: there must be {needed}.")]
    Things {
        /// `players` or `foods`.
        what: &'static str,
        /// How many there are.
        given: usize,
        /// How many there must be.
        needed: String,
    },
}

/// Whether the settings make a world that can be reset.
pub(super) fn check(spec: &ForagingSpec) -> Result<(), ForagingError> {
    within("players", spec.players, &PLAYERS)?;
    within("field_size", spec.rows, &SIDE)?;
    within("field_size", spec.columns, &SIDE)?;
    within("max_num_food", spec.food, &(*FOOD.start()..=spec.most_food()))?;
    if let Some(sight) = spec.sight {
        within("sight", sight, &SIGHT)?;
    }
    within("max_episode_steps", spec.time_limit, &TIME_LIMIT)?;
    within("penalty", spec.penalty, &PENALTY)?;
    let (lowest, highest) = (&spec.min_player_level, &spec.max_player_level);
    levels("min_player_level", lowest, spec.players)?;
    levels("max_player_level", highest, spec.players)?;
    ordered("min_player_level", lowest, "max_player_level", highest, spec.players)?;
    levels("min_food_level", &spec.min_food_level, spec.food)?;
    if let Some(highest) = &spec.max_food_level {
        levels("max_food_level", highest, spec.food)?;
        ordered("min_food_level", &spec.min_food_level, "max_food_level", highest, spec.food)?;
    } else if !spec.force_coop {
        let mut weakest: Vec<u32> = (0..spec.players as usize).map(|player| limit(lowest, player)).collect();
        weakest.sort_unstable();
        let most = weakest.iter().take(3).sum();
        let least = spec.min_food_level.iter().copied().max().unwrap_or_default();
        if least > most {
            return Err(ForagingError::FoodLevel { least, most });
        }
    }
    let interior = (spec.rows - 2) * (spec.columns - 2);
    if interior <= spec.players {
        return Err(ForagingError::Crowded { players: spec.players, interior });
    }
    Ok(())
}

fn levels(name: &'static str, levels: &[u32], needed: u32) -> Result<(), ForagingError> {
    if levels.len() != 1 && levels.len() != needed as usize {
        return Err(ForagingError::Count { name, given: levels.len() as u32, needed });
    }
    Ok(levels.iter().try_for_each(|&level| within(name, level, &LEVEL))?)
}

fn ordered(
    least_name: &'static str,
    lowest: &[u32],
    most_name: &'static str,
    highest: &[u32],
    things: u32,
) -> Result<(), ForagingError> {
    let pairs = (0..things as usize).map(|thing| (limit(lowest, thing), limit(highest, thing)));
    match pairs.into_iter().find(|(least, most)| least > most) {
        Some((least, most)) => Err(ForagingError::Levels { least_name, least, most_name, most }),
        None => Ok(()),
    }
}
