//! Where everything stands: three columns from 1,200 px, two and a drawer from 760 px, tabs below.
//!
//! Columns scroll separately and only when they must: at 1366×640 stage, transport, chosen view and small curve are
//! whole.

use egui::{Align, Layout, Rect, ScrollArea, Sense, Stroke, Ui, UiBuilder, pos2, vec2};

use super::ctx::PageCtx;
use super::desk::{Desk, Tab};
use super::intent::Intent;
use tandem_core::experiment::snapshot::RunState;

use super::panels::{lesson, notices, setup, share, stage, status, toasts, top_bar, transport, views};
use crate::view::api::{View, ViewId};
use crate::view::parts;
use crate::view::returns;
use crate::view::stage::StageView;
use crate::view::theme::Theme;

/// Width from which Set-up is a column of its own.
const THREE_COLUMNS: f32 = 1200.0;
/// Width of the Set-up column.
pub(super) const SETUP_WIDTH: f32 = 260.0;
/// Share of the width that views take.
const VIEWS_SHARE: f32 = 0.4;
/// Least height of the middle column: below that it scrolls.
const LEAST_STAGE_COLUMN: f32 = 440.0;
/// Least height of the views' column.
const LEAST_VIEWS_COLUMN: f32 = 440.0;
/// Least height of a view on a phone; the curve is then a finger's movement away, its number always in the bar.
const LEAST_PHONE_VIEW: f32 = 740.0;
/// Height of the small curve.
const SMALL_CURVE: f32 = 132.0;
/// Height of what says on a phone why training has stopped, down to its first offers.
const PHONE_COVER: f32 = 170.0;
/// Height of a pinned view.
const PINNED: f32 = 360.0;

/// Whether Set-up has a column of its own on a page `ui` wide; otherwise it is a drawer or a tab.
pub fn has_setup_column(ui: &Ui) -> bool {
    ui.max_rect().width() >= THREE_COLUMNS
}

/// Draws the page into all of `ui`.
pub fn page_ui(
    ui: &mut Ui,
    ctx: &PageCtx<'_>,
    desk: &mut Desk,
    all: &mut [Box<dyn View>],
    stage_view: &mut StageView,
    out: &mut Vec<Intent>,
) {
    let theme = ctx.theme();
    let mut rest = ui.max_rect();
    ui.painter().rect_filled(rest, 0.0, theme.page);
    let bar = theme.size.control + 18.0;
    let top = cut_top(&mut rest, bar);
    ui.painter().hline(top.x_range(), top.bottom(), Stroke::new(1.0, theme.line));
    top_bar::ui(&mut child(ui, "top bar", top.shrink2(vec2(theme.size.pad, 0.0))), ctx, desk, out);
    if !desk.notices.is_empty() {
        let height = notices::height(ui, ctx, desk, rest.width());
        let strip = cut_top(&mut rest, height);
        notices::ui(&mut child(ui, "notices", strip), ctx, desk);
    }

    let mut columns = Columns { ctx, desk, all, stage_view, out };
    if ctx.view.compact {
        columns.phone(ui, rest);
    } else {
        let bottom = cut_bottom(&mut rest, theme.size.small * 2.4);
        ui.painter().hline(bottom.x_range(), bottom.top(), Stroke::new(1.0, theme.line));
        status::ui(&mut child(ui, "status", bottom.shrink2(vec2(theme.size.pad, 0.0))), ctx);
        columns.wide(ui, rest);
    }
    let Columns { desk, out, .. } = columns;
    share::ui(ui.ctx(), ctx, desk, out);
    toasts::ui(ui, ctx, desk, out);
}

struct Columns<'a, 'b> {
    ctx: &'a PageCtx<'b>,
    desk: &'a mut Desk,
    all: &'a mut [Box<dyn View>],
    stage_view: &'a mut StageView,
    out: &'a mut Vec<Intent>,
}

impl Columns<'_, '_> {
    fn wide(&mut self, ui: &mut Ui, rest: Rect) {
        let theme = self.ctx.theme();
        let gap = theme.size.gap + 2.0;
        let mut rest = rest.shrink(gap);
        let is_three = self.ctx.has_setup_column;
        let views = {
            let width = rest.width() * if is_three { VIEWS_SHARE } else { 0.46 };
            cut_right(&mut rest, width, gap)
        };
        if is_three {
            let setup = cut_left(&mut rest, SETUP_WIDTH, gap);
            self.setup(&mut child(ui, "set-up", setup));
        }
        self.stage_column(ui, rest);
        self.views_column(ui, views);
        if !is_three && self.desk.is_setup_open {
            self.drawer(ui, rest);
        }
    }

