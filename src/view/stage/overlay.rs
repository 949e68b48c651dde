//! What the selected agent would do from every cell: greedy arrows, and Q of each action as coloured triangles.
//!
//! "If it stood here, everything else as now." Ties show all tied actions; the opacity of an arrow is the gap between
//! the best and the second best action, relative to the largest gap on the grid.

use egui::{Align2, Color32, Mesh, Painter, Pos2, Rect, Stroke, StrokeKind, Vec2, vec2};
use tandem_core::env::api::Label;

use crate::view::numbers;
use crate::view::theme::Theme;

/// Q-values closer than this share of their size are tied.
const TIE: f32 = 1e-6;

/// What is laid over the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlay {
    /// Nothing.
    None,
    /// The greedy action of every cell.
    #[default]
    Arrows,
    /// Q of every action of every cell.
    Q,
    /// What the selected agent sees.
    Sight,
}

/// Direction an action moves in, from its text id; zero for staying, loading, speaking alone.
pub fn direction(action_name: &str) -> Vec2 {
    match action_name.strip_suffix("_say").unwrap_or(action_name) {
        "action.up" => vec2(0.0, -1.0),
        "action.down" => vec2(0.0, 1.0),
        "action.left" => vec2(-1.0, 0.0),
        "action.right" => vec2(1.0, 0.0),
        _ => Vec2::ZERO,
    }
}

/// All actions of largest value in `q` `[|A|]`; none when it is empty.
pub fn best_actions(q: &[f32]) -> Vec<u32> {
    let best = q.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let tie = TIE * best.abs().max(1.0);
    (0..).zip(q).filter(|(_, value)| best - **value <= tie).map(|(action, _)| action).collect()
}

/// How much better the best action is than the second best; 0 when tied or alone.
pub fn gap(q: &[f32]) -> f32 {
    let mut sorted = q.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    match sorted[..] {
        [best, second, ..] => best - second,
        _ => 0.0,
    }
}

/// Opacity of each cell's arrows, `[cells]`.
pub fn opacities(overlay: &[Vec<f32>]) -> Vec<f32> {
    let gaps: Vec<f32> = overlay.iter().map(|q| gap(q)).collect();
    let largest = gaps.iter().copied().fold(0.0, f32::max);
    gaps.iter().map(|gap| if largest > 0.0 { 0.3 + 0.7 * gap / largest } else { 0.3 }).collect()
}

/// Smallest and largest value of an overlay; `None` when it is empty.
pub fn range(overlay: &[Vec<f32>]) -> Option<(f32, f32)> {
    let mut values = overlay.iter().flatten().copied();
    let first = values.next()?;
    Some(values.fold((first, first), |(low, high), q| (low.min(q), high.max(q))))
}

/// The greedy arrows of one cell.
pub fn paint_arrows(painter: &Painter, cell: Rect, q: &[f32], names: &[Label], color: Color32) {
    let best = best_actions(q);
    let size = cell.width();
    let stroke = Stroke::new((size * 0.032).clamp(1.4, 3.0), color);
    for action in &best {
        let Some(name) = names.get(*action as usize) else { continue };
        let along = direction(&name.id);
        if name.id == "action.load" {
            // A square where staying is a ring: the agent takes what is beside it.
            let mark = Rect::from_center_size(cell.center(), Vec2::splat(size * 0.17));
            painter.rect_stroke(mark, 1.0, stroke, StrokeKind::Middle);
            continue;
        }
        if along == Vec2::ZERO {
            painter.circle_stroke(cell.center(), size * 0.07, stroke);
            continue;
        }
        // One arrow lies in the middle of its cell; several leave the middle, each its own way.
        let (from, to) = if best.len() == 1 { (-0.13, 0.15) } else { (0.11, 0.33) };
        let tip = cell.center() + along * size * to;
        painter.line_segment([cell.center() + along * size * from, tip], stroke);
        let side = vec2(-along.y, along.x);
        for bank in [-1.0, 1.0] {
            painter.line_segment([tip, tip - along * size * 0.09 + side * size * 0.075 * bank], stroke);
        }
    }
}

/// Adds the Q-values of one cell to `mesh`: a triangle per direction, and in the middle a square that the actions
/// without one share, side by side.
pub fn push_q(mesh: &mut Mesh, theme: &Theme, cell: Rect, q: &[f32], names: &[Label], range: (f32, f32)) {
    for (value, name) in q.iter().zip(names) {
        let color = theme.viridis(unit(*value, range));
        let along = direction(&name.id);
        if along == Vec2::ZERO {
            continue;
        }
        let side = vec2(-along.y, along.x);
        let half = cell.width() / 2.0;
        let base = mesh.vertices.len() as u32;
        mesh.colored_vertex(cell.center(), color);
        mesh.colored_vertex(cell.center() + (along - side) * half, color);
        mesh.colored_vertex(cell.center() + (along + side) * half, color);
        mesh.add_triangle(base, base + 1, base + 2);
    }
    for (value, part) in q.iter().zip(middles(cell, names)) {
        if let Some(part) = part {
            mesh.add_colored_rect(part, theme.viridis(unit(*value, range)));
        }
    }
}

