//! The card the stage stands in.

use egui::{Rect, Ui};

use crate::app::ctx::PageCtx;
use crate::app::intent::Intent;
use crate::app::layout::card as card_frame;
use crate::view::stage::StageView;

/// Draws the stage into `rect`.
pub fn card(ui: &mut Ui, rect: Rect, ctx: &PageCtx<'_>, stage: &mut StageView, out: &mut Vec<Intent>) {
    card_frame(ui, rect, ctx.theme(), "stage", |ui| {
        let mut actions = Vec::new();
        stage.ui(ui, &ctx.view, &mut actions);
        out.extend(actions.into_iter().map(Intent::View));
    });
}
