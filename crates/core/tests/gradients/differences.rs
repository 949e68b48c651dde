//! Central differences in f64. ReLU and |x| have kinks; random inputs keep away from them by far more than the step.

use tandem_core::base::lanes::padded;
use tandem_core::base::rng::{Stream, uniform};
use tandem_core::nn::cpu::{mixer_backward, mixer_forward, mlp_backward, mlp_forward};
use tandem_core::nn::init::{init_mixer, init_mlp};
use tandem_core::nn::layers::{Activation, Layout, Mixer, Mlp, Positivity, Tensor};

const STEP: f64 = 1e-5;

/// Numbers in ±1.
fn random(name: &str, len: usize) -> Vec<f64> {
    let stream = Stream::new(3, name);
    (0..len).map(|i| 2.0 * f64::from(uniform(stream.words([i as u32, 0, 0, 0])[0])) - 1.0).collect()
}

/// `[rows, padded(cols)]` random numbers, padding 0.
fn random_rows(name: &str, rows: usize, cols: u32) -> Vec<f64> {
    let mut x = random(name, rows * padded(cols) as usize);
    x.chunks_exact_mut(padded(cols) as usize).for_each(|row| row[cols as usize..].fill(0.0));
    x
}

/// Compares `analytic` with central differences of `loss` at `at`, for the numbers in `places`.
fn check(what: &str, at: &[f64], analytic: &[f64], places: impl Iterator<Item = usize>, loss: impl Fn(&[f64]) -> f64) {
    let mut moved = at.to_vec();
    let mut largest = 0.0;
    for i in places {
        moved[i] = at[i] + STEP;
        let above = loss(&moved);
        moved[i] = at[i] - STEP;
        let below = loss(&moved);
        moved[i] = at[i];
        let expected = (above - below) / (2.0 * STEP);
        let error = (analytic[i] - expected).abs() / expected.abs().max(1e-2);
        assert!(error < 1e-6, "{what}, number {i}: {} analytic, {expected} by differences", analytic[i]);
        largest = analytic[i].abs().max(largest);
    }
    assert!(largest > 1e-3, "{what}: gradients are all about 0, nothing was checked");
}

/// Places of a layout's parameters, padding left out.
fn parameters(layout: &Layout) -> impl Iterator<Item = usize> {
    layout.tensors.iter().flat_map(elements)
}

fn elements(tensor: &Tensor) -> impl Iterator<Item = usize> {
    let (start, stride, cols) = (tensor.offset as usize, tensor.stride() as usize, tensor.cols as usize);
    (0..tensor.rows as usize).flat_map(move |i| (0..cols).map(move |j| start + i * stride + j))
}

/// Padding of a gradient must be 0, or weights would grow there.
fn assert_padding_is_zero(layout: &Layout, grad: &[f64]) {
    let inside: std::collections::BTreeSet<usize> = parameters(layout).collect();
    assert!((0..grad.len()).all(|i| inside.contains(&i) || grad[i] == 0.0));
}

