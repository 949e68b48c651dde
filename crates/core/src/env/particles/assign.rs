//! The cheapest way to give each agent one landmark, exactly: the Hungarian algorithm with potentials (Kuhn 1955,
//! Munkres 1957) in O(n³), on the stack. Among equally cheap ways the one it meets first.

use super::MAX_AGENTS;

/// Side of the tables: agents and landmarks are numbered from 1, 0 is nobody.
const SIDE: usize = MAX_AGENTS + 1;

/// The column of each row of the square table `cost`, `n` rows and columns, such that the costs sum to the least.
pub(super) fn assignment(n: usize, cost: &[[f64; MAX_AGENTS]; MAX_AGENTS]) -> [usize; MAX_AGENTS] {
    let (mut of_row, mut of_column) = ([0.0; SIDE], [0.0; SIDE]);
    // The row that holds a column, and the column before it on the path that is searched.
    let (mut holder, mut before) = ([0_usize; SIDE], [0_usize; SIDE]);
    for row in 1..=n {
        holder[0] = row;
        let mut column = 0;
        let mut slack = [f64::INFINITY; SIDE];
        let mut is_reached = [false; SIDE];
        while holder[column] != 0 {
            is_reached[column] = true;
            let from = holder[column];
            let (mut least, mut next) = (f64::INFINITY, 0);
            for j in 1..=n {
                if !is_reached[j] {
                    let reduced = cost[from - 1][j - 1] - of_row[from] - of_column[j];
                    if reduced < slack[j] {
                        (slack[j], before[j]) = (reduced, column);
                    }
                    if slack[j] < least {
                        (least, next) = (slack[j], j);
                    }
                }
            }
            if next == 0 {
                // Costs that are no numbers: any column will do.
                next = (1..=n).find(|&j| !is_reached[j]).expect("a free column is left while a row has none");
                (least, before[next]) = (0.0, column);
            }
            for j in 0..=n {
                if is_reached[j] {
                    of_row[holder[j]] += least;
                    of_column[j] -= least;
                } else {
                    slack[j] -= least;
                }
            }
            column = next;
        }
        while column != 0 {
            holder[column] = holder[before[column]];
            column = before[column];
        }
    }
    let mut columns = [0; MAX_AGENTS];
    for column in 1..=n {
        columns[holder[column] - 1] = column - 1;
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::{Stream, uniform};

    fn table(seed: u64) -> [[f64; MAX_AGENTS]; MAX_AGENTS] {
        let stream = Stream::new(seed, "costs");
        std::array::from_fn(|i| {
            std::array::from_fn(|j| f64::from(uniform(stream.words([i as u32, j as u32, 0, 0])[0])))
        })
    }

    fn cheapest(cost: &[[f64; MAX_AGENTS]; MAX_AGENTS], n: usize, row: usize, taken: u32) -> f64 {
        if row == n {
            return 0.0;
        }
        let free = (0..n).filter(|&j| taken & 1 << j == 0);
        free.map(|j| cost[row][j] + cheapest(cost, n, row + 1, taken | 1 << j)).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn nothing_is_cheaper_than_the_assignment() {
        for n in 1..=7 {
            for seed in 0..60 {
                let cost = table(seed);
                let columns = assignment(n, &cost);
                let mut seen = columns[..n].to_vec();
                seen.sort_unstable();
                assert_eq!(seen, (0..n).collect::<Vec<_>>());
                let found: f64 = (0..n).map(|row| cost[row][columns[row]]).sum();
                assert!((found - cheapest(&cost, n, 0, 0)).abs() < 1e-12, "n {n}, seed {seed}");
            }
        }
    }

    #[test]
    fn costs_that_are_no_numbers_still_give_everyone_a_column() {
        let columns = assignment(3, &[[f64::NAN; MAX_AGENTS]; MAX_AGENTS]);
        let mut seen = columns[..3].to_vec();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2]);
    }
}
