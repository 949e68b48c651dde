//! Whole QMIX updates in f32 on fixed data, whose losses are known from PyTorch, JAX and TensorFlow.js: agent network
//! shared by all agents, double-Q targets, mixer, mean squared error, norm clipping, Adam.

use tandem_core::base::lanes::padded;
use tandem_core::nn::cpu::adam::bias_correction;
use tandem_core::nn::cpu::{
    AdamParams, adam, masked_argmax, mixer_backward, mixer_forward, mlp_backward, mlp_forward, sq_norm,
};
use tandem_core::nn::layers::{Activation, Layer, Layout, Mixer, Mlp, Positivity};

/// Sizes of a work: episodes, steps, agents, observation, state, actions, hidden, embedding.
struct Work {
    b: usize,
    t: usize,
    n: usize,
    o: usize,
    s: usize,
    a: usize,
    h: usize,
    e: usize,
}

/// Element `i` of tensor `k` in [0, 1): mulberry32's finish of a counter.
fn unit(k: u32, i: usize) -> f64 {
    let a = 1_000_003_u32.wrapping_mul(k).wrapping_add((i as u32 + 1).wrapping_mul(0x6D2B_79F5));
    let t = (a ^ (a >> 15)).wrapping_mul(a | 1);
    let t = t.wrapping_add((t ^ (t >> 7)).wrapping_mul(t | 0x3D)) ^ t;
    f64::from(t ^ (t >> 14)) / 4_294_967_296.0
}

fn signed(k: u32, i: usize) -> f64 {
    2.0 * unit(k, i) - 1.0
}

/// W = tensor k, b = tensor k + 1, both in ±1/√inputs.
fn fill(layer: &Layer, k: u32, weights: &mut [f32]) {
    let bound = f64::from(layer.weight.rows).sqrt();
    for (k, tensor) in [(k, &layer.weight), (k + 1, &layer.bias)] {
        let cols = tensor.cols as usize;
        for (i, row) in weights[tensor.range()].chunks_exact_mut(tensor.stride() as usize).enumerate() {
            (0..cols).for_each(|j| row[j] = (signed(k, i * cols + j) / bound) as f32);
        }
    }
}

