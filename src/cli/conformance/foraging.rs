//! Level-based foraging of lbforaging: joint steps of a team that ends together.

use serde_json::{Value, json};
use tandem_core::env::aec::Account;
use tandem_core::env::api::{Env, EnvState, StateRef};
use tandem_core::env::foraging::{Foraging, ForagingScene, ForagingSpec};

use super::check::Stop;
use super::format::{Episode, Malformed, rows};
use super::params::{Params, unsupported, wrong};
use super::replay::Subject;

/// A foraging world.
pub(super) struct Forage {
    world: Foraging,
    spec: ForagingSpec,
    /// As the file has it, which may be farther than the field reaches.
    sight: u32,
    start: EnvState,
}

impl Forage {
    pub(super) fn new(episode: &Episode) -> Result<Self, Stop> {
        let mut spec = spec(episode)?;
        let sight = spec.radius();
        // As far as the field reaches a list has everything; layers are as wide as the sight.
        if !spec.grid_observation {
            spec.sight = Some(sight.min(spec.rows.max(spec.columns)));
        }
        let world = spec.validate().map_err(Stop::out_of_bounds)?;
        let init = |key: &str| episode.init.get(key).ok_or_else(|| Malformed(format!("init.{key}")));
        let field = init("field")?;
        let is_row = |row: &Value| row.as_array().is_some_and(|row| row.len() == spec.columns as usize);
        let is_field = |field: &&Vec<Value>| field.len() == spec.rows as usize && field.iter().all(is_row);
        let field_rows = field.as_array().filter(is_field).ok_or_else(|| Malformed(format!("init.field: {field}")))?;
        let mut foods = Vec::new();
        for (row, cells) in (0..).zip(field_rows) {
            for (column, cell) in (0..).zip(cells.as_array().into_iter().flatten()) {
                let level = cell.as_i64().ok_or_else(|| Malformed(format!("init.field: {cell}")))?;
                if level != 0 {
                    foods.push([row, column, level]);
                }
            }
        }
        let spawned = init("food_spawned")?;
        let whole = spawned.as_f64().filter(|sum| sum.fract() == 0.0 && (0.0..1e6).contains(sum));
        let spawned = whole.ok_or_else(|| Malformed(format!("init.food_spawned: {spawned}")))? as u32;
        let scene = ForagingScene { players: rows("init.players", init("players")?)?, foods, spawned };
        let start = world.place(&scene).map_err(Stop::no_start)?;
        Ok(Self { world, spec, sight, start })
    }
}

fn spec(episode: &Episode) -> Result<ForagingSpec, Stop> {
    let mut params = Params::new(&episode.params);
    let mut spec = ForagingSpec::default();
    if let Some(id) = params.take("id") {
        let text = id.as_str().ok_or_else(|| wrong("id", &id))?;
        spec = ForagingSpec::registered(text).ok_or_else(|| unsupported("id", &id))?;
    }
    params.count("players", &mut spec.players)?;
    params.counts("min_player_level", &mut spec.min_player_level)?;
    params.counts("max_player_level", &mut spec.max_player_level)?;
    params.counts("min_food_level", &mut spec.min_food_level)?;
    let mut highest = spec.max_food_level.clone().unwrap_or_default();
    params.counts("max_food_level", &mut highest)?;
    spec.max_food_level = (!highest.is_empty()).then_some(highest);
    let mut field = vec![spec.rows, spec.columns];
    params.counts("field_size", &mut field)?;
    let [rows, columns] = field[..] else { return Err(Malformed(format!("params.field_size: {field:?}")).into()) };
    (spec.rows, spec.columns) = (rows, columns);
    params.count("max_num_food", &mut spec.food)?;
    spec.sight = params.optional_count("sight")?.or(spec.sight);
    params.count("max_episode_steps", &mut spec.time_limit)?;
    params.switch("force_coop", &mut spec.force_coop)?;
    params.number("penalty", &mut spec.penalty)?;
    params.switch("normalize_reward", &mut spec.normalize_reward)?;
    params.switch("observe_agent_levels", &mut spec.observe_agent_levels)?;
    params.switch("grid_observation", &mut spec.grid_observation)?;
    params.finish()?;
    Ok(spec)
}

impl Subject for Forage {
    fn env(&self) -> &dyn Env {
        &self.world
    }

    fn names(&self) -> Vec<String> {
        (0..self.spec.players).map(|player| format!("player_{player}")).collect()
    }

    fn start(&self) -> EnvState {
        self.start.clone()
    }

    fn sim(&self, state: StateRef<'_>) -> Vec<(&'static str, Vec<f64>)> {
        let players = self.world.players(state).flat_map(|(row, column)| [row, column]).map(f64::from);
        let foods = self.world.foods(state).flatten().map(f64::from);
        vec![("players", players.collect()), ("food", foods.collect())]
    }

    fn effective(&self) -> Vec<(&'static str, Value)> {
        let spec = &self.spec;
        vec![
            ("players", json!(spec.players)),
            ("field_size", json!([spec.rows, spec.columns])),
            ("sight", json!(self.sight)),
            ("max_num_food", json!(spec.food)),
            ("max_episode_steps", json!(spec.time_limit)),
            ("force_coop", json!(spec.force_coop)),
            ("penalty", json!(spec.penalty)),
            ("normalize_reward", json!(spec.normalize_reward)),
            ("grid_observation", json!(spec.grid_observation)),
            ("observe_agent_levels", json!(spec.observe_agent_levels)),
        ]
    }

    /// The reference calls either end `done`.
    fn flags(&self, account: Account) -> (bool, bool) {
        (account.is_dead(), false)
    }
}
