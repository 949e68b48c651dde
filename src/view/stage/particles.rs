//! Particle worlds on the stage: discs under way between env steps, and the camera over them.

use egui::{Painter, Pos2, Rect, Response, RichText, Role, Sense, Ui, Vec2, WidgetInfo, vec2};
use tandem_core::env::api::{Frame, Particle};

use crate::view::api::{Action, ViewCtx};
use crate::view::numbers;
use crate::view::parts;
use crate::view::stage::bodies;
use crate::view::stage::camera::{Camera, Mode, Projection, UNIT};
use crate::view::stage::grid::moment;
use crate::view::stage::marks::{Round, Scene};
use crate::view::stage::motion::{Disc, Motion};
use crate::view::widgets::segmented;

/// Half the side of what is shown around an agent that is followed.
const AROUND: f32 = 0.9;
/// Share of its size that the plane is shown beyond what must be seen.
const MARGIN: f32 = 0.05;

/// What of the picture outlives a frame.
#[derive(Debug, Default)]
pub struct ParticleStage {
    motion: Motion,
    camera: Camera,
}

impl ParticleStage {
    /// What the camera does: two buttons.
    pub fn controls(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>) {
        let texts = ctx.texts;
        let options = [
            (Mode::Fit, texts.t("stage.camera.fit"), texts.t("stage.camera.fit.tip")),
            (Mode::Follow, texts.t("stage.camera.follow"), texts.t("stage.camera.follow.tip")),
        ];
        if let Some(mode) = segmented(ui, ctx.theme, &options, self.camera.mode) {
            self.camera.mode = mode;
        }
    }

    /// Whether the camera follows the selected agent.
    pub fn follows(&self) -> bool {
        self.camera.mode == Mode::Follow
    }

    /// Fills the space of `ui` with the world of `frame`; does nothing for other frames.
    pub fn ui(&mut self, ui: &mut Ui, ctx: &ViewCtx<'_>, frame: &Frame, actions: &mut Vec<Action>) {
        let Frame::Particles { agents, landmarks, pairs, touching, words } = frame else { return };
        let theme = ctx.theme;
        let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::CLICK);
        let painter = ui.painter_at(rect);
        let now = ui.input(|input| input.time);
        let touches = |agent: u32| touching.iter().any(|&(a, b)| a == agent || b == agent);
        let in_contact: Vec<bool> = (0..agents.len() as u32).map(touches).collect();
        self.motion.follow(now, moment(ctx), discs(agents), &in_contact);
        let places = self.motion.discs_at(now);
        self.look(now, ctx, agents, landmarks, &places);
        let shot = self.camera.onto(rect);
        if self.motion.is_moving(now) || self.camera.is_moving() {
            ui.request_repaint();
        }

