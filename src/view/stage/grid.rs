//! Grid worlds on the stage: their agents under way, what is laid over them, clicks that select and edit.

use egui::vec2;
use egui::{Color32, Mesh, Painter, Pos2, Rect, Response, Sense, Stroke, StrokeKind, Ui, Vec2};
use tandem_core::env::api::{Frame, ThingKind};
use tandem_core::experiment::snapshot::Stage;
use tandem_core::experiment::spec::{CellKind, EnvChoice, GridMap};

use crate::view::api::{Action, EditMode, ViewCtx};
use crate::view::numbers;
use crate::view::parts;
use crate::view::stage::edit;
use crate::view::stage::ground::{
    World, corner, gap, paint_agent, paint_badge, paint_cell, paint_evaders, paint_sight, paint_things,
};
use crate::view::stage::marks::{self, Round};
use crate::view::stage::motion::{Disc, Moment, Motion, discs};
use crate::view::stage::overlay::{self, Overlay};
use crate::view::theme::Theme;

/// What of the picture outlives a frame.
#[derive(Debug, Default)]
pub struct GridStage {
    motion: Motion,
    /// Cells painted since the pointer went down, and with what.
    stroke: Option<(CellKind, Vec<u32>)>,
}

impl GridStage {
    /// Fills the space of `ui` with the world of `frame`; does nothing for other frames.
    pub fn ui(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, frame: &Frame, overlay: Overlay, actions: &mut Vec<Action>) {
        let Some(world) = World::of(frame) else { return };
        // Until the run has caught up with an edit of the size there is nothing to click on.
        let size = (ctx.wanted.pellet.width, ctx.wanted.pellet.height);
        let is_editing = ctx.edit != EditMode::None && size == (world.width, world.height);
        let sense = if is_editing { Sense::CLICK | Sense::DRAG } else { Sense::CLICK };
        let (rect, response) = ui.allocate_exact_size(ui.available_size(), sense);
        // Badges hang over the edge of small cells.
        let grid = world.fit(rect.shrink(if world.levels.is_empty() { 2.0 } else { 6.0 }));
        let painter = ui.painter_at(rect);
        let now = ui.input(|input| input.time);
        self.motion.follow(now, moment(ctx), world.discs(grid), world.arrived);

        let shown = if is_editing { ctx.wanted } else { ctx.spec };
        let has_map = shown.env == EnvChoice::Pellet;
        let map = if has_map { edit::map_of(&shown.pellet) } else { GridMap::default() };
        let painted = |cell: u32| match &self.stroke {
            Some((kind, cells)) if cells.contains(&cell) => Some(*kind),
            _ => None,
        };
        for cell in 0..world.width * world.height {
            // In play the walls are the episode's own; while editing the map is the spec's, with the stroke on top.
            let is_wall = world.walls.get(cell as usize).copied().unwrap_or(false);
            let kind = match map.cells.get(cell as usize).copied().unwrap_or_default() {
                kind if is_editing => painted(cell).unwrap_or(kind),
                CellKind::NoPellet if !is_wall => CellKind::NoPellet,
                _ if is_wall => CellKind::Wall,
                _ => CellKind::Free,
            };
            paint_cell(&painter, ctx.theme, world.cell(grid, cell), kind, is_editing);
        }
        if !is_editing {
            paint_overlay(&painter, ctx, &world, grid, overlay);
        }
        paint_things(&painter, ctx.theme, &world, grid);
        if is_editing && matches!(ctx.edit, EditMode::Start(_)) {
            paint_starts(&painter, ctx, &world, grid);
        } else {
            self.paint_agents(&painter, ctx, &world, grid, now);
        }
        if self.motion.is_moving(now) {
            ui.request_repaint();
        }
        if is_editing {
            self.edit(&response, ctx, &world, grid, actions);
        } else {
            select(&response, &world, grid, &self.motion.discs_at(now)[..world.agents.len()], actions);
        }
        describe(&response, ctx, &world);
        let under = response.hover_pos().and_then(|at| overlay::cell_under(grid, world.width, world.height, at));
        if let Some(cell) = under.filter(|_| !is_editing && !parts::is_covered(ui)) {
            let edge = world.cell(grid, cell).expand(gap(grid.width() / world.width as f32) * 0.5);
            painter.rect_stroke(edge, corner(edge), Stroke::new(1.0, ctx.theme.line_strong), StrokeKind::Middle);
            parts::tip_now(ui, &response, |ui| cell_tip(ui, ctx, &world, cell));
        }
    }

