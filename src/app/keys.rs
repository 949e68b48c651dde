//! The keyboard: one key for each part of the transport, as their tooltips say. Typing into a field and pressing a
//! focused button keep their keys.

use egui::{Context, Key, Modifiers};
use tandem_core::experiment::command::Command;

use super::intent::Intent;
use crate::view::api::Action;

/// What the keys pressed since the last frame ask for.
pub fn pressed(ctx: &Context) -> Vec<Intent> {
    if ctx.memory(|memory| memory.focused().is_some()) || egui::Popup::is_any_open(ctx) {
        return Vec::new();
    }
    let keys = [
        (Key::Space, Intent::ToggleRun),
        (Key::S, Intent::View(Action::Session(Command::StepEnv))),
        (Key::U, Intent::View(Action::Session(Command::StepUpdate))),
        (Key::R, Intent::RestartTraining),
        (Key::E, Intent::View(Action::Session(Command::RestartEpisode))),
        (Key::L, Intent::Share),
    ];
    let mut intents = Vec::new();
    ctx.input_mut(|input| {
        for (key, intent) in keys {
            if input.consume_key(Modifiers::NONE, key) {
                intents.push(intent);
            }
        }
    });
    intents
}
