//! What players see, number for number as in lbforaging 2.0.0, and the global state.
//!
//! Observation of a player: the foods in its window, row-major, as (row, column, level), then itself, then the others in
//! index order as far as they are listed; what is missing is (−1, −1, 0). Rows and columns count from the window's
//! top-left corner, so with full sight they are those of the field. The window ends at the field's edge but the test
//! for players does not know that: near the top and left edge they are listed up to 2·sight minus the own coordinate
//! away, farther than food (the reference's asymmetry, kept).
//! As a grid: three layers of (2·sight + 1)² cells around the player: levels of players, levels of foods, 1 where one
//! could step. State: row, column and level of all players and foods, and the sum of the levels spawned.

use super::{Foraging, ForagingSpec, SPAWNED};
use crate::env::api::{Label, Others, StateRef};

/// Numbers of a food, and of a player whose level is seen.
const SLOT: usize = 3;
/// In place of a thing that is not seen.
const MISSING: [f32; SLOT] = [-1.0, -1.0, 0.0];
/// Layers of a grid observation.
const LAYERS: [&str; 3] = ["obs.near.players", "obs.near.food", "obs.near.free"];

/// A name for every index of the observation.
pub(super) fn labels(spec: &ForagingSpec) -> Vec<Label> {
    if spec.grid_observation {
        let radius = spec.radius() as i32;
        let cells = || (-radius..=radius).flat_map(move |row| (-radius..=radius).map(move |column| (row, column)));
        let layer = |id| cells().map(move |(row, column)| Label::new(id, &[column, row]));
        return LAYERS.into_iter().flat_map(layer).collect();
    }
    let foods = (1..=spec.food as i32)
        .flat_map(|slot| ["obs.food.row", "obs.food.column", "obs.food.level"].map(|id| Label::new(id, &[slot])));
    let numbers = if spec.observe_agent_levels { 3 } else { 2 };
    let own = ["obs.own.row", "obs.own.column", "obs.own.level"].map(|id| Label::new(id, &[]));
    // Where a player may be out of sight, those after it move up; a single other one has its place to itself.
    let are_known = spec.players == 2 || reaches_everywhere(spec);
    let ids = if are_known {
        ["obs.other_player.row", "obs.other_player.column", "obs.other_player.level"]
    } else {
        ["obs.player.row", "obs.player.column", "obs.player.level"]
    };
    let name = move |id, slot| match are_known.then_some(Others::Ascending) {
        Some(order) => Label::of_other(id, &[slot], order),
        None => Label::new(id, &[slot]),
    };
    let others = (1..spec.players as i32).flat_map(|slot| ids.map(|id| name(id, slot)).into_iter().take(numbers));
    foods.chain(own.into_iter().take(numbers)).chain(others).collect()
}

pub(super) fn state_len(spec: &ForagingSpec) -> u32 {
    SLOT as u32 * (spec.players + spec.food) + 1
}

/// Whether a player's window is the whole field, wherever it stands.
fn reaches_everywhere(spec: &ForagingSpec) -> bool {
    spec.radius() + 1 >= spec.rows.max(spec.columns)
}

/// Whether an observation says all that the state says.
pub(super) fn sees_everything(spec: &ForagingSpec) -> bool {
    let far = reaches_everywhere(spec);
    // What has been eaten is seen by nobody; it matters where rewards are shares of all there was.
    let knows_scale = spec.food == 1 || !spec.normalize_reward;
    far && knows_scale && spec.observe_agent_levels && !spec.grid_observation
}

pub(super) fn observe(world: &Foraging, state: StateRef<'_>, agent: u32, obs: &mut [f32]) {
    if world.spec.grid_observation { layers(world, state, agent, obs) } else { list(world, state, agent, obs) }
}