        painter.rect_filled(rect, theme.size.radius_field, theme.cell);
        bodies::paint_plane(&painter, theme, &shot);
        let on_screen: Vec<Pos2> = places.iter().map(|disc| shot.place(disc.at)).collect();
        for &(agent, landmark) in pairs {
            let ends = (on_screen.get(agent as usize), landmarks.get(landmark as usize));
            if let (Some(&from), Some(landmark)) = ends {
                bodies::paint_pair(&painter, theme, from, shot.place(landmark.at.into()), agent);
            }
        }
        for landmark in landmarks {
            bodies::paint_landmark(&painter, theme, &shot, landmark);
        }
        let rounds: Vec<Round> =
            agents.iter().zip(&on_screen).map(|(body, &center)| bodies::round_of(&shot, body, center, rect)).collect();
        self.paint_agents(&painter, ctx, &shot, (agents, &on_screen, &rounds), (touching, now));
        let other = |body: &Particle| Round { center: shot.place(body.at.into()), radius: body.radius * shot.scale };
        let others: Vec<Round> = landmarks.iter().map(other).collect();
        for (landmark, &other) in landmarks.iter().zip(&others).filter(|(landmark, _)| !landmark.collides) {
            bodies::paint_covered(&painter, theme, landmark, other, &rounds);
        }
        let scene = Scene { rounds: &rounds, others: &others, screen: rect.shrink(2.0) };
        paint_marks(&painter, ctx, &scene, agents, words);
        describe(&response, ctx, agents, landmarks);
        if let Some(at) = response.interact_pointer_pos().filter(|_| response.clicked()) {
            // A finger is wide: the nearest agent within its reach is meant.
            let least = theme.size.control / 2.0;
            let reach = |agent: u32| (agents[agent as usize].radius * shot.scale).max(least);
            let shown: Vec<Pos2> = rounds.iter().map(|round| round.center).collect();
            if let Some(agent) = nearest(&shown, at, reach) {
                actions.push(Action::Observe(agent));
            }
        }
        if let Some(at) = response.hover_pos().filter(|_| !parts::is_covered(ui)) {
            let reach = |radius: f32| (radius * shot.scale).max(9.0);
            let of = |agent: u32| reach(agents[agent as usize].radius);
            if let Some(agent) = nearest(&on_screen, at, of) {
                let word = words.get(agent as usize).copied().flatten();
                parts::tip_now(ui, &response, |ui| agent_tip(ui, ctx, agent, &agents[agent as usize], word));
            } else if let Some(index) = landmark_at(landmarks, &shot, at, reach) {
                parts::tip_now(ui, &response, |ui| landmark_tip(ui, ctx, index, &landmarks[index as usize]));
            }
        }
    }

    /// The agents without their numbers: discs, the edges of all, and where they touch.
    fn paint_agents(
        &self,
        painter: &Painter,
        ctx: &ViewCtx<'_>,
        shot: &Projection,
        (agents, on_screen, rounds): (&[Particle], &[Pos2], &[Round]),
        (touching, now): (&[(u32, u32)], f64),
    ) {
        let theme = ctx.theme;
        let screen = painter.clip_rect();
        for (agent, ((body, &center), &round)) in (0_u32..).zip(agents.iter().zip(on_screen).zip(rounds)) {
            if screen.contains(center) {
                bodies::paint_velocity(painter, theme, shot, body, round, agent);
            } else {
                bodies::paint_whereabouts(painter, theme, round, center, agent);
            }
            let is_selected = agent == ctx.selected_agent && agents.len() > 1;
            bodies::paint_body(painter, theme, round, body, agent, is_selected);
        }
        for (agent, (body, &round)) in (0_u32..).zip(agents.iter().zip(rounds)) {
            bodies::paint_edge(painter, theme, round, body, agent);
        }
        // Discs that only stand for others, at the edge of the screen, touch nobody.
        let seen = |agent: u32| {
            let is_seen = on_screen.get(agent as usize).is_some_and(|center| screen.contains(*center));
            rounds.get(agent as usize).copied().filter(|_| is_seen)
        };
        for &(a, b) in touching {
            if let (Some(one), Some(two)) = (seen(a), seen(b)) {
                bodies::paint_contact(painter, theme, [one, two], self.motion.pulse(a as usize, now));
            }
        }
    }

    fn look(&mut self, now: f64, ctx: &ViewCtx<'_>, agents: &[Particle], landmarks: &[Particle], places: &[Disc]) {
        let followed = places.get(ctx.selected_agent as usize).filter(|_| self.camera.mode == Mode::Follow);
        if let Some(disc) = followed {
            let part = Rect::from_center_size(disc.at.to_pos2(), Vec2::splat(2.0 * AROUND));
            let needed = Rect::from_center_size(part.center(), Vec2::splat(2.0 * disc.radius));
            self.camera.follow(now, moment(ctx), part, needed);
            return;
        }
        let bodies = agents.iter().zip(places).map(|(body, disc)| bodies::reach(body, disc.at));
        let fixed = landmarks.iter().map(|landmark| bodies::reach(landmark, landmark.at.into()));
        let needed = bodies.chain(fixed).fold(UNIT, Rect::union);
        let wanted = needed.expand(MARGIN * needed.width().max(needed.height()));
        self.camera.follow(now, moment(ctx), wanted, needed);
    }
}

