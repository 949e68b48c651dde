//! Particle worlds against trajectories of the reference (mpe2; format `marlgold/1`): discrete and continuous actions,
//! every constructor parameter.

use serde_json::Value;
use tandem_core::env::api::{Ended, Env, EnvState, StepOut};
use tandem_core::env::particles::{ParticleSpec, Particles, Placement, Scenario};

const FILES: [&str; 10] = [
    include_str!("../../golden/simple_spread_v3.json"),
    include_str!("../../golden/simple_spread_v3_continuous.json"),
    include_str!("../../golden/simple_spread_v3_extras.json"),
    include_str!("../../golden/simple_spread_v3_curriculum.json"),
    include_str!("../../golden/simple_adversary_v3.json"),
    include_str!("../../golden/simple_tag_v3.json"),
    include_str!("../../golden/simple_tag_v3_curriculum.json"),
    include_str!("../../golden/simple_speaker_listener_v4.json"),
    include_str!("../../golden/simple_reference_v3.json"),
    include_str!("../../golden/simple_push_v3.json"),
];

/// All numbers below `value`, in order; the reference's `NaN` among them.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        Value::String(text) => vec![text.parse().expect("NaN or an infinity")],
        Value::Null => Vec::new(),
        other => vec![other.as_f64().expect("a number")],
    }
}

fn pairs(value: &Value) -> Vec<[f64; 2]> {
    numbers(value).chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect()
}

fn spec_of(env: &str, params: &Value) -> ParticleSpec {
    let scenario = Scenario::ALL.into_iter().find(|scenario| scenario.reference() == env).expect("a particle world");
    let mut spec = ParticleSpec::new(scenario);
    let mut curriculum = (false, 0);
    for (key, value) in params.as_object().expect("parameters") {
        let count = value.as_u64().map(|count| count as u32);
        match key.as_str() {
            "N" => spec.agents = count.expect("a count"),
            "num_good" => spec.good = count.expect("a count"),
            "num_adversaries" => spec.adversaries = count.expect("a count"),
            "num_obstacles" => spec.obstacles = count.expect("a count"),
            "max_cycles" => spec.max_cycles = count.expect("a count"),
            "local_ratio" => spec.local_ratio = value.as_f64().expect("a number"),
            "terminate_on_success" => spec.terminate_on_success = value == true,
            "num_agent_neighbors" => spec.near_agents = count,
            "num_landmark_neighbors" => spec.near_landmarks = count,
            "curriculum" => curriculum.0 = value == true,
            "_curriculum_stage" => curriculum.1 = count.expect("a stage"),
            "continuous_actions" => {}
            other => panic!("parameter {other} is unknown"),
        }
    }
    spec.curriculum = curriculum.0.then_some(curriculum.1);
    spec
}

fn placement(init: &Value) -> Placement {
    Placement {
        positions: pairs(&init["agent_pos"]),
        velocities: pairs(&init["agent_vel"]),
        landmarks: pairs(&init["landmark_pos"]),
        said: numbers(&init["agent_comm"]),
        goals: match &init["goal"] {
            Value::Null => Vec::new(),
            goals => numbers(goals).iter().map(|&goal| goal as u32).collect(),
        },
    }
}

/// Largest deviations met.
#[derive(Debug, Default)]
struct Worst {
    sim: f64,
    reward: f64,
    obs: f64,
}

fn compare(worst: &mut f64, found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (&a, &b) in found.iter().zip(expected) {
        if a.is_nan() || b.is_nan() {
            assert!(a.is_nan() && b.is_nan(), "{what}: {found:?}, expected {expected:?}");
            continue;
        }
        assert!((a - b).abs() <= tolerance, "{what}: {found:?}, expected {expected:?}");
        *worst = worst.max((a - b).abs());
    }
}

/// One episode of the reference beside one of ours.
struct Replay<'a> {
    env: &'a Particles,
    state: EnvState,
    rewards: Vec<f64>,
    what: String,
    worst: &'a mut Worst,
}

