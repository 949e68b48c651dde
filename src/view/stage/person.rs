//! A person's seat on the stage: what it waits for, a button for each action, and the keys that do the same.

use egui::{Context, Id, Key, Label, Modifiers, RichText, ScrollArea, Ui};
use tandem_core::env::api::Label as ActionName;
use tandem_core::experiment::command::Command;
use tandem_core::experiment::spec::Controller;

use crate::view::api::{Action, ViewCtx};
use crate::view::widgets::Button;

/// Keys of the actions that have a direction, of staying and of loading.
const KEYS: [(&[Key], &str); 6] = [
    (&[Key::ArrowUp, Key::W], "action.up"),
    (&[Key::ArrowDown, Key::S], "action.down"),
    (&[Key::ArrowLeft, Key::A], "action.left"),
    (&[Key::ArrowRight, Key::D], "action.right"),
    (&[Key::Period, Key::X], "action.stay"),
    (&[Key::F], "action.load"),
];
/// Keys of columns, and of cells as they are read.
const DIGITS: [Key; 9] =
    [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Num6, Key::Num7, Key::Num8, Key::Num9];

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

/// Who is to choose next: the selected agent if the episode waits for it, else the first that it waits for. Where the
/// world flows it waits for nobody and always listens.
fn next(ctx: &ViewCtx<'_>) -> Option<u32> {
    let stage = &ctx.snapshot.stage;
    let people = people(ctx);
    let listening = if !ctx.facts.flows {
        &stage.waiting
    } else if stage.is_training_env {
        return None;
    } else {
        &people
    };
    let selected = listening.iter().find(|&&agent| agent == ctx.selected_agent);
    selected.or_else(|| listening.first()).copied()
}

/// What makes a person's move of the env step on stage.
pub(super) fn act(ctx: &ViewCtx<'_>, agent: u32, action: u32) -> Action {
    let at = (ctx.snapshot.stage.episode, ctx.snapshot.stage.step);
    Action::Session(Command::Act { agent, action, at })
}

/// Room for the buttons, 0 where no person has a seat.
pub(super) fn height(ui: &Ui, ctx: &ViewCtx<'_>) -> f32 {
    if people(ctx).is_empty() {
        return 0.0;
    }
    let is_above = ctx.compact && !ctx.facts.in_turns;
    let text = if is_above { ctx.theme.size.small * 1.6 + ui.spacing().item_spacing.y } else { 0.0 };
    ctx.theme.size.control + ui.spacing().item_spacing.y + text
}

/// Whose turn it is, and the buttons.
pub(super) fn ui(ui: &mut Ui, ctx: &ViewCtx<'_>, actions: &mut Vec<Action>) {
    let people = people(ctx);
    let Some(&first) = people.first() else { return };
    let next = next(ctx);
    let agent = next.unwrap_or(first);
    let number = (agent + 1).to_string();
    let stage = &ctx.snapshot.stage;
    let id = match next {
        Some(agent) if ctx.facts.flows && combined(ctx, agent, Some("left"), None).is_none() => "stage.person.speaks",
        Some(_) if ctx.facts.flows => "stage.person.flows",
        Some(_) => "stage.person.turn",
        None if stage.is_training_env => "stage.person.training",
        None if ctx.facts.in_turns && !stage.ended => "stage.person.other",
        None if ctx.facts.in_turns => "stage.person.game_over",
        None => "stage.person.over",
    };
    let text = RichText::new(ctx.texts.f(id, &[&number])).font(ctx.theme.small()).color(ctx.theme.agent_text(agent));
    if ctx.compact && !ctx.facts.in_turns {
        ui.scope(|ui| {
            ui.spacing_mut().interact_size.y = 0.0;
            ui.add(Label::new(text.clone()).truncate());
        });
    }
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        if !ctx.compact || ctx.facts.in_turns {
            ui.set_min_height(ctx.theme.size.control);
            ui.add(Label::new(text));
        }
        if !ctx.facts.in_turns {
            let row = ScrollArea::horizontal().id_salt("person").auto_shrink(true);
            row.show(ui, |ui| ui.horizontal(|ui| buttons(ui, ctx, agent, next.is_some(), actions)));
        } else if stage.ended && !stage.is_training_env {
            // A board is played on the board itself; what it cannot do is begin anew.
            let again = Button::text(ctx.texts.t("stage.person.again")).tip(ctx.texts.t("stage.person.again.tip"));
            if again.show(ui, ctx.theme).clicked() {
                actions.push(Action::Session(Command::RestartEpisode));
            }
        }
    });
}

/// A button for each action; where the world flows, what the person has chosen stays pressed.
fn buttons(ui: &mut Ui, ctx: &ViewCtx<'_>, agent: u32, is_asked: bool, actions: &mut Vec<Action>) {
    let (stage, number) = (&ctx.snapshot.stage, (agent + 1).to_string());
    let chosen = stage.chosen.get(agent as usize).copied().flatten().or(Some(0));
    for action in offered(ctx, agent) {
        let name = ctx.action_name(agent, action);
        let legal = stage.legal.get(agent as usize).and_then(|legal| legal.get(action as usize).copied());
        let called = ctx.texts.f("stage.person.act", &[&number, &name]);
        let button = Button { name: &called, ..Button::text(&name) };
        let button = button.tip(ctx.texts.t("stage.person.tip")).enabled(is_asked && legal.unwrap_or(false));
        if button.selected(ctx.facts.flows && chosen == Some(action)).show(ui, ctx.theme).clicked() {
            actions.push(act(ctx, agent, action));
        }
    }
}