#[test]
fn mlp_gradients_equal_differences() {
    for activation in [Activation::Relu, Activation::Tanh] {
        for sizes in [&[5, 3][..], &[5, 12, 3], &[9, 8, 17, 2], &[1, 3, 1]] {
            let mut layout = Layout::default();
            let net = Mlp::new(&mut layout, "net", sizes, activation);
            let mut weights = vec![0.0; layout.len as usize];
            init_mlp(&net, &layout, &Stream::new(1, "init"), &mut weights);
            // 41 of 50 rows, in an order of their own: more than one block, a tile left over.
            let rows: Vec<u32> = (0..41).map(|i| (i * 7 + 3) % 50).collect();
            let x = random_rows("x", 50, net.inputs());
            let dy = random_rows("dy", 50, net.outputs());
            let run = |weights: &[f64]| {
                let mut hidden = vec![0.0; 50 * net.hidden_width() as usize];
                let mut y = vec![0.0; dy.len()];
                mlp_forward(&net, weights, &rows, &x, &mut hidden, &mut y);
                (hidden, y)
            };
            // L = Σ dy·y; rows not named keep y = 0.
            let loss = |weights: &[f64]| run(weights).1.iter().zip(&dy).map(|(y, d)| y * d).sum::<f64>();
            let (hidden, _) = run(&weights);
            let mut grad = vec![0.0; weights.len()];
            let mut scratch = vec![f64::NAN; 7];
            mlp_backward(&net, &weights, &rows, &x, &hidden, &dy, &mut scratch, &mut grad);
            let what = format!("{activation:?} {sizes:?}");
            check(&what, &weights, &grad, parameters(&layout), loss);
            assert_padding_is_zero(&layout, &grad);

            // Added to what is there: twice the gradient.
            mlp_backward(&net, &weights, &rows, &x, &hidden, &dy, &mut scratch, &mut grad);
            let mut once = vec![0.0; weights.len()];
            mlp_backward(&net, &weights, &rows, &x, &hidden, &dy, &mut scratch, &mut once);
            assert!(grad.iter().zip(&once).all(|(twice, once)| (twice - 2.0 * once).abs() < 1e-12));
        }
    }
}

/// Agents sharing one network → Q of the taken actions → mixer → mean squared error: all of QMIX's backward pass.
struct Qmix {
    layout: Layout,
    agent: Mlp,
    mixer: Mixer,
    obs: Vec<f64>,
    state: Vec<f64>,
    /// Which state belongs to each transition.
    states: Vec<u32>,
    actions: Vec<usize>,
    targets: Vec<f64>,
}

impl Qmix {
    const AGENTS: u32 = 3;
    const BATCH: usize = 37;

    fn new(activation: Activation, positivity: Positivity, hyper_layers: u32) -> Self {
        let mut layout = Layout::default();
        let agent = Mlp::new(&mut layout, "agent", &[6, 10, 4], activation);
        let mixer = Mixer::new(&mut layout, "mixer", Self::AGENTS, 11, 16, hyper_layers, 12, positivity);
        let rows = Self::BATCH * Self::AGENTS as usize;
        let actions = random("actions", rows).iter().map(|u| (2.0 * (u + 1.0)) as usize).collect();
        Self {
            obs: random_rows("obs", rows, agent.inputs()),
            state: random_rows("state", Self::BATCH + 5, mixer.state_len()),
            states: (0..Self::BATCH as u32).map(|b| (b * 5 + 2) % (Self::BATCH as u32 + 5)).collect(),
            targets: random("targets", Self::BATCH),
            layout,
            agent,
            mixer,
            actions,
        }
    }

    /// The loss and, when asked for, its gradient.
    fn run(&self, weights: &[f64], grad: Option<&mut [f64]>) -> f64 {
        let rows: Vec<u32> = (0..self.actions.len() as u32).collect();
        let stride = padded(self.agent.outputs()) as usize;
        let mut hidden = vec![0.0; rows.len() * self.agent.hidden_width() as usize];
        let mut y = vec![0.0; rows.len() * stride];
        mlp_forward(&self.agent, weights, &rows, &self.obs, &mut hidden, &mut y);
        let q: Vec<f64> = self.actions.iter().enumerate().map(|(r, action)| y[r * stride + action]).collect();
        let mut trace = vec![0.0; Self::BATCH * self.mixer.trace_width() as usize];
        let mut q_tot = vec![0.0; Self::BATCH];
        mixer_forward(&self.mixer, weights, &self.states, &self.state, &q, &mut trace, &mut q_tot);
        let errors: Vec<f64> = q_tot.iter().zip(&self.targets).map(|(q, y)| q - y).collect();
        if let Some(grad) = grad {
            let mut scratch = Vec::new();
            let dq_tot: Vec<f64> = errors.iter().map(|e| 2.0 * e / Self::BATCH as f64).collect();
            let mut dq = vec![0.0; q.len()];
            let (mixer, states) = (&self.mixer, &self.states);
            mixer_backward(mixer, weights, states, &self.state, &q, &trace, &dq_tot, &mut scratch, grad, &mut dq);
            let mut dy = vec![0.0; y.len()];
            self.actions.iter().enumerate().for_each(|(r, action)| dy[r * stride + action] = dq[r]);
            mlp_backward(&self.agent, weights, &rows, &self.obs, &hidden, &dy, &mut scratch, grad);
        }
        errors.iter().map(|e| e * e).sum::<f64>() / Self::BATCH as f64
    }
}

