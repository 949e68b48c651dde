//! The named buffers of a run, and who may see them.
//!
//! Every buffer has a side. What acts in the world may see [`Execution`] buffers only; what trains sees both. The side
//! is part of an id's type, so acting code may read what an agent receives:
//!
//! ```
//! # use tandem_core::{base::float::Real, nn::graph::{Compute, Execution, Id, Reals, Training, View, Wires}};
//! #[derive(Debug)]
//! struct Act { input: Id<Reals, Execution> }
//! impl Compute for Act {
//!     type Side = Execution;
//!     const NAME: &'static str = "act";
//!     fn wires(&self, _: &mut Wires) {}
//!     fn run<R: Real>(&self, view: View<'_, R, Execution>) { let _ = view.read(self.input); }
//! }
//! ```
//!
//! and the same code does not compile when its input is training data, a state or a critic's value:
//!
//! ```compile_fail,E0277
//! # use tandem_core::{base::float::Real, nn::graph::{Compute, Execution, Id, Reals, Training, View, Wires}};
//! #[derive(Debug)]
//! struct Act { input: Id<Reals, Training> }
//! impl Compute for Act {
//!     type Side = Execution;
//!     const NAME: &'static str = "act";
//!     fn wires(&self, _: &mut Wires) {}
//!     fn run<R: Real>(&self, view: View<'_, R, Execution>) { let _ = view.read(self.input); }
//! }
//! ```

use std::cell::{Ref, RefCell, RefMut};
use std::fmt::Debug;
use std::marker::PhantomData;

use crate::base::float::Real;

/// Data an agent may use when it acts: its own observation, mask, weights, exploration rate.
#[derive(Clone, Copy, Debug)]
pub enum Execution {}

/// Data of centralised training: state, rewards, replay, mixers, gradients.
#[derive(Clone, Copy, Debug)]
pub enum Training {}

/// A side of a buffer or a kernel; it always sees itself.
pub trait Side: Sees<Self> + Copy + Debug + Send + 'static {
    /// Whether this is [`Execution`].
    const IS_EXECUTION: bool;
}
impl Side for Execution {
    const IS_EXECUTION: bool = true;
}
impl Side for Training {
    const IS_EXECUTION: bool = false;
}

/// `A: Sees<B>`: a kernel of side A may touch buffers of side B.
#[diagnostic::on_unimplemented(message = "execution must not touch training data")]
pub trait Sees<B> {}
impl Sees<Self> for Execution {}
impl<B: Side> Sees<B> for Training {}

/// Real numbers of the run's precision (f32; f64 when gradients are checked).
#[derive(Clone, Copy, Debug)]
pub enum Reals {}
/// Unsigned words: actions, masks, counters.
#[derive(Clone, Copy, Debug)]
pub enum Words {}
/// Signed integers: cells of worlds.
#[derive(Clone, Copy, Debug)]
pub enum Ints {}
/// Doubles whatever the run's precision: positions of worlds.
#[derive(Clone, Copy, Debug)]
pub enum Doubles {}
/// Singles whatever the run's precision: what a world shows, as its rules write it.
#[derive(Clone, Copy, Debug)]
pub enum Singles {}

/// A kind of numbers a buffer can hold.
pub trait Content: Copy + Debug + 'static {
    /// One element in a run of precision `R`.
    type Item<R: Real>: Copy + Default + Debug;
    /// The buffers of this kind.
    fn store<R: Real>(buffers: &Buffers<R>) -> &[RefCell<Vec<Self::Item<R>>>];
    /// Names and shapes of the buffers of this kind.
    fn infos(plan: &Plan) -> &Vec<BufferInfo>;
    /// The same, to add one.
    fn infos_mut(plan: &mut Plan) -> &mut Vec<BufferInfo>;
    /// Kind number, for wires.
    const KIND: u8;
}

macro_rules! content {
    ($marker:ident, $item:ty, $field:ident, $kind:literal) => {
        impl Content for $marker {
            type Item<R: Real> = $item;
            fn store<R: Real>(buffers: &Buffers<R>) -> &[RefCell<Vec<$item>>] {
                &buffers.$field
            }
            fn infos(plan: &Plan) -> &Vec<BufferInfo> {
                &plan.$field
            }
            fn infos_mut(plan: &mut Plan) -> &mut Vec<BufferInfo> {
                &mut plan.$field
            }
            const KIND: u8 = $kind;
        }
    };
}
content!(Reals, R, reals, 0);
content!(Words, u32, words, 1);
content!(Ints, i32, ints, 2);
content!(Doubles, f64, doubles, 3);
content!(Singles, f32, singles, 4);

