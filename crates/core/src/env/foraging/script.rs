//! The world's own player: all to one food.
//!
//! Players that see everything agree on a food without a word: the one nearest to all of them together, among those
//! their levels can lift, ties in row-major order. The nearest of them take its four sides, each walks to its own
//! around food and players and loads there. Who sees less reckons with what it sees; who sees no food walks straight
//! on, in a direction drawn anew now and then. A random step now and then parts two that stand in each other's way.

use super::spec::{FOOD, ForagingSpec, PLAYERS, SIDE, SIGHT};
use super::{LOAD, NONE};
use crate::env::script::{Program, Turn};

/// Draws of a turn.
const STUMBLE: u32 = 0;
const CHOICE: u32 = 1;
const WANDER: u32 = 2;
/// How often a walker takes a random step instead: rarely, it only has to happen.
const STUMBLES: f32 = 0.05;
/// Cells around what is seen: a food at its edge has a side beyond it.
const MARGIN: i32 = 1;
/// Most cells along a side of what a player sees, and the margin.
const SPAN: usize =
    2 * MARGIN as usize + if *SIDE.end() > 2 * *SIGHT.end() + 1 { *SIDE.end() } else { 2 * *SIGHT.end() + 1 } as usize;
/// Steps to a cell that cannot be reached.
const FAR: u16 = u16::MAX;

/// Row and column, counted as in the observation but from the margin.
type Place = (i32, i32);

/// What an observation says.
struct Seen {
    me: Place,
    /// Those seen, the one that looks included, in index order.
    players: [(Place, i32); *PLAYERS.end() as usize],
    num_players: usize,
    /// Which of `players` looks.
    own: usize,
    foods: [(Place, i32); *FOOD.end() as usize],
    num_foods: usize,
}

/// [`Script::Expert`](crate::env::script::Script::Expert) of this world.
#[derive(Debug)]
pub(super) struct Forager {
    spec: ForagingSpec,
    /// Rows and columns that places fall in.
    span: (i32, i32),
}

impl Forager {
    pub(super) fn new(spec: &ForagingSpec) -> Self {
        let window = 2 * spec.radius() as i32 + 1;
        let span = if spec.grid_observation {
            (window, window)
        } else {
            (window.min(spec.rows as i32), window.min(spec.columns as i32))
        };
        let with_margin = |side: i32| side + 2 * MARGIN;
        Self { spec: spec.clone(), span: (with_margin(span.0), with_margin(span.1)) }
    }

    fn read(&self, obs: &[f32], agent: usize) -> Seen {
        let mut seen = Seen {
            me: (0, 0),
            players: [((0, 0), 0); *PLAYERS.end() as usize],
            num_players: 0,
            own: 0,
            foods: [((0, 0), 0); *FOOD.end() as usize],
            num_foods: 0,
        };
        if self.spec.grid_observation {
            self.read_layers(obs, &mut seen);
        } else {
            self.read_list(obs, agent, &mut seen);
        }
        seen
    }

    fn read_list(&self, obs: &[f32], agent: usize, seen: &mut Seen) {
        let (foods, players) = obs.split_at(3 * self.spec.food as usize);
        for food in foods.chunks_exact(3).filter(|food| food[2] > 0.0) {
            seen.add_food((food[0] as i32 + MARGIN, food[1] as i32 + MARGIN), food[2] as i32);
        }
        let numbers = if self.spec.observe_agent_levels { 3 } else { 2 };
        let mut listed = players.chunks_exact(numbers).filter(|player| player[0] >= 0.0).map(|player| {
            let level = player.get(2).map_or(1, |&level| level as i32);
            ((player[0] as i32 + MARGIN, player[1] as i32 + MARGIN), level)
        });
        let me = listed.next().expect("a player sees itself");
        seen.me = me.0;
        // With everybody in sight this is the order of the players, so that all of them assign sides alike.
        for (index, other) in listed.enumerate() {
            if index == agent {
                seen.add_player(me, true);
            }
            seen.add_player(other, false);
        }
        if seen.num_players <= agent {
            seen.add_player(me, true);
        }
    }

    fn read_layers(&self, obs: &[f32], seen: &mut Seen) {
        let (side, cells) = ((self.span.0 - 2 * MARGIN) as usize, obs.len() / 3);
        let middle = (side / 2) as i32 + MARGIN;
        seen.me = (middle, middle);
        for cell in 0..cells {
            let place = ((cell / side) as i32 + MARGIN, (cell % side) as i32 + MARGIN);
            if obs[cell] > 0.0 {
                seen.add_player((place, obs[cell] as i32), place == seen.me);
            }
            if obs[cells + cell] > 0.0 {
                seen.add_food(place, obs[cells + cell] as i32);
            }
        }
    }

    /// Steps of every cell to `goal` around food and players.
    fn distances(&self, goal: Place, seen: &Seen, steps: &mut [u16; SPAN * SPAN]) {
        let index = |(row, column): Place| (row * self.span.1 + column) as usize;
        let is_inside = |(row, column): Place| (0..self.span.0).contains(&row) && (0..self.span.1).contains(&column);
        let mut queue = [0_u16; SPAN * SPAN];
        let (mut first, mut end) = (0, 1);
        steps.fill(FAR);
        steps[index(goal)] = 0;
        queue[0] = index(goal) as u16;
        while first < end {
            let at = i32::from(queue[first]);
            let place = (at / self.span.1, at % self.span.1);
            first += 1;
            // A player in the way is not walked through, but a step may start from it: the walker is one.
            if place != goal && seen.is_taken(place) {
                continue;
            }
            for next in (1..LOAD).map(|action| moved(place, action)) {
                let is_new = is_inside(next) && steps[index(next)] == FAR && !seen.has_food(next);
                if is_new {
                    steps[index(next)] = steps[index(place)] + 1;
                    queue[end] = index(next) as u16;
                    end += 1;
                }
            }
        }
    }