/// A direction key that is down, and whom it steers.
#[derive(Clone, Copy, Debug)]
struct Held {
    agent: u32,
    key: Key,
}

/// The actions that have a button. Where an action is a motion and a word, changing one keeps the other, so there is a
/// button for each motion and one for each word, not for every pair.
fn offered(ctx: &ViewCtx<'_>, agent: u32) -> Vec<u32> {
    let names = ctx.actions(agent);
    let all = 0..names.len() as u32;
    let [motions, words] = [0, 1].map(|part| {
        let mut seen = Vec::new();
        for name in names {
            let (motion, word) = split(name);
            let pair = if part == 0 { (motion, None) } else { (None, word) };
            if pair != (None, None) && !seen.contains(&pair) {
                seen.push(pair);
            }
        }
        seen
    });
    if motions.is_empty() || words.is_empty() {
        return all.collect();
    }
    motions.into_iter().chain(words).filter_map(|(motion, word)| combined(ctx, agent, motion, word)).collect()
}

/// What the keys pressed since the last frame do, where it is a person's turn.
pub fn pressed(egui: &Context, ctx: &ViewCtx<'_>) -> Option<Action> {
    let agent = next(ctx)?;
    let is_pressed = |key: Key| egui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let keys: Vec<(Key, u32)> = if ctx.facts.flows {
        steering(ctx, agent)
    } else {
        (0..).zip(ctx.actions(agent)).flat_map(|(action, name)| keys_of(name, action)).collect()
    };
    let &(key, action) = keys.iter().find(|(key, _)| is_pressed(*key))?;
    if ctx.facts.flows && !DIGITS.contains(&key) {
        egui.data_mut(|data| data.insert_temp(held_id(), Some(Held { agent, key })));
    }
    Some(act(ctx, agent, action))
}

/// Where the world flows, letting go of a direction is a choice too: another that is held, or none. Asked every frame,
/// whatever else has the keyboard; a window that loses it has let go of all keys.
pub fn released(egui: &Context, ctx: &ViewCtx<'_>) -> Option<Action> {
    let held: Held = egui.data(|data| data.get_temp::<Option<Held>>(held_id()))??;
    let is_down = |key: Key| egui.input(|input| input.key_down(key));
    if is_down(held.key) {
        return None;
    }
    let keys = steering(ctx, held.agent);
    let other = keys.iter().find(|&&(key, _)| !DIGITS.contains(&key) && is_down(key));
    let now = other.map(|&(key, _)| Held { key, ..held });
    egui.data_mut(|data| data.insert_temp(held_id(), now));
    let action = other.map(|&(_, action)| action).or_else(|| combined(ctx, held.agent, Some(REST), None))?;
    Some(act(ctx, held.agent, action))
}

fn held_id() -> Id {
    Id::unique("held direction")
}

/// The motion of who coasts.
const REST: &str = "coast";

/// An action as a motion and a word: `left, say 3` has both.
fn split(name: &ActionName) -> (Option<&str>, Option<i32>) {
    let id = name.id.strip_prefix("action.").unwrap_or(&name.id);
    match id.strip_suffix("say") {
        Some(motion) => (motion.strip_suffix('_'), name.args.first().copied()),
        None => (Some(id), None),
    }
}

/// The agent's action with this motion and this word, what is not given being as it is now.
fn combined(ctx: &ViewCtx<'_>, agent: u32, motion: Option<&str>, word: Option<i32>) -> Option<u32> {
    let names = ctx.actions(agent);
    let chosen = ctx.snapshot.stage.chosen.get(agent as usize).copied().flatten().unwrap_or(0);
    let (now, said) = split(names.get(chosen as usize)?);
    let wanted = (if now.is_some() { motion.or(now) } else { motion }, word.or(said));
    names.iter().position(|name| split(name) == wanted).map(|action| action as u32)
}

/// The keys that steer an agent of a world that flows: directions, and digits for words.
fn steering(ctx: &ViewCtx<'_>, agent: u32) -> Vec<(Key, u32)> {
    let directions = KEYS.iter().flat_map(|(keys, name)| {
        let motion = name.strip_prefix("action.").map(|motion| if motion == "stay" { REST } else { motion });
        let action = combined(ctx, agent, motion, None);
        keys.iter().filter_map(move |&key| Some((key, action?)))
    });
    let words = (1..).zip(DIGITS).filter_map(|(word, key)| Some((key, combined(ctx, agent, None, Some(word))?)));
    directions.chain(words).collect()
}

/// The keys of an action, each with it.
fn keys_of(name: &ActionName, action: u32) -> Vec<(Key, u32)> {
    let digit = |number: i32| {
        let place = number.checked_sub(1).and_then(|place| usize::try_from(place).ok());
        place.and_then(|place| DIGITS.get(place)).map(|&key| (key, action)).into_iter().collect()
    };
    match (name.id.as_str(), name.args.as_slice()) {
        ("action.column", &[column]) => digit(column),
        ("action.cell", &[row, column]) => digit(3 * (row - 1) + column),
        (id, _) => {
            let of_id = KEYS.iter().filter(|(_, known)| *known == id);
            of_id.flat_map(|(keys, _)| keys.iter().map(|&key| (key, action))).collect()
        }
    }
}
