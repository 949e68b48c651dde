//! What agents of the pellet gridworld see, number by number.

use tandem_core::env::api::{Env, Label};
use tandem_core::env::pellet::PelletSpec;

use crate::pellet_rules::{LEFT, RIGHT, STAY, build, drawn};
use crate::support::World;

#[test]
fn an_observation_holds_the_position_and_the_nearest_pellets_first() {
    // Pellets at distances 1, 3 and 3 of agent 1: of equals the upper one comes first.
    let env = build(&drawn(&["..o..", ".....", "o1o..", "....2", "....."]));
    let world = World::new(&env, 0);
    let names = &env.info().role(0).obs;
    let pellets = ["obs.pellet.seen", "obs.pellet.dx", "obs.pellet.dy"].map(|id| Label::new(id, &[1]));
    assert_eq!(names[..2], [Label::new("obs.own.x", &[]), Label::new("obs.own.y", &[])]);
    assert_eq!(names[2..5], pellets);
    let expected =
        [[-0.5, 0.0].as_slice(), &[1.0, -0.25, 0.0], &[1.0, 0.25, 0.0], &[1.0, 0.25, -0.5], &[1.0, 0.75, 0.25]];
    assert_eq!(world.obs(0), expected.concat());
    let state = [[-0.5, 0.0, 1.0, 0.5].as_slice(), &[1.0, 0.0, -1.0], &[1.0, -1.0, 0.0], &[1.0, 0.0, 0.0]];
    assert_eq!(world.state_vector(), state.concat());
}

#[test]
fn other_agents_are_seen_around_the_ring() {
    let env = build(&drawn(&["1.2", "...", "3.o"]));
    let world = World::new(&env, 0);
    let others = |agent: u32| world.obs(agent)[5..].to_vec();
    assert_eq!(others(0), [1.0, 1.0, 0.0, 1.0, 0.0, 1.0], "agent 1 sees agents 2 and 3");
    assert_eq!(others(1), [1.0, -1.0, 1.0, 1.0, -1.0, 0.0], "agent 2 sees agents 3 and 1");
    assert_eq!(others(2), [1.0, 0.0, -1.0, 1.0, 1.0, -1.0], "agent 3 sees agents 1 and 2");
}

#[test]
fn sight_is_a_square_and_walls_hide_nothing() {
    let spec = PelletSpec { sight: Some(2), ..drawn(&["1#...", ".#...", "..o..", ".....", "....2"]) };
    let env = build(&spec);
    let mut world = World::new(&env, 0);
    let seen = |world: &World<'_>| (world.obs(0)[2], world.obs(0)[5]);
    assert_eq!(seen(&world), (1.0, 0.0), "two cells along both axes is in sight, four is not");
    world.place(0, 14);
    assert_eq!(seen(&world), (1.0, 1.0));
    world.place(0, 15);
    assert_eq!(world.obs(0)[2..], [1.0, 0.5, -0.25, 0.0, 0.0, 0.0], "what is out of sight is three zeros");
    assert!(!env.info().obs_determines_state);
    let nearly = build(&PelletSpec { sight: Some(3), ..spec.clone() });
    assert!(!nearly.info().obs_determines_state, "from one edge the other is four cells away");
    let wide = build(&PelletSpec { sight: Some(4), ..spec });
    assert!(wide.info().obs_determines_state, "a radius that spans the world is full sight");
}

#[test]
fn a_pellet_taken_and_one_out_of_sight_look_the_same() {
    let env = build(&PelletSpec { sight: Some(1), ..drawn(&["1o..o", "....."]) });
    let mut world = World::new(&env, 0);
    assert_eq!(world.obs(0)[2..], [1.0, 0.25, 0.0, 0.0, 0.0, 0.0]);
    world.step(&[RIGHT]);
    assert_eq!(world.obs(0)[2..], [0.0; 6]);
    assert_eq!(world.state_vector()[2..], [1.0, 1.0, -1.0, 0.0, 0.0, 0.0], "the pellets left move up");
}

/// Offsets as long as there are any, in all four directions and both diagonals, and a pellet that is gone.
#[test]
fn the_longest_offsets_are_seen_from_corner_to_corner() {
    let middle = "................";
    let mut rows = [middle; 16];
    (rows[0], rows[15]) = ("1o.............o", "o..............2");
    for sight in [None, Some(16)] {
        let env = build(&PelletSpec { sight, ..drawn(&rows) });
        let mut world = World::new(&env, 0);
        let (gone, other) = ([0.0; 3], [1.0, 1.0, 1.0]);
        let first = [[1.0, 1.0 / 15.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0], other];
        assert_eq!(world.obs(0), [&[-1.0, -1.0], first.as_flattened()].concat(), "sight {sight:?}");
        let second = [[1.0, 0.0, -1.0], [1.0, -1.0, 0.0], [1.0, -14.0 / 15.0, -1.0], [1.0, -1.0, -1.0]];
        assert_eq!(world.obs(1), [&[1.0, 1.0], second.as_flattened()].concat(), "sight {sight:?}");

        // The first agent takes the pellet beside it and returns.
        world.step(&[RIGHT, STAY]);
        world.step(&[LEFT, STAY]);
        let first = [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], gone, other];
        assert_eq!(world.obs(0), [&[-1.0, -1.0], first.as_flattened()].concat(), "sight {sight:?}");
        let second = [[1.0, 0.0, -1.0], [1.0, -1.0, 0.0], gone, [1.0, -1.0, -1.0]];
        assert_eq!(world.obs(1), [&[1.0, 1.0], second.as_flattened()].concat(), "sight {sight:?}");
    }
}
