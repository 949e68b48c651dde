// simple_spread: N agents cover N landmarks and should not touch. Twin, in single precision, of env/particles: spread.rs
// (what is paid and seen), physics.rs (how discs move), mod.rs (the start).
//
// Integers: env steps. Numbers: places of agents, places of landmarks, velocities, two each.

const LANDMARKS: u32 = 1u;
const POSITION_FIRST: u32 = 1u;
const MAX_CYCLES: u32 = 25u;
const ACCEL: f32 = 5.0;
// Distance of centres at which edges touch; its square, below which agents are in contact.
const REACH: f32 = 0.3;
const CONTACT: f32 = 0.09;
const CHARGES: u32 = 1u;
// v3 pays G·(1 − ρ) + l_i·ρ; OpenAI hands all agents N·G + Σ l − N.
const IS_V3: u32 = 1u;
const GLOBAL_WEIGHT: f32 = 0.5;
const LOCAL_WEIGHT: f32 = 0.5;
const IS_COMMON: u32 = 0u;

const DT: f32 = 0.1;
const KEPT: f32 = 0.75;
const CONTACT_FORCE: f32 = 100.0;
const CONTACT_MARGIN: f32 = 1e-3;

fn pair_at(e: u32, k: u32) -> vec2<f32> {
    let at = WORLD_REALS + e * WORLD_REALS_LEN + k * 2u;
    return vec2<f32>(reals[at], reals[at + 1u]);
}

fn put_pair(e: u32, k: u32, x: vec2<f32>) {
    let at = WORLD_REALS + e * WORLD_REALS_LEN + k * 2u;
    reals[at] = x.x;
    reals[at + 1u] = x.y;
}

fn reset_world(e: u32, episode: u32) {
    for (var k = 0u; k < WORLD_INTS_LEN; k++) {
        ints[WORLD_INTS + e * WORLD_INTS_LEN + k] = 0;
    }
    for (var k = 0u; k < WORLD_REALS_LEN; k++) {
        reals[WORLD_REALS + e * WORLD_REALS_LEN + k] = 0.0;
    }
    for (var k = 0u; k < AGENTS + LANDMARKS; k++) {
        var drawn = draw(e, episode, 0u, k, 0u);
        if (k >= AGENTS) {
            drawn = draw(e, episode, 0u, WORLD_DRAWS, 1u + k - AGENTS);
        }
        put_pair(e, k, vec2<f32>(2.0 * uniform01(drawn.x) - 1.0, 2.0 * uniform01(drawn.y) - 1.0));
    }
}

// ln(1 + eˣ).
fn softplus(x: f32) -> f32 {
    return max(x, 0.0) + log(1.0 + exp(0.0 - abs(x)));
}

// 100 · direction · k · ln(1 + e^(−gap/k)), on the first of a pair.
fn contact(apart: vec2<f32>) -> vec2<f32> {
    let distance = sqrt(apart.x * apart.x + apart.y * apart.y);
    let penetration = softplus((REACH - distance) / CONTACT_MARGIN) * CONTACT_MARGIN;
    return CONTACT_FORCE * apart / distance * penetration;
}

fn direction(action: u32) -> vec2<f32> {
    switch (action) {
        case 1u: { return vec2<f32>(-1.0, 0.0); }
        case 2u: { return vec2<f32>(1.0, 0.0); }
        case 3u: { return vec2<f32>(0.0, -1.0); }
        case 4u: { return vec2<f32>(0.0, 1.0); }
        default: { return vec2<f32>(0.0, 0.0); }
    }
}

// Others that agent i touches and is charged for.
fn contacts(e: u32, i: u32) -> f32 {
    var touched = 0.0;
    if (CHARGES == 1u) {
        let own = pair_at(e, i);
        for (var j = 0u; j < AGENTS; j++) {
            let apart = own - pair_at(e, j);
            if (j != i && dot(apart, apart) < CONTACT) {
                touched += 1.0;
            }
        }
    }
    return touched;
}

