//! A person's seat on the stage: what it waits for, a button for each action, and the keys that do the same.

use egui::{Context, Id, Key, Label, Modifiers, Response, RichText, Ui};
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
/// Keys of columns, of cells as they are read, and of words; the tenth is 0.
const DIGITS: [Key; 10] =
    [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Num6, Key::Num7, Key::Num8, Key::Num9, Key::Num0];

/// Whether a person is to choose now, so that keys are moves.
pub fn is_asked(ctx: &ViewCtx<'_>) -> bool {
    next(ctx).is_some()
}

/// Whether a person plays here.
pub(super) fn is_played(ctx: &ViewCtx<'_>) -> bool {
    !people(ctx).is_empty()
}

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

/// Room between buttons.
const GAP: f32 = 6.0;

/// How a person's seat is laid out: what is said, and the buttons, as many to a line as fit.
struct Plan {
    text: String,
    agent: u32,
    is_asked: bool,
    /// The text has a line of its own.
    is_above: bool,
    lines: Vec<Vec<Choice>>,
}

/// An action with a button.
struct Choice {
    action: u32,
    name: String,
    /// It is a movement, which can be held.
    moves: bool,
}

impl Plan {
    /// In a width of `room`; `None` where no person has a seat.
    fn of(ui: &Ui, ctx: &ViewCtx<'_>, room: f32) -> Option<Self> {
        let &first = people(ctx).first()?;
        let next = next(ctx);
        let agent = next.unwrap_or(first);
        let text = ctx.texts.f(instruction(ctx, next), &[&(agent + 1).to_string()]);
        if ctx.facts.in_turns {
            // A board is played on the board itself.
            return Some(Self { text, agent, is_asked: next.is_some(), is_above: false, lines: vec![Vec::new()] });
        }
        let [motions, words] = offered(ctx, agent);
        let width = |choice: &Choice| Button::width_of(ui, ctx.theme, &choice.name) + GAP;
        let all: f32 = motions.iter().chain(&words).map(width).sum();
        let told = ui.painter().layout_no_wrap(text.clone(), ctx.theme.small(), ctx.theme.text).size().x + GAP;
        let is_above = ctx.compact || told + all > room;
        let mut lines: Vec<Vec<Choice>> = Vec::new();
        for part in [motions, words] {
            let mut left = 0.0;
            for choice in part {
                let width = width(&choice);
                if let Some(line) = lines.last_mut().filter(|_| left >= width - GAP) {
                    line.push(choice);
                } else {
                    left = room;
                    lines.push(vec![choice]);
                }
                left -= width;
            }
        }
        Some(Self { text, agent, is_asked: next.is_some(), is_above, lines })
    }

    fn height(&self, ui: &Ui, ctx: &ViewCtx<'_>) -> f32 {
        let above = if self.is_above { ctx.theme.size.small * 1.6 + ui.spacing().item_spacing.y } else { 0.0 };
        above + self.lines.len() as f32 * (ctx.theme.size.control + ui.spacing().item_spacing.y)
    }
}

/// Text id of what is asked of the person.
fn instruction(ctx: &ViewCtx<'_>, next: Option<u32>) -> &'static str {
    let stage = &ctx.snapshot.stage;
    match next {
        Some(agent) if ctx.facts.flows => {
            let [motions, words] = offered(ctx, agent);
            match (motions.is_empty(), words.is_empty(), ctx.compact) {
                (true, ..) => "stage.person.speaks",
                (false, true, false) => "stage.person.flows",
                (false, true, true) => "stage.person.flows.touch",
                (false, false, false) => "stage.person.flows.words",
                (false, false, true) => "stage.person.flows.words.touch",
            }
        }
        Some(_) => "stage.person.turn",
        None if stage.is_training_env => "stage.person.training",
        None if ctx.facts.in_turns && !stage.ended => "stage.person.other",
        None if ctx.facts.in_turns => "stage.person.game_over",
        None => "stage.person.over",
    }
}

/// Room for the buttons in a width of `room`, 0 where no person has a seat.
pub(super) fn height(ui: &Ui, ctx: &ViewCtx<'_>, room: f32) -> f32 {
    Plan::of(ui, ctx, room).map_or(0.0, |plan| plan.height(ui, ctx))
}

/// Whose turn it is, and the buttons.
pub(super) fn ui(ui: &mut Ui, ctx: &ViewCtx<'_>, actions: &mut Vec<Action>) {
    let Some(plan) = Plan::of(ui, ctx, ui.available_width()) else { return };
    let stage = &ctx.snapshot.stage;
    let text = RichText::new(&plan.text).font(ctx.theme.small()).color(ctx.theme.agent_text(plan.agent));
    if plan.is_above {
        ui.scope(|ui| {
            ui.spacing_mut().interact_size.y = 0.0;
            ui.add(Label::new(text.clone()).truncate());
        });
    }
    for (index, line) in plan.lines.iter().enumerate() {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = GAP;
            if index == 0 && !plan.is_above {
                ui.set_min_height(ctx.theme.size.control);
                ui.add(Label::new(text.clone()));
            }
            for choice in line {
                button(ui, ctx, &plan, choice, actions);
            }
            if ctx.facts.in_turns && stage.ended && !stage.is_training_env {
                // What the board cannot do is begin anew.
                let again = Button::text(ctx.texts.t("stage.person.again")).tip(ctx.texts.t("stage.person.again.tip"));
                if again.show(ui, ctx.theme).clicked() {
                    actions.push(Action::Session(Command::RestartEpisode));
                }
            }
        });
    }
}

