// Temporal-difference learning on action values. Twin of marl/parts/td.rs, with its shapes: B segments of T env steps, n
// agents, N members with values (member k is agent words[MEMBERS + k]), M value columns (column m has the reward
// words[REWARD_COLUMNS + m]). Items are segments.

const T: u32 = 1u;
const AGENTS: u32 = 1u;
const ACTIONS: u32 = 2u;
const OUTPUT_WIDTH: u32 = 8u;
const MEMBERS: u32 = 0u;
const MEMBERS_LEN: u32 = 1u;
