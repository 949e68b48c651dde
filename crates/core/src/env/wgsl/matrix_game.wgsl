// Two agents choose at once; a table pays. Twin of env/matrix_game.rs. Integers: env steps, the joint action played.

const ROW_ACTIONS: u32 = 2u;
const COLUMN_ACTIONS: u32 = 2u;
// [rows, columns, 2].
const PAYOFFS: u32 = 0u;
const REPEAT: u32 = 1u;
const IS_COMMON: u32 = 1u;

fn reset_world(e: u32, episode: u32) {
    let at = WORLD_INTS + e * WORLD_INTS_LEN;
    ints[at] = 0;
    ints[at + 1u] = -1;
    ints[at + 2u] = -1;
}

fn step_world(e: u32, episode: u32, step: u32) -> u32 {
    let at = WORLD_INTS + e * WORLD_INTS_LEN;
    let row = min(words[ACTION + e * 2u], ROW_ACTIONS - 1u);
    let column = min(words[ACTION + e * 2u + 1u], COLUMN_ACTIONS - 1u);
    let cell = PAYOFFS + (row * COLUMN_ACTIONS + column) * 2u;
    for (var agent = 0u; agent < 2u; agent++) {
        reals[REWARD + e * 3u + agent] = reals[cell + agent];
        reals[PARTS + e * 2u + agent] = reals[cell + agent];
    }
    reals[REWARD + e * 3u + 2u] = select(0.0, reals[cell], IS_COMMON == 1u);
    ints[at] += 1;
    ints[at + 1u] = i32(row);
    ints[at + 2u] = i32(column);
    return select(0u, TERMINATED, u32(ints[at]) >= REPEAT);
}

fn observe_agent(e: u32, agent: u32, to: u32) {
    reals[to] = 0.0;
    reals[to + 1u] = 0.0;
}

fn state_vector(e: u32, to: u32) {
    reals[to] = 1.0;
}

fn legal_actions(e: u32, agent: u32, to: u32) {
}
