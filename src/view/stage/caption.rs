//! The line under the scene: what is laid over a grid, whose turn it is, what the lines in a plane mean.

use tandem_core::env::api::{Frame, ThingKind};

use crate::view::api::{EditMode, ViewCtx};
use crate::view::numbers;
use crate::view::stage::board::{self, Board};
use crate::view::stage::overlay::{self, Overlay};
use crate::view::stage::q_unit;

/// The caption of a picture with `overlay` laid over it; `follows`: its camera follows the selected agent.
pub fn text(ctx: &ViewCtx<'_>, frame: &Frame, overlay: Overlay, follows: bool) -> String {
    let texts = ctx.texts;
    match frame {
        Frame::Matrix { repetition: (rounds, next), .. } if *rounds > 1 => {
            texts.f("stage.round", &[&next.to_string(), &rounds.to_string()])
        }
        Frame::Matrix { .. } => texts.t("stage.caption.game").to_owned(),
        Frame::Board { .. } => of_board(ctx, frame),
        Frame::Particles { .. } if follows => texts.f("stage.caption.follow", &[&(ctx.selected_agent + 1).to_string()]),
        Frame::Particles { pairs, words, .. } => {
            let id = match (pairs.is_empty(), words.is_empty()) {
                (true, true) => "stage.caption.particles",
                (false, true) => "stage.caption.particles.pairs",
                (true, false) => "stage.caption.particles.words",
                (false, false) => "stage.caption.particles.both",
            };
            texts.t(id).to_owned()
        }
        Frame::Grid { .. } if ctx.edit != EditMode::None => texts.t("stage.caption.edit").to_owned(),
        Frame::Grid { sight, things, .. } => of_grid(ctx, *sight, things.first().map(|thing| thing.kind), overlay),
    }
}

fn of_board(ctx: &ViewCtx<'_>, frame: &Frame) -> String {
    let Some(board) = Board::of(frame) else { return String::new() };
    let sentence = board::sentence(ctx, &board);
    let Some(thought) = &ctx.snapshot.stage.thought else { return sentence };
    let id = match (thought.foreseen.is_empty(), ctx.facts.is_policy_gradient) {
        (false, _) => "stage.caption.board.foreseen",
        (true, true) => "stage.caption.board.pi",
        (true, false) => "stage.caption.board.q",
    };
    let when = if thought.is_past { ctx.texts.t("stage.caption.board.past") } else { "" };
    let agent = thought.agent + 1;
    format!("{sentence} · {}{when}", ctx.texts.f(id, &[&numbers::subscript(agent), &agent.to_string()]))
}

fn of_grid(ctx: &ViewCtx<'_>, sight: Option<u32>, thing: Option<ThingKind>, overlay: Overlay) -> String {
    let texts = ctx.texts;
    let agent = (ctx.selected_agent + 1).to_string();
    match overlay {
        Overlay::Arrows => texts.f("stage.caption.arrows", &[&agent]),
        Overlay::Q if ctx.facts.is_policy_gradient => texts.f("stage.caption.pi", &[&agent, texts.t(q_unit(ctx))]),
        Overlay::Q => match overlay::range(&ctx.snapshot.stage.overlay) {
            Some((low, high)) => {
                let ends = [numbers::value(low), numbers::value(high)];
                texts.f("stage.caption.q", &[&agent, &ends[0], &ends[1], texts.t(q_unit(ctx))])
            }
            None => texts.f("stage.caption.q.none", &[&agent]),
        },
        Overlay::Sight if ctx.facts.obs_determines_state => texts.t("stage.caption.sight.all").to_owned(),
        Overlay::Sight if sight.is_some() => {
            let radius = sight.unwrap_or_default();
            texts.plural("stage.caption.sight", radius, &[&agent, &radius.to_string()])
        }
        Overlay::Sight | Overlay::None => {
            let id = match thing {
                Some(ThingKind::Food) => "stage.caption.food",
                Some(ThingKind::Evader) => "stage.caption.evaders",
                Some(ThingKind::Pellet) | None => "stage.caption.none",
            };
            texts.t(id).to_owned()
        }
    }
}
