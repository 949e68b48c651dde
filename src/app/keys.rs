//! The keyboard: one key for each part of the transport, as their tooltips say. Typing into a field and pressing a
//! focused button keep their keys.

use egui::{Context, Event, Key, Modifiers};
use tandem_core::experiment::command::Command;

use super::intent::Intent;
use crate::view::api::{Action, ViewCtx};
use crate::view::stage::person;

/// What the keys pressed since the last frame ask for.
pub fn pressed(ctx: &Context, view: &ViewCtx<'_>) -> Vec<Intent> {
    let let_go = person::released(ctx, view).map(Intent::View);
    if ctx.memory(|memory| memory.focused().is_some()) || egui::Popup::is_any_open(ctx) {
        return let_go.into_iter().collect();
    }
    let keys = [
        (Key::Space, Intent::ToggleRun),
        (Key::S, Intent::View(Action::Session(Command::StepEnv))),
        (Key::U, Intent::View(Action::Session(Command::StepUpdate))),
        (Key::R, Intent::RestartTraining),
        (Key::E, Intent::RestartEpisode),
        (Key::L, Intent::Share),
    ];
    // Whoever plays an agent comes first: S is then a move, and L lies beside the keys of moves.
    let plays = person::is_asked(view) && !view.facts.flows;
    let pressed = person::pressed(ctx, view).map(Intent::View);
    let mut intents: Vec<Intent> = let_go.into_iter().chain(pressed).collect();
    ctx.input_mut(|input| {
        input.events.retain(|event| {
            let Event::Key { key, pressed: true, repeat, modifiers: Modifiers::NONE, .. } = event else { return true };
            let is_meant = |known: &Key| known == key && !(plays && *key == Key::L);
            let Some((_, intent)) = keys.iter().find(|(known, _)| is_meant(known)) else { return true };
            // A key held down is one press.
            if !repeat {
                intents.push(intent.clone());
            }
            false
        });
    });
    intents
}