/// The button of an action; where the world flows, what the person has chosen stays pressed.
fn button(ui: &mut Ui, ctx: &ViewCtx<'_>, plan: &Plan, choice: &Choice, actions: &mut Vec<Action>) {
    let (stage, agent) = (&ctx.snapshot.stage, plan.agent);
    let chosen = stage.chosen.get(agent as usize).copied().flatten().or(Some(0));
    let legal = stage.legal.get(agent as usize).and_then(|legal| legal.get(choice.action as usize).copied());
    let called = ctx.texts.f("stage.person.act", &[&(agent + 1).to_string(), &choice.name]);
    let button = Button { name: &called, holds: true, ..Button::text(&choice.name) };
    // Under a finger a tip would cover the stage; the line above says what to do. Nor is it read while a button is held.
    let is_held = ui.input(|input| input.pointer.any_down());
    let tip = if ctx.compact || is_held { "" } else { ctx.texts.t("stage.person.tip") };
    let button = button.tip(tip).enabled(plan.is_asked && legal.unwrap_or(false));
    let response = button.selected(ctx.facts.flows && chosen == Some(choice.action)).show(ui, ctx.theme);
    if ctx.facts.flows && choice.moves {
        hold(ui, ctx, (agent, choice.action), &response, actions);
    } else if response.clicked() || response.long_touched() || (response.drag_stopped() && response.contains_pointer())
    {
        // However long it was pressed, it is one move.
        actions.push(act(ctx, agent, choice.action));
    }
}

/// A direction on a button: chosen when it is pressed; let go, it ends, unless it was only tapped.
fn hold(ui: &Ui, ctx: &ViewCtx<'_>, this: (u32, u32), response: &Response, actions: &mut Vec<Action>) {
    let id = Id::unique("held button");
    let held: Option<(u32, u32)> = ui.data(|data| data.get_temp(id)).flatten();
    // A finger that stays is a long touch to egui, which then lets the button go: the finger has not.
    let is_still_down = held == Some(this) && ui.input(|input| input.pointer.any_down());
    let is_down = response.is_pointer_button_down_on() || is_still_down;
    let keep = |held: Option<(u32, u32)>| ui.data_mut(|data| data.insert_temp(id, held));
    let (agent, action) = this;
    if is_down && held != Some(this) {
        keep(Some(this));
        actions.push(act(ctx, agent, action));
    } else if !is_down && held == Some(this) {
        keep(None);
        let rest = combined(ctx, agent, Some(REST), None).filter(|_| !response.clicked());
        actions.extend(rest.map(|rest| act(ctx, agent, rest)));
    } else if response.clicked() {
        // By a key, or pressed and let go within a frame.
        actions.push(act(ctx, agent, action));
    }
}

/// A direction key that is down, and whom it steers.
#[derive(Clone, Copy, Debug)]
struct Held {
    agent: u32,
    key: Key,
}

/// The actions that have a button, movements and words apart. Where an action is both, changing one keeps the other, so
/// there is a button for each movement and one for each word, not for every pair.
fn offered(ctx: &ViewCtx<'_>, agent: u32) -> [Vec<Choice>; 2] {
    let names = ctx.actions(agent);
    let (mut motions, mut words) = (Vec::new(), Vec::new());
    for name in names {
        let (motion, word) = split(name);
        if motion.is_some() && !motions.contains(&motion) {
            motions.push(motion);
        }
        if word.is_some() && !words.contains(&word) {
            words.push(word);
        }
    }
    if motions.is_empty() || words.is_empty() {
        let moves = words.is_empty();
        let choice = |(action, name)| Choice { action, name: ctx.texts.label(name), moves };
        let all = (0..).zip(names).map(choice).collect();
        return if moves { [all, Vec::new()] } else { [Vec::new(), all] };
    }
    let moving = motions.into_iter().flatten().filter_map(|motion| {
        let name = ctx.texts.t(&format!("action.{motion}")).to_owned();
        Some(Choice { action: combined(ctx, agent, Some(motion), None)?, name, moves: true })
    });
    let speaking = words.into_iter().flatten().filter_map(|word| {
        let name = ctx.texts.label(&ActionName::new("action.say", &[word]));
        Some(Choice { action: combined(ctx, agent, None, Some(word))?, name, moves: false })
    });
    [moving.collect(), speaking.collect()]
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
pub fn split(name: &ActionName) -> (Option<&str>, Option<i32>) {
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
