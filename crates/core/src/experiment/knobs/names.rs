//! What reference implementations call a setting: such names are read in links, and never written.

/// The name there, in lower case, and the key here.
pub static ALSO: [(&str, &str); 23] = [
    ("n_agents", "agents"),
    ("num_agents", "agents"),
    ("n_pursuers", "agents"),
    ("players", "agents"),
    ("max_cycles", "limit"),
    ("max_steps", "limit"),
    ("max_episode_steps", "limit"),
    ("num_adversaries", "hunters"),
    ("num_good", "prey"),
    ("num_obstacles", "obstacles"),
    ("terminate_on_success", "success"),
    ("num_agent_neighbors", "near_agents"),
    ("num_landmark_neighbors", "near_landmarks"),
    ("max_num_food", "food"),
    ("max_player_level", "levels"),
    ("force_coop", "coop"),
    ("normalize_reward", "share_food"),
    ("observe_agent_levels", "see_levels"),
    ("grid_observation", "see_grid"),
    ("n_evaders", "evaders"),
    ("freeze_evaders", "freeze"),
    ("urgency_reward", "urgency"),
    ("constraint_window", "window"),
];
