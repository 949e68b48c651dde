//! A board painted: its holes or cells, pieces with a mark besides their colour, lines that win, what moves are worth.

use egui::{Align2, CornerRadius, Painter, Pos2, Rect, Stroke, StrokeKind, Vec2, pos2, vec2};

use tandem_core::env::script::Foreseen;
use tandem_core::experiment::snapshot::Thought;

use crate::view::numbers;
use crate::view::stage::board::Board;
use crate::view::stage::overlay;
use crate::view::theme::Theme;

/// Highest bar of what a move is worth, above a board or in a cell.
const BAR: f32 = 20.0;

/// Height of the bars and numbers above a board whose pieces fall, with numbers of size `tiny`.
pub fn band(tiny: f32) -> f32 {
    BAR + tiny * 1.4 + 6.0
}

/// What each move is worth to the mover: Q or a probability; none of moves that are illegal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Worth {
    values: Vec<Option<f32>>,
    /// What is written at each move.
    figures: Vec<String>,
    range: (f32, f32),
    best: Vec<u32>,
}

impl Worth {
    /// Of what an agent holds of its moves; probabilities have ends of their own.
    pub fn of_thought(thought: &Thought, are_probabilities: bool) -> Self {
        if !thought.foreseen.is_empty() {
            let sooner = |plies: u32| 1.0 - 0.01 * plies.min(50) as f32;
            let value = |seen: &Option<Foreseen>| {
                seen.map(|seen| match seen {
                    Foreseen::Win { plies } => sooner(plies),
                    Foreseen::Loss { plies } => -sooner(plies),
                    Foreseen::Nothing => 0.0,
                })
            };
            let figure = |seen: &Option<Foreseen>| match seen {
                Some(Foreseen::Win { plies }) => format!("+{plies}"),
                Some(Foreseen::Loss { plies }) => format!("−{plies}"),
                Some(Foreseen::Nothing) => "0".to_owned(),
                None => String::new(),
            };
            let figures = thought.foreseen.iter().map(figure).collect();
            let told = Self::new(thought.foreseen.iter().map(value).collect(), false);
            return Self { figures, range: (-1.0, 1.0), ..told };
        }
        let values = thought.per_action.iter().zip(&thought.legal);
        Self::new(values.map(|(&value, &legal)| legal.then_some(value)).collect(), are_probabilities)
    }

    fn new(values: Vec<Option<f32>>, are_probabilities: bool) -> Self {
        let low = values.iter().flatten().copied().fold(f32::INFINITY, f32::min);
        let high = values.iter().flatten().copied().fold(f32::NEG_INFINITY, f32::max);
        let range = if are_probabilities { (0.0, 1.0) } else { (low, high) };
        let filled: Vec<f32> = values.iter().map(|value| value.unwrap_or(f32::NEG_INFINITY)).collect();
        let best = if low <= high { overlay::best_actions(&filled) } else { Vec::new() };
        let figures = values.iter().map(|value| value.map_or_else(String::new, numbers::short)).collect();
        Self { values, figures, range, best }
    }

    /// Of one move.
    pub fn of(&self, action: u32) -> Option<f32> {
        self.values.get(action as usize).copied().flatten()
    }

    /// Height of its bar, 0 to 1.
    fn share(&self, value: f32) -> f32 {
        let (low, high) = self.range;
        if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
    }
}

/// The square of a cell.
fn square(board: &Board<'_>, area: Rect, cell: u32) -> Rect {
    let size = area.width() / board.columns as f32;
    let corner = area.min + vec2((cell % board.columns) as f32, (cell / board.columns) as f32) * size;
    Rect::from_min_size(corner, Vec2::splat(size))
}

/// The empty board. Columns without room are greyed.
pub fn paint_ground(painter: &Painter, theme: &Theme, board: &Board<'_>, area: Rect) {
    let line = Stroke::new(1.0, theme.line);
    let size = area.width() / board.columns as f32;
    if !board.drops {
        for cell in 0..board.rows * board.columns {
            let place = square(board, area, cell).shrink((size * 0.02).clamp(0.5, 2.0));
            let is_won = board.lines.iter().any(|line| line.contains(&cell));
            let winner = board.owner(cell).filter(|_| is_won).map(|agent| theme.agent_color(agent));
            let fill = winner.map_or(theme.cell, |color| theme.mix(theme.cell, color, 0.18));
            painter.rect(place, CornerRadius::same((size * 0.07) as u8), fill, line, StrokeKind::Inside);
        }
        return;
    }
    let plate = area.expand((size * 0.06).min(4.0));
    let corner = CornerRadius::same((size * 0.2).clamp(1.0, 12.0) as u8);
    painter.rect(plate, corner, theme.cell, Stroke::new(1.0, theme.line_strong), StrokeKind::Inside);
    for cell in 0..board.rows * board.columns {
        painter.circle(square(board, area, cell).center(), size * 0.41, theme.card, line);
    }
}

