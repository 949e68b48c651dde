//! The competitive pellet world has no better side.

use tandem_core::env::api::{Env, Frame};
use tandem_core::env::pellet::{PelletMap, PelletSpec, StartLayout, TieRule};

use crate::support::{Player, World};

const STAY: u32 = 0;
const UP: u32 = 1;
const DOWN: u32 = 2;
const LEFT: u32 = 3;
const RIGHT: u32 = 4;

fn pellets(world: &World<'_>) -> Vec<u32> {
    match world.env.frame(world.state.view()) {
        Frame::Grid { things, .. } => things.iter().map(|thing| thing.cell).collect(),
        _ => unreachable!("the pellet world is a grid"),
    }
}

/// Turned by half a turn, the competitive world between opposite corners is itself with the agents' parts exchanged:
/// what one agent sees, does and gets is what the other would. Neither index has an advantage.
#[test]
fn p59_opposite_corners_are_one_world_seen_from_both_sides() {
    let env = PelletSpec {
        map: PelletMap::open(4, 3),
        starts: StartLayout::OppositeCorners,
        alpha: 0.0,
        tie: TieRule::Split,
        move_cost: 0.0,
        ..PelletSpec::default()
    }
    .validate()
    .expect("a valid world");
    let cells = 12;
    let turned = |action: u32| [STAY, DOWN, UP, RIGHT, LEFT][action as usize];
    let mut player = Player::new(4);
    let (mut paid, mut ties) = ([0.0_f64; 2], 0);
    for start in 0..cells {
        for _ in 0..50 {
            // Pellets are enumerated by their cells.
            let (mut world, mut mirror) = (World::new(&env, 1), World::new(&env, 1));
            let over = env.reset_to(world.state.view_mut(), start);
            assert_eq!(env.reset_to(mirror.state.view_mut(), cells - 1 - start), over);
            if over {
                continue;
            }
            loop {
                assert_eq!(pellets(&mirror), pellets(&world).iter().map(|cell| cells - 1 - cell).collect::<Vec<_>>());
                for agent in 0..2_u32 {
                    // Places, counted from the middle, and offsets change their signs; flags do not.
                    let (plain, mirrored) = (world.obs(agent), mirror.obs(1 - agent));
                    for (k, (a, b)) in plain.iter().zip(&mirrored).enumerate() {
                        let expected = if k == 2 || k == 5 { *a } else { -a };
                        assert!((b - expected).abs() < 1e-6, "agent {agent}, number {k}: {plain:?}, {mirrored:?}");
                    }
                }
                let actions = player.joint(&world);
                let ended = world.step(&actions);
                assert_eq!(mirror.step(&[turned(actions[1]), turned(actions[0])]), ended);
                assert_eq!([mirror.rewards[1], mirror.rewards[0]], world.rewards[..]);
                ties += u32::from(world.rewards[0] > 0.0 && world.rewards[1] > 0.0);
                (0..2).for_each(|agent| paid[agent] += world.rewards[agent]);
                if ended.any() {
                    break;
                }
            }
        }
    }
    assert!(ties > 0 && paid.iter().all(|&paid| paid > 100.0), "{paid:?}, {ties} ties");
}