/// Names a buffer: its kind of numbers and its side are part of the type.
pub struct Id<T, S> {
    pub(super) index: u32,
    marker: PhantomData<fn() -> (T, S)>,
}
impl<T, S> Clone for Id<T, S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, S> Copy for Id<T, S> {}
impl<T, S> Debug for Id<T, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{}", self.index)
    }
}
impl<T, S> Id<T, S> {
    /// Its number among the buffers of its kind.
    pub fn index(self) -> u32 {
        self.index
    }
}
impl<T> Id<T, Execution> {
    /// The same buffer as training sees it.
    #[must_use]
    pub fn seen_by_training(self) -> Id<T, Training> {
        Id { index: self.index, marker: PhantomData }
    }
}

/// What is known of a buffer before it exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferInfo {
    /// Unique name, dotted: `replay.reward`.
    pub name: String,
    /// Shape in the order `[batch, time, agent, feature]`; the last dimension may be padded to lanes.
    pub shape: Vec<u32>,
    /// Whether agents may see it when they act.
    pub execution: bool,
    /// Whether it has its numbers.
    pub presence: Presence,
}

/// Whether a buffer has its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// In any case.
    Always,
    /// Unless [`Plan::leave_out`] finds that nobody reads them.
    IfRead,
    /// It has none: whoever writes it writes nothing.
    LeftOut,
}

impl BufferInfo {
    /// Number of elements.
    pub fn len(&self) -> usize {
        if self.presence == Presence::LeftOut { 0 } else { self.shape.iter().map(|&d| d as usize).product() }
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The buffers of a run, described; grows while lists are built.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    reals: Vec<BufferInfo>,
    words: Vec<BufferInfo>,
    ints: Vec<BufferInfo>,
    doubles: Vec<BufferInfo>,
    singles: Vec<BufferInfo>,
}

impl Plan {
    /// A new buffer.
    pub fn buffer<T: Content, S: Side>(&mut self, name: &str, shape: &[u32]) -> Id<T, S> {
        self.with_presence(name, shape, Presence::Always)
    }

    /// A new buffer that only calls of lists look at: [`Plan::leave_out`] may find that none does. A kernel that writes
    /// it must be content with a buffer of no length.
    pub fn buffer_if_read<T: Content, S: Side>(&mut self, name: &str, shape: &[u32]) -> Id<T, S> {
        self.with_presence(name, shape, Presence::IfRead)
    }

    fn with_presence<T: Content, S: Side>(&mut self, name: &str, shape: &[u32], presence: Presence) -> Id<T, S> {
        let infos = T::infos_mut(self);
        debug_assert!(infos.iter().all(|i| i.name != name), "buffer {name} twice");
        let (name, shape) = (name.to_owned(), shape.to_vec());
        infos.push(BufferInfo { name, shape, execution: S::IS_EXECUTION, presence });
        Id { index: infos.len() as u32 - 1, marker: PhantomData }
    }

    /// Leaves out what is there for readers alone and `is_read`, by kind and index, says nobody reads.
    pub fn leave_out(&mut self, is_read: impl Fn((u8, u32)) -> bool) {
        let kinds = [
            (Reals::KIND, &mut self.reals),
            (Words::KIND, &mut self.words),
            (Ints::KIND, &mut self.ints),
            (Doubles::KIND, &mut self.doubles),
            (Singles::KIND, &mut self.singles),
        ];
        for (kind, infos) in kinds {
            for (index, info) in (0..).zip(infos) {
                if info.presence == Presence::IfRead && !is_read((kind, index)) {
                    info.presence = Presence::LeftOut;
                }
            }
        }
    }

    /// The buffer of that name, as training sees it.
    pub fn named<T: Content>(&self, name: &str) -> Option<Id<T, Training>> {
        let index = T::infos(self).iter().position(|info| info.name == name)?;
        Some(Id { index: index as u32, marker: PhantomData })
    }

    /// Numbers of a buffer, 0 of one that is left out.
    pub fn len<T: Content, S>(&self, id: Id<T, S>) -> u32 {
        T::infos(self)[id.index as usize].len() as u32
    }

    /// Bytes of all buffers in single precision, those left out included: how much a link may ask for does not depend on
    /// who reads what.
    pub fn bytes(&self) -> u64 {
        let elements = |infos: &[BufferInfo]| {
            let count = |info: &BufferInfo| info.shape.iter().map(|&d| u64::from(d)).product::<u64>();
            infos.iter().map(count).sum::<u64>()
        };
        4 * [&self.reals, &self.words, &self.ints, &self.singles].iter().map(|infos| elements(infos)).sum::<u64>()
            + 8 * elements(&self.doubles)
    }

