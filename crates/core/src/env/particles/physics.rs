//! How particles move: forces, contact and integration, in the reference's order of operations.
//!
//! Generic over the number: f64 is the product's, one world at a time or eight in lanes with the same bits; f32 is what
//! a graphics processor would do, compared in the tests. Entities are numbered agents first, then landmarks. Every pair's force is
//! that of the positions *before* the step.
//!
//! Source: mpe2 1.1.1 `core.py` (Lowe et al. 2017; Mordatch and Abbeel 2017).

use crate::base::lanes::Number;

/// Seconds of an env step.
pub const DT: f64 = 0.1;
/// Share of the velocity that is lost in an env step.
pub const DAMPING: f64 = 0.25;
/// Stiffness of a contact.
pub const CONTACT_FORCE: f64 = 100.0;
/// Width k of a contact's edge: the softplus of the penetration is rounded over about this length.
pub const CONTACT_MARGIN: f64 = 1e-3;
/// Gap between two edges, in multiples of k, from which e^(−gap/k) is exactly 0 in f64 (its last number is 5·10⁻³²⁴ at
/// 745.1), and with it the force.
const SILENCE: f64 = 746.0;

/// Contacts worked out before the first of them is added, so that the processor need not wait for one to begin the next.
const TOGETHER: usize = 4;

/// What moves first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integrator {
    /// Positions move with the *old* velocity, then it is damped and accelerated (mpe2, `PettingZoo` since 1.23, JaxMARL).
    #[default]
    PositionFirst,
    /// The velocity is damped and accelerated, then positions move with the *new* one (OpenAI's original).
    VelocityFirst,
}

/// An agent or a landmark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// Radius.
    pub size: f64,
    /// Whether it touches others.
    pub collides: bool,
    /// Whether forces move it.
    pub moves: bool,
    /// Force of a full push.
    pub accel: f64,
    /// Speed it cannot exceed; ∞ without a limit.
    pub max_speed: f64,
}

/// The laws of one world, prepared once.
#[derive(Clone, Debug)]
pub struct Physics {
    integrator: Integrator,
    pairs: Vec<Pair>,
    /// The agents that move.
    movers: Vec<Mover>,
}

/// Two entities that push each other.
#[derive(Clone, Copy, Debug)]
struct Pair {
    first: u32,
    second: u32,
    /// Distance of the centres at which the edges touch.
    reach: f64,
    /// Square of the distance from which the force is exactly 0.
    silent: f64,
    pushes_first: bool,
    pushes_second: bool,
}

#[derive(Clone, Copy, Debug)]
struct Mover {
    agent: u32,
    max_speed: f64,
}

impl Body {
    /// A landmark that nobody touches.
    pub const fn landmark(size: f64) -> Self {
        Self { size, collides: false, moves: false, accel: 0.0, max_speed: f64::INFINITY }
    }

    /// An agent that moves, of the usual strength and without a speed limit.
    pub const fn agent(size: f64) -> Self {
        Self { size, collides: false, moves: true, accel: 5.0, max_speed: f64::INFINITY }
    }
}

impl Physics {
    /// `bodies` are the agents, then the landmarks.
    pub fn new(bodies: &[Body], num_agents: u32, integrator: Integrator) -> Self {
        let mut pairs = Vec::new();
        for (first, a) in (0..).zip(bodies) {
            for (second, b) in (first + 1..).zip(&bodies[first as usize + 1..]) {
                if a.collides && b.collides && (a.moves || b.moves) {
                    let reach = a.size + b.size;
                    let silent = reach + SILENCE * CONTACT_MARGIN;
                    let silent = silent * silent;
                    pairs.push(Pair { first, second, reach, silent, pushes_first: a.moves, pushes_second: b.moves });
                }
            }
        }
        let agents = (0..num_agents).zip(bodies).filter(|(_, body)| body.moves);
        let movers = agents.map(|(agent, body)| Mover { agent, max_speed: body.max_speed }).collect();
        Self { integrator, pairs, movers }
    }

