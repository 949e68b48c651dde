//! Where an episode begins: the reference's distribution of players, levels and foods, drawn without retries.
//!
//! The reference tries random cells until one is free, up to 1,000 times; a draw among the cells that are free has the
//! same distribution and always the same number of draws. Where no place is left for another food both end with fewer.

use super::spec::{FOOD, PLAYERS, limit};
use super::{Foraging, NOWHERE, SPAWNED};
use crate::base::rng::Draws;

/// The world's draws: first the order in which the players' limits are dealt out, …
const PLAYER_ORDER: u32 = 0;
/// … then that of the foods' limits, …
const FOOD_ORDER: u32 = PLAYER_ORDER + *PLAYERS.end();
/// … then a cell and a level of each food.
const FOODS: u32 = FOOD_ORDER + *FOOD.end();
/// A player's own draws.
const CELL: u32 = 0;
const LEVEL: u32 = 1;

/// Puts players and foods at random places with random levels.
pub(super) fn scatter(world: &Foraging, ints: &mut [i32], draws: &Draws) {
    ints.fill(0);
    scatter_players(world, ints, draws);
    scatter_food(world, ints, draws);
}

fn scatter_players(world: &Foraging, ints: &mut [i32], draws: &Draws) {
    let spec = &world.spec;
    let order = order::<{ *PLAYERS.end() as usize }>(spec.players, PLAYER_ORDER, draws);
    let cells = world.cells_at();
    for player in 0..spec.players {
        let taken = cells.start..cells.start + player as usize;
        let free = draws.below(player, CELL, spec.rows * spec.columns - player) as usize;
        let is_free = |cell: &i32| !ints[taken.clone()].contains(cell);
        let cell = (0..(spec.rows * spec.columns) as i32).filter(is_free).nth(free);
        let dealt = order[player as usize] as usize;
        let (least, most) = (limit(&spec.min_player_level, dealt), limit(&spec.max_player_level, dealt));
        ints[cells.start + player as usize] = cell.expect("validation left a cell for every player");
        ints[world.levels_at().start + player as usize] = drawn(draws, player, LEVEL, least, most);
    }
}

fn scatter_food(world: &Foraging, ints: &mut [i32], draws: &Draws) {
    let spec = &world.spec;
    let order = order::<{ *FOOD.end() as usize }>(spec.food, FOOD_ORDER, draws);
    let cap = three_lowest(&ints[world.levels_at()]);
    let (cells, levels) = (world.food_cells_at(), world.food_levels_at());
    ints[cells.clone()].fill(NOWHERE);
    for food in 0..spec.food {
        let fits = |cell: &i32| world.takes_food(ints, *cell);
        let interior = || (0..(spec.rows * spec.columns) as i32).filter(fits);
        let count = interior().count() as u32;
        if count == 0 {
            break;
        }
        let cell = interior().nth(draws.below(Draws::WORLD, FOODS + 2 * food, count) as usize);
        let dealt = order[food as usize] as usize;
        let most = spec.max_food_level.as_ref().map_or(cap, |limits| limit(limits, dealt));
        let least = if spec.force_coop { most } else { limit(&spec.min_food_level, dealt) };
        let slot = food as usize;
        ints[cells.start + slot] = cell.expect("the draw is below the number of cells");
        ints[levels.start + slot] = drawn(draws, Draws::WORLD, FOODS + 2 * food + 1, least, most);
    }
    world.settle(ints);
    ints[SPAWNED] = ints[levels].iter().sum();
}

fn drawn(draws: &Draws, agent: u32, draw: u32, least: u32, most: u32) -> i32 {
    (least + draws.below(agent, draw, most - least + 1)) as i32
}

fn three_lowest(levels: &[i32]) -> u32 {
    let mut lowest = [i32::MAX; 3];
    for &level in levels {
        let worst = lowest.iter_mut().max().expect("there are three");
        *worst = level.min(*worst);
    }
    lowest.iter().filter(|&&level| level != i32::MAX).sum::<i32>() as u32
}

/// A uniform order of 0 .. len (Fisher and Yates).
fn order<const MOST: usize>(len: u32, first_draw: u32, draws: &Draws) -> [u32; MOST] {
    let mut order = std::array::from_fn(|place| place as u32);
    for place in (1..len).rev() {
        order.swap(place as usize, draws.below(Draws::WORLD, first_draw + place, place + 1) as usize);
    }
    order
}

impl Foraging {
    /// Whether the spawn rule lets a food lie at `cell`: off the edge, on no player, no other food among the eight
    /// neighbours or two cells away in the same row or column.
    fn takes_food(&self, ints: &[i32], cell: i32) -> bool {
        let (row, column) = self.place_of(cell);
        let is_inside =
            (1..self.spec.rows as i32 - 1).contains(&row) && (1..self.spec.columns as i32 - 1).contains(&column);
        let crowds = |&other: &i32| {
            let (other_row, other_column) = self.place_of(other);
            let (rows, columns) = ((other_row - row).abs(), (other_column - column).abs());
            other != NOWHERE && rows.max(columns) <= if rows.min(columns) == 0 { 2 } else { 1 }
        };
        is_inside && !ints[self.cells_at()].contains(&cell) && !ints[self.food_cells_at()].iter().any(crowds)
    }
}