    /// The real buffers, in order of their ids.
    pub fn real_infos(&self) -> &[BufferInfo] {
        &self.reals
    }
}

/// The buffers of a run, existing. Each is borrowed on its own; a kernel that names one buffer twice panics.
#[derive(Clone, Debug)]
pub struct Buffers<R: Real> {
    reals: Vec<RefCell<Vec<R>>>,
    words: Vec<RefCell<Vec<u32>>>,
    ints: Vec<RefCell<Vec<i32>>>,
    doubles: Vec<RefCell<Vec<f64>>>,
    singles: Vec<RefCell<Vec<f32>>>,
}

impl<R: Real> Buffers<R> {
    /// All buffers of `plan`, zero.
    pub fn new(plan: &Plan) -> Self {
        fn zeros<T: Copy + Default>(infos: &[BufferInfo]) -> Vec<RefCell<Vec<T>>> {
            infos.iter().map(|info| RefCell::new(vec![T::default(); info.len()])).collect()
        }
        Self {
            reals: zeros(&plan.reals),
            words: zeros(&plan.words),
            ints: zeros(&plan.ints),
            doubles: zeros(&plan.doubles),
            singles: zeros(&plan.singles),
        }
    }

    /// The buffers of `plan`, with the numbers of those of `before` that have the same name and length.
    pub fn continued(plan: &Plan, before: &Plan, numbers: Self) -> Self {
        fn taken<T: Copy + Default>(
            infos: &[BufferInfo],
            before: &[BufferInfo],
            numbers: Vec<RefCell<Vec<T>>>,
        ) -> Vec<RefCell<Vec<T>>> {
            let mut numbers: Vec<Vec<T>> = numbers.into_iter().map(RefCell::into_inner).collect();
            let mut take = |info: &BufferInfo| {
                let same = |old: &BufferInfo| old.name == info.name && old.len() == info.len();
                let at = before.iter().position(same);
                at.map_or_else(|| vec![T::default(); info.len()], |at| std::mem::take(&mut numbers[at]))
            };
            infos.iter().map(|info| RefCell::new(take(info))).collect()
        }
        Self {
            reals: taken(&plan.reals, &before.reals, numbers.reals),
            words: taken(&plan.words, &before.words, numbers.words),
            ints: taken(&plan.ints, &before.ints, numbers.ints),
            doubles: taken(&plan.doubles, &before.doubles, numbers.doubles),
            singles: taken(&plan.singles, &before.singles, numbers.singles),
        }
    }

    /// To read, from outside a kernel: views, tests, the session.
    pub fn read<T: Content, S>(&self, id: Id<T, S>) -> Ref<'_, Vec<T::Item<R>>> {
        T::store(self)[id.index as usize].borrow()
    }

    /// To write, from outside a kernel.
    pub fn write<T: Content, S>(&self, id: Id<T, S>) -> RefMut<'_, Vec<T::Item<R>>> {
        T::store(self)[id.index as usize].borrow_mut()
    }

    /// Buffer number `index` of a kind.
    #[cfg(feature = "gpu")]
    pub(super) fn stored<T: Content>(&self, index: u32) -> Ref<'_, Vec<T::Item<R>>> {
        T::store(self)[index as usize].borrow()
    }

    /// To write.
    #[cfg(feature = "gpu")]
    pub(super) fn stored_mut<T: Content>(&self, index: u32) -> RefMut<'_, Vec<T::Item<R>>> {
        T::store(self)[index as usize].borrow_mut()
    }

    /// The real buffer number `index` of the plan.
    pub fn real(&self, index: usize) -> Ref<'_, Vec<R>> {
        self.reals[index].borrow()
    }
}

/// The buffers as a kernel of side `V` sees them.
#[derive(Debug)]
pub struct View<'a, R: Real, V> {
    buffers: &'a Buffers<R>,
    marker: PhantomData<V>,
}

impl<'a, R: Real, V> View<'a, R, V> {
    pub(super) fn new(buffers: &'a Buffers<R>) -> Self {
        Self { buffers, marker: PhantomData }
    }

    /// To read.
    pub fn read<T: Content, S>(&self, id: Id<T, S>) -> Ref<'a, Vec<T::Item<R>>>
    where
        V: Sees<S>,
    {
        self.buffers.read(id)
    }

    /// To write.
    pub fn write<T: Content, S>(&self, id: Id<T, S>) -> RefMut<'a, Vec<T::Item<R>>>
    where
        V: Sees<S>,
    {
        self.buffers.write(id)
    }
}
