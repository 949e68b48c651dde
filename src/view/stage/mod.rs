//! The stage: the world as it is now, what the selected agent would do in it, and the tools that edit it.
//!
//! Environments describe a picture as a [`Frame`]; this is the only place that paints one.

pub mod board;
pub mod bodies;
pub mod camera;
pub mod caption;
pub mod edit;
pub mod games;
pub mod grid;
pub mod ground;
pub mod marks;
pub mod motion;
pub mod overlay;
pub mod particles;
pub mod payoff;
pub mod person;
pub mod pieces;
pub mod players;

use egui::{Align, Layout, RichText, Ui, vec2};
use tandem_core::env::api::Frame;
use tandem_core::experiment::command::Watch;
use tandem_core::experiment::snapshot::Stage;
use tandem_core::experiment::spec::{EnvChoice, StartChoice};

use crate::view::api::{Action, EditMode, ViewCtx};
use crate::view::stage::board::{Board, BoardStage};
use crate::view::stage::games::GameStage;
use crate::view::stage::grid::GridStage;
use crate::view::stage::particles::ParticleStage;
use crate::view::widgets::{Button, Weight, segmented};
use crate::view::{icons, numbers, parts};

pub use self::grid::q_unit;
pub use self::ground::{paint_agent, thumbnail};
pub use self::overlay::Overlay;

/// Room between the stage's parts.
const GAP: f32 = 6.0;
/// Least height of a scene that scales as it likes.
const LEAST_SCENE: f32 = 240.0;
/// Height from which a scene is still read.
const READABLE_SCENE: f32 = 170.0;
/// Side of a board's cell from which it is still read and hit with a mouse.
const READABLE: f32 = 28.0;
/// Side of a cell that a finger hits.
const FINGER: f32 = 44.0;

/// The stage and what of it outlives a frame.
#[derive(Debug, Default)]
pub struct StageView {
    /// What is laid over a grid.
    pub overlay: Overlay,
    grid: GridStage,
    games: GameStage,
    board: BoardStage,
    particles: ParticleStage,
}

impl StageView {
    /// Fills the space that `ui` has.
    pub fn ui(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, actions: &mut Vec<Action>) {
        let Some(frame) = &ctx.snapshot.stage.frame else {
            parts::message(ui, ctx.theme, ui.available_size(), ctx.texts.t("stage.none"));
            return;
        };
        ui.spacing_mut().item_spacing.y = GAP;
        self.header(ui, ctx, frame, actions);
        if ctx.edit != EditMode::None {
            self.tools(ui, ctx, actions);
        }
        let foot = self.foot(ui, ctx, frame, ui.available_width());
        let scene = vec2(ui.available_width(), (ui.available_height() - foot).max(80.0));
        ui.allocate_ui(scene, |ui| {
            ui.set_min_size(scene);
            match frame {
                Frame::Grid { .. } => self.grid.ui(ui, ctx, frame, self.shown_overlay(ctx), actions),
                Frame::Matrix { .. } => self.games.ui(ui, ctx, frame, actions),
                Frame::Board { .. } => self.board.ui(ui, ctx, frame, actions),
                Frame::Particles { .. } => self.particles.ui(ui, ctx, frame, actions),
            }
        });
        person::ui(ui, ctx, actions);
        self.caption(ui, ctx, frame);
        agents_row(ui, ctx, actions);
    }

