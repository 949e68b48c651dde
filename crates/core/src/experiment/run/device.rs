//! A run on a graphics processor: its lists as programs, its buffers as arrays of the device.
//!
//! The device does whole updates and is asked for nothing on the way. What decides which list runs when, the clock, is
//! known without asking: it follows from env steps and updates alone, so the processor counts along.

use std::sync::Arc;

use super::{Part, Run};
use crate::experiment::divergence::{of_gradients, of_parameters};
use crate::experiment::knobs::gradient_steps_per_update;
use crate::experiment::snapshot::Sentence;
use crate::experiment::spec::ExperimentSpec;
use crate::marl::learner::{Experience, Learner};
use crate::marl::parts::clock::{ENV_STEP, GRADIENT_STEP, RING_FILL, RING_HEAD, SEGMENT_STEP, UPDATE};
use crate::nn::gpu::{Arrays, Compiled, Gpu, Submission, TooLarge};
use crate::nn::graph::Buffers;
use crate::nn::memory::Memory;
use crate::nn::program::{Program, Unfit, WIDEST};

/// Updates that may be under way at once: one is computed while the next one waits.
const IN_FLIGHT: usize = 2;

/// A run's lists and numbers on a device.
#[derive(Debug)]
pub(super) struct OnDevice {
    gpu: Arc<Gpu>,
    arrays: Arrays,
    /// An update without gradient steps, while a replay fills.
    rollout: Compiled,
    /// A whole update.
    update: Compiled,
    /// Submissions that may not be done.
    under_way: Vec<Submission>,
}

impl OnDevice {
    /// The lists of `learner` on a device, with the numbers of `buffers`; or why it cannot run them.
    pub(super) fn new(gpu: Arc<Gpu>, learner: &Learner, buffers: &Buffers<f32>) -> Result<Self, Sentence> {
        let mut memory = Memory::new(&learner.plan);
        let mut program =
            |lists: &[_]| Program::new(&learner.plan, lists, &mut memory).map_err(|unfit| why_unfit(&unfit));
        let rollout = program(&[&learner.rollout])?;
        let update = program(&[&learner.rollout, &learner.gradient_steps])?;
        let arrays = Arrays::new(&gpu, memory).map_err(|TooLarge { bytes, most }| {
            let megabytes = |bytes: u64| (bytes >> 20).to_string();
            Sentence::new("refuse.device.large", &[&megabytes(bytes), &megabytes(most)])
        })?;
        arrays.upload(&gpu, &learner.plan, buffers);
        let (rollout, update) = (gpu.compile(&rollout), gpu.compile(&update));
        Ok(Self { gpu, arrays, rollout, update, under_way: Vec::new() })
    }

    /// The device, for another run.
    pub(super) fn gpu(&self) -> Arc<Gpu> {
        Arc::clone(&self.gpu)
    }

    /// Hands the device the next update. Counts along in `buffers`, of which nothing else changes.
    pub(super) fn update(&mut self, spec: &ExperimentSpec, learner: &Learner, buffers: &Buffers<f32>) {
        count_rollout(learner, buffers);
        let learns = learner.learns_now(buffers);
        if learns {
            buffers.write(learner.clock.counters)[GRADIENT_STEP] += gradient_steps_per_update(spec);
        }
        if self.under_way.len() == IN_FLIGHT {
            self.gpu.finish(Some(self.under_way.remove(0)));
        }
        self.under_way.push(self.gpu.run(&self.arrays, if learns { &self.update } else { &self.rollout }, 1));
    }

    /// The device's numbers, when it has done all it was handed. Waits.
    pub(super) fn read(&mut self, learner: &Learner, buffers: &Buffers<f32>) {
        self.under_way.clear();
        let expected = buffers.read(learner.clock.counters)[..=RING_FILL].to_vec();
        self.arrays.download(&self.gpu, &learner.plan, buffers);
        debug_assert_eq!(expected, buffers.read(learner.clock.counters)[..=RING_FILL], "both count alike");
    }

    /// Gives the device the numbers of `buffers`.
    pub(super) fn write(&self, learner: &Learner, buffers: &Buffers<f32>) {
        self.arrays.upload(&self.gpu, &learner.plan, buffers);
    }
}

impl Run {
    /// Updates are made on `gpu` from the next one on. Refuses with a sentence what no device runs.
    pub fn move_to(&mut self, gpu: Arc<Gpu>) -> Result<(), Sentence> {
        self.device = Some(OnDevice::new(gpu, &self.learner, &self.buffers)?);
        Ok(())
    }

    /// Whether updates are made on a device. There is no trace hash then.
    pub fn is_on_device(&self) -> bool {
        self.device.is_some()
    }

    /// The whole next update, if a device makes it. Its numbers are fetched where an evaluation is due.
    pub(super) fn update_on_device(&mut self) -> bool {
        let Some(device) = &mut self.device else { return false };
        device.update(&self.spec, &self.learner, &self.buffers);
        self.finished += 1;
        self.weights_of = None;
        self.part = Part::Boundary;
        if self.is_evaluation_due() {
            self.fetch();
            self.diverged =
                of_parameters(&self.learner, &self.buffers).or_else(|| of_gradients(&self.learner, &self.buffers));
            match &self.diverged {
                None => self.last.take(&self.buffers, self.finished),
                Some(_) => self.last.put(&self.buffers),
            }
            self.begin_evaluation();
        }
        if self.part == Part::Boundary {
            self.take_changes();
        }
        true
    }

    /// The device's numbers, if there is a device.
    pub fn fetch(&mut self) {
        if let Some(device) = &mut self.device {
            device.read(&self.learner, &self.buffers);
        }
    }

    /// Changed numbers go to the device; other lists do too, if it can run them.
    pub(super) fn give_back(&mut self, has_new_lists: bool) {
        let Some(device) = &self.device else { return };
        if has_new_lists {
            self.device = OnDevice::new(device.gpu(), &self.learner, &self.buffers).ok();
        } else {
            device.write(&self.learner, &self.buffers);
        }
    }
}

/// The clock after a rollout.
fn count_rollout(learner: &Learner, buffers: &Buffers<f32>) {
    let mut clock = buffers.write(learner.clock.counters);
    let (envs, steps) = (learner.settings.envs, learner.settings.rollout);
    clock[UPDATE] += 1;
    clock[ENV_STEP] += envs * steps;
    if let Experience::Replay(replay) = &learner.experience {
        let recorded = clock[SEGMENT_STEP] + steps;
        let finished = recorded / replay.ring.steps * envs;
        clock[SEGMENT_STEP] = recorded % replay.ring.steps;
        clock[RING_HEAD] = (clock[RING_HEAD] + finished) % replay.ring.count;
        clock[RING_FILL] = (clock[RING_FILL] + finished).min(replay.ring.count);
    }
}

fn why_unfit(unfit: &Unfit) -> Sentence {
    match unfit {
        Unfit::NoShader(kernel) => Sentence::new("refuse.device.kernel", &[kernel]),
        Unfit::TooWide(width) => Sentence::new("refuse.device.wide", &[&width.to_string(), &WIDEST.to_string()]),
    }
}
