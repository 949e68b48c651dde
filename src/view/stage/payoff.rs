//! A payoff table as a picture: the joint action just played lit, greedy actions and frequencies on the margins, Nash
//! and Pareto cells marked, the gain of changing alone on hover, numbers to type while editing.

use egui::{Align2, Color32, CornerRadius, FontId, Painter, Pos2, Rect, Sense, Stroke, StrokeKind, Ui, pos2, vec2};
use tandem_core::env::api::Label;
use tandem_core::env::bimatrix::Bimatrix;
use tandem_core::env::matrix_game::PAYOFF;

use crate::view::api::ViewCtx;
use crate::view::numbers;
use crate::view::parts;
use crate::view::stage::ground::paint_agent;
use crate::view::text::Texts;

/// A table and what is known about it.
#[derive(Clone, Copy, Debug)]
pub struct PayoffTable<'a> {
    /// The payoffs.
    pub game: &'a Bimatrix,
    /// Names of the actions.
    pub names: &'a [Label],
    /// The joint action just played here.
    pub played: Option<(u32, u32)>,
    /// Greedy actions of both agents, where this is the state on stage.
    pub greedy: Option<(u32, u32)>,
    /// Action frequencies of both agents in recent training.
    pub frequencies: Option<(&'a [f32], &'a [f32])>,
    /// Mark Nash and Pareto-optimal cells and show gains: where the table is the whole game.
    pub marks: bool,
    /// Payoffs can be typed.
    pub is_editing: bool,
    /// One number per cell stands for both agents.
    pub is_common: bool,
}

impl PayoffTable<'_> {
    fn name(&self, texts: Texts, action: u32) -> String {
        self.names.get(action as usize).map_or_else(String::new, |name| texts.label(name))
    }
}

/// A payoff being changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edit {
    /// Row and column.
    pub cell: (u32, u32),
    /// 0 or 1.
    pub agent: u32,
    /// The new payoff.
    pub value: f32,
}

/// Where the parts of a table lie.
#[derive(Clone, Copy, Debug)]
struct Layout {
    corner: Pos2,
    left: f32,
    top: f32,
    cell: egui::Vec2,
}

impl Layout {
    fn of(table: &PayoffTable<'_>, ctx: &ViewCtx<'_>, rect: Rect, painter: &Painter) -> Self {
        let theme = ctx.theme;
        let has_bars = table.frequencies.is_some();
        let widest = table
            .names
            .iter()
            .map(|name| painter.layout_no_wrap(ctx.texts.label(name), theme.small(), theme.text).size().x)
            .fold(28.0, f32::max);
        let left = (widest + 22.0).max(if has_bars { 74.0 } else { 0.0 });
        let top = theme.size.small * 1.4 + if has_bars { theme.size.tiny * 1.4 + 12.0 } else { 10.0 };
        let (rows, columns) = (table.game.rows() as f32, table.game.columns() as f32);
        let cell = vec2(
            ((rect.width() - left) / columns).clamp(30.0, 150.0),
            ((rect.height() - top) / rows).clamp(26.0, 104.0),
        );
        // Numbers look well in wide cells; a finger wants high ones.
        let highest = if table.is_editing && theme.is_for_fingers() { cell.y } else { cell.x * 0.8 };
        let cell = vec2(cell.x, cell.y.min(highest)).floor();
        let size = vec2(left + cell.x * columns, top + cell.y * rows);
        let corner = Align2::CENTER_CENTER.anchor_size(rect.center(), size).min;
        Self { corner: corner.max(rect.min), left, top, cell }
    }

    fn cell(&self, row: u32, column: u32) -> Rect {
        let min = self.corner + vec2(self.left + column as f32 * self.cell.x, self.top + row as f32 * self.cell.y);
        Rect::from_min_size(min, self.cell).shrink(1.5)
    }

    fn column_head(&self, column: u32) -> Rect {
        let min = self.corner + vec2(self.left + column as f32 * self.cell.x, 0.0);
        Rect::from_min_size(min, vec2(self.cell.x, self.top)).shrink2(vec2(3.0, 2.0))
    }

