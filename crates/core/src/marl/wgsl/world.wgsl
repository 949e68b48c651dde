// E worlds: where their buffers lie, for the rules of a world (env/wgsl) and the kernels that step and show it.
// Shapes as in marl/parts/world.rs.

// n, |A|.
const AGENTS: u32 = 1u;
const ACTIONS: u32 = 2u;
// State: integers and numbers of a world.
const WORLD_INTS: u32 = 0u;
const WORLD_INTS_LEN: u32 = 1u;
const WORLD_REALS: u32 = 0u;
const WORLD_REALS_LEN: u32 = 0u;
const TIME: u32 = 0u;
const ENDED: u32 = 0u;
// What is seen after the env step, before any reset.
const NEXT_OBS: u32 = 0u;
const OBS_LEN: u32 = 1u;
const OBS_WIDTH: u32 = 8u;
const AGENT_ID: u32 = 0u;
const NEXT_MASK: u32 = 0u;
const FIXED_MASK: u32 = 1u;
const NEXT_STATE: u32 = 0u;
const STATE_LEN: u32 = 1u;
// 0 where nobody reads the state.
const STATE_WIDTH: u32 = 8u;

const TERMINATED: u32 = 1u;
const TRUNCATED: u32 = 2u;

// o_i ++ one-hot(i), zero padding; legal actions.
fn show_agent(e: u32, agent: u32, obs: u32, mask: u32) {
    let row = e * AGENTS + agent;
    let to = obs + row * OBS_WIDTH;
    observe_agent(e, agent, to);
    for (var k = OBS_LEN; k < OBS_WIDTH; k++) {
        reals[to + k] = select(0.0, 1.0, AGENT_ID == 1u && k - OBS_LEN == agent);
    }
    if (FIXED_MASK == 0u) {
        legal_actions(e, agent, mask + row * ACTIONS);
    }
}

// s, zero padding.
fn show_state(e: u32, state: u32) {
    if (STATE_WIDTH > 0u) {
        let to = state + e * STATE_WIDTH;
        state_vector(e, to);
        for (var k = STATE_LEN; k < STATE_WIDTH; k++) {
            reals[to + k] = 0.0;
        }
    }
}
