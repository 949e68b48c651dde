//! Copies of everything that is trained, at the end of an update: parameters, Adam's moments, slow copies, the
//! scalars of the last gradient step, a critic's scale. Put back together or not at all.

use crate::marl::learner::Learner;
use crate::nn::graph::{Buffers, Doubles, Id, Reals, Training};

/// What was trained, as it was at an update boundary. Room is taken once; taking a copy allocates nothing.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Updates finished then.
    pub update: u32,
    reals: Vec<(Id<Reals, Training>, Vec<f32>)>,
    moments: Option<(Id<Doubles, Training>, Vec<f64>)>,
}

impl Kept {
    /// A copy of what is in `buffers` now.
    pub fn of(learner: &Learner, buffers: &Buffers<f32>, update: u32) -> Self {
        Self {
            update,
            reals: learner.trained().into_iter().map(|id| (id, buffers.read(id).clone())).collect(),
            moments: learner.value_moments().map(|id| (id, buffers.read(id).clone())),
        }
    }

    /// Takes a newer copy.
    pub fn take(&mut self, buffers: &Buffers<f32>, update: u32) {
        self.update = update;
        for (id, numbers) in &mut self.reals {
            numbers.copy_from_slice(&buffers.read(*id));
        }
        if let Some((id, numbers)) = &mut self.moments {
            numbers.copy_from_slice(&buffers.read(*id));
        }
    }

    /// Puts the copy back.
    pub fn put(&self, buffers: &Buffers<f32>) {
        for (id, numbers) in &self.reals {
            buffers.write(*id).copy_from_slice(numbers);
        }
        if let Some((id, numbers)) = &self.moments {
            buffers.write(*id).copy_from_slice(numbers);
        }
    }
}
