//! Set-up: every tunable of the experiment, made from the knob table. Beginner fields first, the others folded;
//! restart and live fields marked; what cannot be chosen says why.

use egui::{Align, Label, Layout, RichText, Role, Sense, Ui, WidgetInfo, vec2};
use tandem_core::experiment::command::LiveChange;
use tandem_core::experiment::knobs::{Group, KNOBS, Kind, Knob, knob, remarks, why_not};
use tandem_core::experiment::snapshot::Sentence;
use tandem_core::experiment::spec::ExperimentSpec;

use super::choice::{entry, menu};
use super::field::{FieldReply, field};
use super::seats;
use crate::app::ctx::PageCtx;
use crate::app::desk::{Desk, Typing};
use crate::app::intent::{FieldEdit, Intent};
use crate::view::badges::badges_ui;
use crate::view::icons::{self, Icon};
use crate::view::numbers;
use crate::view::slider::slider;
use crate::view::widgets::{Button, focus_ring, heading, note, switch, text_in};

/// Width of a number's field; names take the rest.
const FIELD: f32 = 108.0;
/// Width of a field with words in it.
const WORDS: f32 = 136.0;
/// Whole numbers with at most this many values get step buttons.
const STEPPED: u32 = 128;

/// Draws all groups.
pub fn ui(ui: &mut Ui, ctx: &PageCtx<'_>, desk: &mut Desk, out: &mut Vec<Intent>) {
    let theme = ctx.theme();
    ui.spacing_mut().item_spacing.y = theme.size.gap;
    legend(ui, ctx);
    for (index, group) in Group::ALL.into_iter().enumerate() {
        group_ui(ui, ctx, desk, group, index, out);
    }
    let remarks = remarks(ctx.wanted);
    if !remarks.is_empty() {
        theme.card_frame().show(ui, |ui| {
            ui.set_width(ui.available_width());
            heading(ui, theme, ctx.t("setup.remarks"));
            for remark in remarks {
                note(ui, theme, &ctx.texts().sentence(&remark));
            }
        });
    }
}

/// What the marks mean.
fn legend(ui: &mut Ui, ctx: &PageCtx<'_>) {
    let theme = ctx.theme();
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.label(RichText::new(ctx.t("setup.live")).font(theme.tiny()).color(theme.good));
        ui.label(RichText::new(ctx.t("setup.legend")).font(theme.tiny()).color(theme.text_faint));
    });
}

fn group_ui(ui: &mut Ui, ctx: &PageCtx<'_>, desk: &mut Desk, group: Group, index: usize, out: &mut Vec<Intent>) {
    let theme = ctx.theme();
    let is_shown = |knob: &&Knob| knob.group == group && knob.has_alternatives() && (knob.applies)(ctx.wanted);
    let applying = KNOBS.iter().filter(is_shown);
    let (first, more): (Vec<&Knob>, Vec<&Knob>) = applying.partition(|knob| knob.beginner);
    if first.is_empty() && more.is_empty() {
        return;
    }
    theme.card_frame().show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 5.0;
        heading(ui, theme, ctx.t(group.text_id()));
        ui.add_space(1.0);
        for knob in &first {
            match knob.kind {
                Kind::Seats { .. } => seats::ui(ui, ctx, desk, knob, out),
                _ => knob_ui(ui, ctx, desk, knob, out),
            }
        }
        match group {
            Group::World => field_notes(ui, ctx, desk, "world"),
            Group::Algorithm => badges_ui(ui, theme, ctx.texts(), ctx.wanted),
            _ => (),
        }
        if !more.is_empty() {
            fold(ui, ctx, desk, index, more.len(), ctx.t(group.text_id()));
            if desk.unfolded[index] {
                for knob in &more {
                    knob_ui(ui, ctx, desk, knob, out);
                }
            }
        }
    });
}

/// "n more fields".
fn fold(ui: &mut Ui, ctx: &PageCtx<'_>, desk: &mut Desk, index: usize, count: usize, group: &str) {
    let theme = ctx.theme();
    let is_open = desk.unfolded[index];
    let text = if is_open {
        ctx.t("setup.fewer").to_owned()
    } else {
        ctx.texts().plural("setup.more", count as u32, &[&count.to_string()])
    };
    let size = vec2(ui.available_width(), if ctx.view.compact { theme.size.control } else { 22.0 });
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_open, format!("{group}: {text}")));
    let ink = if response.hovered() { theme.text } else { theme.text_dim };
    let icon = if is_open { Icon::ChevronDown } else { Icon::ChevronRight };
    icons::paint(ui.painter(), icon, icons::left_slot(rect, 10.0, 0.0), 10.0, ink);
    let inside = egui::Rect::from_min_max(rect.min + vec2(16.0, 0.0), rect.max);
    text_in(ui, inside, egui::Align2::LEFT_CENTER, &text, theme.small(), ink);
    focus_ring(ui, theme, rect, &response);
    if response.clicked() {
        desk.unfolded[index] ^= true;
    }
}

