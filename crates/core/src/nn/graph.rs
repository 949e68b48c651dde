//! What a run is made of: named buffers, kernel calls on them, and lists of calls.
//!
//! A list is data: an engine interprets it, the stepper stops between its entries, the page draws its wires from what
//! each call reads and writes. Control flow never depends on numbers: an entry is a call or a `Repeat` of fixed count.
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
    /// Lengths of the buffers of this kind.
    fn infos(plan: &mut Plan) -> &mut Vec<BufferInfo>;
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
            fn infos(plan: &mut Plan) -> &mut Vec<BufferInfo> {
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
    index: u32,
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
}

impl BufferInfo {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().map(|&d| d as usize).product()
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
        let infos = T::infos(self);
        debug_assert!(infos.iter().all(|i| i.name != name), "buffer {name} twice");
        infos.push(BufferInfo { name: name.to_owned(), shape: shape.to_vec(), execution: S::IS_EXECUTION });
        Id { index: infos.len() as u32 - 1, marker: PhantomData }
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

    /// To read, from outside a kernel: views, tests, the session.
    pub fn read<T: Content, S>(&self, id: Id<T, S>) -> Ref<'_, Vec<T::Item<R>>> {
        T::store(self)[id.index as usize].borrow()
    }

    /// To write, from outside a kernel.
    pub fn write<T: Content, S>(&self, id: Id<T, S>) -> RefMut<'_, Vec<T::Item<R>>> {
        T::store(self)[id.index as usize].borrow_mut()
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

/// What a call reads and writes: `(kind, index)` of each buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wires {
    /// Inputs.
    pub reads: Vec<(u8, u32)>,
    /// Outputs.
    pub writes: Vec<(u8, u32)>,
}

impl Wires {
    /// Adds an input.
    pub fn reads<T: Content, S>(&mut self, id: Id<T, S>) -> &mut Self {
        self.reads.push((T::KIND, id.index));
        self
    }

    /// Adds an output.
    pub fn writes<T: Content, S>(&mut self, id: Id<T, S>) -> &mut Self {
        self.writes.push((T::KIND, id.index));
        self
    }
}

/// A kernel with its buffers bound: written once, for any precision.
pub trait Compute: Debug + Send + 'static {
    /// What it may see.
    type Side: Side;
    /// The kernel's one name.
    const NAME: &'static str;
    /// What it reads and writes.
    fn wires(&self, wires: &mut Wires);
    /// Does it.
    fn run<R: Real>(&self, view: View<'_, R, Self::Side>);
}

/// A [`Compute`] as an entry of a list.
pub trait Call: Debug + Send {
    /// The kernel's name.
    fn name(&self) -> &'static str;
    /// What it reads and writes.
    fn wires(&self) -> Wires;
    /// Runs in single precision.
    fn run_f32(&self, buffers: &Buffers<f32>);
    /// Runs in double precision.
    fn run_f64(&self, buffers: &Buffers<f64>);
}

impl<K: Compute> Call for K {
    fn name(&self) -> &'static str {
        K::NAME
    }
    fn wires(&self) -> Wires {
        let mut wires = Wires::default();
        Compute::wires(self, &mut wires);
        wires
    }
    fn run_f32(&self, buffers: &Buffers<f32>) {
        self.run(View { buffers, marker: PhantomData });
    }
    fn run_f64(&self, buffers: &Buffers<f64>) {
        self.run(View { buffers, marker: PhantomData });
    }
}

/// The eight phases of an update, as a person steps through them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Agents receive o_i.
    Observe,
    /// Agents act on o_i alone.
    Act,
    /// The world moves.
    Environment,
    /// The transition is kept.
    Store,
    /// A minibatch is drawn.
    Sample,
    /// Mixer or critic reads s and all actions.
    Centralise,
    /// Target and loss.
    Target,
    /// Gradient and optimiser step.
    Apply,
}

/// One instruction of a list.
#[derive(Debug)]
enum Op {
    Call { phase: Phase, call: Box<dyn Call> },
    Begin { count: u32, end: u32 },
    End { begin: u32 },
}

/// A list of kernel calls with nested repeats of fixed count.
#[derive(Debug, Default)]
pub struct List {
    ops: Vec<Op>,
}

/// Most repeats that may be open at once.
const MOST_NESTED: usize = 8;

/// Where an interrupted list goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    at: u32,
    /// Repeats that are open.
    depth: u32,
    /// Iterations left of each open repeat, outermost first; 0 beyond.
    left: [u32; MOST_NESTED],
}

impl Cursor {
    fn open(&mut self, count: u32) {
        self.left[self.depth as usize] = count;
        self.depth += 1;
    }

    /// Ends an iteration of the innermost repeat, which closes with its last one. Returns whether another follows.
    fn next(&mut self) -> bool {
        let left = &mut self.left[self.depth as usize - 1];
        *left -= 1;
        let more = *left > 0;
        self.depth -= u32::from(!more);
        more
    }
}

