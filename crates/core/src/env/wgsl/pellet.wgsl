// The pellet gridworld. Twin of env/pellet: rules.rs (the env step), mod.rs (the start), view.rs (what is seen).
//
// Integers: env steps, cell of each agent, cells of the pellets left (ascending, then −1), bits of who arrived.

const PELLETS: u32 = 1u;
const CELLS: u32 = 4u;
// By how much an action changes the number of a cell, two's complement [5, cells].
const MOVES: u32 = 0u;
const COST: f32 = 0.0;
const SPLITS_TIES: u32 = 1u;
const TIME_LIMIT: u32 = 50u;
// Weights of team, own and move cost.
const TEAM_WEIGHT: f32 = 1.0;
const OWN_WEIGHT: f32 = 0.0;
const IS_COMMON: u32 = 1u;
const HAS_TEAM: u32 = 1u;
// Start cells [n], or where none are fixed the cells that agents walk on.
const STARTS_ARE_DRAWN: u32 = 0u;
const STARTS: u32 = 0u;
const STARTS_LEN: u32 = 1u;
// Cells that may hold a pellet.
const ALLOWED: u32 = 0u;
const ALLOWED_LEN: u32 = 1u;
// What is seen of a cell and from one of another, see view.rs.
const POSITIONS: u32 = 0u;
const PLACES: u32 = 0u;
const RANKS: u32 = 0u;
const SEEN: u32 = 0u;
const OFFSETS: u32 = 1024u;
const CENTRE: u32 = 528u;
const UNSEEN: u32 = 32768u;

fn is_taken(e: u32, cell: i32) -> bool {
    let at = WORLD_INTS + e * WORLD_INTS_LEN + 1u;
    for (var k = 0u; k < AGENTS + PELLETS; k++) {
        if (ints[at + k] == cell) {
            return true;
        }
    }
    return false;
}

// Ascending; what is gone, −1, last.
fn sort_pellets(at: u32) {
    for (var end = PELLETS - 1u; end > 0u; end--) {
        for (var k = 0u; k < end; k++) {
            let x = ints[at + k];
            let y = ints[at + k + 1u];
            if (u32(x) > u32(y)) {
                ints[at + k] = y;
                ints[at + k + 1u] = x;
            }
        }
    }
}

fn reset_world(e: u32, episode: u32) {
    let at = WORLD_INTS + e * WORLD_INTS_LEN;
    for (var k = 0u; k < WORLD_INTS_LEN; k++) {
        ints[at + k] = 0;
    }
    for (var agent = 0u; agent < AGENTS; agent++) {
        var which = agent;
        if (STARTS_ARE_DRAWN == 1u) {
            which = below(draw(e, episode, 0u, agent, 0u).x, STARTS_LEN);
        }
        ints[at + 1u + agent] = i32(words[STARTS + which]);
    }
    let pellets = at + 1u + AGENTS;
    for (var k = 0u; k < PELLETS; k++) {
        ints[pellets + k] = -1;
    }
    for (var k = 0u; k < PELLETS; k++) {
        var free = 0u;
        for (var c = 0u; c < ALLOWED_LEN; c++) {
            free += select(1u, 0u, is_taken(e, i32(words[ALLOWED + c])));
        }
        var left = below(draw(e, episode, 0u, WORLD_DRAWS, k).x, free);
        for (var c = 0u; c < ALLOWED_LEN; c++) {
            let cell = i32(words[ALLOWED + c]);
            if (!is_taken(e, cell)) {
                if (left == 0u) {
                    ints[pellets + k] = cell;
                    break;
                }
                left -= 1u;
            }
        }
    }
    sort_pellets(pellets);
}