fn knob_ui(ui: &mut Ui, ctx: &PageCtx<'_>, desk: &mut Desk, knob: &'static Knob, out: &mut Vec<Intent>) {
    let theme = ctx.theme();
    let name_id = knob.text_id();
    let name = ctx.t(&name_id);
    let size = vec2(ui.available_width(), theme.size.control);
    let typed = ui
        .allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
            ui.set_min_height(size.y);
            ui.spacing_mut().item_spacing.x = 6.0;
            let edit = control(ui, ctx, desk, knob, name, out);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                // A name too long for its line is small and takes two.
                let body = ui.painter().layout_no_wrap(name.to_owned(), theme.body(), theme.text_dim);
                let mark = if knob.live { 30.0 } else { 0.0 };
                let is_long = body.size().x > ui.available_width() - mark;
                let font = if is_long { theme.small() } else { theme.body() };
                let label = Label::new(RichText::new(name).font(font).color(theme.text_dim));
                let response = ui.add(label.wrap().sense(Sense::hover()));
                response.on_hover_ui(|ui| tip_ui(ui, ctx, knob));
                if knob.live {
                    let mark = RichText::new(ctx.t("setup.live")).font(theme.tiny()).color(theme.good);
                    ui.label(mark).on_hover_text(ctx.t("setup.live.tip"));
                }
            });
            edit
        })
        .inner;
    out.extend(typed.map(|edit| set(knob, edit)));
    if let Kind::Float { min, max, log, get, set: write } = knob.kind
        && knob.beginner
        && let Some(value) = slider(ui, theme, name, get(ctx.wanted), (min, max), log, None)
    {
        let mut spec = ctx.wanted.clone();
        write(&mut spec, value);
        out.push(set(knob, (spec, None)));
    }
    field_notes(ui, ctx, desk, knob.key);
}

/// What was wrong with the last value of this field, and what else it changed.
pub(super) fn field_notes(ui: &mut Ui, ctx: &PageCtx<'_>, desk: &Desk, key: &str) {
    for (_, sentence) in desk.field_notes.iter().filter(|(noted, _)| *noted == key) {
        let text = RichText::new(ctx.texts().sentence(sentence)).font(ctx.theme().small()).color(ctx.theme().warn);
        ui.add(Label::new(text).wrap());
    }
}

/// Name, what it is, what is allowed, what a change does.
pub(super) fn tip_ui(ui: &mut Ui, ctx: &PageCtx<'_>, knob: &Knob) {
    let theme = ctx.theme();
    ui.set_max_width(340.0);
    ui.label(RichText::new(ctx.t(&knob.text_id())).font(theme.strong(theme.size.body)));
    ui.label(ctx.t(&knob.tip_id()));
    let mut allowed = ctx.texts().f("setup.allowed", &[&knob.allowed_in(ctx.wanted)]);
    if let Some(unit) = knob.unit_id(ctx.wanted) {
        allowed = format!("{allowed} · {}", ctx.t(unit));
    }
    note(ui, theme, &allowed);
    let effect = match knob.kind {
        Kind::Seats { .. } => "seats.live.tip",
        _ if knob.live => "setup.live.tip",
        _ => "setup.restart.tip",
    };
    note(ui, theme, ctx.t(effect));
    note(ui, theme, &ctx.texts().f("setup.key", &[knob.key]));
}

/// An experiment with this field changed, and what had to be corrected about the value.
type Edit = (ExperimentSpec, Option<Sentence>);

fn control(
    ui: &mut Ui,
    ctx: &PageCtx<'_>,
    desk: &mut Desk,
    knob: &'static Knob,
    name: &str,
    out: &mut Vec<Intent>,
) -> Option<Edit> {
    let theme = ctx.theme();
    let width = match (ctx.view.compact, knob.kind) {
        (true, _) => 160.0,
        (false, Kind::Choice { .. }) => WORDS,
        (false, _) => FIELD,
    };
    let text = knob.text(ctx.wanted);
    let read = |text: &str| read(knob, ctx.wanted, text);
    match knob.kind {
        Kind::Bool { get, .. } => {
            let on = get(ctx.wanted);
            switch(ui, theme, on, name).clicked().then(|| read(if on { "off" } else { "on" }))
        }
        Kind::Choice { ids, get, .. } => choice_ui(ui, ctx, knob, name, ids, get(ctx.wanted), width),
        Kind::Seed { .. } => {
            let dice = Button::icon(Icon::Dice, ctx.t("setup.dice")).tip(ctx.t("transport.dice.tip"));
            if dice.show(ui, theme).clicked() {
                out.push(Intent::NewSeed);
            }
            let width = width - theme.size.control - 6.0;
            let reply = field(ui, theme, (knob.key, name), (&text, &text), false, width, &mut desk.typing);
            reply.and_then(|reply| if let FieldReply::Typed(text) = reply { Some(read(&text)) } else { None })
        }
        kind => {
            let shown = shown_text(kind, &text);
            let stepped = is_stepped(kind);
            match field(ui, theme, (knob.key, name), (&shown, &text), stepped, width, &mut desk.typing)? {
                FieldReply::Typed(text) => Some(read(&text)),
                FieldReply::Down => Some(read(&step_text(kind, ctx.wanted, false))),
                FieldReply::Up => Some(read(&step_text(kind, ctx.wanted, true))),
            }
        }
    }
}

