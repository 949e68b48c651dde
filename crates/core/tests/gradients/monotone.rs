//! P15: Q_tot rises with every agent's value, for any state and any weights; and views see the mixer's own numbers.

use tandem_core::base::float::Real;
use tandem_core::base::rng::{Stream, uniform};
use tandem_core::nn::cpu::{MixerAt, mixer_backward, mixer_forward};
use tandem_core::nn::layers::{Layout, Mixer, Positivity};

const AGENTS: usize = 3;
const STATE: usize = 8;

fn numbers<R: Real>(stream: &Stream, draw: u32, scale: f32, out: &mut [R]) {
    for (i, x) in out.iter_mut().enumerate() {
        *x = R::from_f32(scale * (2.0 * uniform(stream.words([i as u32, draw, 0, 0])[0]) - 1.0));
    }
}

/// In f64, where rounding is far below what a fall of Q_tot could be mistaken for.
#[test]
fn p15_q_tot_rises_with_every_q() {
    let stream = Stream::new(15, "monotone");
    for (positivity, hyper_layers) in
        [(Positivity::Abs, 1), (Positivity::Softplus, 1), (Positivity::Abs, 2), (Positivity::Softplus, 2)]
    {
        let what = format!("{positivity:?}, {hyper_layers}-layer hypernetworks");
        let mut layout = Layout::default();
        let mixer = Mixer::new(&mut layout, "mixer", AGENTS as u32, STATE as u32, 8, hyper_layers, 12, positivity);
        let mut weights = vec![0.0_f64; layout.len as usize];
        let (mut scratch, mut grad) = (Vec::new(), vec![0.0; weights.len()]);
        // 1,000 weights × 100 states.
        let (mut state, mut q) = (vec![0.0; 100 * STATE], vec![0.0; 100 * AGENTS]);
        let rows: Vec<u32> = (0..100).collect();
        let (mut steepest, mut rises) = (0.0_f64, 0);
        for draw in 0..1_000 {
            numbers(&stream, 3 * draw, 2.0, &mut weights);
            numbers(&stream, 3 * draw + 1, 2.0, &mut state);
            numbers(&stream, 3 * draw + 2, 10.0, &mut q);
            let mut trace = vec![0.0; 100 * mixer.trace_width() as usize];
            let (mut q_tot, mut dq) = (vec![0.0; 100], vec![0.0; 100 * AGENTS]);
            mixer_forward(&mixer, &weights, &rows, &state, &q, &mut trace, &mut q_tot);
            let ones = [1.0; 100];
            mixer_backward(&mixer, &weights, &rows, &state, &q, &trace, &ones, &mut scratch, &mut grad, &mut dq);
            assert!(dq.iter().all(|slope| *slope >= 0.0), "{what}, weights {draw}: {dq:?}");
            steepest = dq.iter().copied().fold(steepest, f64::max);

            // By difference: raise one agent's value by 1.
            let agent = draw as usize % AGENTS;
            q.chunks_exact_mut(AGENTS).for_each(|q| q[agent] += 1.0);
            let mut raised = vec![0.0; 100];
            mixer_forward(&mixer, &weights, &rows, &state, &q, &mut trace, &mut raised);
            for (before, after) in q_tot.iter().zip(&raised) {
                assert!(after - before >= -1e-9 * before.abs().max(1.0), "{what}: {before} fell to {after}");
                rises += u32::from(after > before);
            }
        }
        assert!(steepest > 1.0 && rises > 90_000, "{what}: {rises} of 100,000 values rose");
    }
}

/// Without positivity a counterexample exists (P16): the break is the map's, not the test's blindness.
#[test]
fn p16_free_mixing_weights_can_let_q_tot_fall() {
    let mut layout = Layout::default();
    let mixer = Mixer::new(&mut layout, "mixer", AGENTS as u32, STATE as u32, 8, 1, 0, Positivity::Free);
    let mut weights = vec![0.0_f32; layout.len as usize];
    let stream = Stream::new(16, "free");
    let falls = (0..100).any(|draw| {
        numbers(&stream, draw, 1.0, &mut weights);
        let (state, q) = ([0.5; STATE], [0.1, 0.2, 0.3]);
        let (mut trace, mut q_tot) = (vec![0.0; mixer.trace_width() as usize], [0.0]);
        mixer_forward(&mixer, &weights, &[0], &state, &q, &mut trace, &mut q_tot);
        let (mut grad, mut dq) = (vec![0.0; weights.len()], [0.0; AGENTS]);
        mixer_backward(&mixer, &weights, &[0], &state, &q, &trace, &[1.0], &mut Vec::new(), &mut grad, &mut dq);
        dq.iter().any(|slope| *slope < 0.0)
    });
    assert!(falls);
}

#[test]
fn views_see_the_mixers_own_bits() {
    let stream = Stream::new(17, "views");
    for (positivity, hyper_layers) in [(Positivity::Abs, 1), (Positivity::Softplus, 2)] {
        let mut layout = Layout::default();
        let mixer = Mixer::new(&mut layout, "mixer", AGENTS as u32, 5, 16, hyper_layers, 12, positivity);
        let mut weights = vec![0.0_f32; layout.len as usize];
        numbers(&stream, 0, 1.0, &mut weights);
        let (mut state, mut q) = ([0.0; 3 * 8], [0.0; 3 * AGENTS]);
        numbers(&stream, 1, 1.0, &mut state);
        numbers(&stream, 2, 1.0, &mut q);
        let (mut trace, mut q_tot) = (vec![0.0; 3 * mixer.trace_width() as usize], [0.0; 3]);
        // All three transitions at state 2.
        mixer_forward(&mixer, &weights, &[2; 3], &state, &q, &mut trace, &mut q_tot);
        let mut view = MixerAt::new(&mixer, &weights, &state[16..]);
        let seen: Vec<f32> = q.chunks_exact(AGENTS).map(|q| view.q_tot(q)).collect();
        assert_eq!(seen, q_tot);
    }
}
