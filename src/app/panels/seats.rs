//! Who plays: a row for each agent, in its colour, with what may move it.
//!
//! Between learner and frozen a running experiment changes as it goes; any other change begins again at update 0.

use egui::{Align, Label, Layout, RichText, Ui, vec2};
use tandem_core::env::script::{SCRIPTS, Script};
use tandem_core::experiment::command::LiveChange;
use tandem_core::experiment::knobs::{Knob, can_reseat, letter};
use tandem_core::experiment::spec::{Controller, Seats};
use tandem_core::experiment::world;
use tandem_core::experiment::world::num_agents;

use super::choice::{entry, menu};
use super::setup::{field_notes, tip_ui};
use crate::app::ctx::PageCtx;
use crate::app::desk::Desk;
use crate::app::intent::{FieldEdit, Intent};
use crate::view::widgets::{Button, Weight, dot, note, tag};

/// Width of the choice.
const CHOICE: f32 = 104.0;
/// Groups a menu offers: more are set by the link.
const GROUPS: u8 = 3;

/// Draws the rows and pushes what was chosen.
pub(super) fn ui(ui: &mut Ui, ctx: &PageCtx<'_>, desk: &Desk, knob: &'static Knob, out: &mut Vec<Intent>) {
    let seats = &ctx.wanted.learner.seats;
    let agents = num_agents(ctx.wanted);
    let mut wanted = None;
    for agent in 0..agents {
        wanted = row(ui, ctx, knob, seats, agents, agent).or(wanted);
    }
    for agent in 0..agents {
        if let Controller::Human(stand_in) = seats.of(agent) {
            wanted = stand_in_row(ui, ctx, knob, agent, stand_in).map(|c| seats.with(agents, agent, c)).or(wanted);
        }
    }
    if (0..agents).any(|agent| seats.of(agent).script().is_some_and(|script| script.info().is_team)) {
        note(ui, ctx.theme(), ctx.t("seats.scripted.note"));
    }
    field_notes(ui, ctx, desk, knob.key);
    if let Some(wanted) = wanted {
        let mut spec = ctx.wanted.clone();
        let is_live = can_reseat(ctx.wanted, &wanted);
        spec.learner.seats = wanted.clone();
        let edit = FieldEdit { key: knob.key, spec: Box::new(spec), told: None };
        out.push(if is_live { Intent::Live(edit, LiveChange::Seats(wanted)) } else { Intent::Edit(edit) });
    }
}

/// One agent: its name, what moves it, and a way to let only it learn.
fn row(ui: &mut Ui, ctx: &PageCtx<'_>, knob: &'static Knob, seats: &Seats, agents: u32, agent: u32) -> Option<Seats> {
    let theme = ctx.theme();
    let number = (agent + 1).to_string();
    let name = ctx.texts().f("agent.name", &[&number]);
    let controller = seats.of(agent);
    let mut wanted = None;
    ui.allocate_ui_with_layout(
        vec2(ui.available_width(), theme.size.control),
        Layout::right_to_left(Align::Center),
        |ui| {
            ui.set_min_height(theme.size.control);
            ui.spacing_mut().item_spacing.x = 6.0;
            let width = if ctx.view.compact { 150.0 } else { CHOICE };
            menu(ui, theme, &ctx.texts().f("seats.of", &[&number]), &title(ctx, knob, controller), width, |ui| {
                wanted = entries(ui, ctx, knob, seats, agents, agent);
            });
            let only = seats.only(agents, agent);
            if agents > 1 && controller.has_network() {
                let name = ctx.texts().f("seats.only", &[&number]);
                let button = Button { name: &name, ..Button::text(ctx.t("seats.only.short")) };
                let is_so = only == *seats;
                let tip = ctx.texts().f(if is_so { "seats.all.tip" } else { "seats.only.tip" }, &[&number]);
                if button.tip(&tip).weight(Weight::Quiet).selected(is_so).show(ui, theme).clicked() {
                    let is_frozen = |agent: &u32| seats.of(*agent) == Controller::Frozen;
                    let thawed = |seats: Seats, agent| seats.with(agents, agent, Controller::Learner(0));
                    wanted = Some(if is_so { (0..agents).filter(is_frozen).fold(seats.clone(), thawed) } else { only });
                }
            } else if controller.script().is_some() && !matches!(controller, Controller::Human(_)) {
                tag(ui, theme, ctx.t("seats.scripted"), theme.text_dim).on_hover_text(ctx.t("seats.scripted.tip"));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = 4.0;
                dot(ui, 4.0, theme.agent_color(agent));
                let label = Label::new(RichText::new(&name).font(theme.body()).color(theme.agent_text(agent)));
                ui.add(label.truncate()).on_hover_ui(|ui| tip_ui(ui, ctx, knob));
            });
        },
    );
    wanted
}

