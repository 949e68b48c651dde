// A draw from π_ε = (1 − ε)·softmax + ε/|A_legal| of the legal actions' logits, and its ln π_ε. Twin of SoftmaxDraw in
// marl/parts/explore.rs.

const KEY_LOW: u32 = 0u;
const KEY_HIGH: u32 = 0u;
const KEY_NAME: u32 = 0u;
const AGENTS: u32 = 1u;
const ACTIONS: u32 = 2u;
const OUTPUT_WIDTH: u32 = 8u;
// Bits of the agents that explore by ε.
const EXPLORERS: u32 = 1u;
const EPSILON: u32 = 0u;
const LOGITS: u32 = 0u;
const MASK: u32 = 0u;
const TIME: u32 = 0u;
const ACTION: u32 = 0u;
const EXPLORED: u32 = 0u;
const LOG_PROB: u32 = 0u;

fn softmax_draw(first: u32, count: u32, lane: u32, t: u32) {
    for (var k = lane; k < count * AGENTS; k += LANES) {
        let e = first + k / AGENTS;
        let agent = k % AGENTS;
        let row = e * AGENTS + agent;
        let time = vec2<u32>(words[TIME + e * 2u], words[TIME + e * 2u + 1u]);
        let drawn = random(vec4<u32>(KEY_LOW, KEY_HIGH, KEY_NAME, 0u), vec4<u32>(e, time, agent * 256u));
        let epsilon = select(0.0, reals[EPSILON], ((EXPLORERS >> agent) & 1u) == 1u);
        var legal = 0u;
        var best = ACTIONS;
        var largest = 0.0;
        for (var a = 0u; a < ACTIONS; a++) {
            let z = reals[LOGITS + row * OUTPUT_WIDTH + a];
            if (words[MASK + row * ACTIONS + a] != 0u) {
                legal += 1u;
                if (best == ACTIONS || z > largest) {
                    best = a;
                    largest = z;
                }
            }
        }
        var action = 0u;
        var log_prob = 0.0;
        if (best < ACTIONS) {
            var sum = 0.0;
            for (var a = 0u; a < ACTIONS; a++) {
                if (words[MASK + row * ACTIONS + a] != 0u) {
                    sum += exp(reals[LOGITS + row * OUTPUT_WIDTH + a] - largest);
                }
            }
            let threshold = uniform01(drawn.x) * sum;
            action = best;
            var cumulated = 0.0;
            for (var a = 0u; a < ACTIONS; a++) {
                if (words[MASK + row * ACTIONS + a] != 0u) {
                    let p = exp(reals[LOGITS + row * OUTPUT_WIDTH + a] - largest);
                    cumulated += p;
                    if (p > 0.0) {
                        action = a;
                    }
                    if (cumulated > threshold) {
                        break;
                    }
                }
            }
            // Of the softmax with probability 1 − ε, else any legal action: other words than the first decide on that.
            if (uniform01(drawn.z) < epsilon) {
                var before = below(drawn.y, legal);
                for (var a = 0u; a < ACTIONS; a++) {
                    if (words[MASK + row * ACTIONS + a] != 0u) {
                        if (before == 0u) {
                            action = a;
                            break;
                        }
                        before -= 1u;
                    }
                }
            }
            let z = reals[LOGITS + row * OUTPUT_WIDTH + action] - largest;
            log_prob = z - log(sum);
            if (epsilon > 0.0) {
                log_prob = log((1.0 - epsilon) * exp(z) / sum + epsilon / f32(legal));
            }
        }
        words[ACTION + row] = action;
        words[EXPLORED + row] = select(0u, 1u, best < ACTIONS && action != best);
        reals[LOG_PROB + row] = log_prob;
    }
}
