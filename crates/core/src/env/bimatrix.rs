//! A payoff bimatrix and what enumeration says about it: equilibria, Pareto-optimal cells, gains, best additive fit.
//!
//! Rows are actions of agent 1, columns of agent 2. Comparisons are exact: payoffs are typed in, not measured, so two
//! that are equal were meant to be.

/// Payoffs of two agents who choose at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Bimatrix {
    rows: u32,
    columns: u32,
    /// `[rows, columns]`.
    cells: Vec<(f32, f32)>,
}

impl Bimatrix {
    /// `cells` is `[rows, columns]`; `None` when its length says otherwise.
    pub fn new(rows: u32, columns: u32, cells: Vec<(f32, f32)>) -> Option<Self> {
        (rows > 0 && columns > 0 && cells.len() == (rows * columns) as usize).then_some(Self { rows, columns, cells })
    }

    /// One payoff for both agents, `[rows, columns]`.
    pub fn common(rows: u32, columns: u32, payoffs: &[f32]) -> Option<Self> {
        Self::new(rows, columns, payoffs.iter().map(|&p| (p, p)).collect())
    }

    /// Actions of agent 1.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Actions of agent 2.
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// All payoffs, `[rows, columns]`.
    pub fn cells(&self) -> &[(f32, f32)] {
        &self.cells
    }

    /// Payoffs of both agents at a joint action.
    pub fn at(&self, row: u32, column: u32) -> (f32, f32) {
        self.cells[(row * self.columns + column) as usize]
    }

    /// Whether both agents always get the same.
    pub fn is_common(&self) -> bool {
        self.cells.iter().all(|(a, b)| a == b)
    }

    /// What each agent would gain by changing its action alone, at best: (agent 1, agent 2), never negative.
    pub fn gain(&self, row: u32, column: u32) -> (f32, f32) {
        let (own_1, own_2) = self.at(row, column);
        let best_1 = (0..self.rows).map(|r| self.at(r, column).0).fold(own_1, f32::max);
        let best_2 = (0..self.columns).map(|c| self.at(row, c).1).fold(own_2, f32::max);
        (best_1 - own_1, best_2 - own_2)
    }

    /// Pure Nash equilibria, row by row: nobody gains by changing alone.
    pub fn pure_nash(&self) -> Vec<(u32, u32)> {
        self.joint_actions().filter(|&(row, column)| self.gain(row, column) == (0.0, 0.0)).collect()
    }

    /// Pareto-optimal cells, row by row: no cell is better for one agent and at least as good for the other.
    pub fn pareto_optimal(&self) -> Vec<(u32, u32)> {
        let dominates = |x: (f32, f32), y: (f32, f32)| x.0 >= y.0 && x.1 >= y.1 && x != y;
        self.joint_actions()
            .filter(|&(row, column)| !self.cells.iter().any(|&other| dominates(other, self.at(row, column))))
            .collect()
    }

    /// Every joint action, row by row.
    pub fn joint_actions(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let columns = self.columns;
        (0..self.rows).flat_map(move |row| (0..columns).map(move |column| (row, column)))
    }
}

/// Least-squares additive fit of a table `[rows, columns]` under uniform weights: row mean + column mean − mean.
pub fn additive_fit(rows: u32, columns: u32, table: &[f64]) -> Vec<f64> {
    let (rows, columns) = (rows as usize, columns as usize);
    let row_mean = |r: usize| table[r * columns..][..columns].iter().sum::<f64>() / columns as f64;
    let column_mean = |c: usize| (0..rows).map(|r| table[r * columns + c]).sum::<f64>() / rows as f64;
    let mean = table.iter().sum::<f64>() / table.len() as f64;
    (0..rows * columns).map(|i| row_mean(i / columns) + column_mean(i % columns) - mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rows: u32, columns: u32, cells: &[(f32, f32)], nash: &[(u32, u32)], pareto: &[(u32, u32)]) {
        let game = Bimatrix::new(rows, columns, cells.to_vec()).expect("the table has its size");
        assert_eq!(game.pure_nash(), nash, "Nash cells of {cells:?}");
        assert_eq!(game.pareto_optimal(), pareto, "Pareto-optimal cells of {cells:?}");
    }

    #[test]
    fn cells_are_marked_by_enumeration() {
        let dilemma = [(-1.0, -1.0), (-3.0, 0.0), (0.0, -3.0), (-2.0, -2.0)];
        check(2, 2, &dilemma, &[(1, 1)], &[(0, 0), (0, 1), (1, 0)]);
        let pennies = [(1.0, -1.0), (-1.0, 1.0), (-1.0, 1.0), (1.0, -1.0)];
        check(2, 2, &pennies, &[], &[(0, 0), (0, 1), (1, 0), (1, 1)]);
        let stag_hunt = [(4.0, 4.0), (0.0, 3.0), (3.0, 0.0), (2.0, 2.0)];
        check(2, 2, &stag_hunt, &[(0, 0), (1, 1)], &[(0, 0)]);
        let oblong = [(1.0, 1.0), (2.0, 2.0), (2.0, 2.0)];
        check(1, 3, &oblong, &[(0, 1), (0, 2)], &[(0, 1), (0, 2)]);
        // Better for one agent and no worse for the other is enough to dominate.
        check(1, 2, &[(1.0, 0.0), (1.0, 1.0)], &[(0, 1)], &[(0, 1)]);
    }

    #[test]
    fn a_gain_is_the_best_change_of_one_agent() {
        let dilemma = Bimatrix::new(2, 2, vec![(-1.0, -1.0), (-3.0, 0.0), (0.0, -3.0), (-2.0, -2.0)]);
        let dilemma = dilemma.expect("four cells");
        assert_eq!(dilemma.gain(0, 0), (1.0, 1.0));
        assert_eq!(dilemma.gain(0, 1), (1.0, 0.0));
        assert_eq!(dilemma.gain(1, 1), (0.0, 0.0));
    }

    #[test]
    fn a_table_of_the_wrong_length_is_no_game() {
        assert_eq!(Bimatrix::new(2, 2, vec![(0.0, 0.0); 3]), None);
        assert_eq!(Bimatrix::common(0, 2, &[]), None);
    }
}
