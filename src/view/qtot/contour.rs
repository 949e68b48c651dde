//! Level lines of a gridded function by marching squares.
//!
//! Pure geometry in grid coordinates: the caller maps it to the screen.

use egui::{Vec2, vec2};

/// Segments along which the function `values` `[points, points]` (row = y index) equals `level`, in grid coordinates
/// (0 ..= points − 1 each way).
///
/// A saddle cell is cut the way its mean says, so that lines never cross.
pub fn level_lines(points: u32, values: &[f32], level: f32) -> Vec<[Vec2; 2]> {
    let mut segments = Vec::new();
    let value = |i: u32, j: u32| values[(j * points + i) as usize];
    for j in 0..points - 1 {
        for i in 0..points - 1 {
            // Corners counter-clockwise from the lower left, and the points where the level crosses the four edges.
            let corner = [value(i, j), value(i + 1, j), value(i + 1, j + 1), value(i, j + 1)];
            let place = [vec2(0.0, 0.0), vec2(1.0, 0.0), vec2(1.0, 1.0), vec2(0.0, 1.0)];
            let origin = vec2(i as f32, j as f32);
            let crossing = |edge: usize| {
                let (from, to) = (edge, (edge + 1) % 4);
                let is_crossed = (corner[from] < level) != (corner[to] < level);
                is_crossed.then(|| {
                    let t = (level - corner[from]) / (corner[to] - corner[from]);
                    origin + place[from] + (place[to] - place[from]) * t
                })
            };
            let cut = [crossing(0), crossing(1), crossing(2), crossing(3)];
            if let [Some(bottom), Some(right), Some(top), Some(left)] = cut {
                let mean = corner.iter().sum::<f32>() / 4.0;
                // Where the middle is on the side of the lower-left corner, the other two corners are cut off.
                if (mean < level) == (corner[0] < level) {
                    segments.extend([[bottom, right], [top, left]]);
                } else {
                    segments.extend([[left, bottom], [right, top]]);
                }
            } else {
                let mut ends = cut.into_iter().flatten();
                if let (Some(from), Some(to)) = (ends.next(), ends.next()) {
                    segments.push([from, to]);
                }
            }
        }
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_has_straight_level_lines_at_the_right_place() {
        // f = x over a 5×5 grid: level 1.25 is the line x = 1.25.
        let values: Vec<f32> = (0..25).map(|k| (k % 5) as f32).collect();
        let lines = level_lines(5, &values, 1.25);
        assert_eq!(lines.len(), 4);
        for [from, to] in lines {
            assert!((from.x - 1.25).abs() < 1e-6 && (to.x - 1.25).abs() < 1e-6);
        }
    }

    #[test]
    fn a_closed_level_line_closes_and_lies_on_the_level() {
        let n = 21;
        let f = |x: f32, y: f32| (x - 10.0) * (x - 10.0) + (y - 10.0) * (y - 10.0);
        let values: Vec<f32> = (0..n * n).map(|k| f((k % n) as f32, (k / n) as f32)).collect();
        let lines = level_lines(n, &values, 36.0);
        for [from, to] in &lines {
            assert!((f(from.x, from.y) - 36.0).abs() < 1.0);
            for end in [from, to] {
                let meets = lines.iter().flatten().filter(|other| (**other - *end).length() < 1e-4).count();
                assert_eq!(meets, 2, "each end of a segment is shared by exactly two segments");
            }
        }
    }

    #[test]
    fn saddles_are_cut_without_crossing() {
        let lines = level_lines(2, &[1.0, 0.0, 1.0, 0.0], 0.5);
        assert_eq!(lines.len(), 1);
        let saddle = level_lines(2, &[1.0, 0.0, 0.0, 1.0], 0.4);
        assert_eq!(saddle.len(), 2);
    }

    #[test]
    fn a_level_outside_the_values_has_no_line() {
        assert!(level_lines(3, &[0.0; 9], 1.0).is_empty());
    }
}
