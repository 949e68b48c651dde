// The two-step game. Twin of env/two_step.rs. Integers: state, env steps, the joint action played.

// Of states 1, 2A and 2B [3, 2, 2].
const PAYOFFS: u32 = 0u;

fn reset_world(e: u32, episode: u32) {
    let at = WORLD_INTS + e * WORLD_INTS_LEN;
    ints[at] = 0;
    ints[at + 1u] = 0;
    ints[at + 2u] = -1;
    ints[at + 3u] = -1;
}

fn step_world(e: u32, episode: u32, step: u32) -> u32 {
    let at = WORLD_INTS + e * WORLD_INTS_LEN;
    let one = min(words[ACTION + e * 2u], 1u);
    let two = min(words[ACTION + e * 2u + 1u], 1u);
    let stage = ints[at];
    let paid = reals[PAYOFFS + u32(stage) * 4u + one * 2u + two];
    for (var agent = 0u; agent < 2u; agent++) {
        reals[REWARD + e * 3u + agent] = paid;
        reals[PARTS + e * 2u + agent] = paid;
    }
    reals[REWARD + e * 3u + 2u] = paid;
    if (stage == 0) {
        ints[at] = 1 + i32(one);
    }
    ints[at + 1u] += 1;
    ints[at + 2u] = i32(one);
    ints[at + 3u] = i32(two);
    return select(0u, TERMINATED, stage != 0);
}

fn observe_agent(e: u32, agent: u32, to: u32) {
    state_vector(e, to);
}

fn state_vector(e: u32, to: u32) {
    let stage = ints[WORLD_INTS + e * WORLD_INTS_LEN];
    for (var k = 0; k < 3; k++) {
        reals[to + u32(k)] = select(0.0, 1.0, k == stage);
    }
}

fn legal_actions(e: u32, agent: u32, to: u32) {
}
