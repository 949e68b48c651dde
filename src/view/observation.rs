//! What the selected agent observes: every index of o_i with its name and its number. Nothing else reaches its network
//! while it acts.

use std::sync::Arc;

use egui::{Align2, Color32, CornerRadius, Galley, Rect, RichText, ScrollArea, Sense, Stroke, Ui, pos2, vec2};
use tandem_core::experiment::snapshot::Sentence;

use crate::view::api::{Action, View, ViewCtx, ViewId};
use crate::view::parts;
use crate::view::widgets::{note, switch};
use crate::view::{numbers, text::Texts};

/// The view's name.
pub const ID: ViewId = ViewId("observation");
/// Observations longer than this offer to hide their zeros.
const LONG: usize = 24;
/// Rows narrower than this leave more of their room to names.
const NARROW: f32 = 440.0;
/// Width of the column of numbers.
const NUMBER: f32 = 64.0;

/// The view and what of it outlives a frame.
#[derive(Debug, Default)]
pub struct ObservationView {
    /// Hide what is 0.
    hides_zeros: bool,
}

impl View for ObservationView {
    fn id(&self) -> ViewId {
        ID
    }

    fn title(&self) -> &'static str {
        "view.observation"
    }

    fn unavailable(&self, _ctx: &ViewCtx<'_>) -> Option<(Sentence, ViewId)> {
        None
    }

    fn ui(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, actions: &mut Vec<Action>) {
        let (theme, texts) = (ctx.theme, ctx.texts);
        let agent = ctx.selected_agent;
        let observed = ctx.snapshot.stage.observations.get(agent as usize);
        let Some((obs, role)) = observed.zip(ctx.facts.role(agent)) else {
            parts::message(ui, theme, ui.available_size(), texts.t("observation.none"));
            return;
        };
        ui.spacing_mut().item_spacing.y = 6.0;
        choose_agent(ui, ctx, actions);
        let says = if ctx.facts.obs_determines_state { "observation.all" } else { "observation.part" };
        note(ui, theme, &texts.f(says, &[&(agent + 1).to_string(), &role.obs.len().to_string()]));
        let is_long = role.obs.len() > LONG;
        if is_long {
            ui.horizontal(|ui| {
                let name = texts.t("observation.hide");
                if switch(ui, theme, self.hides_zeros, name).clicked() {
                    self.hides_zeros = !self.hides_zeros;
                }
                ui.label(RichText::new(name).font(theme.small()).color(theme.text_dim));
            });
        }
        let hides = is_long && self.hides_zeros;
        let rows: Vec<(usize, f32, String)> = obs
            .iter()
            .zip(&role.obs)
            .enumerate()
            .filter(|(_, (value, _))| !hides || **value != 0.0)
            .map(|(index, (value, name))| (index, *value, texts.label(&name.seen_by(agent, ctx.facts.num_agents))))
            .collect();
        let largest = obs.iter().fold(1.0_f32, |largest, value| largest.max(value.abs()));
        // All names are read whole: where one is too long for its line, every row has as many lines as it needs.
        let columns = Columns::of(ui.available_width(), ctx);
        let lines_of = |name: &String| columns.layout(ui, ctx, name, theme.text).rows.len();
        let lines = rows.iter().map(|(_, _, name)| lines_of(name)).max().unwrap_or(1);
        let height = theme.size.small * (1.6 + 1.3 * (lines.max(1) - 1) as f32);
        ui.spacing_mut().item_spacing.y = 0.0;
        ScrollArea::vertical().id_salt("observation").auto_shrink(false).show_rows(
            ui,
            height,
            rows.len(),
            |ui, shown| {
                for (index, value, name) in &rows[shown] {
                    row(ui, ctx, height, *index, *value, name, largest);
                }
            },
        );
    }
}