    fn row_head(&self, row: u32) -> Rect {
        let min = self.corner + vec2(0.0, self.top + row as f32 * self.cell.y);
        Rect::from_min_size(min, vec2(self.left, self.cell.y)).shrink2(vec2(4.0, 2.0))
    }

    fn all(&self, game: &Bimatrix) -> Rect {
        let size = vec2(self.cell.x * game.columns() as f32, self.cell.y * game.rows() as f32);
        Rect::from_min_size(self.corner, vec2(self.left, self.top) + size)
    }
}

/// What a person did to a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reply {
    /// The cell pointed at.
    pub hovered: Option<(u32, u32)>,
    /// The cell clicked or tapped.
    pub clicked: Option<(u32, u32)>,
    /// A payoff that is done.
    pub edit: Option<Edit>,
}

/// Draws `table` in the middle of `rect`. `pending` is a payoff being dragged or typed, `chosen` the cell whose gains
/// are shown while none is pointed at.
pub fn table_ui(
    ui: &mut Ui,
    ctx: &ViewCtx<'_>,
    rect: Rect,
    table: &PayoffTable<'_>,
    pending: &mut Option<Edit>,
    chosen: Option<(u32, u32)>,
) -> Reply {
    let theme = ctx.theme;
    let painter = ui.painter().clone();
    let layout = Layout::of(table, ctx, rect, &painter);
    let area = layout.all(table.game);
    let id = ui.make_persistent_id(("payoffs", area.min.x as i32, table.marks));
    let response = ui.interact(area, id, if table.is_editing { Sense::hover() } else { Sense::CLICK });
    let cell_at = |at: Pos2| table.game.joint_actions().find(|&(row, column)| layout.cell(row, column).contains(at));
    let pointer = response.hover_pos().filter(|_| !table.is_editing && !parts::is_covered(ui));
    let mut reply = Reply { hovered: pointer.and_then(cell_at), ..Reply::default() };
    if response.clicked() {
        reply.clicked = response.interact_pointer_pos().and_then(cell_at);
    }
    heads(&painter, ctx, table, &layout);
    let nash = if table.marks { table.game.pure_nash() } else { Vec::new() };
    let pareto = if table.marks { table.game.pareto_optimal() } else { Vec::new() };
    for (row, column) in table.game.joint_actions() {
        let cell = layout.cell(row, column);
        let is_played = table.played == Some((row, column));
        let fill = if is_played { theme.mix(theme.cell, theme.accent, 0.3) } else { theme.cell };
        let line = if is_played { Stroke::new(2.0, theme.accent) } else { Stroke::new(1.0, theme.line) };
        painter.rect(cell, CornerRadius::same(6), fill, line, StrokeKind::Inside);
        if table.is_editing {
            reply.edit = reply.edit.or(edit_cell(ui, ctx, table, cell, (row, column), pending));
        } else {
            let has_marks = nash.contains(&(row, column)) || pareto.contains(&(row, column));
            payoff_text(&painter, ctx, table, cell, (row, column), has_marks);
        }
        let wide = cell.width() >= 96.0;
        let foot = cell.shrink(4.0);
        if nash.contains(&(row, column)) {
            let text = ctx.texts.t(if wide { "stage.nash" } else { "stage.nash.short" });
            parts::tag(&painter, theme, foot, Align2::LEFT_BOTTOM, text, theme.warn);
        }
        if pareto.contains(&(row, column)) {
            let text = ctx.texts.t(if wide { "stage.pareto" } else { "stage.pareto.short" });
            parts::tag(&painter, theme, foot, Align2::RIGHT_BOTTOM, text, theme.good);
        }
    }
    if let Some(cell) = reply.hovered.or(chosen).filter(|_| table.marks && !table.is_editing) {
        gains(&painter, ctx, table, &layout, cell);
    }
    reply
}

