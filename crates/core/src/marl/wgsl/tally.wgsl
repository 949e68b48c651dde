// What a rollout tells on its way. Twin of marl/parts/tally.rs, but for the trace hash, which only the exact engine has.
//
// In the loop a workgroup notes what its worlds did; behind it one workgroup brings that into the order of env steps.

const ENVS: u32 = 1u;
const AGENTS: u32 = 1u;
const ACTIONS: u32 = 2u;
const CLOCK: u32 = 0u;
const ACTION: u32 = 0u;
const REWARD: u32 = 0u;
const PARTS: u32 = 0u;
const PARTS_LEN: u32 = 1u;
const ENDED: u32 = 0u;
const LIVE: u32 = 0u;
const RUNNING: u32 = 0u;
const RECENT: u32 = 0u;
const FREQUENCY: u32 = 0u;
const EPISODE_PARTS: u32 = 0u;
const EPISODE_STEPS: u32 = 0u;
// Of each env step of each world: 1 if an episode ended, and its returns [T, E, 1 + n].
const FINISHED: u32 = 0u;
// Of each env step of each workgroup: worlds that lived, and what frequencies of 0 would have become [T, tiles, 1 + n·|A|].
const OBSERVED: u32 = 0u;
const TILES: u32 = 1u;
const ITERATIONS: u32 = 1u;

const ENV_STEP: u32 = 2u;
const EPISODES: u32 = 6u;
const RECENT_KEPT: u32 = 64u;
const STEPS_KEPT: u32 = 200u;
const FORGET: f32 = 0.00390625;

var<workgroup> ends_of: array<u32, LANES>;

fn tally(first: u32, count: u32, lane: u32, t: u32) {
    for (var k = lane; k < count; k += LANES) {
        let e = first + k;
        let to = FINISHED + (t * ENVS + e) * (AGENTS + 1u);
        let has_ended = words[LIVE + e] != 0u && words[ENDED + e] != 0u;
        reals[to] = select(0.0, 1.0, has_ended);
        for (var i = 0u; i < AGENTS; i++) {
            let row = RUNNING + e * AGENTS + i;
            var running = reals[row];
            if (words[LIVE + e] != 0u) {
                running += reals[REWARD + e * (AGENTS + 1u) + i];
            }
            reals[to + 1u + i] = running;
            reals[row] = select(running, 0.0, has_ended);
        }
    }
    let observed = OBSERVED + (t * TILES + first / TILE) * (AGENTS * ACTIONS + 1u);
    for (var k = lane; k < AGENTS * ACTIONS; k += LANES) {
        var frequency = 0.0;
        for (var e = first; e < first + count; e++) {
            if (words[LIVE + e] != 0u) {
                let hit = select(0.0, 1.0, words[ACTION + e * AGENTS + k / ACTIONS] == k % ACTIONS);
                frequency += (hit - frequency) * FORGET;
            }
        }
        reals[observed + 1u + k] = frequency;
    }
    if (lane == 0u) {
        var lived = 0.0;
        for (var e = first; e < first + count; e++) {
            lived += select(0.0, 1.0, words[LIVE + e] != 0u);
        }
        reals[observed] = lived;
    }
    if (first == 0u && lane == 0u && words[LIVE] != 0u) {
        if (words[EPISODE_STEPS + 1u] != 0u) {
            words[EPISODE_STEPS] = 0u;
        }
        let row = words[EPISODE_STEPS] % STEPS_KEPT;
        for (var k = 0u; k < PARTS_LEN; k++) {
            reals[EPISODE_PARTS + row * PARTS_LEN + k] = reals[PARTS + k];
        }
        words[EPISODE_STEPS] += 1u;
        words[EPISODE_STEPS + 1u] = select(0u, 1u, words[ENDED] != 0u);
    }
}

fn end_tally(lane: u32) {
    // Frequencies: a workgroup's worlds one after the other, as one step of forgetting.
    for (var k = lane; k < AGENTS * ACTIONS; k += LANES) {
        var frequency = reals[FREQUENCY + k];
        for (var at = 0u; at < ITERATIONS * TILES; at++) {
            let observed = OBSERVED + at * (AGENTS * ACTIONS + 1u);
            frequency = frequency * pow(1.0 - FORGET, reals[observed]) + reals[observed + 1u + k];
        }
        reals[FREQUENCY + k] = frequency;
    }
    // Returns: each lane has a stretch of env steps; how many episodes ended before it says where its own go.
    let total = ITERATIONS * ENVS;
    let stretch = (total + LANES - 1u) / LANES;
    let begin_at = min(lane * stretch, total);
    let to = min(begin_at + stretch, total);
    var ends = 0u;
    for (var at = begin_at; at < to; at++) {
        ends += u32(reals[FINISHED + at * (AGENTS + 1u)]);
    }
    ends_of[lane] = ends;
    workgroupBarrier();
    var before = 0u;
    var all = 0u;
    for (var other = 0u; other < LANES; other++) {
        before += select(0u, ends_of[other], other < lane);
        all += ends_of[other];
    }
    let episodes = words[CLOCK + EPISODES];
    for (var at = begin_at; at < to; at++) {
        let row = FINISHED + at * (AGENTS + 1u);
        if (reals[row] != 0.0) {
            // What as many later ones overwrite is not written.
            if (before + RECENT_KEPT >= all) {
                let slot = (episodes + before) % RECENT_KEPT;
                for (var i = 0u; i < AGENTS; i++) {
                    reals[RECENT + slot * AGENTS + i] = reals[row + 1u + i];
                }
            }
            before += 1u;
        }
    }
    storageBarrier();
    workgroupBarrier();
    if (lane == 0u) {
        words[CLOCK + EPISODES] = episodes + all;
        words[CLOCK + ENV_STEP] += total;
    }
}
