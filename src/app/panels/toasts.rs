//! Confirmations that go away by themselves, and the offer to take the last restart edit back.

use egui::{Align2, Area, CornerRadius, Id, Order, RichText, Stroke, Ui, vec2};

use crate::app::ctx::PageCtx;
use crate::app::desk::Desk;
use crate::app::intent::Intent;
use crate::app::layout::SETUP_WIDTH;
use crate::view::icons::Icon;
use crate::view::widgets::{Button, Weight};

/// Draws them above the bottom edge.
pub fn ui(ui: &Ui, ctx: &PageCtx<'_>, desk: &Desk, out: &mut Vec<Intent>) {
    if desk.toasts.is_empty() && desk.undo.is_none() {
        return;
    }
    let theme = ctx.theme();
    // Beside Set-up, where edits are made, over nothing that can be pressed but the lesson; on a phone above the bar.
    let (corner, offset) = if ctx.view.compact {
        (Align2::CENTER_BOTTOM, vec2(0.0, -76.0))
    } else {
        (Align2::LEFT_TOP, vec2(SETUP_WIDTH + 22.0, 50.0))
    };
    Area::new(Id::unique("toasts")).order(Order::Foreground).anchor(corner, offset).show(ui.ctx(), |ui| {
        let frame = egui::Frame::new()
            .fill(theme.mix(theme.card, theme.field_hover, 0.8))
            .stroke(Stroke::new(1.0, theme.line_strong))
            .corner_radius(CornerRadius::same(theme.size.radius))
            .shadow(ui.visuals().popup_shadow)
            .inner_margin(egui::Margin::symmetric(14, 8));
        ui.vertical_centered(|ui| {
            for toast in &desk.toasts {
                frame.show(ui, |ui| ui.label(RichText::new(&toast.text).font(theme.body()).color(theme.text)));
            }
            if let Some(undo) = &desk.undo {
                frame.show(ui, |ui| {
                    ui.horizontal(|ui| {
                        let seconds = (undo.until - ctx.now).max(0.0).ceil();
                        let text = ctx.texts().f("undo.text", &[&format!("{seconds}")]);
                        ui.label(RichText::new(text).font(theme.body()).color(theme.text));
                        let button = Button::text(ctx.t("undo.button")).with_icon(Icon::Undo).weight(Weight::Normal);
                        if button.tip(ctx.t("undo.tip")).show(ui, theme).clicked() {
                            out.push(Intent::Undo);
                        }
                    });
                });
                ui.ctx().request_repaint_after(std::time::Duration::from_secs(1));
            }
        });
    });
}