    /// One env step of positions `p` `[agents + landmarks]` and velocities `v` `[agents]` under the agents' own forces
    /// `force` `[agents]`, to which those of contacts are added. Two bodies that touch at exactly the same point push
    /// each other nowhere: the direction is 0/0, as in the reference.
    #[inline(always)]
    pub fn step<N: Number>(&self, p: &mut [[N; 2]], v: &mut [[N; 2]], force: &mut [[N; 2]]) {
        for pairs in self.pairs.chunks(TOGETHER) {
            let mut pushes = [[N::of(0.0); 2]; TOGETHER];
            for (push, pair) in pushes.iter_mut().zip(pairs) {
                *push = contact(pair, p);
            }
            for (push, pair) in pushes.iter().zip(pairs) {
                add(pair, *push, force);
            }
        }
        let (dt, kept) = (N::of(DT), N::of(1.0 - DAMPING));
        for mover in &self.movers {
            let agent = mover.agent as usize;
            let (p, v, force) = (&mut p[agent], &mut v[agent], force[agent]);
            if self.integrator == Integrator::PositionFirst {
                glide(p, *v, dt);
            }
            // The mass is 1.
            *v = [v[0] * kept + force[0] * dt, v[1] * kept + force[1] * dt];
            if mover.max_speed.is_finite() {
                limit(v, N::of(mover.max_speed));
            }
            if self.integrator == Integrator::VelocityFirst {
                glide(p, *v, dt);
            }
        }
    }
}

/// The force of a contact on the first of a pair: 100 · direction · k · ln(1 + e^(−gap/k)), which reaches a little beyond
/// the edges.
#[inline(always)]
fn contact<N: Number>(pair: &Pair, p: &[[N; 2]]) -> [N; 2] {
    let (first, second) = (p[pair.first as usize], p[pair.second as usize]);
    let (dx, dy) = (first[0] - second[0], first[1] - second[1]);
    let square = dx * dx + dy * dy;
    if square.all_above(N::of(pair.silent)) {
        return [N::of(0.0); 2];
    }
    let margin = N::of(CONTACT_MARGIN);
    let distance = square.sqrt();
    let penetration = (-(distance - N::of(pair.reach)) / margin).softplus() * margin;
    let strength = N::of(CONTACT_FORCE);
    [strength * dx / distance * penetration, strength * dy / distance * penetration]
}

/// Both of a pair feel the same, the second the other way.
#[inline(always)]
fn add<N: Number>(pair: &Pair, push: [N; 2], force: &mut [[N; 2]]) {
    if pair.pushes_first {
        let force = &mut force[pair.first as usize];
        *force = [push[0] + force[0], push[1] + force[1]];
    }
    if pair.pushes_second {
        let force = &mut force[pair.second as usize];
        *force = [-push[0] + force[0], -push[1] + force[1]];
    }
}

#[inline(always)]
fn glide<N: Number>(p: &mut [N; 2], v: [N; 2], dt: N) {
    *p = [p[0] + v[0] * dt, p[1] + v[1] * dt];
}

#[inline(always)]
fn limit<N: Number>(v: &mut [N; 2], max_speed: N) {
    let speed = (v[0] * v[0] + v[1] * v[1]).sqrt();
    *v = v.map(|v| max_speed.if_below(speed, v / speed * max_speed, v));
}

/// √(dx² + dy²) between two places.
#[inline(always)]
pub fn distance<N: Number>(a: [N; 2], b: [N; 2]) -> N {
    square_distance(a, b).sqrt()
}

/// dx² + dy² between two places.
#[inline(always)]
pub fn square_distance<N: Number>(a: [N; 2], b: [N; 2]) -> N {
    let (dx, dy) = (a[0] - b[0], a[1] - b[1]);
    dx * dx + dy * dy
}

/// The number that squares stay below exactly when their roots stay below `reach`, so that contacts need no root.
pub fn contact_square(reach: f64) -> f64 {
    let mut square = reach * reach;
    while square.sqrt() < reach {
        square = square.next_up();
    }
    while square.next_down().sqrt() >= reach {
        square = square.next_down();
    }
    square
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contacts_are_told_from_squares_exactly() {
        for reach in [0.3, 0.1, 0.15, 0.125, 0.05 + 0.075, 0.275] {
            let square = contact_square(reach);
            assert!(square.sqrt() >= reach && square.next_down().sqrt() < reach, "{reach}");
            assert!((square / (reach * reach) - 1.0).abs() < 1e-15, "{reach}");
        }
    }

    /// Leaving a contact out where it is silent changes no bit: the softplus is exactly 0 there, and not yet a hair
    /// nearer.
    #[test]
    fn a_silent_contact_is_exactly_zero() {
        let softplus = |gap: f64| Number::softplus(-gap / CONTACT_MARGIN);
        assert_eq!(softplus(SILENCE * CONTACT_MARGIN), 0.0);
        assert!(softplus(0.745) > 0.0);
    }
}