/// What is true of a joint action, in sentences with their colours.
pub fn sentences(ctx: &ViewCtx<'_>, table: &PayoffTable<'_>, cell: (u32, u32)) -> Vec<(String, Color32)> {
    let (texts, theme) = (ctx.texts, ctx.theme);
    let name = |action: u32| table.name(texts, action);
    let (one, two) = table.game.at(cell.0, cell.1);
    let paid = if table.is_common {
        texts.f("stage.cell.payoff", &[&name(cell.0), &name(cell.1), &numbers::payoff(one)])
    } else {
        let payoffs = [numbers::payoff(one), numbers::payoff(two)];
        texts.f("stage.cell.payoffs", &[&name(cell.0), &name(cell.1), &payoffs[0], &payoffs[1]])
    };
    let mut lines = vec![(paid, theme.text)];
    let gain = table.game.gain(cell.0, cell.1);
    for (agent, gain) in [(0, gain.0), (1, gain.1)] {
        let number = (agent + 1).to_string();
        let text = if gain > 0.0 {
            texts.f("stage.cell.gain", &[&number, &numbers::payoff(gain)])
        } else {
            texts.f("stage.cell.no_gain", &[&number])
        };
        lines.push((text, theme.agent_text(agent)));
    }
    if table.game.pure_nash().contains(&cell) {
        lines.push((texts.t("stage.nash.tip").to_owned(), theme.warn));
    }
    if table.game.pareto_optimal().contains(&cell) {
        lines.push((texts.t("stage.pareto.tip").to_owned(), theme.good));
    }
    lines
}

fn heads(painter: &Painter, ctx: &ViewCtx<'_>, table: &PayoffTable<'_>, layout: &Layout) {
    let theme = ctx.theme;
    let top_left = Rect::from_min_size(layout.corner, vec2(layout.left, layout.top));
    paint_agent(painter, theme, pos2(top_left.left() + 14.0, top_left.bottom() - 13.0), 10.0, 0, false);
    paint_agent(painter, theme, pos2(top_left.right() - 13.0, top_left.top() + 12.0), 10.0, 1, false);
    let head = |agent: u32, action: u32, place: Rect| {
        let greedy = table.greedy.map(|(i, j)| if agent == 0 { i } else { j });
        let frequencies = table.frequencies.map(|(i, j)| if agent == 0 { i } else { j });
        let Some(name) = table.names.get(action as usize) else { return };
        let color = theme.agent_text(agent);
        let is_greedy = greedy == Some(action);
        let text_height = theme.size.small * 1.4;
        let all = text_height + theme.size.tiny * 1.4 + 6.0;
        // A low row has room for the name and the bar, not for the number.
        let has_number = all <= place.height() + 1.0;
        let bar_height = match frequencies {
            Some(_) if has_number => theme.size.tiny * 1.4 + 6.0,
            Some(_) => 5.0,
            None => 0.0,
        };
        // Columns hang their heads from the top, rows centre theirs.
        let height = text_height + bar_height;
        let top = if agent == 0 { place.center().y - height / 2.0 } else { place.top() + 2.0 };
        let line = Rect::from_min_size(pos2(place.left(), top), vec2(place.width(), text_height));
        if is_greedy {
            let ring = Stroke::new(1.0, theme.fade(color, 0.7));
            painter.rect(line, CornerRadius::same(5), theme.fade(color, 0.18), ring, StrokeKind::Inside);
        }
        let ink = if is_greedy { color } else { theme.text_dim };
        painter.text(line.center(), Align2::CENTER_CENTER, ctx.texts.label(name), theme.small(), ink);
        if let Some(&share) = frequencies.and_then(|shares| shares.get(action as usize)) {
            let bar = Rect::from_min_size(pos2(line.left(), line.bottom() + 2.0), vec2(line.width(), 3.0));
            let filled = Rect::from_min_size(bar.min, vec2(bar.width() * share.clamp(0.0, 1.0), bar.height()));
            painter.rect_filled(bar, CornerRadius::same(1), theme.line);
            painter.rect_filled(filled, CornerRadius::same(1), theme.agent_color(agent));
            if has_number {
                let at = pos2(bar.center().x, bar.bottom() + 1.0);
                painter.text(at, Align2::CENTER_TOP, numbers::percent(share), theme.tiny(), theme.text_faint);
            }
        }
    };
    for row in 0..table.game.rows() {
        head(0, row, layout.row_head(row));
    }
    for column in 0..table.game.columns() {
        head(1, column, layout.column_head(column));
    }
}

