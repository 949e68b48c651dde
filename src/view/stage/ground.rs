//! The ground of a grid world: its cells, walls and pellets, discs for agents, the square an agent sees.

use egui::{Align2, CornerRadius, Painter, Pos2, Rect, Stroke, StrokeKind, Vec2, pos2, vec2};
use tandem_core::env::api::{Frame, Thing};
use tandem_core::experiment::spec::CellKind;

use crate::view::api::ViewCtx;
use crate::view::parts;
use crate::view::stage::motion::discs;
use crate::view::theme::Theme;

/// A grid world's picture as the frame gives it.
#[derive(Clone, Copy, Debug)]
pub struct World<'a> {
    /// Cells in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// `[height, width]`: whether a cell is a wall.
    pub walls: &'a [bool],
    /// Cell of each agent.
    pub agents: &'a [u32],
    /// Level of each agent; empty where they have none.
    pub levels: &'a [u32],
    /// What the agents are after and have not got yet.
    pub things: &'a [Thing],
    /// Sight radius in cells, `None` when unlimited.
    pub sight: Option<u32>,
    /// Agents that reached a pellet in the last env step.
    pub arrived: &'a [bool],
}

impl<'a> World<'a> {
    /// The grid world of a frame; `None` for other frames.
    pub fn of(frame: &'a Frame) -> Option<Self> {
        match frame {
            Frame::Grid { width, height, walls, agents, levels, things, sight, arrived } => {
                Some(Self { width: *width, height: *height, walls, agents, levels, things, sight: *sight, arrived })
            }
            Frame::Matrix { .. } | Frame::Board { .. } | Frame::Particles { .. } => None,
        }
    }

    /// The grid, as large as fits into `rect`, in its middle.
    pub fn fit(&self, rect: Rect) -> Rect {
        let cell = (rect.width() / self.width as f32).min(rect.height() / self.height as f32).max(4.0).floor();
        Rect::from_center_size(rect.center(), vec2(cell * self.width as f32, cell * self.height as f32))
    }

    /// The square of a cell on the screen, without the gap to its neighbours.
    pub fn cell(&self, grid: Rect, cell: u32) -> Rect {
        let size = grid.width() / self.width as f32;
        let corner = grid.min + vec2((cell % self.width) as f32, (cell / self.width) as f32) * size;
        Rect::from_min_size(corner, Vec2::splat(size)).shrink(gap(size))
    }
}

/// A small picture of a state, to stand beside what is said about it.
pub fn thumbnail(painter: &Painter, ctx: &ViewCtx<'_>, rect: Rect, frame: &Frame) {
    let theme = ctx.theme;
    let Some(world) = World::of(frame) else {
        // Games have a name for each state.
        if let Frame::Matrix { stage, stages, .. } = frame {
            let name = stages.get(*stage as usize).map_or("", |id| ctx.texts.t(id));
            painter.text(rect.left_center(), Align2::LEFT_CENTER, name, theme.small(), theme.text);
        }
        return;
    };
    let grid = world.fit(rect);
    let size = grid.width() / world.width as f32;
    for cell in 0..world.width * world.height {
        let is_wall = world.walls.get(cell as usize).copied().unwrap_or(false);
        let kind = if is_wall { CellKind::Wall } else { CellKind::Free };
        paint_cell(painter, theme, world.cell(grid, cell), kind, false);
    }
    paint_pellets(painter, theme, &world, grid);
    for (agent, disc) in (0_u32..).zip(discs(world.agents, world.width)) {
        paint_agent(painter, theme, grid.min + disc.at * size, disc.radius * size, agent, false);
    }
}

/// A numbered disc.
pub fn paint_agent(painter: &Painter, theme: &Theme, center: Pos2, radius: f32, agent: u32, is_selected: bool) {
    let color = theme.agent_color(agent);
    if is_selected {
        painter.circle_stroke(center, radius + 3.0, Stroke::new(1.6, theme.text));
    }
    painter.circle(center, radius, color, Stroke::new(1.5, theme.mix(color, theme.on_agent(), 0.45)));
    if radius >= 6.0 {
        let font = egui::FontId::proportional((radius * 0.95).min(26.0));
        painter.text(center, Align2::CENTER_CENTER, (agent + 1).to_string(), font, theme.on_agent());
    }
}

/// Half the space between two cells of that size.
pub fn gap(cell: f32) -> f32 {
    (cell * 0.02).clamp(0.5, 2.0)
}

/// Rounding of a cell.
pub fn corner(cell: Rect) -> CornerRadius {
    CornerRadius::same((cell.width() * 0.07).clamp(1.0, 8.0) as u8)
}

/// The ground of one cell.
pub fn paint_cell(painter: &Painter, theme: &Theme, cell: Rect, kind: CellKind, is_editing: bool) {
    if kind == CellKind::Wall {
        painter.rect_filled(cell, corner(cell), theme.wall);
        return;
    }
    painter.rect(cell, corner(cell), theme.cell, Stroke::new(1.0, theme.line), StrokeKind::Inside);
    if kind == CellKind::NoPellet {
        // A struck-out pellet: faint in play, plain while editing.
        let radius = cell.width() * 0.13;
        let stroke = Stroke::new(1.3, if is_editing { theme.text_dim } else { theme.line_strong });
        painter.circle_stroke(cell.center(), radius, stroke);
        let slash = vec2(0.7, -0.7) * radius * 1.35;
        painter.line_segment([cell.center() - slash, cell.center() + slash], stroke);
    }
}

/// The square the selected agent sees, cut at the edge of the world; with `dim`, what lies outside is veiled.
pub fn paint_sight(painter: &Painter, ctx: &ViewCtx<'_>, world: &World<'_>, grid: Rect, dim: bool) {
    let theme = ctx.theme;
    let Some(&at) = world.agents.get(ctx.selected_agent as usize) else { return };
    let (column, row) = (at % world.width, at / world.width);
    let seen = match world.sight {
        Some(radius) => {
            let (left, top) = (column.saturating_sub(radius), row.saturating_sub(radius));
            let (right, bottom) = ((column + radius).min(world.width - 1), (row + radius).min(world.height - 1));
            let first = world.cell(grid, top * world.width + left);
            first.union(world.cell(grid, bottom * world.width + right))
        }
        None if dim => grid,
        None => return,
    };
    let seen = seen.expand(1.0);
    if dim {
        let veil = theme.fade(theme.page, 0.62);
        let sides = [
            Rect::from_min_max(grid.min, pos2(grid.right(), seen.top())),
            Rect::from_min_max(pos2(grid.left(), seen.bottom()), grid.max),
            Rect::from_min_max(pos2(grid.left(), seen.top()), pos2(seen.left(), seen.bottom())),
            Rect::from_min_max(pos2(seen.right(), seen.top()), pos2(grid.right(), seen.bottom())),
        ];
        for side in sides.into_iter().filter(Rect::is_positive) {
            painter.rect_filled(side, CornerRadius::ZERO, veil);
        }
    }
    parts::dashed_rect(painter, seen, Stroke::new(1.6, theme.agent_color(ctx.selected_agent)));
}

/// The pellets that are left.
pub fn paint_pellets(painter: &Painter, theme: &Theme, world: &World<'_>, grid: Rect) {
    for thing in world.things {
        let cell = world.cell(grid, thing.cell);
        let edge = Stroke::new(1.5, theme.mix(theme.pellet, theme.on_agent(), 0.4));
        painter.circle(cell.center(), cell.width() * 0.155, theme.pellet, edge);
    }
}