/// The losses of `updates` updates on the same batch.
fn losses(w: &Work, updates: u32) -> Vec<f32> {
    let mut layout = Layout::default();
    let (n, s, e) = (w.n as u32, w.s as u32, w.e as u32);
    let sizes = [(w.o + w.n) as u32, w.h as u32, w.h as u32, w.a as u32];
    let agent = Mlp::new(&mut layout, "agent", &sizes, Activation::Relu);
    let mixer = Mixer::new(&mut layout, "mixer", n, s, e, 1, 0, Positivity::Abs);
    let mut weights = vec![0.0; layout.len as usize];
    let nets = [&agent, &mixer.hyper_w1, &mixer.hyper_b1, &mixer.hyper_w2, &mixer.value];
    let layers = nets.iter().flat_map(|net| &net.layers);
    layers.zip((1..).step_by(2)).for_each(|(layer, k)| fill(layer, k, &mut weights));
    let target = weights.clone();
    let (mut m, mut v) = (vec![0.0; weights.len()], vec![0.0; weights.len()]);

    // Rows of `obs` and `q` are (episode, step 0..=T, agent); rows of `state` are (episode, step 0..=T).
    let moments = w.b * (w.t + 1);
    let (x_stride, q_stride, s_stride) = (padded(sizes[0]) as usize, padded(sizes[3]) as usize, padded(s) as usize);
    let mut obs = vec![0.0_f32; moments * w.n * x_stride];
    for (row, x) in obs.chunks_exact_mut(x_stride).enumerate() {
        (0..w.o).for_each(|i| x[i] = signed(20, row * w.o + i) as f32);
        x[w.o + row % w.n] = 1.0;
    }
    let mut state = vec![0.0_f32; moments * s_stride];
    for (row, x) in state.chunks_exact_mut(s_stride).enumerate() {
        (0..w.s).for_each(|i| x[i] = signed(21, row * w.s + i) as f32);
    }
    let transitions = w.b * w.t;
    let actions: Vec<usize> = (0..transitions * w.n).map(|i| (5.0 * unit(22, i)) as usize).collect();
    let rewards: Vec<f32> = (0..transitions).map(|i| signed(23, i) as f32).collect();
    let alive: Vec<f32> = (0..transitions).map(|i| if unit(24, i) < 0.02 { 0.0 } else { 1.0 }).collect();
    // The moment before and after each transition.
    let before: Vec<u32> = (0..transitions).map(|i| (i / w.t * (w.t + 1) + i % w.t) as u32).collect();
    let after: Vec<u32> = before.iter().map(|moment| moment + 1).collect();
    let agents = |moments: &[u32]| moments.iter().flat_map(|m| (0..n).map(move |a| m * n + a)).collect::<Vec<u32>>();
    let (rows_before, rows_after) = (agents(&before), agents(&after));
    let all: Vec<u32> = (0..(moments * w.n) as u32).collect();
    let legal = vec![1; w.a];

    let mut hidden = vec![0.0; all.len() * agent.hidden_width() as usize];
    let (mut q, mut q_target) = (vec![0.0; all.len() * q_stride], vec![0.0; all.len() * q_stride]);
    let mut trace = vec![0.0; transitions * mixer.trace_width() as usize];
    let mut scratch = Vec::new();
    let mut losses = Vec::new();
    for update in 1..=updates {
        // The target agent's hidden layers are not needed again: the online pass overwrites them.
        mlp_forward(&agent, &target, &rows_after, &obs, &mut hidden, &mut q_target);
        mlp_forward(&agent, &weights, &all, &obs, &mut hidden, &mut q);
        let row = |q: &[f32], r: u32, action: usize| q[r as usize * q_stride + action];
        let taken: Vec<f32> = rows_before.iter().zip(&actions).map(|(&r, &action)| row(&q, r, action)).collect();
        let best = rows_after.iter().map(|&r| {
            let action = masked_argmax(&q[r as usize * q_stride..], &legal).expect("all actions are legal");
            row(&q_target, r, action as usize)
        });
        let best: Vec<f32> = best.collect();
        let (mut q_tot, mut next) = (vec![0.0; transitions], vec![0.0; transitions]);
        mixer_forward(&mixer, &target, &after, &state, &best, &mut trace, &mut next);
        mixer_forward(&mixer, &weights, &before, &state, &taken, &mut trace, &mut q_tot);
        let errors: Vec<f32> = (0..transitions).map(|i| q_tot[i] - (rewards[i] + 0.99 * alive[i] * next[i])).collect();
        losses.push(sq_norm(&errors) / transitions as f32);

        let dq_tot: Vec<f32> = errors.iter().map(|e| 2.0 * e / transitions as f32).collect();
        let mut grad = vec![0.0; weights.len()];
        let mut dq = vec![0.0; taken.len()];
        mixer_backward(&mixer, &weights, &before, &state, &taken, &trace, &dq_tot, &mut scratch, &mut grad, &mut dq);
        let mut dy = vec![0.0; q.len()];
        for ((r, action), d) in rows_before.iter().zip(&actions).zip(&dq) {
            dy[*r as usize * q_stride + action] = *d;
        }
        mlp_backward(&agent, &weights, &rows_before, &obs, &hidden, &dy, &mut scratch, &mut grad, None);
        let norm = sq_norm(&grad).sqrt();
        let scale = if norm + 1e-6 > 10.0 { 10.0 / (norm + 1e-6) } else { 1.0 };
        let p = AdamParams {
            lr: 5e-4,
            beta1: 0.9,
            beta2: 0.999,
            eps: 1e-5,
            bias1: bias_correction(0.9_f32, update),
            bias2: bias_correction(0.999_f32, update),
        };
        adam(&p, scale, &grad, &mut weights, &mut m, &mut v);
    }
    losses
}

fn check(work: &Work, first: f32, thirty_first: f32) {
    let losses = losses(work, 31);
    for (got, expected) in [(losses[0], first), (losses[30], thirty_first)] {
        assert!((got / expected - 1.0).abs() < 1e-5, "{got} instead of {expected}");
    }
}

#[test]
fn the_numbers_are_those_of_the_recipe() {
    let expected = [0.926_348_44, 0.710_082_68, 0.863_839_21, 0.972_144_49];
    for (i, expected) in expected.into_iter().enumerate() {
        assert!((unit(1, i) - expected).abs() < 1e-8);
    }
}

/// 3 agents, 32 episodes of 25 steps.
#[test]
fn a_qmix_update_has_the_losses_of_other_frameworks() {
    check(&Work { b: 32, t: 25, n: 3, o: 18, s: 54, a: 5, h: 64, e: 32 }, 1.811_299, 0.630_435);
}

/// 2 agents, 64 episodes of one step.
#[test]
fn a_small_qmix_update_has_the_losses_of_other_frameworks() {
    check(&Work { b: 64, t: 1, n: 2, o: 8, s: 6, a: 5, h: 32, e: 32 }, 2.507_312, 1.121_289);
}