impl Replay<'_> {
    fn step(&mut self, actions: &Value, dtype: &str) -> Ended {
        let mut parts = vec![0.0; self.rewards.len() * self.env.info().part_names.len()];
        let mut out = StepOut { rewards: &mut self.rewards, parts: &mut parts };
        let actions = numbers(actions);
        match dtype {
            "int" => {
                let actions: Vec<u32> = actions.iter().map(|&action| action as u32).collect();
                let draws = tandem_core::base::rng::Stream::new(0, "unused").env(0, 0, 0);
                self.env.step(self.state.view_mut(), &actions, &draws, &mut out)
            }
            "float32" => {
                let actions: Vec<f32> = actions.iter().map(|&number| number as f32).collect();
                self.env.step_continuous(self.state.view_mut(), &actions, &mut out)
            }
            _ => self.env.step_continuous(self.state.view_mut(), &actions, &mut out),
        }
    }

    /// Observations are compared as f32 and may be off by one unit in the last place.
    fn check_obs(&mut self, expected: &Value) {
        let info = self.env.info();
        let mut state = vec![0.0; info.state_len as usize];
        self.env.state(self.state.view(), &mut state);
        let mut all = Vec::new();
        for agent in 0..info.num_agents {
            let mut obs = vec![f32::NAN; info.obs_len as usize];
            self.env.observe(self.state.view(), agent, &mut obs);
            let (own, beyond) = obs.split_at(info.role(agent).obs.len());
            assert!(beyond.iter().all(|&x| x == 0.0));
            let expected: Vec<f64> = numbers(&expected[agent as usize]).iter().map(|&x| f64::from(x as f32)).collect();
            let own: Vec<f64> = own.iter().copied().map(f64::from).collect();
            compare(&mut self.worst.obs, &own, &expected, 1e-6, &format!("{} agent {agent}", self.what));
            all.extend(own);
        }
        let state: Vec<f64> = state.into_iter().map(f64::from).collect();
        compare(&mut self.worst.obs, &state, &all, 0.0, &self.what);
    }

    fn check_sim(&mut self, sim: &Value) {
        let now = self.env.placement(self.state.view());
        let what = self.what.clone();
        for (found, key) in [(&now.positions, "pos"), (&now.velocities, "vel")] {
            compare(&mut self.worst.sim, found.as_flattened(), &numbers(&sim[key]), 1e-9, &what);
        }
        if !now.said.is_empty() {
            compare(&mut self.worst.sim, &now.said, &numbers(&sim["comm"]), 1e-9, &what);
        }
    }
}

fn replay(env: &str, episode: &Value, worst: &mut Worst) {
    let world = spec_of(env, &episode["params"]).validate().expect("the reference's parameters are valid");
    let n = world.info().num_agents as usize;
    let mut state = EnvState::new(world.info());
    state.reals.fill(f64::NAN);
    world.place(state.view_mut(), &placement(&episode["init"]));
    let mut replay = Replay { env: &world, state, rewards: vec![0.0; n], what: String::new(), worst };
    replay.what = format!("{env} {} at reset", episode["id"]);
    replay.check_obs(&episode["reset"]["obs"]);
    let dtype = episode["action_dtype"].as_str().expect("a type");
    let steps = episode["steps"].as_array().expect("steps");
    for (index, step) in steps.iter().enumerate() {
        replay.what = format!("{env} {} step {index}", episode["id"]);
        let ended = replay.step(&step["actions"], dtype);
        replay.check_sim(&step["sim"]);
        let (found, what) = (replay.rewards.clone(), replay.what.clone());
        compare(&mut replay.worst.reward, &found, &numbers(&step["rewards"]), 1e-9, &what);
        replay.check_obs(&step["obs"]);
        for (flag, key) in [(ended.terminated, "term"), (ended.truncated, "trunc")] {
            let all = if flag { "1" } else { "0" }.repeat(n);
            assert_eq!(step[key].as_str(), Some(all.as_str()), "{what}: all agents at once");
        }
        assert_eq!(ended.any(), index + 1 == steps.len(), "{what}");
    }
}

#[test]
fn reference_episodes_are_replayed() {
    let mut episodes = 0;
    let mut worst = Worst::default();
    for text in FILES {
        let file: Value = serde_json::from_str(text).expect("the fixture is JSON");
        let env = file["env"].as_str().expect("a name");
        for episode in file["episodes"].as_array().expect("episodes") {
            // Turn by turn the same play is replayed by `tandem conformance`.
            if episode["api"] == "parallel" {
                replay(env, episode, &mut worst);
                episodes += 1;
            }
        }
    }
    println!("{episodes} episodes, largest deviations {worst:?}");
    assert_eq!(episodes, 59, "episodes of the fixtures");
}
