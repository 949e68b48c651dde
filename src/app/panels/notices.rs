//! What had to be changed about the link that was opened: a strip that stays until it is closed.

use egui::{RichText, ScrollArea, Ui, vec2};

use crate::app::ctx::PageCtx;
use crate::app::desk::Desk;
use crate::app::layout::child;
use crate::view::icons::{self, Icon};
use crate::view::widgets::{Button, Weight};

/// Lines shown before the button for the rest.
const LINES: usize = 3;
/// Greatest height of the strip; the rest is scrolled to.
const TALLEST: f32 = 180.0;

/// Height the strip needs.
pub fn height(ui: &Ui, ctx: &PageCtx<'_>, desk: &Desk, width: f32) -> f32 {
    let theme = ctx.theme();
    let text: f32 = lines(ctx, desk)
        .iter()
        .map(|line| ui.painter().layout(line.clone(), theme.small(), theme.text, width - 110.0).size().y + 4.0)
        .sum();
    let more = if folded(desk) > 0 { theme.size.control + 4.0 } else { 0.0 };
    (text + more + 14.0).max(theme.size.control + 10.0).min(TALLEST)
}

/// Draws the strip.
pub fn ui(ui: &mut Ui, ctx: &PageCtx<'_>, desk: &mut Desk) {
    let theme = ctx.theme();
    let rect = ui.max_rect();
    ui.painter().rect_filled(rect, 0.0, theme.mix(theme.page, theme.warn, 0.14));
    ui.painter().hline(rect.x_range(), rect.bottom(), egui::Stroke::new(1.0, theme.mix(theme.line, theme.warn, 0.4)));
    let icon = egui::Rect::from_min_size(rect.min + vec2(theme.size.pad, 8.0), vec2(16.0, 16.0));
    icons::paint(ui.painter(), Icon::Warning, icon, 15.0, theme.warn);
    let right =
        egui::Rect::from_min_max(egui::pos2(rect.right() - theme.size.control - 10.0, rect.top() + 5.0), rect.max);
    let button = Button::icon(Icon::Close, ctx.t("notices.close")).tip(ctx.t("notices.close"));
    let is_closed = button.show(&mut child(ui, "close", right), theme).clicked();
    let inside = egui::Rect::from_min_max(rect.min + vec2(40.0, 7.0), egui::pos2(right.left() - 8.0, rect.bottom()));
    let mut inside = child(ui, "lines", inside);
    ScrollArea::vertical().id_salt("notices").show(&mut inside, |ui| {
        ui.spacing_mut().item_spacing.y = 4.0;
        for line in lines(ctx, desk) {
            ui.add(egui::Label::new(RichText::new(line).font(theme.small()).color(theme.text)).wrap());
        }
        if folded(desk) > 0 {
            let more = ctx.texts().f("notice.more", &[&folded(desk).to_string()]);
            desk.are_notices_unfolded |= Button::text(&more).weight(Weight::Quiet).show(ui, theme).clicked();
        }
    });
    if is_closed {
        desk.notices.clear();
    }
}

/// Messages behind the button.
fn folded(desk: &Desk) -> usize {
    if desk.are_notices_unfolded { 0 } else { desk.notices.len().saturating_sub(LINES) }
}

fn lines(ctx: &PageCtx<'_>, desk: &Desk) -> Vec<String> {
    let shown = desk.notices.len() - folded(desk);
    desk.notices.iter().take(shown).map(|sentence| ctx.texts().sentence(sentence)).collect()
}