/// The part of a cell's middle that belongs to each action; none to one with a direction.
fn middles(cell: Rect, names: &[Label]) -> impl Iterator<Item = Option<Rect>> {
    let is_still = |name: &Label| direction(&name.id) == Vec2::ZERO;
    let sharing = names.iter().filter(|name| is_still(name)).count().max(1) as f32;
    let middle = Rect::from_center_size(cell.center(), Vec2::splat(cell.width() * STAY_SHARE));
    let size = vec2(middle.width() / sharing, middle.height());
    let mut place = 0.0;
    names.iter().map(move |name| {
        is_still(name).then(|| {
            place += 1.0;
            Rect::from_min_size(middle.min + vec2(size.x * (place - 1.0), 0.0), size)
        })
    })
}

/// Over the mesh: borders between the triangles, a mark on the best ones, numbers where there is room.
pub fn paint_q_details(painter: &Painter, theme: &Theme, cell: Rect, q: &[f32], names: &[Label], range: (f32, f32)) {
    let line = Stroke::new(1.0, theme.fade(theme.card, 0.55));
    let middle = cell.width() * STAY_SHARE / 2.0;
    for corner in [vec2(-1.0, -1.0), vec2(1.0, -1.0), vec2(1.0, 1.0), vec2(-1.0, 1.0)] {
        painter.line_segment([cell.center() + corner * middle, cell.center() + corner * cell.width() / 2.0], line);
    }
    let best = best_actions(q);
    let has_room = cell.width() >= 84.0;
    for (action, ((value, name), part)) in (0_u32..).zip(q.iter().zip(names).zip(middles(cell, names))) {
        let at = part.map_or(cell.center() + direction(&name.id) * cell.width() * 0.335, |part| part.center());
        // Where several share the middle a number does not fit.
        let has_room = has_room && part.is_none_or(|part| part.width() >= 0.3 * cell.width());
        let ink = theme.ink_on(theme.viridis(unit(*value, range)));
        let is_best = best.contains(&action);
        if has_room {
            let text = numbers::short(*value);
            let place = painter.text(at, Align2::CENTER_CENTER, text, theme.tiny(), ink);
            if is_best {
                let under = [place.left_bottom(), place.right_bottom()];
                painter.line_segment(under, Stroke::new(1.5, ink));
            }
        } else if is_best {
            painter.circle_filled(at, (cell.width() * 0.055).max(1.6), ink);
        }
    }
}

/// Side of the square for staying, as a share of the cell's.
const STAY_SHARE: f32 = 0.32;

fn unit(value: f32, (low, high): (f32, f32)) -> f32 {
    if high > low { (value - low) / (high - low) } else { 0.5 }
}

/// The cell of a grid under `at`, if any.
pub fn cell_under(grid: Rect, width: u32, height: u32, at: Pos2) -> Option<u32> {
    if !grid.contains(at) {
        return None;
    }
    let place = (at - grid.min) / grid.size();
    let column = ((place.x * width as f32) as u32).min(width - 1);
    let row = ((place.y * height as f32) as u32).min(height - 1);
    Some(row * width + column)
}

#[cfg(test)]
mod tests {
    use egui::pos2;

    use super::*;

    #[test]
    fn ties_show_all_tied_actions() {
        assert_eq!(best_actions(&[0.1, 0.5, 0.5, 0.2, 0.5]), [1, 2, 4]);
        assert_eq!(best_actions(&[0.1, 0.5, 0.499]), [1]);
        assert_eq!(best_actions(&[-3.0, -1.0]), [1]);
        assert_eq!(best_actions(&[]), [] as [u32; 0]);
    }

    #[test]
    fn opacity_is_the_gap_to_the_second_action() {
        assert_eq!(gap(&[1.0, 0.25, 0.5]), 0.5);
        assert_eq!(gap(&[0.5, 0.5]), 0.0);
        let shown = opacities(&[vec![1.0, 0.0], vec![0.5, 0.25], Vec::new(), vec![0.2, 0.2]]);
        assert_eq!(shown[0], 1.0);
        assert!(shown[1] < shown[0] && shown[1] > shown[3]);
        assert_eq!(shown[3], 0.3);
    }

    #[test]
    fn walls_and_pellet_cells_have_no_values() {
        assert_eq!(range(&[Vec::new(), vec![0.5, -0.5], Vec::new()]), Some((-0.5, 0.5)));
        assert_eq!(range(&[Vec::new()]), None);
    }

    #[test]
    fn the_cell_under_the_pointer() {
        let grid = Rect::from_min_size(pos2(10.0, 20.0), vec2(40.0, 30.0));
        assert_eq!(cell_under(grid, 4, 3, pos2(11.0, 21.0)), Some(0));
        assert_eq!(cell_under(grid, 4, 3, pos2(49.0, 49.0)), Some(11));
        assert_eq!(cell_under(grid, 4, 3, pos2(9.0, 21.0)), None);
    }

    #[test]
    fn actions_without_a_direction_share_the_middle() {
        let names = ["action.stay", "action.up", "action.load", "action.right"].map(|id| Label::new(id, &[]));
        let cell = Rect::from_min_size(pos2(0.0, 0.0), vec2(100.0, 100.0));
        let parts: Vec<Option<Rect>> = middles(cell, &names).collect();
        let (stay, load) = (parts[0].expect("staying has no direction"), parts[2].expect("nor has loading"));
        assert!(stay.right() <= load.left() && stay.width() == 16.0);
        assert_eq!((parts[1], parts[3]), (None, None));
    }
}
