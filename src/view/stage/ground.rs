//! The ground of a grid world: its cells and walls, discs for agents, what they are after, the square an agent sees.
//!
//! Whatever agents are after has the pellet's colour; its shape says what it is.

use egui::{Align2, CornerRadius, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Vec2, pos2, vec2};
use tandem_core::env::api::{Frame, Thing, ThingKind};
use tandem_core::experiment::spec::CellKind;

use crate::view::api::ViewCtx;
use crate::view::parts;
use crate::view::stage::board::Board;
use crate::view::stage::motion::{Disc, discs};
use crate::view::stage::{bodies, pieces};
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
        let cell = (rect.width() / self.width as f32).min(rect.height() / self.height as f32).max(1.0).floor();
        Rect::from_center_size(rect.center(), vec2(cell * self.width as f32, cell * self.height as f32))
    }

    /// The square of a cell on the screen, without the gap to its neighbours.
    pub fn cell(&self, grid: Rect, cell: u32) -> Rect {
        let size = grid.width() / self.width as f32;
        let corner = grid.min + vec2((cell % self.width) as f32, (cell / self.width) as f32) * size;
        Rect::from_min_size(corner, Vec2::splat(size)).shrink(gap(size))
    }

    /// Where everything that moves stands in a grid on the screen: the agents, then the evaders, each with a key of its
    /// own.
    pub fn discs(&self, grid: Rect) -> Vec<Disc> {
        // In small cells a disc takes most of the room, so that its number can be read; beside a badge, too.
        let alone = match () {
            () if grid.width() < 30.0 * self.width as f32 => 0.42,
            () if !self.levels.is_empty() => 0.32,
            () => 0.27,
        };
        let mut all = discs(self.agents, self.width, alone);
        let cells: Vec<u32> = self.evaders().map(|evader| evader.cell).collect();
        let evaders = self.evaders().zip(discs(&cells, self.width, alone));
        for (place, (evader, mut disc)) in evaders.enumerate() {
            disc.key = self.agents.len() as u32 + evader.id;
            if self.agents.contains(&evader.cell) {
                // Whoever is there keeps its size: evaders peep out from its corner, one below the other.
                let above = cells[..place].iter().filter(|cell| **cell == evader.cell).count().min(2);
                let corner = vec2((evader.cell % self.width) as f32, (evader.cell / self.width) as f32);
                disc.at = corner + vec2(0.84, 0.18 + 0.3 * above as f32);
                disc.radius = 0.17;
            }
            all.push(disc);
        }
        all
    }

    /// The things that move.
    pub fn evaders(&self) -> impl Iterator<Item = &'a Thing> {
        self.things.iter().filter(|thing| thing.kind == ThingKind::Evader)
    }
}

/// A small picture of a state, to stand beside what is said about it.
pub fn thumbnail(painter: &Painter, ctx: &ViewCtx<'_>, rect: Rect, frame: &Frame) {
    let theme = ctx.theme;
    if let Some(world) = World::of(frame) {
        let grid = world.fit(rect);
        // Lines between the smallest cells would be all there is to see.
        let has_lines = grid.width() >= 6.0 * world.width as f32;
        painter.rect_filled(grid, CornerRadius::ZERO, theme.cell);
        for cell in 0..world.width * world.height {
            let is_wall = world.walls.get(cell as usize).copied().unwrap_or(false);
            let kind = if is_wall { CellKind::Wall } else { CellKind::Free };
            if is_wall || has_lines {
                paint_cell(painter, theme, world.cell(grid, cell), kind, false);
            }
        }
        paint_things(painter, theme, &world, grid);
        let discs = world.discs(grid);
        let size = grid.width() / world.width as f32;
        for (agent, disc) in (0_u32..).zip(&discs[..world.agents.len()]) {
            paint_agent(painter, theme, grid.min + disc.at * size, disc.radius * size, agent, false);
        }
        paint_evaders(painter, theme, &world, grid, &discs);
    } else if let Some(board) = Board::of(frame) {
        pieces::thumbnail(painter, theme, &board, rect);
    } else if let Frame::Particles { agents, landmarks, .. } = frame {
        bodies::thumbnail(painter, theme, agents, landmarks, rect);
    } else if let Frame::Matrix { stage, stages, .. } = frame {
        // Games have a name for each state.
        let name = stages.get(*stage as usize).map_or("", |id| ctx.texts.t(id));
        painter.text(rect.left_center(), Align2::LEFT_CENTER, name, theme.small(), theme.text);
    }
}

