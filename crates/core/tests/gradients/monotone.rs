//! P15: Q_tot rises with every agent's value, for any state and any weights; and views see the mixer's own numbers.

use tandem_core::base::rng::{Stream, uniform};
use tandem_core::nn::cpu::{MixerAt, mix_at, mix_grid, mixer_backward, mixer_forward};
use tandem_core::nn::layers::{Layout, Mixer, Positivity};

const AGENTS: usize = 3;
const STATE: usize = 8;

fn numbers(stream: &Stream, draw: u32, scale: f32, out: &mut [f32]) {
    for (i, x) in out.iter_mut().enumerate() {
        *x = scale * (2.0 * uniform(stream.words([i as u32, draw, 0, 0])[0]) - 1.0);
    }
}

#[test]
fn p15_q_tot_rises_with_every_q() {
    let stream = Stream::new(15, "monotone");
    for positivity in [Positivity::Abs, Positivity::Softplus] {
        let mut layout = Layout::default();
        let mixer = Mixer::new(&mut layout, "mixer", AGENTS as u32, STATE as u32, 8, 1, 0, positivity);
        let mut weights = vec![0.0; layout.len as usize];
        let (mut scratch, mut grad) = (Vec::new(), vec![0.0; weights.len()]);
        // 1,000 weights × 100 states.
        let (mut state, mut q) = (vec![0.0; 100 * STATE], vec![0.0; 100 * AGENTS]);
        let rows: Vec<u32> = (0..100).collect();
        let mut largest = 0.0_f32;
        for draw in 0..1_000 {
            numbers(&stream, 3 * draw, 2.0, &mut weights);
            numbers(&stream, 3 * draw + 1, 2.0, &mut state);
            numbers(&stream, 3 * draw + 2, 10.0, &mut q);
            let mut trace = vec![0.0; 100 * mixer.trace_width() as usize];
            let (mut q_tot, mut dq) = (vec![0.0; 100], vec![0.0; 100 * AGENTS]);
            mixer_forward(&mixer, &weights, &rows, &state, &q, &mut trace, &mut q_tot);
            let ones = [1.0; 100];
            mixer_backward(&mixer, &weights, &rows, &state, &q, &trace, &ones, &mut scratch, &mut grad, &mut dq);
            assert!(dq.iter().all(|slope| *slope >= 0.0), "{positivity:?}, weights {draw}: {dq:?}");
            largest = dq.iter().copied().fold(largest, f32::max);

            // By difference: raise one agent's value by 1; rounding is some ulp of the terms' size.
            let agent = draw as usize % AGENTS;
            q.chunks_exact_mut(AGENTS).for_each(|q| q[agent] += 1.0);
            let mut raised = vec![0.0; 100];
            mixer_forward(&mixer, &weights, &rows, &state, &q, &mut trace, &mut raised);
            for (before, after) in q_tot.iter().zip(&raised) {
                assert!(after - before >= -1e-4 * (1.0 + before.abs()), "{positivity:?}: {before} fell to {after}");
            }
        }
        assert!(largest > 1.0);
    }
}

/// Without positivity a counterexample exists (P16): the break is the map's, not the test's blindness.
#[test]
fn p16_free_mixing_weights_can_let_q_tot_fall() {
    let mut layout = Layout::default();
    let mixer = Mixer::new(&mut layout, "mixer", AGENTS as u32, STATE as u32, 8, 1, 0, Positivity::Free);
    let mut weights = vec![0.0; layout.len as usize];
    let stream = Stream::new(16, "free");
    let falls = (0..100).any(|draw| {
        numbers(&stream, draw, 1.0, &mut weights);
        let mut slopes = [0.0; AGENTS];
        MixerAt::new(&mixer, &weights, &[0.5; STATE]).slopes(&[0.1, 0.2, 0.3], &mut slopes);
        slopes.iter().any(|slope| *slope < 0.0)
    });
    assert!(falls);
}

#[test]
fn views_see_the_mixers_own_bits() {
    let stream = Stream::new(17, "views");
    for (positivity, hyper_layers) in [(Positivity::Abs, 1), (Positivity::Softplus, 2)] {
        let mut layout = Layout::default();
        let mixer = Mixer::new(&mut layout, "mixer", AGENTS as u32, 5, 16, hyper_layers, 12, positivity);
        let mut weights = vec![0.0; layout.len as usize];
        numbers(&stream, 0, 1.0, &mut weights);
        let (mut state, mut q) = ([0.0; 3 * 8], [0.0; 3 * AGENTS]);
        numbers(&stream, 1, 1.0, &mut state);
        numbers(&stream, 2, 1.0, &mut q);
        let (mut trace, mut q_tot) = (vec![0.0; 3 * mixer.trace_width() as usize], [0.0; 3]);
        // All three transitions at state 2.
        mixer_forward(&mixer, &weights, &[2; 3], &state, &q, &mut trace, &mut q_tot);
        let mut grid = [0.0; 3];
        mix_grid(&mixer, &weights, &state[16..], &q, &mut grid);
        assert_eq!(grid, q_tot);
        assert_eq!(mix_at(&mixer, &weights, &state[16..], &q[AGENTS..2 * AGENTS]), q_tot[1]);
        let (mut dq, mut slopes) = ([0.0; 3 * AGENTS], [0.0; AGENTS]);
        let mut grad = vec![0.0; weights.len()];
        mixer_backward(&mixer, &weights, &[2; 3], &state, &q, &trace, &[1.0; 3], &mut Vec::new(), &mut grad, &mut dq);
        MixerAt::new(&mixer, &weights, &state[16..]).slopes(&q[..AGENTS], &mut slopes);
        assert_eq!(slopes, dq[..AGENTS]);
    }
}
