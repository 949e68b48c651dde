//! A kernel as a device runs it: WGSL, the values of its constants, and in what pieces the work may be cut.
//!
//! Plain data: nothing here knows a device. A call says what its shaders are beside its CPU function
//! ([`Compute::shaders`](super::graph::Compute::shaders)); [`program`](super::program) makes dispatches of them.
//!
//! A file of WGSL is valid behind `wgsl/prelude.wgsl`, which declares the arrays that all buffers lie in. A buffer is a
//! constant: the place of its first number.

use super::graph::{Content, Id};
use crate::base::rng::Stream;
use crate::base::wgsl::Constant;

/// How the work of a stage may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// One workgroup does all: `fn stage(lane: u32)`.
    Solo,
    /// So many items (worlds, segments, items of a minibatch), some to a workgroup:
    /// `fn stage(first: u32, count: u32, lane: u32, t: u32)`; t is the iteration of the repeat that the call stands in.
    Items(u32),
    /// So many numbers, one to an invocation: `fn stage(k: u32)`.
    Elements(u32),
}

/// A function of a shader that every workgroup calls.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// The function's name.
    pub entry: &'static str,
    /// How its work is cut.
    pub domain: Domain,
    /// Whether it reads what belongs to other items or elements, which must be there before it begins.
    pub across: bool,
    /// Whether it comes behind the repeat that its call stands in, once for all iterations.
    pub closes: bool,
    /// Rows of a network's input that an item has; 0 where no network is asked.
    pub rows: u32,
}

/// Numbers that only the device has.
#[derive(Clone, Copy, Debug)]
pub struct Scratch {
    /// Name of the constant that says where they lie.
    pub name: &'static str,
    /// How many.
    pub len: u32,
    /// As many again for each workgroup of the shader's last stage that is cut into items; the constant `TILES` says how
    /// many those are.
    pub per_tile: bool,
    /// As many again for each iteration of the repeat that the call stands in.
    pub per_step: bool,
}

/// One kernel.
#[derive(Clone, Debug)]
pub struct Shader {
    /// Its name, which is its CPU function's.
    pub name: &'static str,
    /// WGSL, one text behind the other.
    pub sources: Vec<&'static str>,
    /// Values that are known.
    pub constants: Vec<(&'static str, Constant)>,
    /// Buffers by kind and index.
    pub buffers: Vec<(&'static str, (u8, u32))>,
    /// Numbers of its own.
    pub scratch: Vec<Scratch>,
    /// What is called, in order.
    pub stages: Vec<Stage>,
}

impl Shader {
    /// A kernel of that name without constants or stages yet.
    pub fn new(name: &'static str, source: &'static str) -> Self {
        Self {
            name,
            sources: vec![source],
            constants: Vec::new(),
            buffers: Vec::new(),
            scratch: Vec::new(),
            stages: Vec::new(),
        }
    }

    /// More WGSL, whose functions it calls.
    #[must_use]
    pub fn with(mut self, source: &'static str, constants: Vec<(&'static str, Constant)>) -> Self {
        self.sources.push(source);
        self.constants.extend(constants);
        self
    }

    /// A constant.
    #[must_use]
    pub fn set(mut self, name: &'static str, value: Constant) -> Self {
        self.constants.push((name, value));
        self
    }

    /// A whole number.
    #[must_use]
    pub fn word(self, name: &'static str, value: u32) -> Self {
        self.set(name, Constant::Word(value))
    }

    /// 1 or 0.
    #[must_use]
    pub fn flag(self, name: &'static str, value: bool) -> Self {
        self.word(name, u32::from(value))
    }

    /// A real number.
    #[must_use]
    pub fn real(self, name: &'static str, value: f32) -> Self {
        self.set(name, Constant::Real(value))
    }

    /// The key of a stream.
    #[must_use]
    pub fn key(self, stream: Stream) -> Self {
        let [low, high, name, _] = stream.key();
        self.word("KEY_LOW", low).word("KEY_HIGH", high).word("KEY_NAME", name)
    }

    /// Where a buffer lies.
    #[must_use]
    pub fn buffer<T: Content, S>(mut self, name: &'static str, id: Id<T, S>) -> Self {
        self.buffers.push((name, (T::KIND, id.index())));
        self
    }

    /// Numbers of its own, the same for all.
    #[must_use]
    pub fn scratch(self, name: &'static str, len: u32) -> Self {
        self.own(Scratch { name, len, per_tile: false, per_step: false })
    }

    /// Numbers of its own.
    #[must_use]
    pub fn own(mut self, scratch: Scratch) -> Self {
        self.scratch.push(scratch);
        self
    }

    /// The next stage.
    #[must_use]
    pub fn stage(self, entry: &'static str, domain: Domain) -> Self {
        self.then(Stage { entry, domain, across: false, closes: false, rows: 0 })
    }

    /// The next stage, which reads what belongs to others.
    #[must_use]
    pub fn across(self, entry: &'static str, domain: Domain) -> Self {
        self.then(Stage { entry, domain, across: true, closes: false, rows: 0 })
    }

    /// The next stage, of one workgroup, once behind the repeat.
    #[must_use]
    pub fn close(self, entry: &'static str) -> Self {
        self.then(Stage { entry, domain: Domain::Solo, across: true, closes: true, rows: 0 })
    }

    /// The next stage.
    #[must_use]
    pub fn then(mut self, stage: Stage) -> Self {
        self.stages.push(stage);
        self
    }
}
