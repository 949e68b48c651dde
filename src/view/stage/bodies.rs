//! Discs in the plane, painted to scale: agents, landmarks, velocities, contacts, words.

use egui::{Align2, Color32, CornerRadius, FontId, Painter, Pos2, Rect, Shape, Stroke, Vec2, vec2};
use tandem_core::env::api::Particle;

use crate::view::stage::camera::{Projection, UNIT};
use crate::view::stage::ground::{edge_of, paint_agent};
use crate::view::stage::marks::{Mark, Round, Sizes};
use crate::view::theme::Theme;

/// An arrow shows where a body would be after so long, in the world's unit of time: two env steps.
const ARROW_TIME: f32 = 0.2;
/// Smallest radius on the screen, points.
const LEAST: f32 = 3.0;
/// Radius of a disc that stands for one out of sight, points.
const OUTSIDE: f32 = 9.0;

/// The box around a body and its arrow.
pub fn reach(body: &Particle, at: Vec2) -> Rect {
    let tip = at + Vec2::from(body.velocity) * ARROW_TIME;
    let around = |center: Vec2| Rect::from_center_size(center.to_pos2(), Vec2::splat(2.0 * body.radius));
    around(at).union(around(tip))
}

/// The square in which bodies start, with its axes; bodies may leave it.
pub fn paint_plane(painter: &Painter, theme: &Theme, shot: &Projection) {
    let screen = painter.clip_rect();
    let [low, high] = [vec2(-1.0, -1.0), vec2(1.0, 1.0)].map(|corner| shot.place(corner));
    let square = Rect::from_two_pos(low, high);
    painter.rect_filled(square, CornerRadius::ZERO, theme.mix(theme.cell, theme.card, 0.45));
    let middle = shot.place(Vec2::ZERO);
    let faint = Stroke::new(1.0, theme.line);
    painter.hline(screen.x_range(), middle.y, faint);
    painter.vline(middle.x, screen.y_range(), faint);
    let edge = Stroke::new(1.0, theme.line_strong);
    painter.rect_stroke(square, CornerRadius::ZERO, edge, egui::StrokeKind::Middle);
    let [left, right] = [square.left_center() + vec2(-4.0, -1.0), square.right_center() + vec2(4.0, -1.0)];
    let room = theme.size.tiny * 1.5;
    if screen.left() + room < left.x && right.x + room < screen.right() {
        painter.text(left, Align2::RIGHT_BOTTOM, "−1", theme.tiny(), theme.text_faint);
        painter.text(right, Align2::LEFT_BOTTOM, "1", theme.tiny(), theme.text_faint);
    }
}

/// A landmark: hollow, solid where it stands in the way, with a dot in its middle where it is the goal.
pub fn paint_landmark(painter: &Painter, theme: &Theme, shot: &Projection, landmark: &Particle) {
    let center = shot.place(landmark.at.into());
    let radius = (landmark.radius * shot.scale).max(LEAST + 1.0);
    let color = landmark.tint.map_or(theme.text_dim, |tint| theme.tint(tint));
    let fill = if landmark.collides { theme.wall } else { theme.fade(color, 0.14) };
    painter.circle(center, radius, fill, Stroke::new(2.0, color));
    if landmark.is_goal {
        painter.circle_stroke(center, radius + 4.0, Stroke::new(2.0, theme.pellet));
        painter.circle_filled(center, (radius * 0.4).max(2.0), theme.pellet);
    }
}

/// A landmark again where agents stand on it: a light spot in their colour, on which their numbers are read.
pub fn paint_covered(painter: &Painter, theme: &Theme, landmark: &Particle, round: Round, over: &[Round]) {
    let radius = round.radius.max(LEAST + 1.0);
    let on_it = |agent: &Round| agent.center.distance(round.center) < agent.radius + radius;
    for (agent, over) in (0_u32..).zip(over).filter(|(_, over)| on_it(over)) {
        let inside = painter.with_clip_rect(Rect::from_center_size(over.center, Vec2::splat(2.0 * over.radius)));
        let light = |share: f32| theme.mix(theme.agent_color(agent), Color32::WHITE, share);
        inside.circle(round.center, radius, light(0.45), Stroke::new(1.5, light(0.9)));
        if landmark.is_goal {
            inside.circle_filled(round.center, (radius * 0.4).max(2.0), theme.pellet);
        }
    }
}

/// The distance between an agent and what it is paid for, dashed in the agent's colour.
pub fn paint_pair(painter: &Painter, theme: &Theme, from: Pos2, to: Pos2, agent: u32) {
    let stroke = Stroke::new(1.3, theme.fade(theme.agent_color(agent), 0.75));
    painter.extend(Shape::dashed_line(&[from, to], stroke, 5.0, 4.0));
}

