// A draw from the softmax of the legal actions' logits, and its ln π. Twin of SoftmaxDraw in marl/parts/explore.rs.

const KEY_LOW: u32 = 0u;
const KEY_HIGH: u32 = 0u;
const KEY_NAME: u32 = 0u;
const AGENTS: u32 = 1u;
const ACTIONS: u32 = 2u;
const OUTPUT_WIDTH: u32 = 8u;
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
        var best = ACTIONS;
        var largest = 0.0;
        for (var a = 0u; a < ACTIONS; a++) {
            let z = reals[LOGITS + row * OUTPUT_WIDTH + a];
            if (words[MASK + row * ACTIONS + a] != 0u && (best == ACTIONS || z > largest)) {
                best = a;
                largest = z;
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
            log_prob = reals[LOGITS + row * OUTPUT_WIDTH + action] - largest - log(sum);
        }
        words[ACTION + row] = action;
        words[EXPLORED + row] = select(0u, 1u, best < ACTIONS && action != best);
        reals[LOG_PROB + row] = log_prob;
    }
}
