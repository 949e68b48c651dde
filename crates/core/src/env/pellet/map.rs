//! The ground of the pellet world: cells, walls, start layouts and walking distances.
//!
//! A cell is its row-major index, row 0 on top. Distances are in moves (four directions, around walls). Everything here
//! is computed once, when a world is validated.

use crate::env::pellet::PelletError;

/// Fewest and most cells of a side.
pub const SIZE: std::ops::RangeInclusive<u32> = 2..=16;

/// What a cell is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cell {
    /// Agents walk here and pellets may lie here.
    #[default]
    Free,
    /// Agents walk here, pellets never lie here.
    NoPellet,
    /// Nobody walks here.
    Wall,
}

/// The map as the user edits it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PelletMap {
    /// Cells in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// `[height, width]`.
    pub cells: Vec<Cell>,
    /// Start cell of each agent under [`StartLayout::Placed`]; an agent without one starts in the first corner.
    pub starts: Vec<Option<u32>>,
}

/// Where agents start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartLayout {
    /// All at the top left.
    #[default]
    OneCorner,
    /// In turn at the top left, bottom right, top right and bottom left.
    OppositeCorners,
    /// Each in the middle of its own block of an even division of the world.
    Spread,
    /// Anew every episode: each agent independently on any free cell, so two may share one.
    Random,
    /// Where [`PelletMap::starts`] says.
    Placed,
}

impl PelletMap {
    /// A world without walls.
    pub fn open(width: u32, height: u32) -> Self {
        Self { width, height, cells: vec![Cell::Free; (width * height) as usize], starts: Vec::new() }
    }

    /// Column and row of a cell.
    pub fn column_row(&self, cell: u32) -> (u32, u32) {
        (cell % self.width, cell / self.width)
    }

    /// Whether agents walk there; false outside the map.
    pub fn is_open(&self, cell: u32) -> bool {
        self.cells.get(cell as usize).is_some_and(|&kind| kind != Cell::Wall)
    }

    /// The cells agents walk on, in ascending order.
    pub fn open_cells(&self) -> Vec<u32> {
        (0..self.cells.len() as u32).filter(|&cell| self.is_open(cell)).collect()
    }

    /// Where a move with that action from `cell` ends: `cell` itself at a wall or the edge. Actions: 0 stay, 1 up,
    /// 2 down, 3 left, 4 right; any other stays.
    pub fn moved(&self, cell: u32, action: u32) -> u32 {
        let (column, row) = self.column_row(cell);
        let target = match action {
            1 if row > 0 => cell - self.width,
            2 if row + 1 < self.height => cell + self.width,
            3 if column > 0 => cell - 1,
            4 if column + 1 < self.width => cell + 1,
            _ => cell,
        };
        if self.is_open(target) { target } else { cell }
    }

    /// Moves from `from` to every cell, [`UNREACHABLE`] where there is no way. Breadth first.
    pub fn distances(&self, from: u32) -> Vec<u32> {
        let mut distances = vec![UNREACHABLE; self.cells.len()];
        distances[from as usize] = 0;
        let mut queue = vec![from];
        let mut head = 0;
        while let Some(&cell) = queue.get(head) {
            head += 1;
            for action in 1..5 {
                let next = self.moved(cell, action);
                if distances[next as usize] == UNREACHABLE {
                    distances[next as usize] = distances[cell as usize] + 1;
                    queue.push(next);
                }
            }
        }
        distances
    }

