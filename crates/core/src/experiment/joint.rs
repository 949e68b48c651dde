//! The team's value over joint actions at one state: table, surface, bend, and whether the agents' own choices agree
//! with it (individual-global-max, IGM).

use super::snapshot::Mixed;
use crate::marl::probe::{TeamValue, greedy};

/// Up to this many joint actions are all enumerated for the IGM verdict.
const MOST_JOINT_ACTIONS: u64 = 4096;
/// IGM holds if Q_tot at the individual argmaxes is this close to the largest Q_tot, relative to the range (ties hold).
const IGM_TOLERANCE: f32 = 1e-5;
/// Axes reach beyond the outermost utilities by this share and are never narrower than `NARROWEST`.
const MARGIN: f32 = 0.1;
const NARROWEST: f32 = 0.05;

/// The verdict on one state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Igm {
    /// Whether the individual argmaxes maximise Q_tot.
    pub holds: bool,
    /// Joint actions looked at.
    pub enumerated: u32,
    /// Whether these are all.
    pub complete: bool,
}

/// Everything shown of `value` at a state with these `utilities` and `legal` actions (`[n][|A|]`), for one `pair` of
/// agents, the others at their greedy actions.
pub fn mixed(
    value: &TeamValue<'_>,
    utilities: &[Vec<f32>],
    legal: &[Vec<u32>],
    pair: (u32, u32),
    points: u32,
) -> Mixed {
    let n = utilities.len();
    let (i, j) = (pair.0 as usize, pair.1 as usize);
    let choice: Vec<u32> = (0..n).map(|k| greedy(&utilities[k], &legal[k])).collect();
    let at_greedy: Vec<f32> = (0..n).map(|k| utilities[k][choice[k] as usize]).collect();
    let (rows, columns) = (utilities[i].len(), utilities[j].len());

    let mut q = Vec::with_capacity(rows * columns * n);
    let mut table_legal = Vec::with_capacity(rows * columns);
    for a in 0..rows {
        for b in 0..columns {
            let mut point = at_greedy.clone();
            point[i] = utilities[i][a];
            point[j] = utilities[j][b];
            q.extend(point);
            table_legal.push(legal[i][a] != 0 && legal[j][b] != 0);
        }
    }
    let table = value.q_tot(&q, n);
    let best = (0..rows * columns)
        .filter(|&k| table_legal[k])
        .reduce(|best, k| if table[k] > table[best] { k } else { best })
        .unwrap_or(0);

    let (x, y) = (axis(&utilities[i], &legal[i]), axis(&utilities[j], &legal[j]));
    let at = |(low, high): (f32, f32), k: u32| low + (high - low) * k as f32 / (points - 1) as f32;
    let mut q = Vec::with_capacity((points * points) as usize * n);
    for row in 0..points {
        for column in 0..points {
            let mut point = at_greedy.clone();
            point[i] = at(x, column);
            point[j] = at(y, row);
            q.extend(point);
        }
    }
    let surface = value.q_tot(&q, n);
    let verdict = igm(value, utilities, legal, pair);
    Mixed {
        legal: table_legal,
        utilities: (utilities[i].clone(), utilities[j].clone()),
        x,
        y,
        points,
        bend: bend(&surface, points as usize),
        surface,
        greedy: (choice[i], choice[j]),
        best: ((best / columns) as u32, (best % columns) as u32),
        table,
        igm: verdict.holds,
        enumerated: verdict.enumerated,
        complete: verdict.complete,
    }
}

/// Whether the agents' own greedy actions maximise Q_tot. All joint actions are enumerated up to 4,096; beyond that
/// those of `pair`, the others at their greedy actions.
pub fn igm(value: &TeamValue<'_>, utilities: &[Vec<f32>], legal: &[Vec<u32>], pair: (u32, u32)) -> Igm {
    let n = utilities.len();
    let choice: Vec<u32> = (0..n).map(|k| greedy(&utilities[k], &legal[k])).collect();
    let allowed = |k: usize| -> Vec<u32> {
        let all: Vec<u32> = (0..legal[k].len() as u32).filter(|&a| legal[k][a as usize] != 0).collect();
        if all.is_empty() { vec![choice[k]] } else { all }
    };
    let mut actions: Vec<Vec<u32>> = (0..n).map(allowed).collect();
    let joint = actions.iter().fold(1_u64, |product, a| product.saturating_mul(a.len() as u64));
    let complete = joint <= MOST_JOINT_ACTIONS;
    if !complete {
        for k in (0..n).filter(|&k| k != pair.0 as usize && k != pair.1 as usize) {
            actions[k] = vec![choice[k]];
        }
    }
    // Odometer over the joint actions, the last agent fastest.
    let mut index = vec![0_usize; n];
    let mut q = Vec::new();
    loop {
        q.extend((0..n).map(|k| utilities[k][actions[k][index[k]] as usize]));
        let Some(k) = (0..n).rev().find(|&k| index[k] + 1 < actions[k].len()) else { break };
        index[k] += 1;
        index[k + 1..].fill(0);
    }
    let values = value.q_tot(&q, n);
    let own: Vec<f32> = (0..n).map(|k| utilities[k][choice[k] as usize]).collect();
    let at_own = value.q_tot(&own, n)[0];
    let (low, high) = extent(&values);
    Igm { holds: high - at_own <= IGM_TOLERANCE * (high - low), enumerated: values.len() as u32, complete }
}

