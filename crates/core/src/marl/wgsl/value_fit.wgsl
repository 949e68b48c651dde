// Σ w·(R − V)² and Σ w·(R − mean R)² of the whole rollout. Twin of Fit in marl/parts/policy_loss.rs.

const ITEMS: u32 = 1u;
const COLUMNS: u32 = 1u;
// Bits of the columns that are trained.
const TRAINED: u32 = 1u;
const WEIGHT: u32 = 0u;
const VALUE: u32 = 0u;
const TARGET: u32 = 0u;
const FIT: u32 = 0u;

fn value_fit(lane: u32) {
    var weights = 0.0;
    var returns = 0.0;
    for (var k = lane; k < ITEMS * COLUMNS; k += LANES) {
        if (((TRAINED >> (k % COLUMNS)) & 1u) == 1u) {
            weights += reals[WEIGHT + k / COLUMNS];
            returns += reals[WEIGHT + k / COLUMNS] * reals[TARGET + k];
        }
    }
    let total = sum_of_lanes(weights, lane);
    let mean = sum_of_lanes(returns, lane) / max(total, 1.0);
    var unknown = 0.0;
    var spread = 0.0;
    for (var k = lane; k < ITEMS * COLUMNS; k += LANES) {
        if (((TRAINED >> (k % COLUMNS)) & 1u) == 1u) {
            let w = reals[WEIGHT + k / COLUMNS];
            let r = reals[TARGET + k];
            let error = r - reals[VALUE + k];
            unknown += w * error * error;
            spread += w * (r - mean) * (r - mean);
        }
    }
    let of_values = sum_of_lanes(unknown, lane);
    let of_mean = sum_of_lanes(spread, lane);
    if (lane == 0u) {
        reals[FIT] = of_values;
        reals[FIT + 1u] = of_mean;
    }
}