    fn walk(&self, goal: Place, seen: &Seen, legal: &[u32], turn: &Turn) -> u32 {
        let mut steps = [FAR; SPAN * SPAN];
        self.distances(goal, seen, &mut steps);
        let steps_from = |place: Place| {
            let is_inside = (0..self.span.0).contains(&place.0) && (0..self.span.1).contains(&place.1);
            let is_open = place == goal || !seen.is_taken(place);
            if is_inside && is_open { steps[(place.0 * self.span.1 + place.1) as usize] } else { FAR }
        };
        let after = |action: u32| {
            if legal[action as usize] == 0 { FAR } else { steps_from(moved(seen.me, action)) }
        };
        let least = (1..LOAD).map(after).min().unwrap_or(FAR);
        if least == FAR || turn.uniform(STUMBLE) < STUMBLES {
            return any(legal, turn);
        }
        let ties = || (1..LOAD).filter(|&action| after(action) == least);
        ties().nth(turn.below(CHOICE, ties().count() as u32) as usize).expect("the draw is below the number of ties")
    }
}

impl Seen {
    fn add_player(&mut self, player: (Place, i32), is_own: bool) {
        if is_own {
            self.own = self.num_players;
        }
        self.players[self.num_players] = player;
        self.num_players += 1;
    }

    fn add_food(&mut self, place: Place, level: i32) {
        self.foods[self.num_foods] = (place, level);
        self.num_foods += 1;
    }

    fn players(&self) -> &[(Place, i32)] {
        &self.players[..self.num_players]
    }

    fn foods(&self) -> &[(Place, i32)] {
        &self.foods[..self.num_foods]
    }

    fn has_food(&self, place: Place) -> bool {
        self.foods().iter().any(|&(food, _)| food == place)
    }

    fn is_taken(&self, place: Place) -> bool {
        place != self.me && self.players().iter().any(|&(player, _)| player == place)
    }

    /// The food everyone goes to.
    fn target(&self) -> Option<(Place, i32)> {
        let strength: i32 = self.players().iter().map(|&(_, level)| level).sum();
        let cost = |&&(food, level): &&(Place, i32)| {
            let walk: i32 = self.players().iter().map(|&(player, _)| distance(player, food)).sum();
            (level > strength, walk, food)
        };
        self.foods().iter().min_by_key(cost).copied()
    }

    /// The side of `food` that is this player's; `None` where nearer ones have all four.
    fn side(&self, food: Place) -> Option<Place> {
        let mut order: [usize; *PLAYERS.end() as usize] = std::array::from_fn(|index| index);
        let order = &mut order[..self.num_players];
        order.sort_unstable_by_key(|&index| (distance(self.players[index].0, food), self.players[index].0, index));
        let mut sides: [Option<Place>; 4] = std::array::from_fn(|side| Some(moved(food, side as u32 + 1)));
        for &index in order.iter() {
            let nearest = sides
                .iter_mut()
                .filter(|side| side.is_some())
                .min_by_key(|side| side.map_or(i32::MAX, |side| distance(self.players[index].0, side)))?;
            let side = nearest.take();
            if index == self.own {
                return side;
            }
        }
        None
    }
}

impl Program for Forager {
    fn act(&self, obs: &[f32], legal: &[u32], turn: &Turn) -> u32 {
        let seen = self.read(obs, turn.agent as usize);
        let Some((food, level)) = seen.target() else {
            let ahead = 1 + turn.lasting(WANDER, 4, 6);
            return if legal[ahead as usize] == 0 { any(legal, turn) } else { ahead };
        };
        if distance(seen.me, food) == 1 {
            let beside = seen.players().iter().filter(|&&(player, _)| distance(player, food) == 1);
            let strength: i32 = beside.map(|&(_, level)| level).sum();
            let is_worth_it = strength >= level || self.spec.penalty == 0.0 || !self.spec.observe_agent_levels;
            return if is_worth_it { LOAD } else { NONE };
        }
        seen.side(food).map_or(NONE, |side| self.walk(side, &seen, legal, turn))
    }
}

/// A random legal action.
fn any(legal: &[u32], turn: &Turn) -> u32 {
    let allowed = || (0..legal.len() as u32).filter(|&action| legal[action as usize] != 0);
    let chosen = turn.below(CHOICE, allowed().count().max(1) as u32);
    allowed().nth(chosen as usize).unwrap_or(NONE)
}

fn distance(a: Place, b: Place) -> i32 {
    (a.0 - b.0).abs() + (a.1 - b.1).abs()
}

/// Where a move leads, whether it is allowed or not.
fn moved((row, column): Place, action: u32) -> Place {
    match action {
        1 => (row - 1, column),
        2 => (row + 1, column),
        3 => (row, column - 1),
        4 => (row, column + 1),
        _ => (row, column),
    }
}
