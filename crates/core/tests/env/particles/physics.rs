//! One physics in two precisions: what f32 makes of a step, and of an episode.

use tandem_core::base::float::Real;
use tandem_core::base::rng::{Stream, below, uniform};
use tandem_core::env::api::{Env, EnvState};
use tandem_core::env::particles::{ParticleSpec, Particles};

const PUSHES: [[f64; 2]; 5] = [[0.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]];

/// Places, velocities and forces of a spread world.
#[derive(Clone, Debug)]
struct Bodies<R> {
    p: Vec<[R; 2]>,
    v: Vec<[R; 2]>,
    force: Vec<[R; 2]>,
}

impl Bodies<f64> {
    /// In f32, to which every number is rounded.
    fn narrowed(&self) -> Bodies<f32> {
        let narrow = |pairs: &[[f64; 2]]| pairs.iter().map(|pair| pair.map(|x| x as f32)).collect();
        Bodies { p: narrow(&self.p), v: narrow(&self.v), force: narrow(&self.force) }
    }
}

impl<R: Real> Bodies<R> {
    fn step(&mut self, env: &Particles) {
        let mut force = self.force.clone();
        env.physics().step(&mut self.p, &mut self.v, &mut force);
    }
}

/// Largest difference of any coordinate of a place or a velocity.
fn difference(wide: &Bodies<f64>, narrow: &Bodies<f32>) -> f64 {
    let pairs = |wide: &[[f64; 2]], narrow: &[[f32; 2]]| {
        let wide = wide.as_flattened().iter();
        wide.zip(narrow.as_flattened()).map(|(&a, &b)| (a - f64::from(b)).abs()).fold(0.0, f64::max)
    };
    pairs(&wide.p, &narrow.p).max(pairs(&wide.v, &narrow.v))
}

fn spread(agents: u32) -> Particles {
    ParticleSpec { agents, ..ParticleSpec::default() }.validate().expect("a world")
}

/// A number in ±`range` that f32 represents.
fn number(stream: Stream, at: [u32; 4], range: f32) -> f64 {
    f64::from(range * (2.0 * uniform(stream.words(at)[0]) - 1.0))
}

/// From 100,000 random states that f32 represents, a tenth of them with agents that overlap, one step in f32 is within
/// 1e-5 of one in f64.
#[test]
fn a_step_in_f32_is_near_one_in_f64() {
    let env = spread(3);
    let stream = Stream::new(1, "states");
    let mut worst = 0.0_f64;
    let mut overlapping = 0;
    for state in 0..100_000_u32 {
        // Crowded: everyone within 0.2 of the centre, so that two of them overlap.
        let crowded = state % 10 == 0;
        let range = if crowded { 0.2 } else { 1.5 };
        let pair = |what: u32, range: f32| [0, 1].map(|axis| number(stream, [state, what, axis, 0], range));
        let mut wide = Bodies {
            p: (0..6).map(|body| pair(body, if body < 3 { range } else { 1.0 })).collect(),
            v: (0..3).map(|agent| pair(10 + agent, 1.5)).collect(),
            force: (0..3)
                .map(|agent| PUSHES[below(stream.words([state, 20 + agent, 0, 0])[0], 5) as usize].map(|u| 5.0 * u))
                .collect(),
        };
        let touches = |i: usize, j: usize| {
            let [dx, dy] = [0, 1].map(|axis| wide.p[i][axis] - wide.p[j][axis]);
            dx * dx + dy * dy < 0.09
        };
        overlapping += u32::from(touches(0, 1) || touches(0, 2) || touches(1, 2));
        let mut narrow = wide.narrowed();
        wide.step(&env);
        narrow.step(&env);
        worst = worst.max(difference(&wide, &narrow));
    }
    println!("{overlapping} states with overlapping agents, largest difference after a step {worst:e}");
    assert!(overlapping >= 10_000);
    assert!(worst < 1e-5, "{worst}");
}

/// Largest difference within an episode of random play, for each of many.
fn episodes(agents: u32, count: u32, crowd: f64) -> Vec<f64> {
    let env = spread(agents);
    let (starts, play) = (Stream::new(2, "env"), Stream::new(2, "player"));
    let episode = |episode: u32| {
        let mut state = EnvState::new(env.info());
        env.reset(state.view_mut(), &starts.env(0, episode, 0));
        let start = env.placement(state.view());
        let positions = start.positions.iter().map(|at| at.map(|x| f64::from((x * crowd) as f32)));
        let mut wide = Bodies {
            p: positions.chain(start.landmarks.iter().copied()).collect(),
            v: start.velocities.clone(),
            force: vec![[0.0; 2]; agents as usize],
        };
        let mut narrow = wide.narrowed();
        let mut worst = 0.0_f64;
        for step in 0..25 {
            for agent in 0..agents {
                let push = PUSHES[below(play.words([episode, step, agent, 0])[0], 5) as usize].map(|u| 5.0 * u);
                wide.force[agent as usize] = push;
                narrow.force[agent as usize] = push.map(|u| u as f32);
            }
            wide.step(&env);
            narrow.step(&env);
            worst = worst.max(difference(&wide, &narrow));
        }
        worst
    };
    (0..count).map(episode).collect()
}

/// 1,000 episodes of random play with three agents stay within 1e-3. More agents and crowded starts, where contacts
/// amplify rounding, are reported.
#[test]
fn episodes_in_f32_stay_near_those_in_f64() {
    let largest = |differences: &[f64]| differences.iter().copied().fold(0.0, f64::max);
    let three = largest(&episodes(3, 1_000, 1.0));
    println!("three agents: {three:e}");
    for (what, agents, crowd) in [("five agents", 5, 1.0), ("three, crowded", 3, 0.2), ("five, crowded", 5, 0.2)] {
        let mut differences = episodes(agents, 1_000, crowd);
        differences.sort_by(f64::total_cmp);
        println!("{what}: median {:e}, largest {:e}", differences[500], differences[999]);
    }
    assert!(three < 1e-3, "{three}");
}