/// A numbered disc.
pub fn paint_agent(painter: &Painter, theme: &Theme, center: Pos2, radius: f32, agent: u32, is_selected: bool) {
    if is_selected {
        painter.circle_stroke(center, radius + 3.0, Stroke::new(1.6, theme.text));
    }
    painter.circle(center, radius, theme.agent_color(agent), edge_of(theme, agent));
    // A digit of 9 points is still read, and still fits.
    if radius >= 4.5 {
        let font = egui::FontId::proportional((radius * 0.95).clamp(9.0, 26.0));
        painter.text(center, Align2::CENTER_CENTER, (agent + 1).to_string(), font, theme.on_agent());
    }
}

/// The edge of an agent's disc.
pub fn edge_of(theme: &Theme, agent: u32) -> Stroke {
    Stroke::new(1.5, theme.mix(theme.agent_color(agent), theme.on_agent(), 0.45))
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
    // On dark ground a quiet line is all but lost.
    let line = if theme.dark { theme.mix(theme.line, theme.line_strong, 0.6) } else { theme.line };
    painter.rect(cell, corner(cell), theme.cell, Stroke::new(1.0, line), StrokeKind::Inside);
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

/// What stays where it is until it is taken: pellets and food.
pub fn paint_things(painter: &Painter, theme: &Theme, world: &World<'_>, grid: Rect) {
    for thing in world.things {
        let cell = world.cell(grid, thing.cell);
        let (center, size) = (cell.center(), cell.width());
        match thing.kind {
            ThingKind::Pellet => {
                painter.circle(center, size * 0.155, theme.pellet, edge(theme));
            }
            ThingKind::Food => {
                paint_shape(painter, theme, center, size * 0.3, &HEXAGON);
                paint_level(painter, theme, center, size * 0.3, thing.level);
            }
            ThingKind::Evader => {}
        }
    }
}

/// The evaders on their way; `discs` as [`World::discs`] orders them.
pub fn paint_evaders(painter: &Painter, theme: &Theme, world: &World<'_>, grid: Rect, discs: &[Disc]) {
    let size = grid.width() / world.width as f32;
    for disc in discs.iter().skip(world.agents.len()) {
        paint_shape(painter, theme, grid.min + disc.at * size, disc.radius * size * 1.05, &DIAMOND);
    }
}

/// An agent's level, on a badge at the lower right of its disc.
pub fn paint_badge(painter: &Painter, theme: &Theme, center: Pos2, radius: f32, agent: u32, level: u32) {
    let size = (radius * 0.44).max(6.5);
    let at = center + Vec2::splat(radius * 0.96);
    painter.circle(at, size, theme.card, Stroke::new(1.5, theme.agent_color(agent)));
    let font = egui::FontId::proportional(size * 1.45);
    painter.text(at, Align2::CENTER_CENTER, level.to_string(), font, theme.text);
}

/// Corners of a hexagon that stands on an edge.
const HEXAGON: [Vec2; 6] =
    [vec2(1.0, 0.0), vec2(0.5, 0.866), vec2(-0.5, 0.866), vec2(-1.0, 0.0), vec2(-0.5, -0.866), vec2(0.5, -0.866)];
/// Corners of a square that stands on a corner.
const DIAMOND: [Vec2; 4] = [vec2(1.0, 0.0), vec2(0.0, 1.0), vec2(-1.0, 0.0), vec2(0.0, -1.0)];

fn paint_shape(painter: &Painter, theme: &Theme, center: Pos2, radius: f32, corners: &[Vec2]) {
    let points = corners.iter().map(|corner| center + *corner * radius).collect();
    painter.add(Shape::convex_polygon(points, theme.pellet, edge(theme)));
}

fn paint_level(painter: &Painter, theme: &Theme, center: Pos2, radius: f32, level: u32) {
    if level > 0 {
        let font = egui::FontId::proportional((radius * 1.05).min(26.0));
        painter.text(center, Align2::CENTER_CENTER, level.to_string(), font, theme.on_agent());
    }
}

fn edge(theme: &Theme) -> Stroke {
    Stroke::new(1.5, theme.mix(theme.pellet, theme.on_agent(), 0.4))
}
