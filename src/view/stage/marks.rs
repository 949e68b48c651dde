//! Where the numbers of round bodies stand, and the tags of what they say, so that each is read whatever overlaps.
//!
//! A number stands in its own disc, off the middle where another disc covers that, and beside the disc where there is
//! no room in it; a tag always stands beside. Marks keep clear of each other first, then of other bodies.

use egui::{Pos2, Rect, Vec2, vec2};

/// Space between a number and the edge of its disc.
const EDGE: f32 = 1.5;
/// Space between a disc, the ring of the selected one included, and what stands beside it.
const GAP: f32 = 6.0;
/// How much farther off each next place beside a disc is.
const STEP: f32 = 9.0;
/// How many such places there are in a direction; fewer than ten, or they outweigh what a place covers.
const FARTHEST: u32 = 9;
/// Directions in the order they are tried.
const AROUND: [Vec2; 16] = [
    vec2(1.0, -1.0),
    vec2(-1.0, -1.0),
    vec2(1.0, 1.0),
    vec2(-1.0, 1.0),
    vec2(0.0, -1.0),
    vec2(0.0, 1.0),
    vec2(1.0, 0.0),
    vec2(-1.0, 0.0),
    vec2(1.0, -0.5),
    vec2(-1.0, -0.5),
    vec2(1.0, 0.5),
    vec2(-1.0, 0.5),
    vec2(0.5, -1.0),
    vec2(-0.5, -1.0),
    vec2(0.5, 1.0),
    vec2(-0.5, 1.0),
];

/// A disc on the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Centre.
    pub center: Pos2,
    /// Radius, points.
    pub radius: f32,
}

/// How large a number is in its disc and beside it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizes {
    /// In the disc.
    pub inside: Vec2,
    /// Beside it.
    pub beside: Vec2,
}

/// Where a number stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// The room it takes.
    pub rect: Rect,
    /// Whether that is in its own disc.
    pub is_inside: bool,
}

/// What is on the screen already.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The bodies that have numbers.
    pub rounds: &'a [Round],
    /// Other bodies, which are covered rather than any of those.
    pub others: &'a [Round],
    /// What is seen.
    pub screen: Rect,
}

impl Round {
    /// Whether some of `rect` lies in it.
    pub fn meets(self, rect: Rect) -> bool {
        rect.distance_to_pos(self.center) < self.radius
    }

    /// The places beside it for something of `size`, with what each is worth less than the first.
    fn beside(self, size: Vec2) -> impl Iterator<Item = (u32, Rect)> {
        (0..FARTHEST).flat_map(move |ring| {
            let off = self.radius + GAP + STEP * ring as f32;
            AROUND.into_iter().map(move |along| {
                let center = self.center + along.normalized() * off + along * size / 2.0;
                (ring, Rect::from_center_size(center, size))
            })
        })
    }
}

