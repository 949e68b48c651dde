//! What a run is made of: named buffers (`buffers.rs`), kernel calls on them, and lists of calls.
//!
//! A list is data: an engine interprets it, the stepper stops between its entries, the page draws its wires from what
//! each call reads and writes. Control flow never depends on numbers: an entry is a call or a `Repeat` of fixed count.

use std::collections::BTreeSet;
use std::fmt::Debug;

pub use super::buffers::{
    BufferInfo, Buffers, Content, Doubles, Execution, Id, Ints, Plan, Presence, Reals, Sees, Side, Singles, Training,
    View, Words,
};
use super::shader::Shader;
use crate::base::float::Real;

/// What a call reads and writes: `(kind, index)` of each buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wires {
    /// Inputs.
    pub reads: Vec<(u8, u32)>,
    /// Outputs.
    pub writes: Vec<(u8, u32)>,
    /// Of the inputs, those that go nowhere but into one output, each with that.
    pub passes: Vec<[(u8, u32); 2]>,
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

    /// Adds an output that is an input, row by row, and the only use of it.
    pub fn passes<T: Content, A, B>(&mut self, from: Id<T, A>, to: Id<T, B>) -> &mut Self {
        self.passes.push([(T::KIND, from.index), (T::KIND, to.index)]);
        self.reads(from).writes(to)
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
    /// The same as a device does it, among buffers of `plan`; nothing where no device can.
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>> {
        let _ = plan;
        None
    }
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
    /// What a device runs, see [`Compute::shaders`]. A build without the engine of devices carries no shader.
    #[cfg(feature = "gpu")]
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>>;
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
        self.run(View::new(buffers));
    }
    fn run_f64(&self, buffers: &Buffers<f64>) {
        self.run(View::new(buffers));
    }
    #[cfg(feature = "gpu")]
    fn shaders(&self, plan: &Plan) -> Option<Vec<Shader>> {
        Compute::shaders(self, plan)
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
pub(super) enum Op {
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

/// Leaves out the buffers whose numbers reach no call of `lists` but those that pass them on.
pub fn leave_out_unread(plan: &mut Plan, lists: &[&List]) {
    let wires: Vec<Wires> = lists.iter().flat_map(|list| list.calls()).map(|(_, call)| call.wires()).collect();
    let mut read = BTreeSet::new();
    for Wires { reads, passes, .. } in &wires {
        read.extend(reads.iter().copied().filter(|read| passes.iter().all(|[from, _]| from != read)));
    }
    let mut before = 0;
    while before != read.len() {
        before = read.len();
        for &[from, to] in wires.iter().flat_map(|wires| &wires.passes) {
            if read.contains(&to) {
                read.insert(from);
            }
        }
    }
    plan.leave_out(|buffer| read.contains(&buffer));
}

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

    /// The entries in order.
    #[cfg(feature = "gpu")]
    pub(super) fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Runs everything.
    pub fn run<R: Precision>(&self, buffers: &Buffers<R>) {
        let mut cursor = Cursor::default();
        while self.advance(&mut cursor, buffers) != Advance::Done {}
    }

    /// Runs from `cursor` to the next end of an iteration of any repeat that is not the repeat's last, or to the end of
    /// the list. Returns whether the list is done; the cursor is then at the beginning again.
    pub fn run_iteration<R: Precision>(&self, cursor: &mut Cursor, buffers: &Buffers<R>) -> bool {
        loop {
            match self.advance(cursor, buffers) {
                Advance::Done => return true,
                // A last iteration runs on to what follows its repeat.
                Advance::Iteration => return false,
                Advance::Inside => {}
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
                let more = cursor.next();
                cursor.at = if more { *begin } else { cursor.at } + 1;
                if more { Advance::Iteration } else { Advance::Inside }
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Advance {
    Inside,
    /// An iteration has ended and another follows.
    Iteration,
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

    /// Moves rows on.
    #[derive(Debug)]
    struct Pass {
        from: Id<Reals, Training>,
        to: Id<Reals, Training>,
    }
    impl Compute for Pass {
        type Side = Training;
        const NAME: &'static str = "pass";
        fn wires(&self, wires: &mut Wires) {
            wires.passes(self.from, self.to);
        }
        fn run<R: Real>(&self, view: View<'_, R, Training>) {
            view.write(self.to).copy_from_slice(&view.read(self.from));
        }
    }

    /// Looks at a buffer.
    #[derive(Debug)]
    struct Look {
        at: Id<Reals, Training>,
    }
    impl Compute for Look {
        type Side = Training;
        const NAME: &'static str = "look";
        fn wires(&self, wires: &mut Wires) {
            wires.reads(self.at);
        }
        fn run<R: Real>(&self, view: View<'_, R, Training>) {
            assert!(!view.read(self.at).is_empty(), "what is looked at is there");
        }
    }

    #[test]
    fn what_is_only_passed_on_is_left_out_unless_somebody_looks_at_the_end() {
        for is_read in [false, true] {
            let mut plan = Plan::default();
            let [first, second, third] =
                ["first", "second", "third"].map(|name| plan.buffer_if_read::<Reals, Training>(name, &[2]));
            let kept = plan.buffer::<Reals, Training>("kept", &[2]);
            let bytes = plan.bytes();
            let (mut early, mut late) = (List::default(), List::default());
            early.train(Phase::Store, Pass { from: second, to: third });
            early.train(Phase::Store, Pass { from: first, to: second });
            if is_read {
                late.train(Phase::Apply, Look { at: third });
            }
            leave_out_unread(&mut plan, &[&early, &late]);
            let buffers = Buffers::<f32>::new(&plan);
            let there = [first, second, third, kept].map(|id| !buffers.read(id).is_empty());
            assert_eq!(there, [is_read, is_read, is_read, true]);
            assert_eq!(plan.bytes(), bytes, "what a link may ask for does not depend on it");
            early.run(&buffers);
            late.run(&buffers);
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
        assert_eq!(seen, [9, 10, 11, 12, 13, 14], "between any two iterations, and not after the last");
        assert_eq!(cursor, Cursor::default());
    }
}