/// A button per agent.
fn choose_agent(ui: &mut Ui, ctx: &ViewCtx<'_>, actions: &mut Vec<Action>) {
    parts::long_row(ui, ctx.theme, ctx.theme.card, "observers", |ui| {
        for agent in 0..ctx.facts.num_agents {
            let format = egui::text::TextFormat {
                font_id: ctx.theme.small(),
                color: ctx.theme.agent_text(agent),
                ..Default::default()
            };
            let text = egui::text::LayoutJob::single_section(agent_name(ctx, agent), format);
            let is_selected = agent == ctx.selected_agent;
            if parts::toggle(ui, ctx.theme, is_selected, text).clicked() && !is_selected {
                actions.push(Action::SelectAgent(agent));
            }
        }
    });
}

/// `agent 2`, or `prey 2` where agents differ in kind.
fn agent_name(ctx: &ViewCtx<'_>, agent: u32) -> String {
    let number = (agent + 1).to_string();
    match ctx.facts.role(agent).filter(|_| ctx.facts.roles.len() > 1) {
        Some(role) => ctx.texts.f("observation.role", &[ctx.texts.t(&role.id), &number]),
        None => ctx.texts.f("agent.name", &[&number]),
    }
}

/// Where in a row its parts stand.
#[derive(Clone, Copy, Debug)]
struct Columns {
    /// Room for the index.
    index: f32,
    /// Room for the name.
    name: f32,
    /// Room for the bar.
    bar: f32,
}

impl Columns {
    /// In a row `width` wide.
    fn of(width: f32, ctx: &ViewCtx<'_>) -> Self {
        let index = ctx.theme.size.small * 2.2;
        let bar = (width * if width < NARROW { 0.15 } else { 0.3 }).clamp(40.0, 200.0);
        Self { index, name: (width - index - bar - NUMBER - 24.0).max(60.0), bar }
    }

    /// A name as it stands in its column.
    fn layout(self, ui: &Ui, ctx: &ViewCtx<'_>, name: &str, ink: Color32) -> Arc<Galley> {
        ui.painter().layout(name.to_owned(), ctx.theme.small(), ink, self.name)
    }
}

/// Index, name, number, and the number as a bar from the middle.
fn row(ui: &mut Ui, ctx: &ViewCtx<'_>, height: f32, index: usize, value: f32, name: &str, largest: f32) {
    let (theme, agent) = (ctx.theme, ctx.selected_agent);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let painter = ui.painter_at(rect);
    if response.hovered() {
        painter.rect_filled(rect, CornerRadius::same(4), theme.field);
    }
    let ink = if value == 0.0 { theme.text_faint } else { theme.text };
    let y = rect.center().y;
    let columns = Columns::of(rect.width(), ctx);
    painter.text(
        pos2(rect.left() + columns.index, y),
        Align2::RIGHT_CENTER,
        index.to_string(),
        theme.tiny(),
        theme.text_faint,
    );
    let galley = columns.layout(ui, ctx, name, ink);
    painter.galley(pos2(rect.left() + columns.index + 8.0, y - galley.size().y / 2.0), galley, ink);
    let figure = pos2(rect.right() - columns.bar - 10.0, y);
    painter.text(figure, Align2::RIGHT_CENTER, numbers::value(value), theme.small(), ink);
    let middle = rect.right() - columns.bar / 2.0;
    let end = middle + columns.bar / 2.0 * value / largest;
    painter.vline(middle, rect.y_range(), Stroke::new(1.0, theme.line));
    let body = Rect::from_x_y_ranges(middle.min(end)..=middle.max(end), y - 3.0..=y + 3.0);
    painter.rect_filled(body, CornerRadius::same(1), theme.agent_color(agent));
    let said = said(ctx.texts, agent, index, name, value);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &said));
    response.on_hover_text(said);
}

fn said(texts: Texts, agent: u32, index: usize, name: &str, value: f32) -> String {
    texts.f("observation.row", &[&(agent + 1).to_string(), &index.to_string(), name, &value.to_string()])
}