#[test]
fn qmix_gradients_equal_differences() {
    for activation in [Activation::Relu, Activation::Tanh] {
        for positivity in [Positivity::Abs, Positivity::Softplus, Positivity::Free] {
            for hyper_layers in [1, 2] {
                let qmix = Qmix::new(activation, positivity, hyper_layers);
                let mut weights = vec![0.0; qmix.layout.len as usize];
                let stream = Stream::new(2, "init");
                init_mlp(&qmix.agent, &qmix.layout, &stream, &mut weights);
                init_mixer(&qmix.mixer, &qmix.layout, &stream, &mut weights);
                let mut grad = vec![0.0; weights.len()];
                qmix.run(&weights, Some(&mut grad));
                let what = format!("{activation:?}, {positivity:?}, {hyper_layers}-layer hypernetworks");
                check(&what, &weights, &grad, parameters(&qmix.layout), |weights| qmix.run(weights, None));
                assert_padding_is_zero(&qmix.layout, &grad);
            }
        }
    }
}

/// P05: rows whose gradient is 0 change no bit, wherever they stand.
#[test]
fn p05_padded_rows_change_no_bit_of_a_gradient() {
    let mut layout = Layout::default();
    let net = Mlp::new(&mut layout, "net", &[5, 16, 3], Activation::Relu);
    let mut weights = vec![0.0_f32; layout.len as usize];
    init_mlp(&net, &layout, &Stream::new(1, "init"), &mut weights);
    let single = |x: Vec<f64>| -> Vec<f32> { x.into_iter().map(|x| x as f32).collect() };
    let x = single(random_rows("x", 60, 5));
    let mut dy = single(random_rows("dy", 60, 3));
    dy[40 * 8..].fill(0.0);
    let gradient = |rows: &[u32]| {
        let mut hidden = vec![0.0; 60 * net.hidden_width() as usize];
        let mut grad = vec![0.0; weights.len()];
        mlp_forward(&net, &weights, rows, &x, &mut hidden, &mut vec![0.0; dy.len()]);
        mlp_backward(&net, &weights, rows, &x, &hidden, &dy, &mut Vec::new(), &mut grad);
        grad.into_iter().map(f32::to_bits).collect::<Vec<_>>()
    };
    let real: Vec<u32> = (0..40).collect();
    let padded_between: Vec<u32> = (0..40).flat_map(|r| [r, 40 + r / 2]).collect();
    assert_eq!(gradient(&real), gradient(&padded_between));
}

/// The value of a row does not depend on which rows are computed with it.
#[test]
fn tiles_change_no_bit() {
    let mut layout = Layout::default();
    let net = Mlp::new(&mut layout, "net", &[13, 24, 24, 5], Activation::Tanh);
    let mut weights = vec![0.0_f32; layout.len as usize];
    init_mlp(&net, &layout, &Stream::new(1, "init"), &mut weights);
    let x: Vec<f32> = random_rows("x", 11, 13).into_iter().map(|x| x as f32).collect();
    let forward = |groups: &[&[u32]]| {
        let (mut hidden, mut y) = (vec![0.0; 11 * net.hidden_width() as usize], vec![0.0_f32; 11 * 8]);
        for rows in groups {
            mlp_forward(&net, &weights, rows, &x, &mut hidden, &mut y);
        }
        y.into_iter().map(f32::to_bits).collect::<Vec<_>>()
    };
    let together = forward(&[&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]]);
    assert_eq!(together, forward(&[&[10, 3], &[9, 8, 7], &[6], &[5, 4, 2, 1, 0]]));
    assert!(together.chunks_exact(8).all(|row| row[5..] == [0; 3]));
}