    /// Start cell of each agent, `None` where starts are random. The map's size is already known to be right.
    pub(super) fn start_cells(&self, layout: StartLayout, num_agents: u32) -> Result<Option<Vec<u32>>, PelletError> {
        let (last_column, last_row) = (self.width - 1, self.height - 1);
        let corners = [(0, 0), (last_column, last_row), (last_column, 0), (0, last_row)];
        let cell_of = |agent: u32| match layout {
            StartLayout::OneCorner | StartLayout::Random => Ok(self.open_cell_near((0, 0))),
            StartLayout::OppositeCorners => Ok(self.open_cell_near(corners[agent as usize % 4])),
            StartLayout::Spread => Ok(self.open_cell_near(self.block_middle(agent, num_agents))),
            StartLayout::Placed => match self.starts.get(agent as usize).copied().flatten() {
                None => Ok(self.open_cell_near((0, 0))),
                Some(cell) if self.is_open(cell) => Ok(cell),
                Some(_) => Err(PelletError::StartBlocked(agent + 1)),
            },
        };
        let cells = (0..num_agents).map(cell_of).collect::<Result<Vec<_>, _>>()?;
        Ok((layout != StartLayout::Random).then_some(cells))
    }

    /// The open cell with the fewest columns plus rows to a place, the first of equals in row-major order. There is an
    /// open cell by validation.
    fn open_cell_near(&self, (column, row): (u32, u32)) -> u32 {
        let off = |&cell: &u32| {
            let (c, r) = self.column_row(cell);
            c.abs_diff(column) + r.abs_diff(row)
        };
        self.open_cells().into_iter().min_by_key(off).expect("validation found an open cell")
    }

    /// Middle of an agent's block: the world is cut into ⌈√n⌉ blocks along its longer side and as many along the other
    /// as the agents fill.
    fn block_middle(&self, agent: u32, num_agents: u32) -> (u32, u32) {
        let long = (1..=num_agents).find(|k| k * k >= num_agents).unwrap_or(1);
        let short = num_agents.div_ceil(long);
        let (across, down) = if self.width >= self.height { (long, short) } else { (short, long) };
        let middle = |index: u32, blocks: u32, side: u32| ((2 * index + 1) * side).saturating_sub(1) / (2 * blocks);
        (middle(agent % across, across, self.width), middle(agent / across, down, self.height))
    }
}

/// Distance of a cell that cannot be reached.
pub const UNREACHABLE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_go_around_walls() {
        let mut map = PelletMap::open(3, 3);
        map.cells[1] = Cell::Wall;
        map.cells[4] = Cell::Wall;
        assert_eq!(map.distances(0), [0, UNREACHABLE, 6, 1, UNREACHABLE, 5, 2, 3, 4]);
    }

    #[test]
    fn edges_and_walls_hold_an_agent() {
        let mut map = PelletMap::open(3, 2);
        map.cells[1] = Cell::Wall;
        let ends: Vec<u32> = (0..6).map(|action| map.moved(0, action)).collect();
        assert_eq!(ends, [0, 0, 3, 0, 0, 0]);
    }

    #[test]
    fn layouts_place_agents() {
        let check = |map: &PelletMap, layout, agents, expected: &[u32]| {
            let starts = map.start_cells(layout, agents).expect("the layout fits");
            assert_eq!(starts.as_deref(), Some(expected), "{layout:?}");
        };
        let mut map = PelletMap::open(4, 4);
        check(&map, StartLayout::OneCorner, 3, &[0, 0, 0]);
        check(&map, StartLayout::OppositeCorners, 5, &[0, 15, 3, 12, 0]);
        check(&map, StartLayout::Spread, 1, &[5]);
        check(&map, StartLayout::Spread, 2, &[4, 6]);
        check(&map, StartLayout::Spread, 4, &[0, 2, 8, 10]);
        check(&PelletMap::open(6, 6), StartLayout::Spread, 4, &[7, 10, 25, 28]);
        map.starts = vec![Some(9), None];
        check(&map, StartLayout::Placed, 3, &[9, 0, 0]);
        map.cells[0] = Cell::Wall;
        check(&map, StartLayout::OneCorner, 2, &[1, 1]);
        assert_eq!(map.start_cells(StartLayout::Random, 2), Ok(None));
        map.starts = vec![Some(0)];
        assert_eq!(map.start_cells(StartLayout::Placed, 1), Err(PelletError::StartBlocked(1)));
    }
}