/// The numbers that keys and moves have: of columns beneath the board, of empty cells inside them.
pub fn paint_numbers(painter: &Painter, theme: &Theme, board: &Board<'_>, area: Rect, lit: Option<u32>) {
    let size = area.width() / board.columns as f32;
    if board.drops {
        for column in 0..board.columns {
            let at = pos2(area.left() + size * (column as f32 + 0.5), area.bottom() + 5.0);
            let is_full = board.landing(column).is_none();
            let ink = match () {
                () if lit == Some(column) => theme.text,
                () if is_full => theme.line_strong,
                () => theme.text_faint,
            };
            let number = (column + 1).to_string();
            let place = painter.text(at, Align2::CENTER_TOP, number, theme.tiny(), ink);
            if is_full {
                let y = place.center().y;
                painter.hline(place.expand2(vec2(2.0, 0.0)).x_range(), y, Stroke::new(1.0, ink));
            }
        }
        return;
    }
    for cell in (0..board.rows * board.columns).filter(|&cell| board.owner(cell).is_none()) {
        let at = square(board, area, cell).min + Vec2::splat(size * 0.09);
        painter.text(at, Align2::LEFT_TOP, (cell + 1).to_string(), theme.tiny(), theme.text_faint);
    }
}

/// All pieces; `falling` is a cell and the share of its fall that is done.
pub fn paint_pieces(painter: &Painter, theme: &Theme, board: &Board<'_>, area: Rect, falling: Option<(u32, f32)>) {
    let size = area.width() / board.columns as f32;
    let inside = painter.with_clip_rect(painter.clip_rect().intersect(area.expand(2.0)));
    for cell in 0..board.rows * board.columns {
        let Some(agent) = board.owner(cell) else { continue };
        let mut center = square(board, area, cell).center();
        if let Some((_, share)) = falling.filter(|(falling, _)| *falling == cell) {
            let from = area.top() - size * 0.5;
            center.y = from + (center.y - from) * share;
        }
        paint_piece(&inside, theme, board, center, radius(board, size), agent);
        if board.last == Some(cell) && board.lines.is_empty() && size >= 14.0 {
            paint_last(&inside, theme, board, center, size);
        }
        if board.drops && board.landing(cell % board.columns).is_none() && board.to_move.is_some() {
            inside.circle_filled(center, size * 0.42, theme.fade(theme.cell, 0.45));
        }
    }
}

/// The last piece has a ring where pieces are discs, and a frame around its cell where they are signs.
fn paint_last(painter: &Painter, theme: &Theme, board: &Board<'_>, center: Pos2, size: f32) {
    if board.drops {
        painter.circle_stroke(center, size * 0.44, Stroke::new(2.0, theme.text));
    } else {
        let place = Rect::from_center_size(center, Vec2::splat(size * 0.96));
        let corner = CornerRadius::same((size * 0.07) as u8);
        painter.rect_stroke(place, corner, Stroke::new(1.5, theme.line_strong), StrokeKind::Inside);
    }
}

fn radius(board: &Board<'_>, size: f32) -> f32 {
    size * if board.drops { 0.38 } else { 0.26 }
}

/// A player's piece: the first one's has a cross, the second's a ring; a disc of the agent's colour where pieces fall.
pub fn paint_piece(painter: &Painter, theme: &Theme, board: &Board<'_>, center: Pos2, radius: f32, agent: u32) {
    if !board.drops {
        let stroke = Stroke::new((radius * 0.24).max(1.5), theme.agent_color(agent));
        paint_mark(painter, center, radius, agent, stroke);
        return;
    }
    let color = theme.agent_color(agent);
    let dark = theme.mix(color, theme.on_agent(), 0.45);
    painter.circle(center, radius, color, Stroke::new(1.5_f32.min(radius * 0.2), dark));
    if radius >= 4.0 {
        paint_mark(painter, center, radius * 0.42, agent, Stroke::new((radius * 0.14).max(1.2), dark));
    }
}

fn paint_mark(painter: &Painter, center: Pos2, radius: f32, agent: u32, stroke: Stroke) {
    if agent == 1 {
        painter.circle_stroke(center, radius, stroke);
        return;
    }
    let arm = radius * 0.86;
    for along in [vec2(arm, arm), vec2(arm, -arm)] {
        painter.line_segment([center - along, center + along], stroke);
    }
}

