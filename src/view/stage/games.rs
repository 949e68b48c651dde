//! The stage of matrix games (their payoff table) and of the two-step game (its two tables under the state that leads
//! to them).

use egui::{Align2, CornerRadius, Painter, Pos2, Rect, Sense, Stroke, StrokeKind, Ui, pos2, vec2};
use tandem_core::env::api::Frame;
use tandem_core::env::bimatrix::Bimatrix;
use tandem_core::experiment::snapshot::Stage;
use tandem_core::experiment::spec::{EnvChoice, Payoffs};

use crate::view::api::{Action, EditMode, ViewCtx};
use crate::view::stage::edit;
use crate::view::stage::payoff::{Edit, PayoffTable, sentences, table_ui};

/// What of the picture outlives a frame.
#[derive(Debug, Default)]
pub struct GameStage {
    /// Payoffs being dragged or typed, one per table.
    pending: [Option<Edit>; 2],
    /// The cell tapped last, whose gains are shown.
    chosen: Option<(u32, u32)>,
    /// While editing: each agent has its own payoff.
    pub is_split: bool,
}

impl GameStage {
    /// Fills the space of `ui` with the game of `frame`; does nothing for other frames.
    pub fn ui(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, frame: &Frame, actions: &mut Vec<Action>) {
        let Frame::Matrix { payoffs, rows, columns, played, stage, stages, .. } = frame else { return };
        // While editing the table is the one that edits go on from.
        let is_edited = ctx.edit == EditMode::Payoffs && ctx.wanted.env == EnvChoice::Matrix;
        let table = if is_edited {
            edit::payoffs_of(&ctx.wanted.matrix)
        } else {
            Payoffs { rows: *rows, columns: *columns, cells: payoffs.clone() }
        };
        let Some(game) = Bimatrix::new(table.rows, table.columns, table.cells) else { return };
        let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::hover());
        describe(&response, ctx, &game, *played, stages.get(*stage as usize));
        if ctx.spec.env == EnvChoice::TwoStep {
            self.two_step_ui(ui, ctx, rect, *stage, stages, *played, actions);
        } else {
            self.matrix_ui(ui, ctx, rect, &game, *played, actions);
        }
    }

    fn matrix_ui(
        &mut self,
        ui: &mut Ui,
        ctx: &ViewCtx<'_>,
        rect: Rect,
        game: &Bimatrix,
        played: Option<(u32, u32)>,
        actions: &mut Vec<Action>,
    ) {
        let is_editing = ctx.edit == EditMode::Payoffs;
        let is_common = game.is_common() && !(is_editing && self.is_split);
        let table = PayoffTable {
            game,
            names: ctx.actions(0),
            played,
            greedy: greedy(&ctx.snapshot.stage),
            frequencies: frequencies(&ctx.snapshot.stage).filter(|_| !is_editing),
            marks: true,
            is_editing,
            is_common,
        };
        // Beneath the table: what is true of the cell pointed at or tapped, else what the marks mean.
        let theme = ctx.theme;
        // On a low stage the sentences share lines, on the lowest there are none: the table keeps the height.
        let is_low = rect.height() < 270.0;
        let has_foot = rect.height() >= 200.0;
        let lines = if is_low { 2.0 } else { 5.0 };
        let foot = if has_foot { theme.size.small * 1.35 * lines + 8.0 } else { 0.0 };
        let upper = Rect::from_min_max(rect.min, pos2(rect.right(), (rect.bottom() - foot).max(rect.center().y)));
        let reply = table_ui(ui, ctx, upper, &table, &mut self.pending[0], self.chosen);
        if let Some(done) = reply.edit {
            let current = Payoffs { rows: game.rows(), columns: game.columns(), cells: game.cells().to_vec() };
            let spec = edit::set_payoff(ctx.wanted, &current, done.cell, done.agent, done.value, is_common);
            actions.push(Action::EditSpec(Box::new(spec)));
        }
        if let Some(cell) = reply.clicked {
            self.chosen = (self.chosen != Some(cell)).then_some(cell);
        }
        let fits = |cell: &(u32, u32)| cell.0 < game.rows() && cell.1 < game.columns() && !is_editing;
        if !has_foot {
            return;
        }
        let lines = if let Some(cell) = reply.hovered.or(self.chosen).filter(fits) {
            sentences(ctx, &table, cell)
        } else {
            let note = if game.is_common() { "stage.note.common" } else { "stage.note.general" };
            vec![(ctx.texts.t(note).to_owned(), theme.text_dim)]
        };
        let mut job = egui::text::LayoutJob::default();
        job.wrap.max_width = if is_low { rect.width() } else { rect.width().min(560.0) };
        for (index, (text, color)) in lines.iter().enumerate() {
            let end = match (index + 1 < lines.len(), is_low) {
                (false, _) => "",
                (true, true) => " · ",
                (true, false) => "\n",
            };
            job.append(&format!("{text}{end}"), 0.0, egui::TextFormat::simple(theme.small(), *color));
        }
        let galley = ui.painter().layout_job(job);
        let left = rect.center().x - galley.size().x / 2.0;
        ui.painter().galley(pos2(left, upper.bottom() + 6.0), galley, theme.text_dim);
    }

    fn two_step_ui(
        &mut self,
        ui: &mut Ui,
        ctx: &ViewCtx<'_>,
        rect: Rect,
        stage: u32,
        stages: &[String],
        played: Option<(u32, u32)>,
        actions: &mut Vec<Action>,
    ) {
        let theme = ctx.theme;
        // Higher than this the tables would stand in empty boxes.
        let rect = Align2::CENTER_CENTER
            .align_size_within_rect(vec2(rect.width(), rect.height().min(rect.width() * 0.84)), rect);
        let root_height = (theme.size.body * 1.5 + theme.size.small * 2.8 + 16.0).max(rect.height() * 0.22);
        let root_width = rect.width().min(360.0);
        let root =
            Rect::from_min_size(pos2(rect.center().x - root_width / 2.0, rect.top()), vec2(root_width, root_height));
        let halves_top = root.bottom() + (rect.height() * 0.1).clamp(24.0, 52.0);
        let gap = theme.size.gap;
        let half = vec2((rect.width() - gap) / 2.0, rect.bottom() - halves_top);
        let panels = [
            Rect::from_min_size(pos2(rect.left(), halves_top), half),
            Rect::from_min_size(pos2(rect.right() - half.x, halves_top), half),
        ];
        let painter = ui.painter().clone();
        for (index, panel) in (1_u32..).zip(panels) {
            // Agent 1's action 1 leads to 2A, its action 2 to 2B; its greedy choice is drawn strong.
            let is_taken = stage == index;
            let is_meant = stage == 0 && greedy(&ctx.snapshot.stage).is_some_and(|(row, _)| row + 1 == index);
            let name = ctx.action_name(0, index - 1);
            branch(&painter, ctx, root, panel, &name, is_taken || is_meant);
        }
        state_box(&painter, ctx, root, stage == 0);
        let title = stages.first().map_or("", |name| ctx.texts.t(name));
        let text = ctx.texts.t("stage.two_step.choice");
        let galley = painter.layout(text.to_owned(), theme.small(), theme.text_dim, root.width() - 20.0);
        painter.text(root.center_top() + vec2(0.0, 9.0), Align2::CENTER_TOP, title, theme.body(), theme.text);
        let place = Align2::CENTER_BOTTOM.align_size_within_rect(galley.size(), root.shrink(8.0));
        painter.galley(place.min, galley, theme.text_dim);
        for (index, panel) in (1_u32..).zip(panels) {
            let payoffs = if index == 1 { &ctx.wanted.two_step.a } else { &ctx.wanted.two_step.b };
            let Some(game) = Bimatrix::common(2, 2, payoffs) else { continue };
            let is_here = stage == index;
            state_box(&painter, ctx, panel, is_here);
            let title = stages.get(index as usize).map_or("", |name| ctx.texts.t(name));
            painter.text(panel.center_top() + vec2(0.0, 8.0), Align2::CENTER_TOP, title, theme.body(), theme.text);
            let table = PayoffTable {
                game: &game,
                names: ctx.actions(0),
                played: played.filter(|_| is_here),
                greedy: greedy(&ctx.snapshot.stage).filter(|_| is_here),
                frequencies: None,
                marks: false,
                is_editing: ctx.edit == EditMode::Payoffs,
                is_common: true,
            };
            let mut inner = panel.shrink(8.0);
            inner.min.y += theme.size.body * 1.5;
            let reply = table_ui(ui, ctx, inner, &table, &mut self.pending[index as usize - 1], None);
            if let Some(done) = reply.edit {
                let spec = edit::set_two_step(ctx.wanted, index, done.cell, done.value);
                actions.push(Action::EditSpec(Box::new(spec)));
            }
        }
    }
}