/// What may move an agent.
fn entries(
    ui: &mut Ui,
    ctx: &PageCtx<'_>,
    knob: &'static Knob,
    seats: &Seats,
    agents: u32,
    agent: u32,
) -> Option<Seats> {
    let current = seats.of(agent);
    let groups = if ctx.wanted.learner.shared && agents > 1 { GROUPS.min(agents as u8) } else { 1 };
    let scripts = scripts(ctx).into_iter().map(Controller::Scripted);
    let human = match current {
        Controller::Human(stand_in) => stand_in,
        _ => Script::Uniform,
    };
    let all = (0..groups).map(Controller::Learner).chain([Controller::Frozen]).chain(scripts);
    let mut wanted = None;
    for controller in all.chain([Controller::Human(human)]) {
        let then = seats.with(agents, agent, controller);
        let tip = format!("{}.tip", knob.choice_id(id(controller)));
        let title = title(ctx, knob, controller);
        let title = match controller {
            Controller::Scripted(_) => ctx.texts().f("seats.script", &[&title]),
            _ => title,
        };
        let reply = entry(ui, ctx, &title, controller == current, true, None);
        if reply.on_hover_text(ctx.t(&tip)).clicked() && controller != current {
            wanted = Some(then);
        }
    }
    wanted
}

/// Who plays a person's seat where no person can.
fn stand_in_row(
    ui: &mut Ui,
    ctx: &PageCtx<'_>,
    knob: &'static Knob,
    agent: u32,
    stand_in: Script,
) -> Option<Controller> {
    let theme = ctx.theme();
    let number = (agent + 1).to_string();
    note(ui, theme, &ctx.texts().f("seats.human.note", &[&number]));
    let text = knob.choice_id(stand_in.info().id);
    let mut wanted = None;
    menu(ui, theme, &ctx.texts().f("seats.stand_in", &[&number]), ctx.t(&text), CHOICE + 40.0, |ui| {
        for script in scripts(ctx) {
            let text = knob.choice_id(script.info().id);
            if entry(ui, ctx, ctx.t(&text), script == stand_in, true, None).clicked() && script != stand_in {
                wanted = Some(Controller::Human(script));
            }
        }
    });
    wanted
}

/// The scripts that suit the world.
fn scripts(ctx: &PageCtx<'_>) -> Vec<Script> {
    let env = world::env_spec(ctx.wanted).build();
    let suits = |script: &Script| env.as_ref().is_ok_and(|env| env.scripts().contains(script));
    SCRIPTS.iter().map(|info| info.script).filter(suits).collect()
}

fn id(controller: Controller) -> &'static str {
    match controller {
        Controller::Learner(_) => "learner",
        Controller::Frozen => "frozen",
        Controller::Scripted(script) => script.info().id,
        Controller::Human(_) => "human",
    }
}

/// A controller's name; groups by their letter, where there are some.
fn title(ctx: &PageCtx<'_>, knob: &Knob, controller: Controller) -> String {
    let text = knob.choice_id(id(controller));
    match controller {
        Controller::Learner(group) if group > 0 => {
            ctx.texts().f("seats.group", &[ctx.t(&text), &letter(group).to_string()])
        }
        _ => ctx.t(&text).to_owned(),
    }
}