impl Scene<'_> {
    /// A place for the number of each body.
    pub fn numbers(&self, sizes: &[Sizes]) -> Vec<Mark> {
        let mut marks: Vec<Mark> = Vec::with_capacity(sizes.len());
        for (own, (round, sizes)) in self.rounds.iter().zip(sizes).enumerate() {
            let taken: Vec<Rect> = marks.iter().map(|mark| mark.rect).collect();
            let inside = self.inside(own, sizes.inside).map(|(order, rect)| {
                let mark = Mark { rect, is_inside: true };
                (order + self.cost(rect, &taken, Some(own)), mark)
            });
            let beside = round.beside(sizes.beside).map(|(ring, rect)| {
                let mark = Mark { rect, is_inside: false };
                (2 + ring + self.cost(rect, &taken, None), mark)
            });
            marks.extend(inside.chain(beside).min_by_key(|(cost, _)| *cost).map(|(_, mark)| mark));
        }
        marks
    }

    /// A place beside body `own` for a tag of `size`, clear of what is `taken`.
    pub fn tag(&self, own: usize, size: Vec2, taken: &[Rect]) -> Option<Rect> {
        let places = self.rounds.get(own)?.beside(size);
        let costs = places.map(|(ring, rect)| (ring + self.cost(rect, taken, None), rect));
        costs.min_by_key(|(cost, _)| *cost).map(|(_, rect)| rect)
    }

    /// The places in a disc: its middle, and as far as possible from the disc that is nearest.
    fn inside(&self, own: usize, size: Vec2) -> impl Iterator<Item = (u32, Rect)> {
        let round = self.rounds[own];
        let room = round.radius - size.length() / 2.0 - EDGE;
        let rest = self.rounds.iter().enumerate().filter(|(other, _)| *other != own);
        let away = rest.map(|(_, other)| round.center - other.center).min_by(|a, b| a.length().total_cmp(&b.length()));
        let shift = away.unwrap_or_default().normalized() * room;
        let places = [Vec2::ZERO, shift].into_iter().filter(move |_| room >= 0.0);
        (0..).zip(places.map(move |shift| Rect::from_center_size(round.center + shift, size)))
    }

    /// What is lost by a mark at `rect`, in the disc `inside` or in none.
    fn cost(&self, rect: Rect, taken: &[Rect], inside: Option<usize>) -> u32 {
        let count = |hits: usize| hits as u32;
        let off_screen = u32::from(!self.screen.contains_rect(rect));
        let marks = count(taken.iter().filter(|mark| mark.expand(1.0).intersects(rect)).count());
        let rounds = self.rounds.iter().enumerate().filter(|(other, _)| inside != Some(*other));
        let covered = count(rounds.filter(|(_, round)| round.meets(rect)).count());
        let behind = self.others.iter().filter(|_| inside.is_none());
        let behind = count(behind.filter(|round| round.meets(rect)).count());
        100_000 * off_screen + 10_000 * marks + 100 * covered + 10 * behind
    }
}

/// Where the number at which an agent was paid stands, `rise` above its disc, or below it where there was no room above
/// before it rose, to the left there, since levels stand at the lower right. At an edge of the screen it stops.
pub fn paid(disc: Round, size: Vec2, rise: f32, screen: Rect) -> Rect {
    let near = disc.radius + 2.0 + size.y / 2.0;
    let has_room = disc.center.y - near - size.y / 2.0 >= screen.top();
    let (along, away) = if has_room { (0.0, -near - rise) } else { (-0.5 * disc.radius, near + rise) };
    let place = Rect::from_center_size(disc.center + vec2(along, away), size);
    let inwards = (screen.min - place.min).max(Vec2::ZERO) + (screen.max - place.max).min(Vec2::ZERO);
    place.translate(inwards)
}

#[cfg(test)]
mod tests {
    use egui::pos2;
    use tandem_core::base::rng::{Stream, uniform};

    use super::*;

    const SCREEN: Rect = Rect { min: pos2(10.0, 20.0), max: pos2(376.0, 320.0) };

    /// Numbers in [0, 1) that differ from `trial` to `trial`.
    fn draws(trial: u32) -> impl FnMut() -> f32 {
        let (draws, mut drawn) = (Stream::new(11, "marks of tests").env(trial, 0, 0), 0);
        move || {
            drawn += 1;
            uniform(draws.words(0, drawn)[0])
        }
    }

    /// As large as digits are.
    fn sizes(radius: f32) -> Sizes {
        let font = (0.95 * radius).clamp(11.0, 26.0);
        Sizes { inside: vec2(0.6, 0.8) * font, beside: vec2(9.0, 13.0) }
    }

    /// Agents anywhere on the screen or, `crowd` being small, on top of each other, at its edge, too.
    fn agents(draw: &mut impl FnMut() -> f32, n: u32, crowd: f32) -> Vec<Round> {
        let radius = 3.0 + 22.0 * draw();
        let middle = SCREEN.lerp_inside(vec2(draw(), draw()));
        let spread = SCREEN.size() * crowd;
        let place = |draw: &mut dyn FnMut() -> f32| {
            let at = middle + vec2(draw() - 0.5, draw() - 0.5) * spread;
            Round { center: SCREEN.clamp(at), radius }
        };
        (0..n).map(|_| place(draw)).collect()
    }

