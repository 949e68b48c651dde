//! The two players of a board: where their names stand beside it, what they hold, how the game stands for them.

use egui::{Align2, CornerRadius, Rect, Role, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, pos2, vec2};
use tandem_core::env::api::Outcome;
use tandem_core::env::script::Script;

use crate::view::api::{Action, ViewCtx};
use crate::view::stage::board::Board;
use crate::view::stage::pieces;
use crate::view::widgets::focus_ring;

/// Room beside the board that a player's name needs.
const SIDE: f32 = 92.0;

/// Where everything stands.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The cells.
    pub board: Rect,
    /// Each player's name: beside the board, or above it where that is too narrow.
    sides: [Rect; 2],
    are_beside: bool,
}

impl Plan {
    /// As large as fits into `rect`.
    pub fn of(board: &Board<'_>, ctx: &ViewCtx<'_>, rect: Rect) -> Self {
        let size = ctx.theme.size;
        let (over, under) = around(board, ctx);
        let fit = |room: Rect| {
            // The plate is a little larger than its cells.
            let room = room.shrink2(vec2(4.0, 0.0));
            let (columns, rows) = (board.columns as f32, board.rows as f32);
            let cell = (room.width() / columns).min((room.height() - over - under) / rows).clamp(8.0, 96.0).floor();
            let grid = vec2(cell * columns, cell * rows);
            let all = Rect::from_center_size(room.center(), grid + vec2(0.0, over + under));
            Rect::from_min_size(pos2(all.left(), all.top() + over), grid)
        };
        let cells = fit(rect);
        let room = (rect.width() - cells.width()) / 2.0;
        if ctx.compact {
            // A finger needs the room; the agents' row beneath says who is who.
            return Self { board: cells, sides: [Rect::NOTHING; 2], are_beside: false };
        }
        if room >= SIDE {
            let width = (room - 8.0).min(150.0);
            let side = |left: f32| Rect::from_min_size(pos2(left, cells.top()), vec2(width, cells.height()));
            let sides = [side(cells.left() - 8.0 - width), side(cells.right() + 8.0)];
            return Self { board: cells, sides, are_beside: true };
        }
        let mut below = rect;
        let line = size.control;
        below.min.y += line + 2.0;
        let top = Rect::from_min_size(rect.min, vec2(rect.width(), line));
        let (left, right) = top.split_left_right_at_fraction(0.5);
        Self {
            board: fit(below),
            sides: [left.with_max_x(left.right() - 3.0), right.with_min_x(right.left() + 3.0)],
            are_beside: false,
        }
    }

    /// Where a move is pointed at: its cell, or its column with the bar above and the number beneath.
    pub fn place(&self, board: &Board<'_>, action: u32) -> Rect {
        let size = self.board.width() / board.columns as f32;
        let cell = board.cell_of(action);
        let corner = self.board.min + vec2((cell % board.columns) as f32, (cell / board.columns) as f32) * size;
        if board.drops {
            Rect::from_min_size(corner, vec2(size, self.board.height())).expand2(vec2(0.0, size.min(24.0)))
        } else {
            Rect::from_min_size(corner, Vec2::splat(size))
        }
    }
}

/// Room above the cells for bars, and beneath them for numbers.
fn around(board: &Board<'_>, ctx: &ViewCtx<'_>) -> (f32, f32) {
    let size = ctx.theme.size;
    // The room is kept while whoever looks ahead has not moved yet, or the board would jump.
    let looks_ahead = |agent| ctx.spec.learner.seats.of(agent).script().is_some_and(Script::looks_ahead);
    let has_bars = board.drops
        && (ctx.snapshot.stage.per_action.iter().any(|values| !values.is_empty())
            || (0..ctx.facts.num_agents).any(looks_ahead));
    let over = if has_bars { pieces::band(size.tiny) } else { 6.0 };
    let under = if board.drops { size.tiny * 1.6 + 2.0 } else { 2.0 };
    (over, under)
}

/// How high a board with such cells is, in a width of `room`.
pub fn height_of(board: &Board<'_>, ctx: &ViewCtx<'_>, cell: f32, room: f32) -> f32 {
    let (over, under) = around(board, ctx);
    let is_narrow = !ctx.compact && room - cell * (board.columns as f32) < 2.0 * SIDE;
    let names = if is_narrow { ctx.theme.size.control + 2.0 } else { 0.0 };
    names + over + cell * board.rows as f32 + under
}

/// Each player's piece and name; a click selects that agent.
pub fn sides(ui: &mut Ui, ctx: &ViewCtx<'_>, board: &Board<'_>, plan: &Plan, actions: &mut Vec<Action>) {
    let theme = ctx.theme;
    for (agent, rect) in (0_u32..).zip(plan.sides).filter(|(_, rect)| rect.is_positive()) {
        let response = ui.interact(rect, ui.scope_id().with(("side", agent)), Sense::click());
        let is_selected = agent == ctx.selected_agent;
        let name = ctx.texts.f("agent.name", &[&(agent + 1).to_string()]);
        let word = standing(board, agent).map_or("", |id| ctx.texts.t(id));
        let told = format!("{name} {word}");
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_selected, &told));
        let has_turn = board.to_move == Some(agent) || board.outcome == Some(Outcome::Won(agent));
        let corner = CornerRadius::same(theme.size.radius_field);
        let fill = if response.hovered() { theme.field } else { theme.card };
        let line = if is_selected { Stroke::new(1.0, theme.line_strong) } else { Stroke::NONE };
        let painter = ui.painter_at(rect);
        let ink = if has_turn { theme.agent_text(agent) } else { theme.text_dim };
        if plan.are_beside {
            let frame = Rect::from_center_size(rect.center(), vec2(rect.width(), rect.height().min(110.0)));
            painter.rect(frame, corner, fill, line, StrokeKind::Inside);
            let radius = (frame.height() * 0.19).clamp(8.0, 20.0);
            let at = frame.center() - vec2(0.0, frame.height() * 0.2);
            pieces::paint_piece(&painter, theme, board, at, radius, agent);
            let line = theme.size.small * 1.35;
            let top = at + vec2(0.0, radius + 6.0);
            painter.text(top, Align2::CENTER_TOP, name, theme.small(), ink);
            painter.text(top + vec2(0.0, line), Align2::CENTER_TOP, word, theme.small(), ink);
        } else {
            painter.rect(rect, corner, fill, line, StrokeKind::Inside);
            let radius = (rect.height() * 0.3).min(11.0);
            let at = pos2(rect.left() + radius + 8.0, rect.center().y);
            pieces::paint_piece(&painter, theme, board, at, radius, agent);
            let text = if word.is_empty() { name } else { format!("{name} · {word}") };
            painter.text(at + vec2(radius + 7.0, 0.0), Align2::LEFT_CENTER, text, theme.small(), ink);
        }
        if response.clicked() {
            actions.push(Action::SelectAgent(agent));
        }
        focus_ring(ui, theme, rect, &response);
    }
}

/// Text id of how the game stands for an agent, where there is something to say.
fn standing(board: &Board<'_>, agent: u32) -> Option<&'static str> {
    match board.outcome {
        None => (board.to_move == Some(agent)).then_some("stage.board.to_move"),
        Some(Outcome::Drawn) => Some("stage.board.draw"),
        Some(Outcome::Won(winner)) => Some(if winner == agent { "stage.board.wins" } else { "stage.board.loses" }),
        Some(Outcome::Illegal(who)) => (who == agent).then_some("stage.board.erred"),
    }
}