/// Largest distance of a square grid of values from its least-squares plane, in per cent of the values' range; 0 for a
/// plane.
pub fn bend(surface: &[f32], points: usize) -> f32 {
    let centre = (points as f64 - 1.0) / 2.0;
    let mean = surface.iter().map(|&z| f64::from(z)).sum::<f64>() / surface.len() as f64;
    // On a regular grid the coordinates are orthogonal, so each slope is a projection of its own.
    let (mut along_x, mut along_y, mut square) = (0.0, 0.0, 0.0);
    for (k, &z) in surface.iter().enumerate() {
        let (dx, dy) = ((k % points) as f64 - centre, (k / points) as f64 - centre);
        along_x += dx * f64::from(z);
        along_y += dy * f64::from(z);
        square += dx * dx;
    }
    let (slope_x, slope_y) = (along_x / square, along_y / square);
    let (low, high) = extent(surface);
    let range = f64::from(high - low);
    if range <= 0.0 {
        return 0.0;
    }
    let farthest = surface.iter().enumerate().fold(0.0_f64, |farthest, (k, &z)| {
        let (dx, dy) = ((k % points) as f64 - centre, (k / points) as f64 - centre);
        farthest.max((f64::from(z) - mean - slope_x * dx - slope_y * dy).abs())
    });
    (100.0 * farthest / range) as f32
}

fn axis(utilities: &[f32], legal: &[u32]) -> (f32, f32) {
    let shown: Vec<f32> = utilities.iter().zip(legal).filter(|&(_, &m)| m != 0).map(|(&q, _)| q).collect();
    let (low, high) = if shown.is_empty() { (0.0, 0.0) } else { extent(&shown) };
    let half = ((high - low) * (0.5 + MARGIN)).max(NARROWEST / 2.0);
    let centre = f32::midpoint(low, high);
    (centre - half, centre + half)
}

fn extent(values: &[f32]) -> (f32, f32) {
    values.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum_at(utilities: &[Vec<f32>]) -> Mixed {
        let legal: Vec<Vec<u32>> = utilities.iter().map(|q| vec![1; q.len()]).collect();
        mixed(&TeamValue::Sum, utilities, &legal, (0, 1), 9)
    }

    #[test]
    fn a_sum_is_a_plane_and_igm_holds() {
        let m = sum_at(&[vec![0.0, 1.0, 0.5], vec![2.0, -1.0, 2.0]]);
        assert!(m.bend < 1e-3, "{}", m.bend);
        assert!(m.igm && m.complete);
        assert_eq!(m.enumerated, 9);
        assert_eq!(m.greedy, (1, 0));
        assert_eq!(m.table[3 + 2], 3.0, "a tie counts as agreement");
        assert!((m.x.0 + 0.1).abs() < 1e-6 && (m.x.1 - 1.1).abs() < 1e-6, "padded by a tenth: {:?}", m.x);
    }

    #[test]
    fn an_axis_is_never_a_line() {
        let m = sum_at(&[vec![1.0, 1.0], vec![0.0, 4.0]]);
        assert!((m.x.1 - m.x.0 - NARROWEST).abs() < 1e-6);
    }

    #[test]
    fn beyond_4096_joint_actions_only_the_pair_is_enumerated() {
        let q = vec![vec![0.0, 1.0, 2.0, 3.0, 4.0]; 6];
        let legal = vec![vec![1; 5]; 6];
        let verdict = igm(&TeamValue::Sum, &q, &legal, (1, 4));
        assert_eq!(verdict, Igm { holds: true, enumerated: 25, complete: false });
    }

    #[test]
    fn bend_is_the_distance_from_the_best_plane() {
        // z = x·y on {0, 1}²: the plane x/2 + y/2 − 1/4 misses every corner by 1/4 of the range.
        assert!((bend(&[0.0, 0.0, 0.0, 1.0], 2) - 25.0).abs() < 1e-4);
    }
}