fn step_world(e: u32, episode: u32, step: u32) -> u32 {
    let velocities = AGENTS + LANDMARKS;
    var force: array<vec2<f32>, AGENTS>;
    for (var i = 0u; i < AGENTS; i++) {
        force[i] = direction(words[ACTION + e * AGENTS + i] % 5u) * ACCEL;
    }
    for (var i = 0u; i < AGENTS; i++) {
        for (var j = i + 1u; j < AGENTS; j++) {
            let push = contact(pair_at(e, i) - pair_at(e, j));
            force[i] += push;
            force[j] -= push;
        }
    }
    for (var i = 0u; i < AGENTS; i++) {
        let old = pair_at(e, velocities + i);
        let new_velocity = old * KEPT + force[i] * DT;
        put_pair(e, velocities + i, new_velocity);
        put_pair(e, i, pair_at(e, i) + select(new_velocity, old, POSITION_FIRST == 1u) * DT);
    }
    ints[WORLD_INTS + e * WORLD_INTS_LEN] += 1;

    var global = 0.0;
    for (var l = 0u; l < LANDMARKS; l++) {
        var least = 0.0;
        for (var i = 0u; i < AGENTS; i++) {
            let apart = pair_at(e, AGENTS + l) - pair_at(e, i);
            let square = dot(apart, apart);
            if (i == 0u || square < least) {
                least = square;
            }
        }
        global -= sqrt(least);
    }
    var all = 0.0;
    for (var i = 0u; i < AGENTS; i++) {
        all += contacts(e, i);
    }
    let rewards = REWARD + e * (AGENTS + 1u);
    for (var i = 0u; i < AGENTS; i++) {
        if (IS_V3 == 1u) {
            let local = 0.0 - contacts(e, i);
            reals[PARTS + e * PARTS_LEN + i * 2u] = global;
            reals[PARTS + e * PARTS_LEN + i * 2u + 1u] = local;
            reals[rewards + i] = GLOBAL_WEIGHT * global + LOCAL_WEIGHT * local;
        } else {
            let themselves = select(0.0, f32(AGENTS), CHARGES == 1u);
            reals[PARTS + e * PARTS_LEN + i * 3u] = global;
            reals[PARTS + e * PARTS_LEN + i * 3u + 1u] = 0.0 - all;
            reals[PARTS + e * PARTS_LEN + i * 3u + 2u] = 0.0 - themselves;
            reals[rewards + i] = f32(AGENTS) * global - all - themselves;
        }
    }
    reals[rewards + AGENTS] = select(0.0, reals[rewards], IS_COMMON == 1u);
    return select(0u, TRUNCATED, u32(ints[WORLD_INTS + e * WORLD_INTS_LEN]) >= MAX_CYCLES);
}

// Own velocity and place; landmarks and other agents as seen from it; what the others say, which is nothing.
fn observe_agent(e: u32, agent: u32, to: u32) {
    let own = pair_at(e, agent);
    let velocity = pair_at(e, AGENTS + LANDMARKS + agent);
    reals[to] = velocity.x;
    reals[to + 1u] = velocity.y;
    reals[to + 2u] = own.x;
    reals[to + 3u] = own.y;
    var at = to + 4u;
    for (var k = AGENTS; k < AGENTS + LANDMARKS; k++) {
        let apart = pair_at(e, k) - own;
        reals[at] = apart.x;
        reals[at + 1u] = apart.y;
        at += 2u;
    }
    for (var k = 0u; k < AGENTS; k++) {
        if (k != agent) {
            let apart = pair_at(e, k) - own;
            reals[at] = apart.x;
            reals[at + 1u] = apart.y;
            at += 2u;
        }
    }
    for (; at < to + OBS_LEN; at++) {
        reals[at] = 0.0;
    }
}

// All observations one after the other.
fn state_vector(e: u32, to: u32) {
    for (var agent = 0u; agent < AGENTS; agent++) {
        observe_agent(e, agent, to + agent * OBS_LEN);
    }
}

fn legal_actions(e: u32, agent: u32, to: u32) {
}