/// An agent's disc, without its number: a solid edge where it pushes what it touches, a dashed one where it passes
/// through.
pub fn paint_body(painter: &Painter, theme: &Theme, round: Round, body: &Particle, agent: u32, is_selected: bool) {
    let Round { center, radius } = round;
    let color = theme.agent_color(agent);
    if is_selected {
        painter.circle_stroke(center, radius + 3.2, Stroke::new(1.6, theme.text));
    }
    if body.collides {
        painter.circle_filled(center, radius, color);
    } else {
        painter.circle_filled(center, radius, theme.fade(color, 0.55));
    }
    if let Some(tint) = body.tint {
        painter.circle(
            center - Vec2::splat(radius * 0.82),
            (radius * 0.28).max(3.0),
            theme.tint(tint),
            Stroke::new(1.0, theme.card),
        );
    }
}

/// Its edge, which is seen whatever lies over the disc.
pub fn paint_edge(painter: &Painter, theme: &Theme, round: Round, body: &Particle, agent: u32) {
    if body.collides {
        painter.circle_stroke(round.center, round.radius, edge_of(theme, agent));
    } else {
        dashed_circle(painter, round.center, round.radius, Stroke::new(1.5, theme.agent_color(agent)));
    }
}

/// The room that an agent's number takes.
pub fn number_sizes(painter: &Painter, theme: &Theme, round: Round, agent: u32) -> Sizes {
    // Digits are lower than their line.
    let size = |font: FontId| {
        let height = font.size * 0.8;
        let galley = painter.layout_no_wrap((agent + 1).to_string(), font, theme.text);
        vec2(galley.size().x, height)
    };
    Sizes { inside: size(font_in(theme, round)), beside: size(font_beside(theme)) + vec2(4.0, 4.0) }
}

/// An agent's number where it stands: in its disc, or beside it, on a ground of its own and with a line where that is
/// not at the edge.
pub fn paint_number(painter: &Painter, theme: &Theme, round: Round, mark: Mark, body: &Particle, agent: u32) {
    let number = (agent + 1).to_string();
    let at = mark.rect.center();
    if mark.is_inside {
        let ink = if body.collides { theme.on_agent() } else { theme.text };
        painter.text(at, Align2::CENTER_CENTER, number, font_in(theme, round), ink);
        return;
    }
    leader(painter, round, mark.rect, 9.0, Stroke::new(1.2, theme.agent_text(agent)));
    painter.rect_filled(mark.rect, CornerRadius::same(4), theme.fade(theme.card, 0.85));
    painter.text(at, Align2::CENTER_CENTER, number, font_beside(theme), theme.agent_text(agent));
}

fn font_in(theme: &Theme, round: Round) -> FontId {
    FontId::proportional((round.radius * 0.95).clamp(theme.size.tiny, 26.0))
}

fn font_beside(theme: &Theme) -> FontId {
    theme.strong(theme.size.small)
}

/// A line from a disc to what belongs to it, if that is farther off than `least`.
fn leader(painter: &Painter, round: Round, rect: Rect, least: f32, stroke: Stroke) {
    let end = rect.clamp(round.center);
    let way = end - round.center;
    if way.length() > round.radius + least {
        painter.line_segment([round.center + way.normalized() * round.radius, end], stroke);
    }
}

/// Velocity, from the edge of the disc.
pub fn paint_velocity(painter: &Painter, theme: &Theme, shot: &Projection, body: &Particle, round: Round, agent: u32) {
    let step = shot.along(Vec2::from(body.velocity) * ARROW_TIME);
    if step.length() < 2.0 {
        return;
    }
    let along = step.normalized();
    let from = round.center + along * round.radius;
    let tip = from + step;
    let color = theme.agent_text(agent);
    let head = step.length().clamp(3.0, 6.5);
    painter.line_segment([from, tip - along * head * 0.6], Stroke::new(2.0, color));
    let side = along.rot90() * head * 0.55;
    let points = vec![tip, tip - along * head + side, tip - along * head - side];
    painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
}

/// Two bodies in contact: the outline of what both cover, where no number stands, and a flash there, `flash` of which is
/// over.
pub fn paint_contact(painter: &Painter, theme: &Theme, [a, b]: [Round; 2], flash: Option<f32>) {
    let across = b.center - a.center;
    let share = if a.radius + b.radius > 0.0 { a.radius / (a.radius + b.radius) } else { 0.5 };
    let reach = a.radius.min(b.radius);
    if let Some(t) = flash {
        let color = theme.fade(theme.bad, 1.0 - t);
        painter.circle_stroke(a.center + across * share, reach * (0.4 + 0.9 * t), Stroke::new(3.0 * (1.0 - t), color));
    }
    let outline = shared(a, b);
    let width = (reach * 0.16).clamp(1.5, 2.5);
    for stroke in [Stroke::new(2.0 * width, theme.card), Stroke::new(width, theme.bad)] {
        painter.add(Shape::closed_line(outline.clone(), stroke));
    }
}

