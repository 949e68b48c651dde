//! What a policy-gradient run is, as four badges that are independent of each other and of the algorithm's name:
//! networks separate or shared, critic local or central.

use egui::{Align2, Sense, Stroke, StrokeKind, Ui, vec2};
use tandem_core::experiment::spec::{AdvantageChoice, ExperimentSpec};
use tandem_core::marl::parts::critic::CriticView;

use crate::view::text::Texts;
use crate::view::theme::Theme;

/// A badge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Badge {
    /// Text id of its name.
    pub id: &'static str,
    /// Text id of what it means.
    pub tip: &'static str,
    /// Whether it is true of the run.
    pub is_lit: bool,
}

/// The four badges of a run.
pub fn of(spec: &ExperimentSpec) -> [Badge; 4] {
    let shared = spec.learner.shared;
    let has_critic = spec.learner.advantage != AdvantageChoice::Group;
    let critic = spec.algo.info().critic.filter(|_| has_critic);
    [
        ("badge.separate", "badge.separate.tip", !shared),
        ("badge.shared", "badge.shared.tip", shared),
        ("badge.local", "badge.local.tip", critic == Some(CriticView::Local)),
        ("badge.central", "badge.central.tip", critic == Some(CriticView::Central)),
    ]
    .map(|(id, tip, is_lit)| Badge { id, tip, is_lit })
}

/// Draws the badges in a row that wraps; nothing for a value-based run, which has no critic.
pub fn badges_ui(ui: &mut Ui, theme: &Theme, texts: Texts, spec: &ExperimentSpec) {
    if !spec.algo.is_policy_gradient() {
        return;
    }
    ui.scope(|ui| {
        ui.spacing_mut().interact_size.y = 0.0;
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(5.0, 4.0);
            for badge in of(spec) {
                badge_ui(ui, theme, texts, badge);
            }
        });
    });
}

fn badge_ui(ui: &mut Ui, theme: &Theme, texts: Texts, badge: Badge) {
    let Badge { id, tip, is_lit } = badge;
    let text = texts.t(id);
    let (ink, fill, line) = if is_lit {
        (theme.text, theme.fade(theme.accent, 0.2), theme.accent)
    } else {
        (theme.text_faint, theme.fade(theme.accent, 0.0), theme.line)
    };
    let galley = ui.painter().layout_no_wrap(text.to_owned(), theme.tiny(), ink);
    let light = theme.size.tiny * 0.62;
    let (rect, response) = ui.allocate_exact_size(galley.size() + vec2(17.0 + light, 6.0), Sense::hover());
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Label, true, is_lit, text));
    let radius = rect.height() / 2.0;
    ui.painter().rect(rect, radius, fill, Stroke::new(1.0, line), StrokeKind::Inside);
    // A light that is on or off, so that the badge is read without colours.
    let lamp = rect.left_center() + vec2(9.0, 0.0);
    if is_lit {
        ui.painter().circle_filled(lamp, light / 2.0, theme.accent);
    } else {
        ui.painter().circle_stroke(lamp, light / 2.0, Stroke::new(1.0, theme.text_faint));
    }
    let inside = egui::Rect::from_min_max(rect.min + vec2(10.0 + light, 0.0), rect.max);
    let at = Align2::LEFT_CENTER.align_size_within_rect(galley.size(), inside).min;
    ui.painter().galley(at, galley, ink);
    let tip = texts.f(if is_lit { "badge.on" } else { "badge.off" }, &[texts.t(tip)]);
    response.on_hover_text(tip);
}
