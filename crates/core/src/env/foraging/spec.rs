//! A level-based foraging world as the user sets it up, and the ids that lbforaging registers.
//!
//! Fields have the meaning of `ForagingEnv`'s arguments (lbforaging 2.0.0). Serde is here because the settings are a
//! part of the experiment that crosses to the worker; links have their own form.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// How many players there may be.
pub const PLAYERS: RangeInclusive<u32> = 1..=16;
/// Rows and columns of the field.
pub const SIDE: RangeInclusive<u32> = 3..=32;
/// Foods of an episode; the field's size may allow fewer, see [`ForagingSpec::most_food`].
pub const FOOD: RangeInclusive<u32> = 1..=32;
/// Levels of players and foods.
pub const LEVEL: RangeInclusive<u32> = 1..=99;
/// Sight in cells, where it is limited.
pub const SIGHT: RangeInclusive<u32> = 1..=32;
/// Env steps of an episode.
pub const TIME_LIMIT: RangeInclusive<u32> = 1..=10_000;
/// What a load that fails may cost.
pub const PENALTY: RangeInclusive<f64> = 0.0..=100.0;

/// The world as the user sets it up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForagingSpec {
    /// Number of players, n.
    pub players: u32,
    /// Lowest level of a player: one number for all, or one of each, dealt out in random order at every reset.
    pub min_player_level: Vec<u32>,
    /// Highest level of a player, both ends included; one number for all, or one of each.
    pub max_player_level: Vec<u32>,
    /// Lowest level of a food: one number for all, or one of each.
    pub min_food_level: Vec<u32>,
    /// Highest level of a food; `None`: the sum of the three lowest player levels, so that a team can lift it.
    pub max_food_level: Option<Vec<u32>>,
    /// Rows of the field.
    pub rows: u32,
    /// Columns of the field.
    pub columns: u32,
    /// Foods of an episode; fewer where no place is left for another.
    pub food: u32,
    /// How far a player sees, in cells along the longer axis; `None`: the field's longer side, hence everything.
    pub sight: Option<u32>,
    /// Env steps until the episode is truncated.
    pub time_limit: u32,
    /// Whether every food has the highest level, so that nobody lifts one alone.
    pub force_coop: bool,
    /// What a load that fails costs each player of the team.
    pub penalty: f64,
    /// Whether rewards are divided so that an episode's team return is at most 1.
    pub normalize_reward: bool,
    /// Whether players see the levels of players.
    pub observe_agent_levels: bool,
    /// Whether a player observes three layers of the cells around it instead of a list of things.
    pub grid_observation: bool,
}

impl Default for ForagingSpec {
    /// `Foraging-8x8-2p-1f-v3`.
    fn default() -> Self {
        Self {
            players: 2,
            min_player_level: vec![1],
            max_player_level: vec![2],
            min_food_level: vec![1],
            max_food_level: None,
            rows: 8,
            columns: 8,
            food: 1,
            sight: None,
            time_limit: 50,
            force_coop: false,
            penalty: 0.0,
            normalize_reward: true,
            observe_agent_levels: true,
            grid_observation: false,
        }
    }
}

impl ForagingSpec {
    /// The world that lbforaging registers under `id`: `Foraging{-2s}-{S}x{S}-{P}p-{F}f{-coop}-v3`, and its grid
    /// variants `Foraging-grid{-Rs}-…`; `None` for any other id.
    pub fn registered(id: &str) -> Option<Self> {
        let inner = id.strip_prefix("Foraging-")?.strip_suffix("-v3")?;
        let (grid_observation, inner) = inner.strip_prefix("grid-").map_or((false, inner), |rest| (true, rest));
        let (force_coop, inner) = inner.strip_suffix("-coop").map_or((false, inner), |rest| (true, rest));
        let words: Vec<&str> = inner.split('-').collect();
        let (sight, [size, players, food]) = match words[..] {
            [sight, size, players, food] => (Some(number(sight.strip_suffix('s')?)?), [size, players, food]),
            [size, players, food] => (None, [size, players, food]),
            _ => return None,
        };
        let (rows, columns) = size.split_once('x')?;
        let (rows, columns) = (number(rows)?, number(columns)?);
        let (players, food) = (number(players.strip_suffix('p')?)?, number(food.strip_suffix('f')?)?);
        let sights = if grid_observation { 1..=rows.saturating_sub(1) } else { 2..=2 };
        let is_registered = rows == columns
            && (5..=19).contains(&rows)
            && (2..=9).contains(&players)
            && (1..=4).contains(&food)
            && sight.is_none_or(|sight| sights.contains(&sight));
        is_registered.then(|| Self {
            players,
            rows,
            columns,
            food,
            sight,
            force_coop,
            grid_observation,
            ..Self::default()
        })
    }

    /// How far a player sees, in cells.
    pub fn radius(&self) -> u32 {
        self.sight.unwrap_or(self.rows.max(self.columns))
    }

    /// More food than this can lie nowhere: foods keep apart and off the edge, so each has a block of 2 × 2 cells of
    /// the interior to itself.
    pub fn most_food(&self) -> u32 {
        let blocks = |side: u32| side.saturating_sub(2).div_ceil(2);
        (blocks(self.rows) * blocks(self.columns)).min(*FOOD.end())
    }
}

/// Digits alone, and no leading zero: an id has one spelling.
fn number(text: &str) -> Option<u32> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|_| is_plain)
}

/// The limit of thing number `index`: the only one, or its own.
pub(super) fn limit(limits: &[u32], index: usize) -> u32 {
    limits[if limits.len() == 1 { 0 } else { index }]
}
