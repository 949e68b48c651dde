//! The share dialog: the link of what is on the page, and what it will and will not repeat.

use egui::{Id, Modal, RichText, TextEdit, Ui};
use tandem_core::experiment::link::{Link, too_long, write};
use tandem_core::experiment::snapshot::Snapshot;
use tandem_core::experiment::spec::ExperimentSpec;

use crate::app::ctx::PageCtx;
use crate::app::desk::{Desk, Share};
use crate::app::intent::Intent;
use crate::view::icons::Icon;
use crate::view::numbers;
use crate::view::widgets::{self, Button, Weight, note};

/// The link `share` asks for.
pub fn link_of(
    spec: &ExperimentSpec,
    unknown: &[(String, String)],
    desk: &Desk,
    snapshot: &Snapshot,
    share: &Share,
) -> Link {
    Link {
        step: if share.with_step { snapshot.update } else { 0 },
        view: Some(desk.view.0.to_owned()),
        lang: share.with_lang.then(|| desk.lang.key().to_owned()),
        unknown: unknown.to_vec(),
        ..Link::of(spec.clone())
    }
}

/// Draws the dialog, if it is open.
pub fn ui(egui: &egui::Context, ctx: &PageCtx<'_>, desk: &mut Desk, out: &mut Vec<Intent>) {
    let Some(mut share) = desk.share.clone() else { return };
    let fragment = write(&link_of(ctx.wanted, ctx.unknown, desk, ctx.view.snapshot, &share));
    let address = format!("{}{fragment}", ctx.address);
    let theme = ctx.theme();
    let width = (egui.content_rect().width() - 60.0).min(520.0);
    let frame = theme.card_frame().inner_margin(18.0).shadow(egui.global_style().visuals.window_shadow);
    let response = Modal::new(Id::unique("share")).frame(frame).show(egui, |ui| {
        ui.set_width(width);
        ui.spacing_mut().item_spacing.y = 10.0;
        ui.label(RichText::new(ctx.t("share.title")).font(theme.title()).color(theme.text));
        let is_changed = ctx.view.snapshot.changed_at.is_some();
        note(ui, theme, ctx.t(if is_changed { "share.changed" } else { "share.what" }));
        text_box(ui, ctx, &address, &mut share);
        toggle(ui, ctx, &mut share.with_lang, &ctx.texts().f("share.with_lang", &[ctx.t("lang.name")]));
        let update = numbers::count(ctx.view.snapshot.update);
        if !is_changed && ctx.view.snapshot.update > 0 {
            toggle(ui, ctx, &mut share.with_step, &ctx.texts().f("share.with_step", &[&update]));
        }
        if too_long(&fragment) {
            note(ui, theme, ctx.t("share.too_long"));
        }
        ui.horizontal(|ui| {
            let copy = Button::text(ctx.t("share.copy")).with_icon(Icon::Link).weight(Weight::Primary);
            if copy.tip(ctx.t("share.copy.tip")).show(ui, theme).clicked() {
                out.push(Intent::CopyLink);
            }
            let is_closing = Button::text(ctx.t("share.close")).show(ui, theme).clicked();
            match share.copied {
                Some(true) => {
                    ui.label(RichText::new(ctx.t("share.copied")).font(theme.body()).color(theme.good));
                }
                Some(false) => {
                    let text = RichText::new(ctx.t("share.selected")).font(theme.small()).color(theme.warn);
                    ui.add(egui::Label::new(text).wrap());
                }
                None => {}
            }
            is_closing
        })
        .inner
    });
    desk.share = if response.inner || response.should_close() { None } else { Some(share) };
}

fn toggle(ui: &mut Ui, ctx: &PageCtx<'_>, on: &mut bool, text: &str) {
    ui.horizontal(|ui| {
        if widgets::switch(ui, ctx.theme(), *on, text).clicked() {
            *on ^= true;
        }
        ui.add(egui::Label::new(RichText::new(text).font(ctx.theme().body())).wrap());
    });
}

/// The link as text that can be selected; where the clipboard is refused it is selected already.
fn text_box(ui: &mut Ui, ctx: &PageCtx<'_>, address: &str, share: &mut Share) {
    let mut text = address;
    let edit = TextEdit::multiline(&mut text).desired_rows(2).desired_width(f32::INFINITY).font(ctx.theme().small());
    let output = edit.show(ui);
    let response = output.response.response.accessible_name(ctx.t("share.box"));
    if share.select {
        response.request_focus();
        let mut state = output.state;
        let all = egui::text::CCursorRange::select_all(&output.galley);
        state.cursor.set_char_range(Some(all));
        state.store(ui.ctx(), response.id);
        // The box must have the keyboard for a frame before a selection stays.
        if response.has_focus() {
            share.select = false;
        }
        ui.ctx().request_repaint();
    }
}
