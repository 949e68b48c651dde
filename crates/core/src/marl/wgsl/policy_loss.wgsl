// PPO's policy loss (Schulman et al. 2017, eq. 7) less the weight of the entropy, and ∂L/∂logits. Twin of PolicyLoss in
// marl/parts/policy_loss.rs. First every row's weight and advantage are noted; then every workgroup sums what all rows
// have in common for itself; then one adds up the losses and what is told.

const ITEMS: u32 = 1u;
const AGENTS: u32 = 1u;
const ACTIONS: u32 = 2u;
const OUTPUT_WIDTH: u32 = 8u;
const COLUMNS: u32 = 1u;
// Bits of the agents that learn.
const LEARNERS: u32 = 1u;
const CLIP: f32 = 0.2;
// 0 nobody, 1 all agents together, 2 each agent for itself.
const NORMALISES: u32 = 1u;
const MASK: u32 = 0u;
const ACTION: u32 = 0u;
const LOG_PROB: u32 = 0u;
const ADVANTAGE: u32 = 0u;
const WEIGHT: u32 = 0u;
const LOGITS: u32 = 0u;
const DLOGITS: u32 = 0u;
const SCALED: u32 = 0u;
const SCALARS: u32 = 0u;
const HISTOGRAM: u32 = 0u;
const BINS: u32 = 32u;
const SUMS: u32 = 0u;
// Weight of each row; its ratio's bin, or −1.
const ROW_WEIGHT: u32 = 0u;
const ROW_BIN: u32 = 0u;
// Of each workgroup: loss, weights, clipped, KL, entropies.
const TOLD: u32 = 0u;
const TILES: u32 = 1u;

const DEVIATION_EPS: f32 = 1e-5;
const TOLD_LEN: u32 = 5u;

// An agent that waits, or has but one choice, or does not learn has no part in the mean.
fn policy_rows(first: u32, count: u32, lane: u32, t: u32) {
    for (var row = first * AGENTS + lane; row < (first + count) * AGENTS; row += LANES) {
        var legal = 0u;
        for (var k = 0u; k < ACTIONS; k++) {
            legal += select(0u, 1u, words[MASK + row * ACTIONS + k] != 0u);
        }
        let agent = row % AGENTS;
        let counts = legal > 1u && ((LEARNERS >> agent) & 1u) == 1u;
        reals[ROW_WEIGHT + row] = select(0.0, reals[WEIGHT + row / AGENTS], counts);
        reals[SCALED + row] = reals[ADVANTAGE + row / AGENTS * COLUMNS + select(agent, 0u, COLUMNS == 1u)];
    }
}

// Mean and deviation of the advantages of every `stride`-th row from `start` on, and 1 if those that count are equal.
// Reads them before anybody scales.
fn moments_of(start: u32, stride: u32, lane: u32) -> vec3<f32> {
    var weight = 0.0;
    var sum = 0.0;
    var least = -3e38;
    var largest = -3e38;
    for (var row = start + lane * stride; row < ITEMS * AGENTS; row += LANES * stride) {
        let w = reals[ROW_WEIGHT + row];
        let x = advantage_of(row);
        weight += w;
        sum += w * x;
        if (w > 0.0) {
            least = max(least, 0.0 - x);
            largest = max(largest, x);
        }
    }
    let total = sum_of_lanes(weight, lane);
    let mean = sum_of_lanes(sum, lane) / total;
    let low = 0.0 - max_of_lanes(least, lane);
    let high = max_of_lanes(largest, lane);
    var square = 0.0;
    for (var row = start + lane * stride; row < ITEMS * AGENTS; row += LANES * stride) {
        let x = advantage_of(row) - mean;
        square += reals[ROW_WEIGHT + row] * x * x;
    }
    let deviation = sqrt(sum_of_lanes(square, lane) / total) + DEVIATION_EPS;
    return vec3<f32>(mean, deviation, select(0.0, 1.0, low >= high));
}

fn advantage_of(row: u32) -> f32 {
    return reals[ADVANTAGE + row / AGENTS * COLUMNS + select(row % AGENTS, 0u, COLUMNS == 1u)];
}

