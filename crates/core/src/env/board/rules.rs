//! Games of two players who place pieces in turn until one has a line: Connect Four and tic-tac-toe are data here.
//!
//! A side is one word: bit column·(rows + 1) + height above the bottom, so every column has a bit on top that is never
//! set and no shift carries a line around an edge (Tromp's layout, as in Pons, "Solving Connect 4: how to build a
//! perfect AI", 2015). Cells are numbered as the reference numbers them; the picture counts rows from the top.

/// A game. What differs between games is numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Rows of the board.
    pub rows: u32,
    /// Columns of the board.
    pub columns: u32,
    /// Pieces in a row, in a column or on a diagonal that win.
    pub line: u32,
    /// Whether a move is a column, in which the piece falls to the lowest empty cell; else it is the number of a cell.
    pub drops: bool,
    /// Whether cells are numbered down the columns; else along the rows. Both from the top left.
    pub by_columns: bool,
}

/// PettingZoo's `connect_four_v3`.
pub const CONNECT_FOUR: Rules = Rules { rows: 6, columns: 7, line: 4, drops: true, by_columns: false };
/// PettingZoo's `tictactoe_v3`.
pub const TIC_TAC_TOE: Rules = Rules { rows: 3, columns: 3, line: 3, drops: false, by_columns: true };

/// The pieces on a board, seen by whoever is to move. Sets of cells are words, see the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The mover's pieces.
    pub own: u64,
    /// The opponent's pieces.
    pub other: u64,
}

impl Position {
    /// All pieces.
    pub fn taken(self) -> u64 {
        self.own | self.other
    }

    /// After the mover has placed a piece on `cell`, a set of one: the opponent is to move.
    #[must_use]
    pub fn after(self, cell: u64) -> Self {
        Self { own: self.other, other: self.own | cell }
    }

    /// Pieces placed so far.
    pub fn plies(self) -> u32 {
        self.taken().count_ones()
    }
}

impl Rules {
    /// Cells of the board.
    pub const fn cells(&self) -> u32 {
        self.rows * self.columns
    }

    /// Number of different moves, |A|.
    pub const fn actions(&self) -> u32 {
        if self.drops { self.columns } else { self.cells() }
    }

    /// Bits of a column, one of them unused.
    const fn stride(&self) -> u32 {
        self.rows + 1
    }

    /// Bits from one piece of a line to the next: up, along a row, along either diagonal.
    const fn directions(&self) -> [u32; 4] {
        [1, self.stride(), self.stride() - 1, self.stride() + 1]
    }

    /// The cells of a column.
    pub const fn column(&self, column: u32) -> u64 {
        ((1 << self.rows) - 1) << (column * self.stride())
    }

    /// The lowest cell of every column.
    pub const fn bottom(&self) -> u64 {
        let (mut cells, mut column) = (0, 0);
        while column < self.columns {
            cells |= 1 << (column * self.stride());
            column += 1;
        }
        cells
    }

    /// All cells.
    pub const fn board(&self) -> u64 {
        self.bottom() * ((1 << self.rows) - 1)
    }

    /// The cells on which a piece may be placed next.
    #[inline(always)]
    pub const fn open(&self, taken: u64) -> u64 {
        // One more piece at the bottom of a column carries up to its first empty cell.
        if self.drops { (taken + self.bottom()) & self.board() } else { self.board() & !taken }
    }

    /// The cell that move `action` takes, as a set of one; empty where the move is illegal.
    pub fn placed(&self, taken: u64, action: u32) -> u64 {
        let wanted = if self.drops { self.column(action) } else { 1 << self.bit(action) };
        self.open(taken) & wanted
    }

    /// The move that takes the lowest of `cells`, which has one.
    pub fn action(&self, cells: u64) -> u32 {
        let bit = cells.trailing_zeros();
        if self.drops { bit / self.stride() } else { self.number(bit) }
    }

    /// Whether these pieces hold a line.
    #[inline(always)]
    pub fn has_line(&self, side: u64) -> bool {
        self.directions().into_iter().any(|d| self.starts(side, d) != 0)
    }

    /// The empty cells with which `side` would complete a line, reachable or not.
    #[inline(always)]
    pub fn completing(&self, side: u64, taken: u64) -> u64 {
        let mut cells = 0;
        for d in self.directions() {
            // below[k]: the k cells before this one in the line are held; above[k]: the k cells after it.
            let (mut below, mut above) = ([u64::MAX; 4], [u64::MAX; 4]);
            for k in 1..self.line as usize {
                below[k] = below[k - 1] & (side << (k as u32 * d));
                above[k] = above[k - 1] & (side >> (k as u32 * d));
            }
            for k in 0..self.line as usize {
                cells |= below[k] & above[self.line as usize - 1 - k];
            }
        }
        cells & self.board() & !taken
    }