    fn paint_agents(&self, painter: &Painter, ctx: &ViewCtx<'_>, world: &World<'_>, grid: Rect, now: f64) {
        let theme = ctx.theme;
        let size = grid.width() / world.width as f32;
        let all = self.motion.discs_at(now);
        let discs = &all[..world.agents.len()];
        for (agent, disc) in discs.iter().enumerate() {
            if let Some(t) = self.motion.pulse(agent, now) {
                let color = theme.fade(theme.agent_color(agent as u32), 1.0 - t);
                let center = grid.min + disc.at * size;
                painter.circle_stroke(center, size * (disc.radius + 0.35 * t), Stroke::new(3.0 * (1.0 - t), color));
            }
        }
        for (agent, disc) in (0_u32..).zip(discs) {
            let center = grid.min + disc.at * size;
            let is_selected = agent == ctx.selected_agent && world.agents.len() > 1;
            paint_agent(painter, theme, center, disc.radius * size, agent, is_selected);
            if let Some(&level) = world.levels.get(agent as usize) {
                paint_badge(painter, theme, center, disc.radius * size, agent, level);
            }
            let is_over = ctx.snapshot.stage.ended;
            if let Some(along) = next_direction(ctx, agent).filter(|along| *along != Vec2::ZERO && !is_over) {
                let edge = disc.radius * size + if is_selected { 4.5 } else { 1.0 };
                paint_nose(painter, theme, center, edge, along, theme.agent_color(agent));
            }
        }
        paint_evaders(painter, theme, world, grid, &all);
        for (agent, disc) in (0_u32..).zip(discs) {
            let paid = ctx.snapshot.stage.rewards.get(agent as usize);
            if let Some((t, &reward)) = self.motion.pulse(agent as usize, now).zip(paid) {
                let is_selected = agent == ctx.selected_agent && world.agents.len() > 1;
                let radius = size * disc.radius + if is_selected { 4.0 } else { 1.0 };
                let round = Round { center: grid.min + disc.at * size, radius };
                paint_paid(painter, theme, round, 0.15 * size * t, agent, (t, reward));
            }
        }
    }

    fn edit(
        &mut self,
        response: &Response,
        ctx: &ViewCtx<'_>,
        world: &World<'_>,
        grid: Rect,
        actions: &mut Vec<Action>,
    ) {
        let at = response.interact_pointer_pos();
        let under = at.and_then(|at| overlay::cell_under(grid, world.width, world.height, at));
        if let EditMode::Start(agent) = ctx.edit {
            if let Some(cell) = under.filter(|_| response.clicked() || response.drag_stopped()) {
                actions.extend(edit::move_start(ctx.wanted, agent, cell).map(|spec| Action::EditSpec(Box::new(spec))));
            }
            return;
        }
        let brush = if ctx.edit == EditMode::Pellets { CellKind::NoPellet } else { CellKind::Wall };
        let is_down = response.is_pointer_button_down_on() || response.clicked();
        if let Some(cell) = under.filter(|_| is_down) {
            // The first cell decides whether the stroke paints or wipes.
            let map = edit::map_of(&ctx.wanted.pellet);
            let has_it = map.cells.get(cell as usize) == Some(&brush);
            let first = if has_it { CellKind::Free } else { brush };
            let (_, cells) = self.stroke.get_or_insert((first, Vec::new()));
            if !cells.contains(&cell) {
                cells.push(cell);
            }
        }
        if !response.is_pointer_button_down_on()
            && let Some((kind, cells)) = self.stroke.take()
        {
            actions.push(Action::EditSpec(Box::new(edit::paint(ctx.wanted, &cells, kind))));
        }
    }
}

/// The moment on stage.
pub(super) fn moment(ctx: &ViewCtx<'_>) -> Moment {
    let stage = &ctx.snapshot.stage;
    Moment { episode: (ctx.snapshot.run, stage.is_training_env, stage.env_index, stage.episode), step: stage.step }
}