/// Greedy actions of both agents at the state on stage.
fn greedy(stage: &Stage) -> Option<(u32, u32)> {
    match stage.greedy[..] {
        [one, two] => Some((one, two)),
        _ => None,
    }
}

fn frequencies(stage: &Stage) -> Option<(&[f32], &[f32])> {
    match &stage.frequencies[..] {
        [one, two] if !one.is_empty() && !two.is_empty() => Some((one, two)),
        _ => None,
    }
}

fn state_box(painter: &Painter, ctx: &ViewCtx<'_>, rect: Rect, is_here: bool) {
    let theme = ctx.theme;
    let line = if is_here { Stroke::new(2.0, theme.accent) } else { Stroke::new(1.0, theme.line) };
    let fill = if is_here { theme.mix(theme.card, theme.accent, 0.08) } else { theme.card };
    painter.rect(rect, CornerRadius::same(theme.size.radius), fill, line, StrokeKind::Inside);
}

fn branch(painter: &Painter, ctx: &ViewCtx<'_>, root: Rect, panel: Rect, action: &str, is_strong: bool) {
    let theme = ctx.theme;
    let from = pos2(root.center().x + (panel.center().x - root.center().x) * 0.35, root.bottom());
    let to: Pos2 = panel.center_top();
    let color = theme.agent_color(0);
    let stroke = if is_strong { Stroke::new(2.5, color) } else { Stroke::new(1.5, theme.line_strong) };
    let lift = vec2(0.0, (to.y - from.y) * 0.6);
    let curve = egui::epaint::CubicBezierShape::from_points_stroke(
        [from, from + lift, to - lift, to],
        false,
        egui::Color32::TRANSPARENT,
        stroke,
    );
    painter.add(curve);
    let middle = from + (to - from) * 0.5;
    let ink = if is_strong { theme.agent_text(0) } else { theme.text_dim };
    let galley = painter.layout_no_wrap(action.to_owned(), theme.small(), ink);
    let place = Align2::CENTER_CENTER.anchor_size(middle, galley.size());
    painter.rect_filled(place.expand2(vec2(5.0, 2.0)), CornerRadius::same(5), theme.card);
    painter.galley(place.min, galley, ink);
}

fn describe(
    response: &egui::Response,
    ctx: &ViewCtx<'_>,
    game: &Bimatrix,
    played: Option<(u32, u32)>,
    state: Option<&String>,
) {
    let name = |action: u32| ctx.action_name(0, action);
    let state = state.map_or("", |id| ctx.texts.t(id));
    let text = match played {
        Some((row, column)) => ctx.texts.f("stage.game.played", &[state, &name(row), &name(column)]),
        None => ctx.texts.f("stage.game.waiting", &[state, &game.rows().to_string(), &game.columns().to_string()]),
    };
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &text));
}