    /// The cells of every line that `side` holds, as drawn: row·columns + column, rows from the top.
    pub fn lines(&self, side: u64) -> Vec<Vec<u32>> {
        let mut lines = Vec::new();
        for d in self.directions() {
            let starts = self.starts(side, d);
            for start in (0..u64::BITS).filter(|bit| starts >> bit & 1 == 1) {
                lines.push((0..self.line).map(|k| self.drawn(start + k * d)).collect());
            }
        }
        lines
    }

    /// The first cell of every line of `side` in one direction.
    #[inline(always)]
    fn starts(&self, side: u64, direction: u32) -> u64 {
        (1..self.line).fold(side, |run, k| run & (side >> (k * direction)))
    }

    /// Row (from the top) and column of a cell, both from 0.
    pub fn place(&self, cell: u32) -> (u32, u32) {
        if self.by_columns { (cell % self.rows, cell / self.rows) } else { (cell / self.columns, cell % self.columns) }
    }

    /// The bit of a cell.
    pub fn bit(&self, cell: u32) -> u32 {
        let (row, column) = self.place(cell);
        column * self.stride() + self.rows - 1 - row
    }

    /// The cell of a bit.
    pub fn number(&self, bit: u32) -> u32 {
        let (row, column) = self.place_of(bit);
        if self.by_columns { column * self.rows + row } else { row * self.columns + column }
    }

    /// The cell of a bit as drawn: row·columns + column.
    pub fn drawn(&self, bit: u32) -> u32 {
        let (row, column) = self.place_of(bit);
        row * self.columns + column
    }

    fn place_of(&self, bit: u32) -> (u32, u32) {
        (self.rows - 1 - bit % self.stride(), bit / self.stride())
    }

    /// The position after `moves`, one side after the other from the empty board; `None` where one of them is illegal
    /// or comes after the end.
    pub fn replay(&self, moves: impl IntoIterator<Item = u32>) -> Option<Position> {
        moves.into_iter().try_fold(Position::default(), |position, action| {
            let is_move = action < self.actions() && !self.has_line(position.other);
            let cell = if is_move { self.placed(position.taken(), action) } else { 0 };
            (cell != 0).then(|| position.after(cell))
        })
    }
}

/// The cells of a set, one after the other, lowest bit first.
pub fn each(mut cells: u64) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let lowest = cells & cells.wrapping_neg();
        cells ^= lowest;
        (lowest != 0).then_some(lowest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_has_a_bit_of_its_own_and_is_found_again() {
        for rules in [CONNECT_FOUR, TIC_TAC_TOE] {
            let all = (0..rules.cells()).fold(0_u64, |set, cell| set | 1 << rules.bit(cell));
            assert_eq!((all, all.count_ones()), (rules.board(), rules.cells()));
            assert!((0..rules.cells()).all(|cell| rules.number(rules.bit(cell)) == cell));
        }
        assert_eq!(CONNECT_FOUR.place(8), (1, 1));
        assert_eq!(TIC_TAC_TOE.place(3), (0, 1), "cells are counted down the columns");
    }

    /// The lines of tic-tac-toe by number, as the reference lists them.
    #[test]
    fn the_lines_of_tic_tac_toe() {
        let side = |cells: &[u32]| cells.iter().fold(0_u64, |set, &cell| set | 1 << TIC_TAC_TOE.bit(cell));
        let lines = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];
        let triples = (0..9).flat_map(|a| (a + 1..9).flat_map(move |b| (b + 1..9).map(move |c| [a, b, c])));
        for cells in triples {
            assert_eq!(TIC_TAC_TOE.has_line(side(&cells)), lines.contains(&cells), "{cells:?}");
        }
        for cells in lines {
            for missing in 0..3 {
                let held: Vec<u32> = (0..3).filter(|&k| k != missing).map(|k| cells[k]).collect();
                let completing = TIC_TAC_TOE.completing(side(&held), side(&held));
                assert_eq!(completing & side(&cells[missing..=missing]), side(&cells[missing..=missing]));
            }
        }
    }

    /// What completes a line is exactly what makes one.
    #[test]
    fn a_completing_cell_is_one_that_makes_a_line() {
        let stream = crate::base::rng::Stream::new(1, "boards");
        for rules in [CONNECT_FOUR, TIC_TAC_TOE] {
            for k in 0..20_000 {
                let [a, b, c, d] = stream.words([k, 0, 0, 0]).map(u64::from);
                let side = (a << 32 | b) & (c << 32 | d) & rules.board();
                if rules.has_line(side) {
                    continue;
                }
                let makes = each(rules.board() & !side).filter(|&cell| rules.has_line(side | cell));
                assert_eq!(rules.completing(side, side), makes.fold(0, |set, cell| set | cell));
            }
        }
    }
}