fn policy_loss(first: u32, count: u32, lane: u32, t: u32) {
    var weight = 0.0;
    for (var row = lane; row < ITEMS * AGENTS; row += LANES) {
        weight += reals[ROW_WEIGHT + row];
    }
    let total = sum_of_lanes(weight, lane);
    let share = select(0.0, 1.0 / total, total > 0.0);
    for (var start = 0u; start < select(select(AGENTS, 1u, NORMALISES == 1u), 0u, NORMALISES == 0u); start++) {
        let stride = select(AGENTS, 1u, NORMALISES == 1u);
        let moments = moments_of(start, stride, lane);
        for (var row = first * AGENTS + lane; row < (first + count) * AGENTS; row += LANES) {
            if (row % stride == start) {
                reals[SCALED + row] = select((reals[SCALED + row] - moments.x) / moments.y, 0.0, moments.z == 1.0);
            }
        }
    }
    let entropy_weight = reals[SCALARS + 5u];
    var loss = 0.0;
    var weights = 0.0;
    var clipped_weights = 0.0;
    var divergence = 0.0;
    var entropies = 0.0;
    for (var row = first * AGENTS + lane; row < (first + count) * AGENTS; row += LANES) {
        let d = DLOGITS + row * OUTPUT_WIDTH;
        for (var k = 0u; k < OUTPUT_WIDTH; k++) {
            reals[d + k] = 0.0;
        }
        reals[ROW_BIN + row] = -1.0;
        let w = reals[ROW_WEIGHT + row];
        if (w != 0.0) {
            let z = LOGITS + row * OUTPUT_WIDTH;
            let legal = MASK + row * ACTIONS;
            var largest = -3e38;
            for (var k = 0u; k < ACTIONS; k++) {
                if (words[legal + k] != 0u) {
                    largest = max(largest, reals[z + k]);
                }
            }
            var sum = 0.0;
            for (var k = 0u; k < ACTIONS; k++) {
                if (words[legal + k] != 0u) {
                    sum += exp(reals[z + k] - largest);
                }
            }
            let log_sum = log(sum);
            var entropy = 0.0;
            for (var k = 0u; k < ACTIONS; k++) {
                if (words[legal + k] != 0u) {
                    entropy -= exp(reals[z + k] - largest) / sum * (reals[z + k] - largest - log_sum);
                }
            }
            let taken = words[ACTION + row];
            let advantage = reals[SCALED + row];
            let log_ratio = reals[z + taken] - largest - log_sum - reals[LOG_PROB + row];
            let ratio = exp(log_ratio);
            let clipped = clamp(ratio, 1.0 - CLIP, 1.0 + CLIP);
            let free = ratio * advantage;
            let bounded = clipped * advantage;
            // Where the clipped term is the smaller one, it does not depend on the policy.
            let dlog_prob = select(free, 0.0, free > bounded);
            let part = w * share;
            loss += part * (0.0 - min(free, bounded) - entropy_weight * entropy);
            for (var k = 0u; k < ACTIONS; k++) {
                if (words[legal + k] != 0u) {
                    let p = exp(reals[z + k] - largest) / sum;
                    let of_entropy = entropy_weight * p * (reals[z + k] - largest - log_sum + entropy);
                    reals[d + k] = part * (of_entropy - dlog_prob * (select(0.0, 1.0, k == taken) - p));
                }
            }
            weights += w;
            clipped_weights += select(0.0, w, ratio != clipped);
            divergence += w * ((ratio - 1.0) - log_ratio);
            entropies += w * entropy;
            reals[ROW_BIN + row] = floor(clamp((ratio - 0.5) * f32(BINS), 0.0, f32(BINS - 1u)));
        }
    }
    let told = TOLD + first / TILE * TOLD_LEN;
    let all_loss = sum_of_lanes(loss, lane);
    let all_weights = sum_of_lanes(weights, lane);
    let all_clipped = sum_of_lanes(clipped_weights, lane);
    let all_divergence = sum_of_lanes(divergence, lane);
    let all_entropies = sum_of_lanes(entropies, lane);
    if (lane == 0u) {
        reals[told] = all_loss;
        reals[told + 1u] = all_weights;
        reals[told + 2u] = all_clipped;
        reals[told + 3u] = all_divergence;
        reals[told + 4u] = all_entropies;
    }
}

fn end_policy_loss(lane: u32) {
    for (var bin = lane; bin < BINS; bin += LANES) {
        var seen = 0u;
        for (var row = 0u; row < ITEMS * AGENTS; row++) {
            seen += select(0u, 1u, reals[ROW_BIN + row] == f32(bin));
        }
        words[HISTOGRAM + bin] += seen;
    }
    for (var k = lane; k < TOLD_LEN; k += LANES) {
        var sum = 0.0;
        for (var tile = 0u; tile < TILES; tile++) {
            sum += reals[TOLD + tile * TOLD_LEN + k];
        }
        if (k == 0u) {
            reals[SCALARS + 3u] = sum;
        } else {
            reals[SUMS + k - 1u] += sum;
        }
    }
}
