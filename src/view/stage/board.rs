//! Board games on the stage: what the mover makes of each move, and a person's moves by mouse and finger.
//!
//! A move is a column where pieces fall, else a cell; moves are numbered column by column, as the rules number them.

use egui::emath::easing;
use egui::{Response, RichText, Role, Sense, Ui, WidgetInfo};
use tandem_core::env::api::{Frame, Outcome};
use tandem_core::env::script::Foreseen;
use tandem_core::experiment::spec::Controller;

use crate::view::api::{Action, ViewCtx};
use crate::view::numbers;
use crate::view::parts;
use crate::view::stage::motion::Glide;
use crate::view::stage::person;
use crate::view::stage::pieces::{self, Worth};
use crate::view::stage::players::{self, Plan};
use crate::view::stage::q_unit;
use crate::view::widgets::focus_ring;

/// Longest fall of a piece, seconds.
const FALL_SECS: f64 = 0.3;

/// A board as the frame gives it.
#[derive(Clone, Copy, Debug)]
pub struct Board<'a> {
    /// Rows, row 0 on top.
    pub rows: u32,
    /// Columns.
    pub columns: u32,
    /// `[rows, columns]`: 0 empty, else one more than the player whose piece it is.
    pub cells: &'a [u8],
    /// Whether a move is a column in which the piece falls.
    pub drops: bool,
    /// Who is to move; nobody once the game is over.
    pub to_move: Option<u32>,
    /// Cell of the last piece.
    pub last: Option<u32>,
    /// Cells of every line that wins.
    pub lines: &'a [Vec<u32>],
    /// How the game ended.
    pub outcome: Option<Outcome>,
}

impl<'a> Board<'a> {
    /// The board of a frame; `None` for other frames.
    pub fn of(frame: &'a Frame) -> Option<Self> {
        let Frame::Board { rows, columns, cells, drops, to_move, last, lines, outcome } = frame else { return None };
        let (rows, columns, drops, to_move) = (*rows, *columns, *drops, *to_move);
        Some(Self { rows, columns, cells, drops, to_move, last: *last, lines, outcome: *outcome })
    }

    /// Whose piece lies in a cell.
    pub fn owner(&self, cell: u32) -> Option<u32> {
        self.cells.get(cell as usize).and_then(|&piece| u32::from(piece).checked_sub(1))
    }

    /// Number of moves there are, legal or not.
    pub fn moves(&self) -> u32 {
        if self.drops { self.columns } else { self.rows * self.columns }
    }

    /// The cell a move names: the topmost of its column where pieces fall.
    pub fn cell_of(&self, action: u32) -> u32 {
        if self.drops { action } else { action % self.rows * self.columns + action / self.rows }
    }

    /// The cell where the piece of a move comes to lie; `None` where it has no room.
    pub fn landing(&self, action: u32) -> Option<u32> {
        let first = self.cell_of(action);
        let below = if self.drops { self.rows } else { 1 };
        (0..below).rev().map(|row| first + row * self.columns).find(|&cell| self.owner(cell).is_none())
    }
}

/// What of the picture outlives a frame.
#[derive(Debug, Default)]
pub struct BoardStage {
    fall: Glide,
    /// The move clicked last, while the pointer is still there: nothing more is said about it.
    played: Option<u32>,
}

impl BoardStage {
    /// Fills the space of `ui` with the board of `frame`; does nothing for other frames.
    pub fn ui(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, frame: &Frame, actions: &mut Vec<Action>) {
        let Some(board) = Board::of(frame) else { return };
        let theme = ctx.theme;
        let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::hover());
        describe(&response, ctx, &board);
        let plan = Plan::of(&board, ctx, rect);
        let painter = ui.painter_at(rect);
        let now = ui.input(|input| input.time);
        let moment = super::grid::moment(ctx);
        if !self.fall.shows(moment) {
            self.fall.follow(now, moment, FALL_SECS);
        }
        let thought = ctx.snapshot.stage.thought.as_ref();
        let worth = thought.map(|thought| Worth::of_thought(thought, ctx.facts.is_policy_gradient)).unwrap_or_default();
        let pointed = self.moves(ui, ctx, &board, (&plan, &worth), actions);
        let playable = pointed.filter(|&action| is_playable(ctx, &board, action));

        pieces::paint_ground(&painter, theme, &board, plan.board);
        pieces::paint_numbers(&painter, theme, &board, plan.board, playable);
        // A piece falls as things do: faster and faster.
        let falling = board.last.filter(|_| board.drops && self.fall.is_moving(now));
        let above = falling.map(|cell| (cell, easing::quadratic_in(self.fall.share(now))));
        pieces::paint_pieces(&painter, theme, &board, plan.board, above);
        if let Some(thought) = thought {
            // In a cell the piece to be takes the place of what the move is worth.
            let hidden = playable.filter(|_| !board.drops);
            pieces::paint_worth(&painter, theme, &board, plan.board, &worth, thought.agent, hidden);
        }
        if let Some((mover, cell)) = board.to_move.zip(playable.and_then(|action| board.landing(action))) {
            pieces::paint_ghost(&painter, theme, &board, plan.board, cell, mover);
        }
        if falling.is_none() {
            pieces::paint_lines(&painter, theme, &board, plan.board);
        } else {
            ui.request_repaint();
        }
        players::sides(ui, ctx, &board, &plan, actions);
    }

    /// A place to point at for each move, which a person presses to make it. Returns the move that is pointed at.
    fn moves(
        &mut self,
        ui: &mut Ui,
        ctx: &ViewCtx<'_>,
        board: &Board<'_>,
        (plan, worth): (&Plan, &Worth),
        actions: &mut Vec<Action>,
    ) -> Option<u32> {
        let mut pointed = None;
        for action in 0..board.moves() {
            let can_play = is_playable(ctx, board, action);
            let sense = if can_play { Sense::click() } else { Sense::hover() };
            let place = plan.place(board, action);
            let response = ui.interact(place, ui.scope_id().with(("move", action)), sense);
            if let Some(mover) = board.to_move.filter(|mover| ctx.snapshot.stage.waiting.contains(mover)) {
                let name = ctx.action_name(mover, action);
                let called = ctx.texts.f("stage.person.act", &[&(mover + 1).to_string(), &name]);
                response.widget_info(|| WidgetInfo::labeled(Role::Button, can_play, &called));
                focus_ring(ui, ctx.theme, place, &response);
                if response.clicked() {
                    self.played = Some(action);
                    actions.push(person::act(ctx, mover, action));
                }
            }
            if response.hover_pos().is_some() && !parts::is_covered(ui) {
                pointed = Some(action);
                if self.played != pointed {
                    parts::tip_above(ui, &response, |ui| tip(ui, ctx, board, action, worth));
                }
            }
            if can_play {
                response.on_hover_cursor(egui::CursorIcon::PointingHand);
            }
        }
        self.played = self.played.filter(|_| self.played == pointed);
        pointed
    }
}

