//! What the page is told of a run once.

use crate::env::api::Env;
use crate::experiment::snapshot::{Facts, Optimum};
use crate::experiment::spec::ExperimentSpec;
use crate::marl::learner::Learner;
use crate::marl::parts::explore::Behaviour;
use crate::nn::layers::Layout;

/// Facts of run number `run`.
pub(super) fn facts(env: &dyn Env, learner: &Learner, spec: &ExperimentSpec, run: u32) -> Facts {
    let info = env.info();
    Facts {
        run,
        num_agents: info.num_agents,
        num_actions: info.num_actions,
        roles: info.roles.clone(),
        role_of: info.role_of.clone(),
        in_turns: info.in_turns,
        flows: info.flows(),
        part_names: info.part_names.clone(),
        part_weights: info.part_weights.iter().map(|&weight| weight as f32).collect(),
        mix: info.mix,
        idle_action: info.idle_action,
        headline: info.headline,
        lower_is_better: info.headline.lower_is_better(),
        max_steps: info.max_steps,
        optimum: env.optimum().map(|o| Optimum {
            value: o.value as f32,
            exact: o.exact,
            full_information: o.full_information,
        }),
        obs_determines_state: info.obs_determines_state,
        exhausted_starts: learner.evaluation.exhausted_starts,
        agent_parameters: learner.agents.layout.num_parameters(),
        mixer_parameters: learner.central.mixer().map_or(0, |mixer| mixer.layout.num_parameters()),
        critic_parameters: learner.central.critic_layout().map_or(0, Layout::num_parameters),
        critic_inputs: learner.central.critic_inputs(),
        is_policy_gradient: learner.behaviour == Behaviour::Softmax,
        env_steps_per_update: learner.env_steps_per_update(),
        budget: spec.budget,
    }
}
