//! The top bar: which experiment this is, what kind of world, and how to share it, read it, see it.

use egui::{Align, Layout, RichText, Sense, Ui, WidgetInfo, vec2};
use tandem_core::experiment::spec::{EnvChoice, ExperimentSpec, RewardChoice};
use tandem_core::experiment::world::num_agents;

use super::menu;
use crate::app::ctx::PageCtx;
use crate::app::desk::{Desk, ThemeChoice};
use crate::app::intent::Intent;
use crate::view::icons::Icon;
use crate::view::text::{Lang, Texts};
use crate::view::widgets::{Button, Weight, tag};

/// Draws the bar.
pub fn ui(ui: &mut Ui, ctx: &PageCtx<'_>, desk: &mut Desk, out: &mut Vec<Intent>) {
    let theme = ctx.theme();
    let area = ui.available_size();
    ui.allocate_ui_with_layout(area, Layout::left_to_right(Align::Center), |ui| {
        if !ctx.view.compact {
            mark(ui, ctx);
        }
        if !ctx.view.compact && !ctx.has_setup_column {
            let button = Button::icon(Icon::Sliders, ctx.t("setup.title")).selected(desk.is_setup_open);
            if button.tip(ctx.t("setup.open.tip")).show(ui, theme).clicked() {
                desk.is_setup_open ^= true;
            }
        }
        menu::ui(ui, ctx, out);
        if !ctx.view.compact {
            tags(ui, ctx);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let share = if ctx.view.compact {
                Button::icon(Icon::Link, ctx.t("share.button"))
            } else {
                Button::text(ctx.t("share.button")).with_icon(Icon::Link)
            };
            if share.tip(ctx.t("share.button.tip")).show(ui, theme).clicked() {
                out.push(Intent::Share);
            }
            theme_button(ui, ctx, desk, out);
            language_button(ui, ctx, desk, out);
        });
    });
}

/// The name of the page, two discs before it.
fn mark(ui: &mut Ui, ctx: &PageCtx<'_>) {
    let theme = ctx.theme();
    let (rect, _) = ui.allocate_exact_size(vec2(26.0, 20.0), Sense::hover());
    let center = rect.center();
    ui.painter().circle_filled(center + vec2(4.5, -1.5), 7.0, theme.agent_color(1));
    ui.painter().circle_filled(center + vec2(-4.5, 1.5), 7.0, theme.agent_color(0));
    let name = RichText::new(ctx.t("page.title")).font(theme.title()).color(theme.text);
    ui.label(name).on_hover_text(ctx.t("page.about"));
    ui.add_space(4.0);
}

fn tags(ui: &mut Ui, ctx: &PageCtx<'_>) {
    let theme = ctx.theme();
    for (text, tip) in tag_texts(ctx.wanted, ctx.texts()) {
        let width = ui.painter().layout_no_wrap(text.clone(), theme.tiny(), theme.text_dim).size().x + 24.0;
        // The buttons at the right come first.
        if ui.available_width() < width + 330.0 {
            return;
        }
        tag(ui, theme, &text, theme.text_dim).on_hover_text(tip);
    }
}

/// What kind of world this is, in a few words each, with an explanation.
fn tag_texts(spec: &ExperimentSpec, texts: Texts) -> Vec<(String, String)> {
    let entry = |text: String, tip: &str| (text, texts.t(tip).to_owned());
    let agents = num_agents(spec);
    let agents = entry(texts.plural("tag.agents", agents, &[&agents.to_string()]), "tag.agents.tip");
    let mut tags = Vec::new();
    match spec.env {
        EnvChoice::Pellet => {
            let pellet = &spec.pellet;
            let id = match pellet.reward {
                RewardChoice::First if pellet.alpha == 0.0 => "tag.competitive",
                RewardChoice::First if pellet.alpha < 1.0 || pellet.move_cost > 0.0 => "tag.mixed",
                RewardChoice::First | RewardChoice::Team => "tag.cooperative",
            };
            tags.push(entry(texts.t(id).to_owned(), "tag.reward.tip"));
            tags.push(agents);
            tags.push(sight_tag(pellet.sight, texts));
        }
        EnvChoice::Matrix => {
            tags.push(agents);
            tags.push(entry(texts.t("tag.matrix").to_owned(), "tag.matrix.tip"));
        }
        EnvChoice::TwoStep => {
            tags.push(agents);
            tags.push(entry(texts.t("tag.two_step").to_owned(), "tag.two_step.tip"));
        }
        EnvChoice::Foraging => {
            tags.push(agents);
            tags.push(entry(texts.t("tag.foraging").to_owned(), "tag.foraging.tip"));
            tags.push(sight_tag(spec.foraging.sight, texts));
        }
        EnvChoice::Pursuit => {
            tags.push(agents);
            tags.push(entry(texts.t("tag.pursuit").to_owned(), "tag.pursuit.tip"));
            tags.push(sight_tag(Some((spec.pursuit.obs_range - 1) / 2), texts));
        }
        EnvChoice::Board(_) => {
            tags.push(agents);
            tags.push(entry(texts.t("tag.board").to_owned(), "tag.board.tip"));
        }
        EnvChoice::Particles(scenario) => {
            tags.push(agents);
            tags.push(entry(texts.f("tag.particles", &[scenario.reference()]), "tag.particles.tip"));
        }
    }
    tags
}

fn sight_tag(sight: Option<u32>, texts: Texts) -> (String, String) {
    match sight {
        None => (texts.t("tag.full_sight").to_owned(), texts.t("tag.full_sight.tip").to_owned()),
        Some(radius) => (texts.f("tag.sight", &[&radius.to_string()]), texts.t("tag.sight.tip").to_owned()),
    }
}

fn theme_button(ui: &mut Ui, ctx: &PageCtx<'_>, desk: &Desk, out: &mut Vec<Intent>) {
    let (icon, tip) = match desk.theme {
        ThemeChoice::Auto => (Icon::Auto, "theme.auto.tip"),
        ThemeChoice::Light => (Icon::Sun, "theme.light.tip"),
        ThemeChoice::Dark => (Icon::Moon, "theme.dark.tip"),
    };
    let button = Button::icon(icon, ctx.t("theme.name")).tip(ctx.t(tip)).weight(Weight::Quiet);
    let response = button.show(ui, ctx.theme());
    response.widget_info(|| {
        let mut info = WidgetInfo::labeled(egui::Role::Button, true, ctx.t("theme.name"));
        info.current_text_value = Some(ctx.t(tip).to_owned());
        info
    });
    if response.clicked() {
        out.push(Intent::Theme(desk.theme.next()));
    }
}

/// The other language, in its own words.
fn language_button(ui: &mut Ui, ctx: &PageCtx<'_>, desk: &Desk, out: &mut Vec<Intent>) {
    let other = if desk.lang == Lang::En { Lang::Zh } else { Lang::En };
    let text = Texts { lang: other }.t("lang.name");
    let button = Button::text(text).tip(ctx.t("lang.tip")).weight(Weight::Quiet);
    let response = button.show(ui, ctx.theme());
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Button, true, text));
    if response.clicked() {
        out.push(Intent::Lang(other));
    }
}