/// Whether a person may make that move now.
fn is_playable(ctx: &ViewCtx<'_>, board: &Board<'_>, action: u32) -> bool {
    let stage = &ctx.snapshot.stage;
    board.to_move.is_some_and(|mover| {
        let legal = stage.legal.get(mover as usize).and_then(|legal| legal.get(action as usize));
        stage.waiting.contains(&mover) && legal.copied().unwrap_or(false) && board.landing(action).is_some()
    })
}

fn describe(response: &Response, ctx: &ViewCtx<'_>, board: &Board<'_>) {
    let row = |row: u32| -> String {
        let piece = |column: u32| match board.owner(row * board.columns + column) {
            Some(agent) => (agent + 1).to_string(),
            None => "·".to_owned(),
        };
        (0..board.columns).map(piece).collect()
    };
    let rows: Vec<String> = (0..board.rows).map(row).collect();
    let text = ctx.texts.f("stage.board.described", &[&rows.join(" / "), &sentence(ctx, board)]);
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &text));
}

/// Whose turn it is, or how the game ended.
pub(super) fn sentence(ctx: &ViewCtx<'_>, board: &Board<'_>) -> String {
    let (id, agent) = match (board.outcome, board.to_move) {
        (Some(Outcome::Won(agent)), _) => ("stage.board.won", agent),
        (Some(Outcome::Drawn), _) => ("stage.board.drawn", 0),
        (Some(Outcome::Illegal(agent)), _) => ("stage.board.illegal", agent),
        (None, Some(agent)) => ("stage.board.turn", agent),
        (None, None) => return String::new(),
    };
    ctx.texts.f(id, &[&(agent + 1).to_string()])
}

/// What a player that looks ahead sees behind a move.
fn foreseen(ctx: &ViewCtx<'_>, agent: u32, seen: Option<Foreseen>) -> String {
    let (id, plies) = match seen {
        Some(Foreseen::Win { plies }) => ("stage.board.foreseen.win", plies),
        Some(Foreseen::Loss { plies }) => ("stage.board.foreseen.loss", plies),
        Some(Foreseen::Nothing) | None => ("stage.board.foreseen.nothing", 0),
    };
    ctx.texts.f(id, &[&(agent + 1).to_string(), &plies.to_string()])
}

/// A move: where it is, what it is worth to the mover, and why it cannot be made.
fn tip(ui: &mut Ui, ctx: &ViewCtx<'_>, board: &Board<'_>, action: u32, worth: &Worth) {
    let (texts, theme) = (ctx.texts, ctx.theme);
    let cell = board.cell_of(action);
    let (row, column) = (cell / board.columns + 1, cell % board.columns + 1);
    let place = if board.drops {
        texts.f("stage.board.column", &[&column.to_string()])
    } else {
        texts.f("stage.cell.place", &[&column.to_string(), &row.to_string()])
    };
    ui.label(place);
    let dim = |text: String| RichText::new(text).color(theme.text_dim).small();
    if let (Some(value), Some(thought)) = (worth.of(action), &ctx.snapshot.stage.thought) {
        let agent = thought.agent;
        let (said, unit) = if let Some(seen) = thought.foreseen.get(action as usize) {
            (foreseen(ctx, agent, *seen), texts.t("stage.board.foreseen"))
        } else {
            let id = if ctx.facts.is_policy_gradient { "stage.board.pi" } else { "stage.board.q" };
            (texts.f(id, &[&numbers::subscript(agent + 1), &numbers::value(value)]), texts.t(q_unit(ctx)))
        };
        ui.colored_label(theme.agent_text(agent), said);
        ui.label(dim(unit.to_owned()));
    }
    let is_person = |agent: &u32| matches!(ctx.spec.learner.seats.of(*agent), Controller::Human(_));
    let has_person = (0..ctx.facts.num_agents).any(|agent| is_person(&agent));
    let why = match board.to_move {
        None => sentence(ctx, board),
        Some(_) if board.landing(action).is_none() && board.drops => texts.t("stage.board.full").to_owned(),
        Some(_) if board.landing(action).is_none() => {
            let owner = board.owner(cell).map_or_else(String::new, |agent| (agent + 1).to_string());
            texts.f("stage.board.taken", &[&owner])
        }
        Some(_) if is_playable(ctx, board, action) => texts.t("stage.board.play").to_owned(),
        Some(_) if has_person => sentence(ctx, board),
        Some(_) => return,
    };
    ui.label(dim(why));
}