/// Thousands apart, ∞ for unlimited, a real × between sides.
fn shown_text(kind: Kind, text: &str) -> String {
    match kind {
        Kind::Int { .. } => text.parse().map_or_else(|_| text.to_owned(), numbers::count),
        Kind::OptionalInt { .. } if text == "inf" => "∞".to_owned(),
        Kind::Size { .. } => text.replace('x', " × "),
        _ => text.to_owned(),
    }
}

fn is_stepped(kind: Kind) -> bool {
    match kind {
        Kind::Int { min, max, step, .. } => (max - min) / step <= STEPPED,
        Kind::Size { .. } | Kind::OptionalInt { .. } => true,
        _ => false,
    }
}

/// The next value down or up, as text; the knob itself keeps it in range. Unlimited stands above the largest.
fn step_text(kind: Kind, spec: &ExperimentSpec, up: bool) -> String {
    match kind {
        Kind::Int { min, max, step, get, .. } => {
            let value = get(spec);
            let next = if up { value.saturating_add(step) } else { value.saturating_sub(step) };
            next.clamp(min, max).to_string()
        }
        Kind::Size { min, max, get, .. } => {
            let side = |value: u32| if up { value + 1 } else { value - 1 }.clamp(min, max);
            let (width, height) = get(spec);
            format!("{}x{}", side(width), side(height))
        }
        Kind::OptionalInt { min, max, get, .. } => {
            // Beyond what any of these worlds needs there is only "unlimited".
            let largest = spec.pellet.width.max(spec.pellet.height).min(max);
            match (get(spec), up) {
                (None, false) => (largest - 1).max(min).to_string(),
                (Some(value), true) if value + 1 < largest => (value + 1).to_string(),
                (None | Some(_), true) => "inf".to_owned(),
                (Some(value), false) => value.saturating_sub(1).max(min).to_string(),
            }
        }
        _ => String::new(),
    }
}

/// A field that opens a list. What an entry means stands beneath it where a name alone says too little, and in its place
/// why it cannot be chosen; an algorithm that asks for one reward can then be chosen together with what to make of many.
fn choice_ui(
    ui: &mut Ui,
    ctx: &PageCtx<'_>,
    knob: &'static Knob,
    name: &str,
    ids: &[&'static str],
    chosen: &str,
    width: f32,
) -> Option<Edit> {
    let chosen_id = knob.choice_id(chosen);
    let mut picked = None;
    menu(ui, ctx.theme(), name, ctx.t(&chosen_id), width, |ui| {
        for &id in ids {
            let edit = read(knob, ctx.wanted, id);
            let refusal = if knob.key == "algo" { why_not(&edit.0, edit.0.algo) } else { None };
            let choice = knob.choice_id(id);
            let meaning = || ctx.texts().get(&format!("{choice}.tip")).map(str::to_owned);
            let note = refusal.as_ref().map(|sentence| ctx.texts().sentence(sentence)).or_else(meaning);
            let refused = refusal.map(|_| edit.0.clone());
            if entry(ui, ctx, ctx.t(&choice), id == chosen, refused.is_none(), note).clicked() && id != chosen {
                picked = Some(edit);
            }
            for (paid, spec) in refused.iter().flat_map(paid_together) {
                let name = ctx.texts().f("setup.paid_together", &[ctx.t(&choice), ctx.t(&paid)]);
                if entry(ui, ctx, &name, false, true, None).clicked() {
                    picked = Some((spec, None));
                }
            }
        }
    });
    picked
}

/// The ways to make one reward of the agents' own with which a refused experiment runs: text id and experiment.
fn paid_together(refused: &ExperimentSpec) -> Vec<(String, ExperimentSpec)> {
    let Some(team) = knob("team").filter(|team| (team.applies)(refused)) else { return Vec::new() };
    let ways = ["sum", "mean"].map(|way| (team.choice_id(way), read(team, refused, way).0));
    ways.into_iter().filter(|(_, spec)| why_not(spec, spec.algo).is_none()).collect()
}

/// `spec` with the field set to `text`.
fn read(knob: &Knob, spec: &ExperimentSpec, text: &str) -> Edit {
    let mut spec = spec.clone();
    let told = knob.read(&mut spec, text);
    (spec, told)
}

/// What setting a field asks for.
fn set(knob: &'static Knob, (spec, told): Edit) -> Intent {
    let change = LiveChange::of(knob.key, &spec);
    let edit = FieldEdit { key: knob.key, spec: Box::new(spec), told };
    match change {
        Some(change) => Intent::Live(edit, change),
        None => Intent::Edit(edit),
    }
}

/// What ending to type asks for, wherever that happens.
pub fn typed(typing: &Typing, spec: &ExperimentSpec) -> Option<Intent> {
    let knob = knob(typing.key)?;
    Some(set(knob, read(knob, spec, &typing.text)))
}