    fn header(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, frame: &Frame, actions: &mut Vec<Action>) {
        let theme = ctx.theme;
        let text = RichText::new(title(ctx)).font(theme.small()).color(theme.text_dim);
        let is_training = ctx.snapshot.stage.is_training_env;
        let tip = ctx.texts.t(if is_training { "stage.training.tip" } else { "stage.episode.tip" });
        if ctx.compact {
            // A phone has no room beside the controls.
            ui.add(egui::Label::new(text.clone()).truncate()).on_hover_text(tip);
            if matches!(frame, Frame::Board { .. }) {
                return;
            }
        }
        let height = theme.size.control;
        ui.allocate_ui_with_layout(vec2(ui.available_width(), height), Layout::right_to_left(Align::Center), |ui| {
            self.controls(ui, ctx, frame, actions);
            if !ctx.compact {
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.add(egui::Label::new(text).truncate()).on_hover_text(tip);
                });
            }
        });
    }

    fn controls(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, frame: &Frame, actions: &mut Vec<Action>) {
        let texts = ctx.texts;
        let is_editing = ctx.edit != EditMode::None;
        // What there is to edit; nothing in most worlds.
        let first = if matches!(frame, Frame::Grid { .. }) { EditMode::Walls } else { EditMode::Payoffs };
        let is_shown = matches!(frame, Frame::Grid { .. } | Frame::Matrix { .. });
        let can_edit = is_shown && first.within(ctx.wanted) == first;
        if can_edit {
            let label = if is_editing { "stage.edit.done" } else { "stage.edit" };
            let button = Button::text(texts.t(label)).tip(texts.t("stage.edit.tip")).selected(is_editing);
            if button.weight(Weight::Quiet).show(ui, ctx.theme).clicked() {
                actions.push(Action::SetEdit(if is_editing { EditMode::None } else { first }));
            }
        }
        match frame {
            Frame::Grid { .. } if !is_editing => self.overlay_menu(ui, ctx, actions),
            Frame::Particles { .. } => self.particles.controls(ui, ctx),
            Frame::Grid { .. } | Frame::Matrix { .. } | Frame::Board { .. } => {}
        }
    }

    /// What is laid over the grid: values where there are such, else what the selected agent sees if that is not all.
    fn shown_overlay(&self, ctx: &ViewCtx<'_>) -> Overlay {
        match self.overlay {
            Overlay::Arrows | Overlay::Q if !has_values(ctx) => match ctx.snapshot.stage.frame {
                Some(Frame::Grid { sight: Some(_), .. }) => Overlay::Sight,
                _ => Overlay::None,
            },
            overlay => overlay,
        }
    }

    fn overlay_menu(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, actions: &mut Vec<Action>) {
        let texts = ctx.texts;
        let all = [Overlay::None, Overlay::Arrows, Overlay::Q, Overlay::Sight];
        let is_value = |overlay: &Overlay| matches!(overlay, Overlay::Arrows | Overlay::Q);
        let has_values = has_values(ctx);
        let before = self.overlay;
        let name = |overlay: Overlay| match overlay {
            Overlay::None => "stage.overlay.none",
            Overlay::Arrows => "stage.overlay.arrows",
            Overlay::Q if ctx.facts.is_policy_gradient => "stage.overlay.pi",
            Overlay::Q => "stage.overlay.q",
            Overlay::Sight => "stage.overlay.sight",
        };
        let chosen = RichText::new(texts.t(name(self.shown_overlay(ctx)))).font(ctx.theme.small());
        let menu = egui::ComboBox::from_id_salt("overlay").icon(icons::unfold).selected_text(chosen);
        let menu = menu.show_ui(ui, |ui| {
            for overlay in all.into_iter().filter(|overlay| has_values || !is_value(overlay)) {
                ui.selectable_value(&mut self.overlay, overlay, texts.t(name(overlay)));
            }
        });
        menu.response.accessible_name(texts.t("stage.overlay"));
        let needed = is_value(&self.overlay);
        if before != self.overlay && needed != ctx.watch.overlay {
            actions.push(Action::Watch(Watch { overlay: needed, ..ctx.watch.clone() }));
        }
    }

    /// The row of tools while editing.
    fn tools(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, actions: &mut Vec<Action>) {
        let texts = ctx.texts;
        ui.horizontal_wrapped(|ui| {
            if ctx.edit == EditMode::Payoffs {
                self.payoff_tools(ui, ctx, actions);
                return;
            }
            let mode = match ctx.edit {
                EditMode::Start(_) => EditMode::Start(0),
                mode => mode,
            };
            let options = [
                (EditMode::Walls, texts.t("stage.edit.walls"), texts.t("stage.edit.walls.tip")),
                (EditMode::Pellets, texts.t("stage.edit.pellets"), texts.t("stage.edit.pellets.tip")),
                (EditMode::Start(0), texts.t("stage.edit.starts"), texts.t("stage.edit.starts.tip")),
            ];
            actions.extend(segmented(ui, ctx.theme, &options, mode).map(Action::SetEdit));
            if let EditMode::Start(chosen) = ctx.edit {
                for agent in 0..ctx.wanted.pellet.agents {
                    let text = (agent + 1).to_string();
                    let name = texts.f("agent.name", &[&text]);
                    let button = Button { name: &name, ..Button::text(&text) }.tip(texts.t("stage.edit.starts.tip"));
                    if button.weight(Weight::Quiet).selected(agent == chosen).show(ui, ctx.theme).clicked() {
                        actions.push(Action::SetEdit(EditMode::Start(agent)));
                    }
                }
            }
            let pellet = &ctx.wanted.pellet;
            if (pellet.map.is_some() || pellet.start == StartChoice::Placed)
                && Button::text(texts.t("stage.edit.clear")).show(ui, ctx.theme).clicked()
            {
                actions.push(Action::EditSpec(Box::new(edit::clear_map(ctx.wanted))));
            }
        });
    }

    fn payoff_tools(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, actions: &mut Vec<Action>) {
        let hint = RichText::new(ctx.texts.t("stage.edit.payoffs")).font(ctx.theme.small()).color(ctx.theme.text_dim);
        if ctx.wanted.env == EnvChoice::Matrix {
            let table = edit::payoffs_of(&ctx.wanted.matrix);
            let options = [
                (false, ctx.texts.t("stage.edit.common"), ctx.texts.t("stage.edit.common.tip")),
                (true, ctx.texts.t("stage.edit.split"), ctx.texts.t("stage.edit.split.tip")),
            ];
            let is_general = table.cells.iter().any(|cell| cell.0 != cell.1);
            if let Some(is_split) = segmented(ui, ctx.theme, &options, self.games.is_split || is_general) {
                self.games.is_split = is_split;
                if !is_split {
                    actions.push(Action::EditSpec(Box::new(edit::make_common(ctx.wanted, &table))));
                }
            }
        }
        ui.label(hint);
    }

    /// Height that the stage should have in a width of `room` where there are `left`: all of that if the scene can then be
    /// read, else as much as the scene needs to be played, and what surrounds the stage scrolls.
    pub fn fair_height(&self, ui: &Ui, ctx: &ViewCtx<'_>, room: f32, left: f32) -> f32 {
        let Some(frame) = &ctx.snapshot.stage.frame else { return left.max(LEAST_SCENE) };
        let line = ctx.theme.size.small * 1.5;
        let heading = match frame {
            _ if !ctx.compact => ctx.theme.size.control,
            Frame::Board { .. } => line + GAP,
            _ => line + GAP + ctx.theme.size.control,
        };
        let tools = if ctx.edit == EditMode::None { 0.0 } else { ctx.theme.size.control + line };
        let around = heading + GAP + tools + self.foot(ui, ctx, frame, room);
        let [readable, good] = [(READABLE, READABLE_SCENE), (FINGER, LEAST_SCENE)]
            .map(|(cell, scene)| Board::of(frame).map_or(scene, |board| players::height_of(&board, ctx, cell, room)));
        let is_touched = ctx.compact && person::is_played(ctx);
        let least = if is_touched || left < around + readable { around + good } else { left };
        left.max(least)
    }

    /// What stands under the scene: a person's buttons, the caption, the agents.
    fn foot(&self, ui: &Ui, ctx: &ViewCtx<'_>, frame: &Frame, room: f32) -> f32 {
        let line = ctx.theme.size.small * 1.5;
        let caption = match frame {
            _ if !ctx.compact => line,
            // What it says of a game changes from ply to ply, and the board keeps its place.
            Frame::Board { .. } => 2.0 * line,
            _ => {
                let text = caption::text(ctx, frame, self.shown_overlay(ctx), self.particles.follows());
                ui.painter().layout(text, ctx.theme.small(), ctx.theme.text, room).size().y
            }
        };
        ctx.theme.size.control + caption + 2.0 * GAP + 6.0 + person::height(ui, ctx, room)
    }

    /// One line under the scene: what is laid over it.
    fn caption(&self, ui: &mut Ui, ctx: &ViewCtx<'_>, frame: &Frame) {
        let overlay = self.shown_overlay(ctx);
        let text = caption::text(ctx, frame, overlay, self.particles.follows());
        let text = RichText::new(text).font(ctx.theme.small()).color(ctx.theme.text_faint);
        if ctx.compact {
            ui.label(text);
            return;
        }
        ui.horizontal(|ui| {
            let has_bar = overlay == Overlay::Q && matches!(frame, Frame::Grid { .. });
            if has_bar && !ctx.snapshot.stage.overlay.is_empty() {
                let (bar, _) = ui.allocate_exact_size(vec2(72.0, 8.0), egui::Sense::hover());
                parts::color_bar(ui.painter(), ctx.theme, bar);
            }
            ui.add(egui::Label::new(text).truncate());
        });
    }
}