fn step_world(e: u32, episode: u32, step: u32) -> u32 {
    let at = WORLD_INTS + e * WORLD_INTS_LEN;
    let agents = at + 1u;
    let pellets = agents + AGENTS;
    let parts = PARTS + e * PARTS_LEN;
    let rewards = REWARD + e * (AGENTS + 1u);
    ints[at] += 1;
    for (var i = 0u; i < AGENTS; i++) {
        let action = words[ACTION + e * AGENTS + i];
        var by = 0;
        if (action < 5u) {
            by = bitcast<i32>(words[MOVES + action * CELLS + u32(ints[agents + i])]);
        }
        ints[agents + i] += by;
        reals[parts + i * 3u + 1u] = 0.0;
        reals[parts + i * 3u + 2u] = select(0.0, 0.0 - COST, by != 0);
    }
    var team = 0.0;
    var arrived = 0;
    for (var k = 0u; k < PELLETS; k++) {
        let pellet = ints[pellets + k];
        var count = 0u;
        for (var i = 0u; i < AGENTS; i++) {
            count += select(0u, 1u, ints[agents + i] == pellet);
        }
        if (count > 0u) {
            let share = select(select(0.0, 1.0, count == 1u), 1.0 / f32(count), SPLITS_TIES == 1u);
            for (var i = 0u; i < AGENTS; i++) {
                if (ints[agents + i] == pellet) {
                    reals[parts + i * 3u + 1u] += share;
                    arrived |= i32(1u << i);
                }
            }
            team += 1.0;
            ints[pellets + k] = -1;
        }
    }
    ints[pellets + PELLETS] = arrived;
    sort_pellets(pellets);
    var costs = 0.0;
    for (var i = 0u; i < AGENTS; i++) {
        let own = reals[parts + i * 3u + 1u];
        let cost = reals[parts + i * 3u + 2u];
        reals[parts + i * 3u] = team;
        reals[rewards + i] = TEAM_WEIGHT * team + OWN_WEIGHT * own + cost;
        costs += cost;
    }
    var of_team = reals[rewards];
    if (IS_COMMON == 0u) {
        of_team = select(0.0, TEAM_WEIGHT * team + OWN_WEIGHT * reals[parts + 1u] + costs, HAS_TEAM == 1u);
    }
    reals[rewards + AGENTS] = of_team;
    if (ints[pellets] == -1) {
        return TERMINATED;
    }
    return select(0u, TRUNCATED, u32(ints[at]) >= TIME_LIMIT);
}

fn write_seen(to: u32, offset: u32) {
    let begin_at = SEEN + (offset % OFFSETS) * 3u;
    reals[to] = reals[begin_at];
    reals[to + 1u] = reals[begin_at + 1u];
    reals[to + 2u] = reals[begin_at + 2u];
}

fn observe_agent(e: u32, agent: u32, to: u32) {
    let agents = WORLD_INTS + e * WORLD_INTS_LEN + 1u;
    let pellets = agents + AGENTS;
    let cell = u32(ints[agents + agent]);
    reals[to] = reals[POSITIONS + cell * 2u];
    reals[to + 1u] = reals[POSITIONS + cell * 2u + 1u];
    let place = words[PLACES + cell];
    var ranks: array<u32, PELLETS>;
    for (var k = 0u; k < PELLETS; k++) {
        var rank = UNSEEN;
        if (ints[pellets + k] >= 0) {
            rank = words[RANKS + words[PLACES + u32(ints[pellets + k])] + CENTRE - place];
        }
        var slot = k;
        while (slot > 0u) {
            if (ranks[slot - 1u] <= rank) {
                break;
            }
            ranks[slot] = ranks[slot - 1u];
            slot -= 1u;
        }
        ranks[slot] = rank;
    }
    for (var k = 0u; k < PELLETS; k++) {
        write_seen(to + 2u + k * 3u, ranks[k]);
    }
    for (var k = 1u; k < AGENTS; k++) {
        let other = u32(ints[agents + (agent + k) % AGENTS]);
        write_seen(to + 2u + (PELLETS + k - 1u) * 3u, words[PLACES + other] + CENTRE - place);
    }
}

fn state_vector(e: u32, to: u32) {
    let agents = WORLD_INTS + e * WORLD_INTS_LEN + 1u;
    for (var i = 0u; i < AGENTS; i++) {
        let cell = u32(ints[agents + i]);
        reals[to + i * 2u] = reals[POSITIONS + cell * 2u];
        reals[to + i * 2u + 1u] = reals[POSITIONS + cell * 2u + 1u];
    }
    for (var k = 0u; k < PELLETS; k++) {
        let cell = ints[agents + AGENTS + k];
        let slot = to + AGENTS * 2u + k * 3u;
        let at = POSITIONS + u32(max(cell, 0)) * 2u;
        reals[slot] = select(0.0, 1.0, cell >= 0);
        reals[slot + 1u] = select(0.0, reals[at], cell >= 0);
        reals[slot + 2u] = select(0.0, reals[at + 1u], cell >= 0);
    }
}

fn legal_actions(e: u32, agent: u32, to: u32) {
}