fn paint_overlay(painter: &Painter, ctx: &ViewCtx<'_>, world: &World<'_>, grid: Rect, chosen: Overlay) {
    let stage = &ctx.snapshot.stage;
    let theme = ctx.theme;
    let names = ctx.actions(ctx.selected_agent);
    let is_ready = stage.overlay_agent == ctx.selected_agent;
    let values = if is_ready { stage.overlay.as_slice() } else { &[] };
    let cells = (0_u32..).zip(values).filter(|(_, q)| !q.is_empty());
    match chosen {
        Overlay::Arrows => {
            let opacities = overlay::opacities(values);
            for (cell, q) in cells {
                // Mixed, not transparent: the strokes of an arrow overlap.
                let color = theme.mix(theme.cell, theme.agent_color(ctx.selected_agent), opacities[cell as usize]);
                overlay::paint_arrows(painter, world.cell(grid, cell), q, names, color);
            }
        }
        Overlay::Q => {
            let Some(range) = overlay::range(values) else { return };
            // Probabilities have ends of their own.
            let range = if ctx.facts.is_policy_gradient { (0.0, 1.0) } else { range };
            let mut mesh = Mesh::default();
            for (cell, q) in cells.clone() {
                overlay::push_q(&mut mesh, theme, world.cell(grid, cell), q, names, range);
            }
            painter.add(mesh);
            for (cell, q) in cells {
                overlay::paint_q_details(painter, theme, world.cell(grid, cell), q, names, range);
            }
        }
        Overlay::None | Overlay::Sight => {}
    }
    if chosen != Overlay::None {
        paint_sight(painter, ctx, world, grid, chosen == Overlay::Sight);
    }
}

fn paint_starts(painter: &Painter, ctx: &ViewCtx<'_>, world: &World<'_>, grid: Rect) {
    let size = grid.width() / world.width as f32;
    let starts: Vec<Disc> = discs(&edit::starts_of(&ctx.wanted.pellet), world.width, 0.27);
    for (agent, disc) in (0_u32..).zip(starts) {
        let is_moved = ctx.edit == EditMode::Start(agent);
        paint_agent(painter, ctx.theme, grid.min + disc.at * size, disc.radius * size, agent, is_moved);
    }
}

/// Where an agent's greedy action leads from the state on stage.
fn next_direction(ctx: &ViewCtx<'_>, agent: u32) -> Option<Vec2> {
    let action = *ctx.snapshot.stage.greedy.get(agent as usize)?;
    ctx.facts.action(agent, action).map(|name| overlay::direction(&name.id))
}

/// What an arrival paid moves away from the agent, `t` of its way over.
fn paint_paid(painter: &Painter, theme: &Theme, disc: Round, rise: f32, agent: u32, (t, reward): (f32, f32)) {
    let ink = theme.fade(theme.agent_text(agent), 1.0 - t * t);
    let paid = numbers::signed(reward, numbers::payoff);
    let galley = painter.layout_no_wrap(paid, theme.strong(theme.size.body), ink);
    // Digits are lower than their line.
    let size = galley.size() * vec2(1.0, 0.8) + vec2(6.0, 0.0);
    let place = marks::paid(disc, size, rise, painter.clip_rect());
    painter.rect_filled(place, corner(place), theme.fade(theme.cell, 0.85 * (1.0 - t * t)));
    painter.galley(place.center() - galley.size() / 2.0, galley, ink);
}

/// A small tip at a disc's edge: where the agent is about to go.
pub(super) fn paint_nose(painter: &Painter, theme: &Theme, center: Pos2, edge: f32, along: Vec2, color: Color32) {
    let side = vec2(-along.y, along.x);
    let base = center + along * edge;
    let length = (edge * 0.3).clamp(3.0, 8.0);
    let points = vec![base + along * length, base + side * length * 0.75, base - side * length * 0.75];
    let outline = Stroke::new(1.0, theme.mix(color, theme.on_agent(), 0.45));
    painter.add(egui::Shape::convex_polygon(points, color, outline));
}

fn select(response: &Response, world: &World<'_>, grid: Rect, discs: &[Disc], actions: &mut Vec<Action>) {
    if !response.clicked() {
        return;
    }
    let Some(at) = response.interact_pointer_pos() else { return };
    let size = grid.width() / world.width as f32;
    let place = (at - grid.min) / size;
    // A finger is wide: the nearest disc within half a cell is meant.
    let distances = (0_u32..).zip(discs).map(|(agent, disc)| (agent, (disc.at - place).length()));
    let nearest = distances.min_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((agent, _)) = nearest.filter(|(_, distance)| *distance < 0.5) {
        actions.push(Action::Observe(agent));
    }
}

