//! The views' tabs, the card of the chosen one, and the small curve that is always beneath it.

use egui::{Align, Layout, Rect, RichText, Role, Sense, Ui, WidgetInfo, vec2};

use crate::app::ctx::PageCtx;
use crate::app::desk::{Desk, Tab};
use crate::app::intent::Intent;
use crate::app::layout::card as card_frame;
use crate::view::api::{Action, View, ViewId};
use crate::view::icons::Icon;
use crate::view::parts;
use crate::view::returns;
use crate::view::widgets::{Button, Weight, focus_ring};

/// The row of tabs.
pub fn tabs(ui: &mut Ui, ctx: &PageCtx<'_>, desk: &mut Desk, all: &[Box<dyn View>]) {
    let theme = ctx.theme();
    let height = theme.size.control + 2.0;
    ui.allocate_ui_with_layout(vec2(ui.available_width(), height), Layout::right_to_left(Align::Center), |ui| {
        let is_pinned = desk.pinned.contains(&desk.view);
        let button = Button::icon(Icon::Pin, ctx.t("views.pin")).selected(is_pinned).weight(Weight::Quiet);
        if button.tip(ctx.t("views.pin.tip")).show(ui, theme).clicked() {
            if is_pinned {
                desk.pinned.retain(|id| *id != desk.view);
            } else {
                desk.pinned.push(desk.view);
            }
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            // In a narrow column the tabs move, and nothing else does.
            parts::long_row(ui, theme, theme.page, "tabs", |ui| {
                ui.spacing_mut().item_spacing.x = 4.0;
                for view in all {
                    let is_chosen = view.id() == desk.view;
                    if tab(ui, ctx, ctx.t(view.title()), is_chosen, view.unavailable(&ctx.view).is_none()) {
                        desk.view = view.id();
                    }
                }
            });
        });
    });
}

/// The phone's tabs: stage, every view, set-up.
pub fn phone_tabs(ui: &mut Ui, ctx: &PageCtx<'_>, desk: &mut Desk, all: &[Box<dyn View>]) {
    let theme = ctx.theme();
    parts::long_row(ui, theme, theme.page, "tabs", |ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        if tab(ui, ctx, ctx.t("tab.stage"), desk.tab == Tab::Stage, true) {
            desk.tab = Tab::Stage;
        }
        for view in all {
            let id = view.id();
            let applies = view.unavailable(&ctx.view).is_none();
            if tab(ui, ctx, ctx.t(view.title()), desk.tab == Tab::View(id), applies) {
                desk.tab = Tab::View(id);
                desk.view = id;
            }
        }
        if tab(ui, ctx, ctx.t("setup.title"), desk.tab == Tab::Setup, true) {
            desk.tab = Tab::Setup;
        }
    });
}

/// One tab; dimmer where the view has nothing to show, though it can still be opened and says why.
fn tab(ui: &mut Ui, ctx: &PageCtx<'_>, text: &str, is_chosen: bool, applies: bool) -> bool {
    let theme = ctx.theme();
    let font = if is_chosen { theme.strong(theme.size.body) } else { theme.body() };
    let ink = if is_chosen {
        theme.text
    } else if applies {
        theme.text_dim
    } else {
        theme.text_faint
    };
    let galley = ui.painter().layout_no_wrap(text.to_owned(), font, ink);
    let size = vec2(galley.size().x + 22.0, theme.size.control + 2.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Tab, true, is_chosen, text));
    if is_chosen {
        let corner = egui::CornerRadius::same(theme.size.radius_field);
        ui.painter().rect(rect, corner, theme.card, egui::Stroke::new(1.0, theme.line), egui::StrokeKind::Inside);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, f32::from(theme.size.radius_field), theme.fade(theme.field, 0.7));
    }
    ui.painter().galley(rect.center() - galley.size() / 2.0, galley, ink);
    focus_ring(ui, theme, rect, &response);
    if is_chosen {
        // A newly chosen tab comes wholly into sight, whoever chose it.
        let seen = egui::Id::unique("chosen tab");
        let newest = ui.data_mut(|data| data.get_temp::<String>(seen));
        if newest.as_deref() != Some(text) {
            ui.data_mut(|data| data.insert_temp(seen, text.to_owned()));
            response.scroll_to_me(Some(Align::Center));
        }
    }
    response.clicked()
}

/// The view `id` in `rect`, or why it has nothing to show and what to open instead.
pub fn card(ui: &mut Ui, rect: Rect, ctx: &PageCtx<'_>, id: ViewId, all: &mut [Box<dyn View>], out: &mut Vec<Intent>) {
    let Some(index) = all.iter().position(|view| view.id() == id) else { return };
    let instead = all[index].unavailable(&ctx.view).map(|(sentence, other)| {
        let title = all.iter().find(|view| view.id() == other).map(|view| (other, view.title()));
        (sentence, title)
    });
    card_frame(ui, rect, ctx.theme(), id.0, |ui| {
        let mut actions = Vec::new();
        if let Some((sentence, other)) = instead {
            absent(ui, ctx, &ctx.texts().sentence(&sentence), other.filter(|(other, _)| *other != id), &mut actions);
        }
        all[index].ui(ui, &ctx.view, &mut actions);
        out.extend(actions.into_iter().map(Intent::View));
    });
}

/// Why the view does not apply and what to open instead; what it can still show stands beneath.
fn absent(
    ui: &mut Ui,
    ctx: &PageCtx<'_>,
    sentence: &str,
    other: Option<(ViewId, &'static str)>,
    actions: &mut Vec<Action>,
) {
    let theme = ctx.theme();
    ui.add(egui::Label::new(RichText::new(sentence).font(theme.body()).color(theme.text)).wrap());
    if let Some((id, title)) = other {
        let text = ctx.texts().f("views.open", &[ctx.t(title)]);
        if Button::text(&text).show(ui, theme).clicked() {
            actions.push(Action::Open(id));
        }
    }
    ui.add_space(theme.size.gap);
}

/// The small headline curve in `rect`.
pub fn curve_card(ui: &mut Ui, rect: Rect, ctx: &PageCtx<'_>, out: &mut Vec<Intent>) {
    card_frame(ui, rect, ctx.theme(), "curve", |ui| {
        let mut actions = Vec::new();
        returns::headline_curve(ui, &ctx.view, ui.available_size(), &mut actions);
        out.extend(actions.into_iter().map(Intent::View));
    });
}