/// Where a person's piece would come to lie.
pub fn paint_ghost(painter: &Painter, theme: &Theme, board: &Board<'_>, area: Rect, cell: u32, agent: u32) {
    let place = square(board, area, cell);
    let size = place.width();
    let color = theme.agent_color(agent);
    if board.drops {
        let radius = radius(board, size);
        painter.circle(place.center(), radius, theme.fade(color, 0.3), Stroke::new(1.5, color));
        paint_mark(painter, place.center(), radius * 0.42, agent, Stroke::new((radius * 0.14).max(1.2), color));
    } else {
        let stroke = Stroke::new(size * 0.26 * 0.24, theme.mix(theme.cell, color, 0.45));
        paint_mark(painter, place.center(), radius(board, size), agent, stroke);
    }
}

/// Every line that wins, struck through.
pub fn paint_lines(painter: &Painter, theme: &Theme, board: &Board<'_>, area: Rect) {
    for line in board.lines {
        // Rows and columns only grow along a line, or one of them falls: its ends are its first and last cells.
        let (Some(&first), Some(&last)) = (line.iter().min(), line.iter().max()) else { continue };
        let [from, to] = [first, last].map(|cell| square(board, area, cell));
        let along = (to.center() - from.center()).normalized() * from.width() * 0.34;
        let ends = [from.center() - along, to.center() + along];
        // On discs the line has an edge; on signs it is thin, for a cross has a stroke along it.
        let width = (from.width() * if board.drops { 0.07 } else { 0.028 }).clamp(1.5, 5.0);
        let edge = if board.drops { 2.0 } else { 0.0 };
        let strokes = [Stroke::new(width + edge, theme.card), Stroke::new(width, theme.text)];
        for stroke in strokes {
            painter.line_segment(ends, stroke);
            for end in ends {
                painter.circle_filled(end, stroke.width / 2.0, stroke.color);
            }
        }
    }
}

/// A bar and a number for each legal move but the `hidden` one, in the mover's colour; the best ones solid.
pub fn paint_worth(
    painter: &Painter,
    theme: &Theme,
    board: &Board<'_>,
    area: Rect,
    worth: &Worth,
    mover: u32,
    hidden: Option<u32>,
) {
    let size = area.width() / board.columns as f32;
    let (ink, fill) = (theme.agent_text(mover), theme.agent_color(mover));
    let font = if size >= 60.0 { theme.small() } else { theme.tiny() };
    let write = |figure: &str, ink| painter.layout_no_wrap(figure.to_owned(), font.clone(), ink);
    // Where columns are narrow only the best moves' numbers fit.
    let has_room = worth.figures.iter().all(|figure| write(figure, ink).size().x <= size - 2.0);
    for action in (0..board.moves()).filter(|&action| hidden != Some(action)) {
        let Some(value) = worth.of(action) else { continue };
        let is_best = worth.best.contains(&action);
        let color = if is_best { fill } else { theme.fade(fill, 0.4) };
        let share = worth.share(value);
        let (foot, number, height) = if board.drops {
            let x = area.left() + size * (action as f32 + 0.5);
            (pos2(x, area.top() - 5.0), pos2(x, area.top() - 6.0 - BAR), BAR)
        } else {
            let Some(cell) = board.landing(action) else { continue };
            let place = square(board, area, cell);
            let foot = place.center_bottom() - vec2(0.0, size * 0.12);
            (foot, place.center() + vec2(0.0, theme.size.tiny * 0.7), (size * 0.22).min(BAR))
        };
        let bar = Rect::from_min_max(
            pos2(foot.x - size * 0.2, foot.y - (share * height).max(1.5)),
            pos2(foot.x + size * 0.2, foot.y),
        );
        painter.rect_filled(bar, CornerRadius::same(2), color);
        if has_room || is_best {
            let galley = write(&worth.figures[action as usize], if is_best { ink } else { theme.text_dim });
            let place = Align2::CENTER_BOTTOM.anchor_size(number, galley.size());
            painter.galley(place.min, galley, ink);
        }
    }
}

/// A small board without anything around it.
pub fn thumbnail(painter: &Painter, theme: &Theme, board: &Board<'_>, rect: Rect) {
    let size = (rect.width() / board.columns as f32).min(rect.height() / board.rows as f32);
    let area = Rect::from_center_size(rect.center(), vec2(board.columns as f32, board.rows as f32) * size);
    paint_ground(painter, theme, board, area);
    paint_pieces(painter, theme, board, area, None);
    paint_lines(painter, theme, board, area);
}
