//! A person's seat on the stage: what it waits for, a button for each action, and the keys that do the same.

use egui::{Context, Key, Label, Modifiers, RichText, Ui};
use tandem_core::experiment::command::Command;
use tandem_core::experiment::spec::Controller;

use crate::view::api::{Action, ViewCtx};
use crate::view::widgets::Button;

/// Keys of the actions that have a direction, and of staying.
const KEYS: [(&[Key], &str); 5] = [
    (&[Key::ArrowUp, Key::W], "action.up"),
    (&[Key::ArrowDown, Key::S], "action.down"),
    (&[Key::ArrowLeft, Key::A], "action.left"),
    (&[Key::ArrowRight, Key::D], "action.right"),
    (&[Key::Period, Key::X], "action.stay"),
];

/// The agents that people play.
fn people(ctx: &ViewCtx<'_>) -> Vec<u32> {
    let is_person = |&agent: &u32| matches!(ctx.spec.learner.seats.of(agent), Controller::Human(_));
    (0..ctx.facts.num_agents).filter(is_person).collect()
}

/// Text id of who moves an agent, where it is not a learner.
pub(super) fn seat_id(ctx: &ViewCtx<'_>, agent: u32) -> Option<String> {
    let id = match ctx.spec.learner.seats.of(agent) {
        Controller::Learner(_) => return None,
        Controller::Frozen => "frozen",
        Controller::Human(_) => "human",
        Controller::Scripted(script) => script.info().id,
    };
    Some(format!("choice.seats.{id}"))
}

/// Who is to choose next: the selected agent if the episode waits for it, else the first that it waits for.
fn next(ctx: &ViewCtx<'_>) -> Option<u32> {
    let waiting = &ctx.snapshot.stage.waiting;
    let selected = waiting.iter().find(|&&agent| agent == ctx.selected_agent);
    selected.or_else(|| waiting.first()).copied()
}

/// Makes `action` the choice of `agent` at the moment on stage.
pub(super) fn act(ctx: &ViewCtx<'_>, agent: u32, action: u32) -> Action {
    let at = (ctx.snapshot.stage.episode, ctx.snapshot.stage.step);
    Action::Session(Command::Act { agent, action, at })
}

/// Room for the buttons, 0 where no person has a seat.
pub(super) fn height(ui: &Ui, ctx: &ViewCtx<'_>) -> f32 {
    if people(ctx).is_empty() {
        return 0.0;
    }
    let text = if ctx.compact { ctx.theme.size.small * 1.6 + ui.spacing().item_spacing.y } else { 0.0 };
    ctx.theme.size.control + ui.spacing().item_spacing.y + text
}

/// Whose turn it is, and the buttons.
pub(super) fn ui(ui: &mut Ui, ctx: &ViewCtx<'_>, actions: &mut Vec<Action>) {
    let people = people(ctx);
    let Some(&first) = people.first() else { return };
    let next = next(ctx);
    let agent = next.unwrap_or(first);
    let number = (agent + 1).to_string();
    let id = match next {
        Some(_) => "stage.person.turn",
        None if ctx.snapshot.stage.is_training_env => "stage.person.training",
        None => "stage.person.over",
    };
    let text = RichText::new(ctx.texts.f(id, &[&number])).font(ctx.theme.small()).color(ctx.theme.agent_text(agent));
    if ctx.compact {
        ui.scope(|ui| {
            ui.spacing_mut().interact_size.y = 0.0;
            ui.add(Label::new(text.clone()).truncate());
        });
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        if !ctx.compact {
            ui.add(Label::new(text).wrap());
        }
        for action in 0..ctx.actions(agent).len() as u32 {
            let name = ctx.action_name(agent, action);
            let legal = ctx.snapshot.stage.legal.get(agent as usize);
            let is_legal = legal.and_then(|legal| legal.get(action as usize).copied()).unwrap_or(false);
            let called = ctx.texts.f("stage.person.act", &[&number, &name]);
            let button = Button { name: &called, ..Button::text(&name) };
            let button = button.tip(ctx.texts.t("stage.person.tip")).enabled(next.is_some() && is_legal);
            if button.show(ui, ctx.theme).clicked() {
                actions.push(act(ctx, agent, action));
            }
        }
    });
}

/// What the keys pressed since the last frame do, where it is a person's turn.
pub fn pressed(egui: &Context, ctx: &ViewCtx<'_>) -> Option<Action> {
    let agent = next(ctx)?;
    let index = |name: &str| ctx.actions(agent).iter().position(|known| known.id == name);
    let action = KEYS.iter().find_map(|(keys, name)| {
        let action = index(name)?;
        let is_pressed = |key: &Key| egui.input_mut(|input| input.consume_key(Modifiers::NONE, *key));
        keys.iter().any(is_pressed).then_some(action)
    })?;
    Some(act(ctx, agent, action as u32))
}