    fn setup(&mut self, ui: &mut Ui) {
        ScrollArea::vertical().id_salt("set-up").auto_shrink(false).show(ui, |ui| {
            setup::ui(ui, self.ctx, self.desk, self.out);
        });
    }

    /// Set-up over the stage, where there is no room beside it.
    fn drawer(&mut self, ui: &mut Ui, beside: Rect) {
        let theme = self.ctx.theme();
        let rect = Rect::from_min_size(beside.min, vec2(SETUP_WIDTH + 20.0, beside.height()));
        let layer = egui::Area::new(egui::Id::unique("set-up drawer")).order(egui::Order::Foreground);
        layer.fixed_pos(rect.min).show(ui.ctx(), |ui| {
            theme.card_frame().fill(theme.page).shadow(ui.visuals().popup_shadow).show(ui, |ui| {
                ui.set_min_size(rect.size() - vec2(26.0, 26.0));
                ui.set_max_size(rect.size() - vec2(26.0, 26.0));
                self.setup(ui);
            });
        });
    }

    fn stage_column(&mut self, ui: &mut Ui, rect: Rect) {
        let mut column = child(ui, "stage column", rect);
        ScrollArea::vertical().id_salt("stage column").auto_shrink(false).show(&mut column, |ui| {
            let gap = self.ctx.theme().size.gap;
            ui.spacing_mut().item_spacing.y = gap;
            let full = ui.max_rect().height().max(LEAST_STAGE_COLUMN);
            let before = ui.cursor().top();
            lesson::ui(ui, self.ctx, self.desk);
            let transport = transport::height(self.ctx, ui.available_width());
            let left = full - (ui.cursor().top() - before) - transport - gap;
            let stage = self.stage_height(ui, left);
            let (stage_rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), stage), Sense::hover());
            stage::card(ui, stage_rect, self.ctx, self.stage_view, self.out);
            let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), transport), Sense::hover());
            transport::card(ui, rect, self.ctx, self.desk, self.out);
        });
    }

    fn views_column(&mut self, ui: &mut Ui, rect: Rect) {
        let mut column = child(ui, "views column", rect);
        ScrollArea::vertical().id_salt("views column").auto_shrink(false).show(&mut column, |ui| {
            let gap = self.ctx.theme().size.gap;
            ui.spacing_mut().item_spacing.y = gap;
            let full = ui.max_rect().height().max(LEAST_VIEWS_COLUMN);
            let before = ui.cursor().top();
            views::tabs(ui, self.ctx, self.desk, self.all);
            let left = full - (ui.cursor().top() - before);
            self.view_and_curve(ui, self.desk.view, left, 240.0, SMALL_CURVE);
            for id in self.desk.pinned.clone() {
                if id == self.desk.view {
                    continue;
                }
                let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), PINNED), Sense::hover());
                views::card(ui, rect, self.ctx, id, self.all, self.out);
            }
        });
    }

    /// The view `id` over a height of `all`, at least `least`, with the small curve beneath it; the returns view has the
    /// same curve at full size and stands alone.
    fn view_and_curve(&mut self, ui: &mut Ui, id: ViewId, all: f32, least: f32, curve: f32) {
        let has_curve = id != returns::ID;
        let beneath = if has_curve { curve + self.ctx.theme().size.gap } else { 0.0 };
        let width = ui.available_width();
        let (rect, _) = ui.allocate_exact_size(vec2(width, (all - beneath).max(least)), Sense::hover());
        views::card(ui, rect, self.ctx, id, self.all, self.out);
        if has_curve {
            let (rect, _) = ui.allocate_exact_size(vec2(width, curve), Sense::hover());
            views::curve_card(ui, rect, self.ctx, self.out);
        }
    }

    fn phone(&mut self, ui: &mut Ui, rest: Rect) {
        let theme = self.ctx.theme();
        let mut rest = rest;
        let control = theme.size.control;
        let bar = cut_bottom(&mut rest, control + 20.0);
        ui.painter().rect_filled(bar, 0.0, theme.card);
        ui.painter().hline(bar.x_range(), bar.top(), Stroke::new(1.0, theme.line));
        transport::bar(&mut child(ui, "bar", bar.shrink2(vec2(theme.size.pad, 0.0))), self.ctx, self.desk, self.out);
        let tabs = cut_top(&mut rest, control + 12.0);
        views::phone_tabs(
            &mut child(ui, "tabs", tabs.shrink2(vec2(theme.size.pad, 5.0))),
            self.ctx,
            self.desk,
            self.all,
        );
        let body = rest.shrink2(vec2(10.0, 4.0));
        let mut page = child(ui, "body", body);
        let column = ScrollArea::vertical().id_salt(("phone", tab_name(self.desk.tab))).auto_shrink(false);
        column.scroll_source(parts::scrolled_by(theme)).show(&mut page, |ui| {
            ui.spacing_mut().item_spacing.y = theme.size.gap;
            let top = ui.cursor().top();
            // Nothing goes on before this is answered, whatever one is looking at.
            if self.has_diverged() {
                transport::tall_card(ui, self.ctx, self.desk, self.out);
            }
            let height = body.height() - (ui.cursor().top() - top);
            match self.desk.tab {
                Tab::Stage => self.phone_stage(ui, height),
                Tab::View(id) => {
                    self.view_and_curve(ui, id, height, LEAST_PHONE_VIEW, SMALL_CURVE + 12.0);
                }
                Tab::Setup => setup::ui(ui, self.ctx, self.desk, self.out),
            }
            ui.add_space(8.0);
        });
    }

    fn phone_stage(&mut self, ui: &mut Ui, height: f32) {
        let theme = self.ctx.theme();
        let before = ui.cursor().top();
        lesson::ui(ui, self.ctx, self.desk);
        let line = theme.size.small * 2.0 + theme.size.gap;
        // What a run that has ended offers is seen at once.
        let has_cover = transport::has_cover(self.ctx, self.desk) && !self.has_diverged();
        let cover = if has_cover { PHONE_COVER } else { 0.0 };
        let left = height - (ui.cursor().top() - before) - line - theme.size.gap - cover;
        let tallest = ui.available_width() + 4.0 * theme.size.control;
        let stage = self.stage_height(ui, left.min(tallest));
        let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), stage), Sense::hover());
        stage::card(ui, rect, self.ctx, self.stage_view, self.out);
        returns::sparkline(ui, &self.ctx.view);
        if !self.has_diverged() {
            transport::tall_card(ui, self.ctx, self.desk, self.out);
        }
        status::block(ui, self.ctx);
    }

    /// Height of the stage's card where `left` is left for it.
    fn stage_height(&self, ui: &Ui, left: f32) -> f32 {
        let margin = 2.0 * self.ctx.theme().size.pad;
        let room = ui.available_width() - margin;
        self.stage_view.fair_height(ui, &self.ctx.view, room, left - margin) + margin
    }

    fn has_diverged(&self) -> bool {
        matches!(self.ctx.view.snapshot.state, RunState::Diverged { .. })
    }
}