    #[test]
    fn numbers_are_read_whatever_overlaps() {
        for trial in 0..3_000 {
            let mut draw = draws(trial);
            let (n, crowd) = (2 + trial % 5, [0.02, 0.1, 1.0][trial as usize % 3]);
            let rounds = agents(&mut draw, n, crowd);
            let scene = Scene { rounds: &rounds, others: &[], screen: SCREEN };
            let marks = scene.numbers(&rounds.iter().map(|round| sizes(round.radius)).collect::<Vec<_>>());
            assert_eq!(marks.len(), rounds.len());
            for (own, mark) in marks.iter().enumerate() {
                for (other, round) in rounds.iter().enumerate() {
                    let may = other == own && mark.is_inside;
                    assert!(may || !round.meets(mark.rect), "trial {trial}: number {own} on disc {other}");
                }
                assert!(marks[..own].iter().all(|mark| !mark.rect.intersects(marks[own].rect)), "trial {trial}");
                assert!(mark.is_inside || SCREEN.contains_rect(mark.rect), "trial {trial}: {mark:?}");
            }
        }
    }

    #[test]
    fn a_number_stays_in_the_middle_of_a_disc_that_is_only_touched() {
        let round = |x: f32| Round { center: pos2(x, 100.0), radius: 20.0 };
        let place = |x: f32| {
            let rounds = [round(100.0), round(x)];
            let scene = Scene { rounds: &rounds, others: &[round(100.0)], screen: SCREEN };
            scene.numbers(&[sizes(20.0); 2])[0]
        };
        assert_eq!(place(132.0).rect.center(), pos2(100.0, 100.0), "there, whatever lies behind");
        let moved = place(118.0);
        assert!(moved.is_inside && moved.rect.center().x < 100.0, "away from the disc that covers the middle");
        assert!(!place(100.0).is_inside, "two in the same place have their numbers beside them");
    }

    #[test]
    fn a_tag_covers_neither_a_disc_nor_a_number() {
        for trial in 0..3_000 {
            let mut draw = draws(trial);
            let rounds = agents(&mut draw, 2, [0.05, 0.3, 1.0][trial as usize % 3]);
            let scene = Scene { rounds: &rounds, others: &agents(&mut draw, 3, 1.0), screen: SCREEN };
            let marks = scene.numbers(&rounds.iter().map(|round| sizes(round.radius)).collect::<Vec<_>>());
            let mut taken: Vec<Rect> = marks.iter().map(|mark| mark.rect).collect();
            for own in 0..2 {
                let tag = scene.tag(own, vec2(48.0, 19.0), &taken).expect("a place");
                assert!(SCREEN.contains_rect(tag), "trial {trial}: {tag:?}");
                assert!(rounds.iter().all(|round| !round.meets(tag)), "trial {trial}: {tag:?} on {rounds:?}");
                assert!(taken.iter().all(|mark| !mark.intersects(tag)), "trial {trial}: {tag:?} on {taken:?}");
                taken.push(tag);
            }
        }
    }

    #[test]
    fn what_was_paid_is_clear_of_its_disc_and_on_the_screen() {
        for trial in 0..300 {
            let mut draw = draws(trial);
            let radius = 5.0 + 25.0 * draw();
            let (room, edge) = (SCREEN.shrink(radius), |x: f32| (1.5 * x - 0.25).clamp(0.0, 1.0));
            let disc = Round { center: room.lerp_inside(vec2(edge(draw()), edge(draw()))), radius };
            let size = vec2(24.0 + 60.0 * draw(), 17.0);
            let [rest, risen] = [0.0, 12.0 * draw()].map(|rise| paid(disc, size, rise, SCREEN));
            for place in [rest, risen] {
                assert!(!disc.meets(place), "{place:?} on {disc:?}");
                assert!(SCREEN.contains_rect(place), "{place:?}");
            }
            let is_above = |place: Rect| place.bottom() < disc.center.y;
            assert_eq!(is_above(rest), is_above(risen), "it rises and never jumps: {rest:?} to {risen:?}");
        }
    }
}