fn list(world: &Foraging, state: StateRef<'_>, agent: u32, obs: &mut [f32]) {
    let radius = world.spec.radius() as i32;
    let (row, column) = world.place_of(state.ints[world.cells_at()][agent as usize]);
    let (top, left) = ((row - radius).max(0), (column - radius).max(0));
    let (foods, players) = obs.split_at_mut(world.spec.food as usize * SLOT);

    let sees = |food: &[i32; 3]| (food[0] - row).abs() <= radius && (food[1] - column).abs() <= radius;
    let mut seen = world.foods(state).filter(sees);
    for slot in foods.chunks_exact_mut(SLOT) {
        let food = seen.next().map(|[row, column, level]| [(row - top) as f32, (column - left) as f32, level as f32]);
        slot.copy_from_slice(&food.unwrap_or(MISSING));
    }

    let numbers = if world.spec.observe_agent_levels { 3 } else { 2 };
    let player = |index: usize| {
        let (row, column) = world.place_of(state.ints[world.cells_at()][index]);
        [row - top, column - left, state.ints[world.levels_at()][index]]
    };
    let is_listed = |place: &[i32; 3]| place[..2].iter().all(|at| (0..=2 * radius).contains(at));
    let own = agent as usize;
    let others = (0..world.spec.players as usize).filter(|&index| index != own).map(player).filter(is_listed);
    let mut listed = std::iter::once(player(own)).chain(others);
    for slot in players.chunks_exact_mut(numbers) {
        let place = listed.next().map_or(MISSING, |place| place.map(|number| number as f32));
        slot.copy_from_slice(&place[..numbers]);
    }
}

fn layers(world: &Foraging, state: StateRef<'_>, agent: u32, obs: &mut [f32]) {
    let radius = world.spec.radius() as i32;
    let side = 2 * radius + 1;
    let (row, column) = world.place_of(state.ints[world.cells_at()][agent as usize]);
    let near = |other_row: i32, other_column: i32| {
        let (rows, columns) = (other_row - row + radius, other_column - column + radius);
        let is_near = (0..side).contains(&rows) && (0..side).contains(&columns);
        is_near.then_some((rows * side + columns) as usize)
    };
    obs.fill(0.0);
    let (levels, rest) = obs.split_at_mut((side * side) as usize);
    let (foods, free) = rest.split_at_mut((side * side) as usize);
    for field_row in 0..world.spec.rows as i32 {
        for field_column in 0..world.spec.columns as i32 {
            if let Some(at) = near(field_row, field_column) {
                free[at] = 1.0;
            }
        }
    }
    for ((other_row, other_column), &level) in world.players(state).zip(&state.ints[world.levels_at()]) {
        if let Some(at) = near(other_row, other_column) {
            // Of two on one cell the later one is shown.
            levels[at] = if world.spec.observe_agent_levels { level as f32 } else { 1.0 };
            free[at] = 0.0;
        }
    }
    for [food_row, food_column, level] in world.foods(state) {
        if let Some(at) = near(food_row, food_column) {
            foods[at] = level as f32;
            free[at] = 0.0;
        }
    }
}

pub(super) fn state(world: &Foraging, state: StateRef<'_>, out: &mut [f32]) {
    let (players, rest) = out.split_at_mut(world.spec.players as usize * SLOT);
    let (foods, spawned) = rest.split_at_mut(world.spec.food as usize * SLOT);
    let places = world.players(state).zip(&state.ints[world.levels_at()]);
    for (slot, ((row, column), &level)) in players.chunks_exact_mut(SLOT).zip(places) {
        slot.copy_from_slice(&[row as f32, column as f32, level as f32]);
    }
    let mut left = world.foods(state);
    for slot in foods.chunks_exact_mut(SLOT) {
        let food = left.next().map(|food| food.map(|number| number as f32));
        slot.copy_from_slice(&food.unwrap_or(MISSING));
    }
    spawned[0] = state.ints[SPAWNED] as f32;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The others' rows as `agent` reads them.
    fn rows(players: u32, sight: Option<u32>, agent: u32) -> Vec<(String, Vec<i32>)> {
        let spec = ForagingSpec { players, sight, ..ForagingSpec::default() };
        let names = labels(&spec).into_iter().map(|name| name.seen_by(agent, players));
        let rows = names.filter(|name| name.id.ends_with("player.row"));
        rows.map(|name| (name.id, name.args)).collect()
    }

    #[test]
    fn others_go_by_number_where_their_places_are_their_own() {
        let known = |agent| ("obs.other_player.row".to_owned(), vec![agent]);
        assert_eq!(rows(3, None, 1), [known(1), known(3)]);
        assert_eq!(rows(2, Some(2), 0), [known(2)], "a single other one has its place to itself");
        let listed = |slot| ("obs.player.row".to_owned(), vec![slot]);
        assert_eq!(rows(3, Some(2), 1), [listed(1), listed(2)], "whoever is in sight moves up");
    }
}
