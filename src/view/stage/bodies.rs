//! Discs in the plane, painted to scale: agents, landmarks, velocities, contacts, words.

use egui::{Align2, Color32, CornerRadius, FontId, Painter, Pos2, Rect, Shape, Stroke, Vec2, vec2};
use tandem_core::env::api::Particle;

use crate::view::stage::camera::{Projection, UNIT};
use crate::view::stage::ground::paint_agent;
use crate::view::theme::Theme;

/// An arrow shows where a body would be after so long, in the world's unit of time: two env steps.
const ARROW_TIME: f32 = 0.2;
/// Smallest radius on the screen, points.
const LEAST: f32 = 3.0;

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

/// The distance between an agent and what it is paid for, dashed in the agent's colour.
pub fn paint_pair(painter: &Painter, theme: &Theme, from: Pos2, to: Pos2, agent: u32) {
    let stroke = Stroke::new(1.3, theme.fade(theme.agent_color(agent), 0.75));
    painter.extend(Shape::dashed_line(&[from, to], stroke, 5.0, 4.0));
}

/// An agent's disc: a solid edge where it pushes what it touches, a dashed one where it passes through.
pub fn paint_body(
    painter: &Painter,
    theme: &Theme,
    shot: &Projection,
    body: &Particle,
    center: Pos2,
    agent: u32,
    is_selected: bool,
) {
    let radius = (body.radius * shot.scale).max(LEAST);
    let color = theme.agent_color(agent);
    if body.collides {
        paint_agent(painter, theme, center, radius, agent, is_selected);
    } else {
        if is_selected {
            painter.circle_stroke(center, radius + 3.5, Stroke::new(1.6, theme.text));
        }
        painter.circle_filled(center, radius, theme.fade(color, 0.55));
        dashed_circle(painter, center, radius, Stroke::new(1.5, color));
        if radius >= 6.0 {
            let font = FontId::proportional((radius * 0.95).min(26.0));
            painter.text(center, Align2::CENTER_CENTER, (agent + 1).to_string(), font, theme.text);
        }
    }
    if radius < 6.0 {
        // Too small for its number, which then stands beside it.
        let at = center + vec2(radius + 3.0, -radius - 1.0);
        painter.text(at, Align2::LEFT_CENTER, (agent + 1).to_string(), theme.tiny(), theme.agent_text(agent));
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

/// Velocity, from the edge of the disc.
pub fn paint_velocity(painter: &Painter, theme: &Theme, shot: &Projection, body: &Particle, center: Pos2, agent: u32) {
    let step = shot.along(Vec2::from(body.velocity) * ARROW_TIME);
    if step.length() < 2.0 {
        return;
    }
    let along = step.normalized();
    let from = center + along * (body.radius * shot.scale).max(LEAST);
    let tip = from + step;
    let color = theme.agent_text(agent);
    let head = step.length().clamp(3.0, 6.5);
    painter.line_segment([from, tip - along * head * 0.6], Stroke::new(2.0, color));
    let side = along.rot90() * head * 0.55;
    let points = vec![tip, tip - along * head + side, tip - along * head - side];
    painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
}

/// Two bodies in contact: a bar across the place where they meet, and a flash there, `flash` of which is over.
pub fn paint_contact(painter: &Painter, theme: &Theme, a: (Pos2, f32), b: (Pos2, f32), flash: Option<f32>) {
    let across = b.0 - a.0;
    let share = if a.1 + b.1 > 0.0 { a.1 / (a.1 + b.1) } else { 0.5 };
    let at = a.0 + across * share;
    let reach = a.1.min(b.1);
    if let Some(t) = flash {
        let color = theme.fade(theme.bad, 1.0 - t);
        painter.circle_stroke(at, reach * (0.4 + 0.9 * t), Stroke::new(3.0 * (1.0 - t), color));
    }
    let side = across.normalized().rot90() * (reach * 0.6).max(4.0);
    let width = (reach * 0.16).clamp(1.5, 3.0);
    painter.line_segment([at - side, at + side], Stroke::new(2.0 * width, theme.card));
    painter.line_segment([at - side, at + side], Stroke::new(width, theme.bad));
}

/// What an agent says: the word's number, from 1, on a tag beside it, inside `screen`.
pub fn paint_word(painter: &Painter, theme: &Theme, center: Pos2, radius: f32, agent: u32, word: u32, screen: Rect) {
    let color = theme.agent_text(agent);
    let galley = painter.layout_no_wrap(format!("“{}”", word + 1), theme.small(), color);
    let size = galley.size() + vec2(10.0, 4.0);
    let near = center + vec2(radius * 0.75, -radius * 0.75);
    let place = Rect::from_min_size(near + vec2(3.0, -size.y - 2.0), size);
    let inside = screen.shrink(2.0);
    let shift = |low: f32, high: f32, from: f32, to: f32| (from - low).max(0.0) + (to - high).min(0.0);
    let place = place.translate(vec2(
        shift(place.left(), place.right(), inside.left(), inside.right()),
        shift(place.top(), place.bottom(), inside.top(), inside.bottom()),
    ));
    let line = Stroke::new(1.2, theme.agent_color(agent));
    painter.line_segment([near, place.left_bottom() + vec2(3.0, -2.0)], line);
    painter.rect(place, CornerRadius::same(5), theme.card, line, egui::StrokeKind::Inside);
    painter.galley(place.min + vec2(5.0, 2.0), galley, color);
}

/// Where an agent is that is out of sight: a small disc at the edge of `screen`.
pub fn paint_outside(painter: &Painter, theme: &Theme, screen: Rect, center: Pos2, agent: u32, is_selected: bool) {
    let radius = 8.0;
    let at = screen.shrink(radius + 5.0).clamp(center);
    paint_agent(painter, theme, at, radius, agent, is_selected);
    let along = (center - at).normalized();
    super::grid::paint_nose(painter, theme, at, radius + 1.0, along, theme.agent_color(agent));
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