fn payoff_text(
    painter: &Painter,
    ctx: &ViewCtx<'_>,
    table: &PayoffTable<'_>,
    cell: Rect,
    (row, column): (u32, u32),
    has_marks: bool,
) {
    let theme = ctx.theme;
    let (one, two) = table.game.at(row, column);
    let lift = if has_marks && cell.height() < 70.0 { theme.size.tiny * 0.5 } else { 0.0 };
    let middle = cell.center() - vec2(0.0, lift);
    if table.is_common {
        let font = FontId::proportional((cell.height() * 0.34).clamp(theme.size.body, 24.0));
        painter.text(middle, Align2::CENTER_CENTER, numbers::payoff(one), font, theme.text);
        return;
    }
    let font = FontId::proportional((cell.height() * 0.28).clamp(theme.size.small, 20.0));
    painter.text(
        middle - vec2(6.0, 0.0),
        Align2::RIGHT_CENTER,
        numbers::payoff(one),
        font.clone(),
        theme.agent_text(0),
    );
    painter.text(middle + vec2(6.0, 0.0), Align2::LEFT_CENTER, numbers::payoff(two), font, theme.agent_text(1));
}

fn edit_cell(
    ui: &mut Ui,
    ctx: &ViewCtx<'_>,
    table: &PayoffTable<'_>,
    cell: Rect,
    (row, column): (u32, u32),
    pending: &mut Option<Edit>,
) -> Option<Edit> {
    let payoffs = table.game.at(row, column);
    let fields: &[u32] = if table.is_common { &[0] } else { &[0, 1] };
    let mut done = None;
    for &agent in fields {
        let width = cell.width() / fields.len() as f32;
        let height = ctx.theme.size.control.min(cell.height());
        let center = cell.left() + width * (agent as f32 + 0.5);
        let place = Rect::from_center_size(pos2(center, cell.center().y), vec2(width, height));
        let held = pending.filter(|edit| edit.cell == (row, column) && edit.agent == agent);
        let mut value = held.map_or(if agent == 0 { payoffs.0 } else { payoffs.1 }, |edit| edit.value);
        let field = egui::DragValue::new(&mut value).range(PAYOFF).speed(0.1).max_decimals(2);
        let field = field.custom_formatter(|value, _| numbers::payoff(value as f32)).update_while_editing(false);
        let name = |action: u32| table.name(ctx.texts, action);
        let label = ctx.texts.f("stage.edit.payoff", &[&(agent + 1).to_string(), &name(row), &name(column)]);
        let response = ui.put(place, field).accessible_name(label);
        if response.changed() {
            *pending = Some(Edit { cell: (row, column), agent, value });
        }
        // While the number is dragged the run stays; it restarts once, when the finger lifts.
        if !response.dragged() && pending.is_some_and(|edit| edit.cell == (row, column) && edit.agent == agent) {
            done = pending.take();
        }
    }
    done
}

/// In the cells one agent could reach by changing alone: what that would gain it.
fn gains(painter: &Painter, ctx: &ViewCtx<'_>, table: &PayoffTable<'_>, layout: &Layout, (row, column): (u32, u32)) {
    let theme = ctx.theme;
    let from = table.game.at(row, column);
    let show = |agent: u32, cell: Rect, gain: f32| {
        let color = theme.agent_text(agent);
        let ring = Stroke::new(1.5, theme.fade(color, 0.8));
        painter.rect_stroke(cell, CornerRadius::same(6), ring, StrokeKind::Inside);
        let align = if agent == 0 { Align2::LEFT_TOP } else { Align2::RIGHT_TOP };
        parts::tag(painter, theme, cell.shrink(4.0), align, &numbers::signed(gain, numbers::payoff), color);
    };
    for other in (0..table.game.rows()).filter(|other| *other != row) {
        show(0, layout.cell(other, column), table.game.at(other, column).0 - from.0);
    }
    for other in (0..table.game.columns()).filter(|other| *other != column) {
        show(1, layout.cell(row, other), table.game.at(row, other).1 - from.1);
    }
    let here = layout.cell(row, column);
    painter.rect_stroke(here, CornerRadius::same(6), Stroke::new(1.5, theme.text), StrokeKind::Inside);
}
