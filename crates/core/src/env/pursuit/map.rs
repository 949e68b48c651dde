//! The map: one building in the middle, and where people start around it.
//!
//! A cell is y · x_size + x: row-major as it is drawn, x to the right and y downwards.

use super::{NOWHERE, Pursuit};
use crate::base::rng::Draws;

/// The window's draws, then one of each evader; a pursuer has its own.
const WINDOW: u32 = 0;
const EVADER: u32 = 1;
const PURSUER: u32 = 0;

/// `[y_size · x_size]`: whether a cell is a building. It is where 0.3 < x / x_size < 0.7 and 0.2 < y / y_size < 0.8, in
/// f64 as the reference computes it.
pub(super) fn rectangle(x_size: u32, y_size: u32) -> Vec<bool> {
    let between = |at: u32, size: u32, margin: f64| {
        let share = f64::from(at) / f64::from(size);
        share > margin && share < 1.0 - margin
    };
    let cells = (0..y_size).flat_map(|y| (0..x_size).map(move |x| (x, y)));
    cells.map(|(x, y)| between(x, x_size, 0.3) && between(y, y_size, 0.2)).collect()
}

/// Puts everybody on a free cell of a random window, no two of a kind on one cell or side by side.
///
/// The reference tries random cells until one will do, for ever where none does; a draw among those that do has the same
/// distribution. Where none does, being side by side is allowed, then being outside the window, then sharing a cell.
pub(super) fn scatter(world: &Pursuit, ints: &mut [i32], draws: &Draws) {
    ints.fill(0);
    let (pursuers, evaders) = (world.pursuers_at(), world.evaders_at());
    ints[pursuers.start..evaders.end].fill(NOWHERE);
    let words = draws.words(Draws::WORLD, WINDOW);
    let share = |word: u32| f64::from(word) / 4_294_967_296.0 * (1.0 - world.spec.constraint_window);
    let window = |size: u32, start: f64| {
        let size = f64::from(size);
        (size * start) as u32..(size * (start + world.spec.constraint_window)) as u32
    };
    let columns = window(world.spec.x_size, share(words[0]));
    let rows = window(world.spec.y_size, share(words[1]));
    let is_inside = |cell: i32| {
        let (x, y) = world.place_of(cell);
        columns.contains(&(x as u32)) && rows.contains(&(y as u32))
    };
    let kinds = [(pursuers, true), (evaders, false)];
    for (slots, is_pursuer) in kinds {
        for slot in slots.clone() {
            let index = (slot - slots.start) as u32;
            let (agent, draw) = if is_pursuer { (index, PURSUER) } else { (Draws::WORLD, EVADER + index) };
            let others = &ints[slots.start..slot];
            let apart = |cell: i32, least: i32| others.iter().all(|&other| world.steps_between(cell, other) >= least);
            let tests: [&dyn Fn(i32) -> bool; 4] = [
                &|cell| is_inside(cell) && apart(cell, 2),
                &|cell| is_inside(cell) && apart(cell, 1),
                &|cell| apart(cell, 1),
                &|_| true,
            ];
            let chosen = tests.iter().find_map(|test| {
                let allowed = || world.open.iter().copied().filter(|&cell| test(cell));
                let count = allowed().count() as u32;
                (count > 0).then(|| allowed().nth(draws.below(agent, draw, count) as usize)).flatten()
            });
            ints[slot] = chosen.expect("the map has a cell without a building");
        }
    }
}