impl List {
    /// Adds a call of the training side.
    pub fn train<K: Compute<Side = Training>>(&mut self, phase: Phase, kernel: K) {
        self.ops.push(Op::Call { phase, call: Box::new(kernel) });
    }

    /// Adds a call of the acting part: it sees execution buffers only.
    pub fn act<K: Compute<Side = Execution>>(&mut self, phase: Phase, kernel: K) {
        self.ops.push(Op::Call { phase, call: Box::new(kernel) });
    }

    /// Adds `body`, `count` times.
    pub fn repeat(&mut self, count: u32, body: impl FnOnce(&mut Self)) {
        let begin = self.ops.len();
        self.ops.push(Op::Begin { count, end: 0 });
        body(self);
        let end = self.ops.len() as u32;
        self.ops.push(Op::End { begin: begin as u32 });
        self.ops[begin] = Op::Begin { count, end };
    }

    /// The calls in order, each once.
    pub fn calls(&self) -> impl Iterator<Item = (Phase, &dyn Call)> {
        self.ops.iter().filter_map(|op| match op {
            Op::Call { phase, call } => Some((*phase, &**call)),
            _ => None,
        })
    }

    /// Runs everything.
    pub fn run<R: Precision>(&self, buffers: &Buffers<R>) {
        let mut cursor = Cursor::default();
        while self.advance(&mut cursor, buffers) != Advance::Done {}
    }

    /// Runs from `cursor` to the next end of an outermost repeat's iteration, or to the end of the list.
    /// Returns whether the list is done; the cursor is then at the beginning again.
    pub fn run_iteration<R: Precision>(&self, cursor: &mut Cursor, buffers: &Buffers<R>) -> bool {
        loop {
            match self.advance(cursor, buffers) {
                Advance::Done => return true,
                // The last iteration runs on to the list's end.
                Advance::Iteration { more: true } => return false,
                Advance::Iteration { more: false } | Advance::Inside => {}
            }
        }
    }

    fn advance<R: Precision>(&self, cursor: &mut Cursor, buffers: &Buffers<R>) -> Advance {
        let Some(op) = self.ops.get(cursor.at as usize) else {
            *cursor = Cursor::default();
            return Advance::Done;
        };
        match op {
            Op::Call { call, .. } => {
                R::run(&**call, buffers);
                cursor.at += 1;
                Advance::Inside
            }
            Op::Begin { count: 0, end } => {
                cursor.at = end + 1;
                Advance::Inside
            }
            Op::Begin { count, .. } => {
                cursor.open(*count);
                cursor.at += 1;
                Advance::Inside
            }
            Op::End { begin } => {
                let outermost = cursor.depth == 1;
                let more = cursor.next();
                cursor.at = if more { *begin } else { cursor.at } + 1;
                if outermost { Advance::Iteration { more } } else { Advance::Inside }
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Advance {
    Inside,
    Iteration { more: bool },
    Done,
}

/// The two precisions a list can run in.
pub trait Precision: Real {
    /// Runs one call.
    fn run(call: &dyn Call, buffers: &Buffers<Self>);
}
impl Precision for f32 {
    fn run(call: &dyn Call, buffers: &Buffers<Self>) {
        call.run_f32(buffers);
    }
}
impl Precision for f64 {
    fn run(call: &dyn Call, buffers: &Buffers<Self>) {
        call.run_f64(buffers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Count {
        counter: Id<Words, Training>,
    }
    impl Compute for Count {
        type Side = Training;
        const NAME: &'static str = "count";
        fn wires(&self, wires: &mut Wires) {
            wires.writes(self.counter);
        }
        fn run<R: Real>(&self, view: View<'_, R, Training>) {
            view.write(self.counter)[0] += 1;
        }
    }

    #[test]
    fn repeats_nest_and_iterations_can_be_stopped_between() {
        let mut plan = Plan::default();
        let counter = plan.buffer::<Words, Training>("counter", &[1]);
        let mut list = List::default();
        list.train(Phase::Sample, Count { counter });
        list.repeat(3, |list| list.repeat(2, |list| list.train(Phase::Sample, Count { counter })));
        list.repeat(0, |list| list.train(Phase::Sample, Count { counter }));
        let buffers = Buffers::<f32>::new(&plan);
        list.run(&buffers);
        assert_eq!(buffers.read(counter)[0], 7);
        let mut cursor = Cursor::default();
        let mut seen = Vec::new();
        loop {
            let done = list.run_iteration(&mut cursor, &buffers);
            seen.push(buffers.read(counter)[0]);
            if done {
                break;
            }
        }
        assert_eq!(seen, [10, 12, 14], "the last iteration runs to the end of the list");
        assert_eq!(cursor, Cursor::default());
    }
}