fn describe(response: &Response, ctx: &ViewCtx<'_>, world: &World<'_>) {
    let place = |cell: u32, level: Option<u32>| {
        let level = level.map_or_else(String::new, |level| format!(": {level}"));
        format!("({}, {}{level})", cell % world.width + 1, cell / world.width + 1)
    };
    let levels = world.levels.iter().map(|&level| Some(level)).chain(std::iter::repeat(None));
    let agents: Vec<String> = world.agents.iter().zip(levels).map(|(&cell, level)| place(cell, level)).collect();
    let has_level = |level: u32| (level > 0).then_some(level);
    let things: Vec<String> = world.things.iter().map(|thing| place(thing.cell, has_level(thing.level))).collect();
    let id = match world.things.first().map(|thing| thing.kind) {
        Some(ThingKind::Food) => "stage.grid.described.food",
        Some(ThingKind::Evader) => "stage.grid.described.evaders",
        Some(ThingKind::Pellet) | None => "stage.grid.described",
    };
    let text = ctx.texts.f(id, &[&agents.join(" "), &things.join(" ")]);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &text));
}

/// What stands in a cell, in words: agents with their levels, food, evaders.
fn standing(ctx: &ViewCtx<'_>, world: &World<'_>, cell: u32) -> Vec<(String, Color32)> {
    let mut lines = Vec::new();
    for (agent, _) in (0_u32..).zip(world.agents).filter(|(_, at)| **at == cell) {
        if let Some(level) = world.levels.get(agent as usize) {
            let args = [(agent + 1).to_string(), level.to_string()];
            lines.push((ctx.texts.f("stage.cell.agent", &[&args[0], &args[1]]), ctx.theme.agent_text(agent)));
        }
    }
    for thing in world.things.iter().filter(|thing| thing.cell == cell) {
        let id = match thing.kind {
            ThingKind::Pellet => continue,
            ThingKind::Food => "stage.cell.food",
            ThingKind::Evader => "stage.cell.evader",
        };
        lines.push((ctx.texts.f(id, &[&thing.level.to_string()]), ctx.theme.text));
    }
    lines
}

fn cell_tip(ui: &mut Ui, ctx: &ViewCtx<'_>, world: &World<'_>, cell: u32) {
    let texts = ctx.texts;
    let stage: &Stage = &ctx.snapshot.stage;
    let (column, row) = (cell % world.width + 1, cell / world.width + 1);
    ui.label(texts.f("stage.cell.place", &[&column.to_string(), &row.to_string()]));
    for (line, color) in standing(ctx, world, cell) {
        ui.colored_label(color, line);
    }
    let q = stage.overlay.get(cell as usize).filter(|q| !q.is_empty() && stage.overlay_agent == ctx.selected_agent);
    let Some(q) = q else { return };
    let agent = (ctx.selected_agent + 1).to_string();
    ui.label(egui::RichText::new(texts.f("stage.cell.if", &[&agent])).color(ctx.theme.text_dim).small());
    let best = overlay::best_actions(q);
    egui::Grid::new("cell q").num_columns(2).spacing(vec2(12.0, 2.0)).show(ui, |ui| {
        for (action, value) in (0_u32..).zip(q) {
            let color = if best.contains(&action) { ctx.theme.text } else { ctx.theme.text_dim };
            ui.colored_label(color, ctx.action_name(ctx.selected_agent, action));
            ui.colored_label(color, numbers::value(*value));
            ui.end_row();
        }
    });
    ui.label(egui::RichText::new(texts.t(q_unit(ctx))).color(ctx.theme.text_dim).small());
}

/// Text id of what a Q-value is under the algorithm.
pub fn q_unit(ctx: &ViewCtx<'_>) -> &'static str {
    use tandem_core::experiment::spec::AlgoChoice;
    match ctx.spec.algo {
        AlgoChoice::Iql => "q.unit.return",
        AlgoChoice::Vdn | AlgoChoice::Qmix => "q.unit.utility",
        AlgoChoice::Ippo | AlgoChoice::Mappo | AlgoChoice::Coma => "q.unit.probability",
    }
}