/// Whether the session knows what the selected agent would do from other cells. It does not say where nobody asked.
fn has_values(ctx: &ViewCtx<'_>) -> bool {
    let stage = &ctx.snapshot.stage;
    stage.overlay.is_empty() || stage.overlay.iter().any(|row| !row.is_empty())
}

/// Heading of the stage: whose episode this is, where it stands, which weights act.
fn title(ctx: &ViewCtx<'_>) -> String {
    let stage = &ctx.snapshot.stage;
    let step = numbers::count(stage.step);
    let over = if stage.ended { ctx.texts.t("stage.over") } else { "" };
    if stage.is_training_env {
        let args = [(stage.env_index + 1).to_string(), numbers::count(ctx.spec.learner.envs), step];
        return ctx.texts.f("stage.training", &[&args[0], &args[1], &args[2], over]);
    }
    let id = if stage.explores { "stage.exploring" } else { "stage.greedy" };
    let update = numbers::count(stage.weights_update);
    let weights = if ctx.compact { "stage.weights.short" } else { "stage.weights" };
    ctx.texts.f(id, &[&numbers::count(stage.episode), &step, over, &ctx.texts.f(weights, &[&update])])
}

/// A button per agent: its last action, reward and return; a click selects it.
fn agents_row(ui: &mut Ui, ctx: &ViewCtx<'_>, actions: &mut Vec<Action>) {
    let theme = ctx.theme;
    let stage: &Stage = &ctx.snapshot.stage;
    // Many agents share the row by saying less: their returns stand in the tooltip.
    let is_many = ctx.facts.num_agents > 3 || ctx.compact;
    let is_crowd = ctx.facts.num_agents > 5 && !ctx.compact;
    let are_unlike = ctx.facts.roles.len() > 1;
    // Whoever is selected elsewhere is brought into the row.
    let shown_id = egui::Id::unique("agent shown in the row");
    let was_shown = ui.data(|data| data.get_temp::<u32>(shown_id));
    ui.data_mut(|data| data.insert_temp(shown_id, ctx.selected_agent));
    parts::long_row(ui, theme, theme.card, "agents", |ui| {
        if is_crowd {
            ui.spacing_mut().item_spacing.x = 3.0;
        }
        for agent in 0..ctx.facts.num_agents {
            let index = agent as usize;
            let mut text = egui::text::LayoutJob::default();
            let mut push = |part: &str, color| {
                let format = egui::text::TextFormat { font_id: theme.small(), color, ..Default::default() };
                text.append(part, 0.0, format);
            };
            let name = (agent + 1).to_string();
            let name = if is_many || are_unlike { name } else { ctx.texts.f("agent.name", &[&name]) };
            push(&format!("{name}  "), theme.agent_text(agent));
            // Unlike agents have a word for what they are.
            if let Some(role) = ctx.facts.role(agent).filter(|role| role.id != "role.agent" && are_unlike) {
                push(&format!("{}  ", ctx.texts.t(&role.id)), theme.text_dim);
            }
            if let Some(id) = person::seat_id(ctx, agent) {
                push(&format!("{}  ", ctx.texts.t(&id)), theme.text_faint);
            }
            // Where agents move in turns, whoever waited has not acted.
            let moved =
                stage.frame.as_ref().and_then(Board::of).map(|board| board.last.and_then(|cell| board.owner(cell)));
            let action = stage.actions.get(index).filter(|_| moved.is_none_or(|mover| mover == Some(agent)));
            let action = action.and_then(|&action| ctx.facts.action(agent, action));
            let explored = stage.explored.get(index).copied().unwrap_or(false) && action.is_some();
            let action = action.map_or_else(|| "–".to_owned(), |name| ctx.texts.label(name));
            push(&action, if explored { theme.warn } else { theme.text });
            // At the start of an episode nothing has been done or paid yet.
            let has_acted = index < stage.actions.len();
            let number = |values: &[f32]| match values.get(index) {
                Some(v) if has_acted => numbers::payoff(*v),
                _ => "–".to_owned(),
            };
            if !is_many {
                push(&format!("  r {}", number(&stage.rewards)), theme.text_dim);
            }
            let sum = format!("R {}", number(&stage.returns));
            if !is_crowd {
                push(&format!("  {sum}"), theme.text_dim);
            }
            let explored = if explored { ctx.texts.t("stage.agent.explored") } else { "" };
            let mut tip = ctx.texts.f("stage.agent.tip", &[explored]);
            if is_crowd {
                tip = format!("{sum}\n\n{tip}");
            }
            let is_selected = agent == ctx.selected_agent;
            let response = parts::toggle(ui, theme, is_selected, text).on_hover_text(tip);
            if is_selected && was_shown != Some(agent) {
                response.scroll_to_me(Some(Align::Center));
            }
            if response.clicked() {
                actions.push(Action::SelectAgent(agent));
            }
        }
    });
}