/// Numbers and words, above everything else.
fn paint_marks(painter: &Painter, ctx: &ViewCtx<'_>, scene: &Scene<'_>, agents: &[Particle], words: &[Option<u32>]) {
    let theme = ctx.theme;
    let number_of = |(agent, &round): (u32, &Round)| bodies::number_sizes(painter, theme, round, agent);
    let marks = scene.numbers(&(0..).zip(scene.rounds).map(number_of).collect::<Vec<_>>());
    for (agent, ((&round, &mark), body)) in (0_u32..).zip(scene.rounds.iter().zip(&marks).zip(agents)) {
        bodies::paint_number(painter, theme, round, mark, body, agent);
    }
    let mut taken: Vec<Rect> = marks.iter().map(|mark| mark.rect).collect();
    for (agent, word) in (0_u32..).zip(words).filter_map(|(agent, word)| Some((agent, (*word)?))) {
        let text = ctx.texts.f("stage.says", &[&(word + 1).to_string()]);
        let own = agent as usize;
        if let Some(place) = scene.tag(own, bodies::word_size(painter, theme, &text), &taken) {
            bodies::paint_word(painter, theme, scene.rounds[own], place, agent, &text);
            taken.push(place);
        }
    }
}

fn discs(agents: &[Particle]) -> Vec<Disc> {
    (0..).zip(agents).map(|(key, body)| Disc { key, at: body.at.into(), radius: body.radius }).collect()
}

/// The body nearest to `at` of those whose reach it is in.
fn nearest(places: &[Pos2], at: Pos2, reach: impl Fn(u32) -> f32) -> Option<u32> {
    let distances = (0_u32..).zip(places).map(|(index, place)| (index, place.distance(at)));
    let inside = distances.filter(|&(index, distance)| distance <= reach(index));
    inside.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index)
}

fn landmark_at(landmarks: &[Particle], shot: &Projection, at: Pos2, reach: impl Fn(f32) -> f32) -> Option<u32> {
    let places: Vec<Pos2> = landmarks.iter().map(|landmark| shot.place(landmark.at.into())).collect();
    nearest(&places, at, |index| reach(landmarks[index as usize].radius))
}

fn pair(numbers: [f32; 2]) -> String {
    let [x, y] = numbers.map(numbers::short);
    format!("({x}, {y})")
}

fn describe(response: &Response, ctx: &ViewCtx<'_>, agents: &[Particle], landmarks: &[Particle]) {
    let list = |bodies: &[Particle]| bodies.iter().map(|body| pair(body.at)).collect::<Vec<_>>().join(" ");
    let text = ctx.texts.f("stage.particles.described", &[&list(agents), &list(landmarks)]);
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &text));
}

fn agent_tip(ui: &mut Ui, ctx: &ViewCtx<'_>, agent: u32, body: &Particle, word: Option<u32>) {
    let (texts, theme) = (ctx.texts, ctx.theme);
    let name = texts.f("agent.name", &[&(agent + 1).to_string()]);
    let role = ctx.facts.role(agent).filter(|role| role.id != "role.agent").map(|role| texts.t(&role.id));
    let name = role.map_or_else(|| name.clone(), |role| format!("{name} · {role}"));
    ui.colored_label(theme.agent_text(agent), name);
    let speed = Vec2::from(body.velocity).length();
    egui::Grid::new("body").num_columns(2).spacing(vec2(12.0, 2.0)).show(ui, |ui| {
        let mut row = |id: &str, value: String| {
            ui.label(RichText::new(texts.t(id)).color(theme.text_dim).small());
            ui.label(value);
            ui.end_row();
        };
        row("stage.body.position", pair(body.at));
        row("stage.body.velocity", pair(body.velocity));
        row("stage.body.speed", numbers::short(speed));
        row("stage.body.radius", numbers::payoff(body.radius));
        if let Some(word) = word {
            row("stage.body.word", (word + 1).to_string());
        }
    });
    let id = if body.collides { "stage.body.collides" } else { "stage.body.passes" };
    ui.label(RichText::new(texts.t(id)).color(theme.text_dim).small());
}

fn landmark_tip(ui: &mut Ui, ctx: &ViewCtx<'_>, index: u32, landmark: &Particle) {
    let texts = ctx.texts;
    let id = if landmark.is_goal { "stage.landmark.goal" } else { "stage.landmark" };
    ui.label(texts.f(id, &[&(index + 1).to_string()]));
    let place = format!("{} {}", texts.t("stage.body.position"), pair(landmark.at));
    ui.label(RichText::new(place).color(ctx.theme.text_dim).small());
    if landmark.collides {
        ui.label(RichText::new(texts.t("stage.body.collides")).color(ctx.theme.text_dim).small());
    }
}
