//! What an observation calls the agents in it: by the numbers that the page has for them.

use tandem_core::base::rng::Stream;
use tandem_core::env::api::{Env, EnvState, Frame, Label, Others};
use tandem_core::env::particles::{ParticleSpec, Scenario};

/// A name that means another agent carries that agent's own number, whoever observes: what stands there is its place.
#[test]
fn other_agents_are_named_by_their_own_numbers() {
    for scenario in [Scenario::Spread, Scenario::Adversary, Scenario::Tag, Scenario::Push] {
        let env = ParticleSpec::new(scenario).validate().expect("a world");
        let info = env.info();
        let mut state = EnvState::new(info);
        env.reset(state.view_mut(), &Stream::new(5, "names").env(0, 0, 0));
        let Frame::Particles { agents, .. } = env.frame(state.view()) else { panic!("discs in the plane") };
        let mut named = 0;
        for agent in 0..info.num_agents {
            let mut obs = vec![0.0; info.obs_len as usize];
            env.observe(state.view(), agent, &mut obs);
            for (number, label) in obs.iter().zip(&info.role(agent).obs) {
                let seen = label.seen_by(agent, info.num_agents);
                let is_dx = label.others.is_some() && label.id.split('.').next_back() == Some("dx");
                let Some(&other) = seen.args.first().filter(|_| is_dx) else { continue };
                let expected = agents[other as usize - 1].at[0] - agents[agent as usize].at[0];
                assert!((number - expected).abs() < 1e-6, "{scenario:?}: {seen:?} as agent {agent} sees it");
                named += 1;
            }
        }
        assert_eq!(named, info.num_agents * (info.num_agents - 1), "{scenario:?}: everyone names everyone");
    }
}

#[test]
fn names_around_a_ring_begin_behind_the_observer() {
    let places = |agent: u32| (1..4).map(move |place| Label::of_other("x", &[place], Others::Around).seen_by(agent, 4));
    let numbers = |agent: u32| places(agent).map(|label| label.args[0]).collect::<Vec<_>>();
    assert_eq!((numbers(0), numbers(2)), (vec![2, 3, 4], vec![4, 1, 2]));
}