/// The outline of what two discs share; a short bar where they only touch.
fn shared(a: Round, b: Round) -> Vec<Pos2> {
    const SIDES: u32 = 12;
    let across = b.center - a.center;
    let distance = across.length();
    let small = if a.radius < b.radius { a } else { b };
    if distance <= (a.radius - b.radius).abs() + 0.5 {
        let corner = |k: u32| small.center + Vec2::angled(k as f32 / 48.0 * std::f32::consts::TAU) * small.radius;
        return (0..48).map(corner).collect();
    }
    let along = across / distance;
    let least = (small.radius * 0.35).max(3.5);
    // The circles cross at ± `half` beside the place `near` of the line between their centres.
    let near = (distance * distance + a.radius * a.radius - b.radius * b.radius) / (2.0 * distance);
    let half = (a.radius * a.radius - near * near).max(0.0).sqrt();
    let middle = a.center + along * near.min(a.radius);
    if half < least {
        let side = along.rot90() * least;
        return vec![middle - side, middle + side];
    }
    let side = along.rot90() * half;
    let arc = |round: Round, from: Pos2, through: Vec2, to: Pos2| {
        let ends = [(from - round.center, through), (through, to - round.center)];
        let point = move |(from, to): (Vec2, Vec2), k: u32| {
            let share = k as f32 / SIDES as f32;
            round.center + (from * (1.0 - share) + to * share).normalized() * round.radius
        };
        ends.into_iter().flat_map(move |ends| (0..SIDES).map(move |k| point(ends, k)))
    };
    let [first, second] = [middle - side, middle + side];
    let of_a = arc(a, first, along * a.radius, second);
    of_a.chain(arc(b, second, -along * b.radius, first)).collect()
}

/// The room that what an agent says takes.
pub fn word_size(painter: &Painter, theme: &Theme, text: &str) -> Vec2 {
    painter.layout_no_wrap(text.to_owned(), theme.small(), theme.text).size() + vec2(10.0, 4.0)
}

/// What an agent says, on a tag at `place`.
pub fn paint_word(painter: &Painter, theme: &Theme, round: Round, place: Rect, agent: u32, text: &str) {
    let ink = theme.agent_text(agent);
    let line = Stroke::new(1.2, theme.agent_color(agent));
    leader(painter, round, place, 0.0, line);
    painter.rect(place, CornerRadius::same(5), theme.card, line, egui::StrokeKind::Inside);
    painter.text(place.center(), Align2::CENTER_CENTER, text, theme.small(), ink);
}

/// The disc that stands for an agent: its own, or where it is out of sight a small one at the edge of `screen`.
pub fn round_of(shot: &Projection, body: &Particle, center: Pos2, screen: Rect) -> Round {
    if screen.contains(center) {
        return Round { center, radius: (body.radius * shot.scale).max(LEAST) };
    }
    Round { center: screen.shrink(OUTSIDE + 5.0).clamp(center), radius: OUTSIDE }
}

/// A nose on that small disc: where the agent is, `center`.
pub fn paint_whereabouts(painter: &Painter, theme: &Theme, round: Round, center: Pos2, agent: u32) {
    let along = (center - round.center).normalized();
    super::grid::paint_nose(painter, theme, round.center, round.radius + 1.0, along, theme.agent_color(agent));
}

fn dashed_circle(painter: &Painter, center: Pos2, radius: f32, stroke: Stroke) {
    const SIDES: u32 = 48;
    let corner = |k: u32| center + Vec2::angled(k as f32 / SIDES as f32 * std::f32::consts::TAU) * radius;
    let points: Vec<Pos2> = (0..=SIDES).map(corner).collect();
    let dash = (radius * 0.35).clamp(2.5, 5.0);
    painter.extend(Shape::dashed_line(&points, stroke, dash, dash * 0.7));
}

/// All bodies, small and without words.
pub fn thumbnail(painter: &Painter, theme: &Theme, agents: &[Particle], landmarks: &[Particle], rect: Rect) {
    let all = agents.iter().chain(landmarks).map(|body| reach(body, body.at.into())).fold(UNIT, Rect::union);
    let shot = Projection::of(all, rect);
    painter.rect(rect, CornerRadius::same(2), theme.cell, Stroke::new(1.0, theme.line), egui::StrokeKind::Inside);
    for landmark in landmarks {
        let color: Color32 = landmark.tint.map_or(theme.text_dim, |tint| theme.tint(tint));
        let radius = (landmark.radius * shot.scale).max(2.0);
        painter.circle_stroke(shot.place(landmark.at.into()), radius, Stroke::new(1.2, color));
    }
    for (agent, body) in (0_u32..).zip(agents) {
        let radius = (body.radius * shot.scale).max(LEAST);
        paint_agent(painter, theme, shot.place(body.at.into()), radius, agent, false);
    }
}