fn tab_name(tab: Tab) -> &'static str {
    match tab {
        Tab::Stage => "stage",
        Tab::View(id) => id.0,
        Tab::Setup => "set-up",
    }
}

/// A card filling `rect`; `add` draws inside its margin.
pub fn card(ui: &mut Ui, rect: Rect, theme: &Theme, name: &str, add: impl FnOnce(&mut Ui)) {
    let corner = egui::CornerRadius::same(theme.size.radius);
    ui.painter().rect(rect, corner, theme.card, Stroke::new(1.0, theme.line), egui::StrokeKind::Inside);
    let mut inside = child(ui, name, rect.shrink(theme.size.pad));
    add(&mut inside);
}

/// A region of its own, which leaves `ui`'s cursor alone and cuts what does not fit.
pub fn child(ui: &mut Ui, name: &str, rect: Rect) -> Ui {
    let layout = Layout::top_down(Align::Min);
    let mut inside = ui.new_child(UiBuilder::new().id_salt(name).max_rect(rect).layout(layout));
    inside.shrink_clip_rect(rect.expand(3.0));
    inside
}

fn cut_top(rest: &mut Rect, height: f32) -> Rect {
    let (top, below) = rest.split_top_bottom_at_y(rest.top() + height);
    *rest = below;
    top
}

fn cut_bottom(rest: &mut Rect, height: f32) -> Rect {
    let (above, bottom) = rest.split_top_bottom_at_y(rest.bottom() - height);
    *rest = above;
    bottom
}

fn cut_left(rest: &mut Rect, width: f32, gap: f32) -> Rect {
    let left = Rect::from_min_max(rest.min, pos2(rest.left() + width, rest.bottom()));
    rest.min.x += width + gap;
    left
}

fn cut_right(rest: &mut Rect, width: f32, gap: f32) -> Rect {
    let right = Rect::from_min_max(pos2(rest.right() - width, rest.top()), rest.max);
    rest.max.x -= width + gap;
    right
}
