//! Lists as dispatches: what a device is told to do, made once from the lists of a run.
//!
//! Calls that belong together share a dispatch. A stage of a kernel joins the earliest dispatch whose work is cut the
//! same way and that has, or comes behind, everything it waits for, which the wires of the calls say; so the number of
//! dispatches follows from what depends on what, not from the order of the list. A repeat whose body fits one dispatch
//! of items (the env steps of a rollout) is a loop inside of it.

use super::graph::{Call, List, Op as Entry, Plan, Wires};
use super::memory::{Array, Memory};
use super::module::module;
use super::shader::{Domain, Shader, Stage};
use crate::base::wgsl::{Constant, names_reached};

/// Rows of a matrix product that a workgroup works on together.
const ROWS: u32 = 16;
/// Most workgroups that sum gradients: each needs as many numbers as there are parameters.
const MOST_SUMS: u32 = 32;
/// Invocations of a workgroup that works on items: 16 rows × 64 outputs are a block of 8 × 4 for each.
pub(super) const ITEM_LANES: u32 = 32;
/// Invocations of a workgroup that works on single numbers.
pub(super) const LANES: u32 = 64;
/// Invocations of a workgroup that works alone.
pub(super) const SOLO_LANES: u32 = 256;
/// Workgroups that share the work on single numbers.
const MOST_ELEMENT_GROUPS: u32 = 64;
/// Most inputs that a matrix product takes at once, and most outputs of a layer: 16 rows of them twice are 16 KiB.
pub const WIDEST: u32 = 128;
/// What a device is to do.
#[derive(Clone, Debug)]
pub enum Step {
    /// Runs a module.
    Dispatch(Dispatch),
    /// Runs steps so many times.
    Repeat {
        /// How often.
        count: u32,
        /// What.
        steps: Vec<Self>,
    },
}

/// A module and how many workgroups of it.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// Kernels in it, in order.
    pub kernels: Vec<&'static str>,
    /// WGSL with an entry point `main`.
    pub source: String,
    /// Workgroups.
    pub groups: u32,
}

/// Why lists do not run on a device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// A kernel has no shader.
    #[error("there is no shader for {0}")]
    NoShader(&'static str),
    /// A layer is too wide.
    #[error("a layer has {0} outputs, where {WIDEST} are the most")]
    TooWide(u32),
}

/// Lists as dispatches.
#[derive(Clone, Debug)]
pub struct Program {
    /// What is done in one run of the lists, one after the other.
    pub steps: Vec<Step>,
}

impl Program {
    /// `lists` one after the other as dispatches; what only the device has is added to `memory`.
    pub fn new(plan: &Plan, lists: &[&List], memory: &mut Memory) -> Result<Self, Unfit> {
        let mut steps = Vec::new();
        let mut pieces = Vec::new();
        for list in lists {
            pieces.extend(pieces_of(plan, list.ops(), &mut 0)?);
        }
        emit(pieces, memory, &mut steps)?;
        Ok(Self { steps })
    }

    /// One call alone.
    pub fn of_call(plan: &Plan, call: &dyn Call, memory: &mut Memory) -> Result<Self, Unfit> {
        let mut steps = Vec::new();
        emit(vec![Piece::Call(kernels_of(plan, call)?)], memory, &mut steps)?;
        Ok(Self { steps })
    }

    /// Dispatches of one run.
    pub fn dispatches(&self) -> u32 {
        count(&self.steps)
    }

    /// Every module, each once.
    pub fn modules(&self) -> Vec<&Dispatch> {
        fn collect<'a>(steps: &'a [Step], modules: &mut Vec<&'a Dispatch>) {
            for step in steps {
                match step {
                    Step::Dispatch(dispatch) => modules.push(dispatch),
                    Step::Repeat { steps, .. } => collect(steps, modules),
                }
            }
        }
        let mut modules = Vec::new();
        collect(&self.steps, &mut modules);
        modules
    }
}

fn count(steps: &[Step]) -> u32 {
    let of = |step: &Step| match step {
        Step::Dispatch(_) => 1,
        Step::Repeat { count: times, steps } => times * count(steps),
    };
    steps.iter().map(of).sum()
}

/// A call's shaders, or a repeat.
enum Piece {
    Call(Vec<Kernel>),
    Repeat(u32, Vec<Self>),
}

/// A shader in its place.
pub(super) struct Kernel {
    pub(super) shader: Shader,
    /// What each of its stages reads and writes.
    touched: Vec<Touched>,
    /// Iterations of the loop that it stands in.
    pub(super) iterations: u32,
}

/// Buffers that a stage reads and writes, as far as the wires of its call and the text of its functions name them.
struct Touched {
    reads: Vec<(u8, u32)>,
    writes: Vec<(u8, u32)>,
}

impl Kernel {
    fn new(shader: Shader, wires: &Wires) -> Self {
        let source = shader.sources.join("\n");
        let touched = |stage: &Stage| {
            let names = names_reached(&source, stage.entry);
            let of = |ids: &[(u8, u32)]| {
                let is_named =
                    |id: &&(u8, u32)| shader.buffers.iter().any(|(name, own)| own == *id && names.contains(name));
                ids.iter().filter(is_named).copied().collect()
            };
            Touched { reads: of(&wires.reads), writes: of(&wires.writes) }
        };
        let touched = shader.stages.iter().map(touched).collect();
        Self { shader, touched, iterations: 1 }
    }

    /// How often a stage is called: what closes a loop stands behind it.
    fn iterations_of(&self, stage: &Stage) -> u32 {
        if stage.closes { 1 } else { self.iterations }
    }
}

fn pieces_of(plan: &Plan, ops: &[Entry], at: &mut usize) -> Result<Vec<Piece>, Unfit> {
    let mut pieces = Vec::new();
    while let Some(op) = ops.get(*at) {
        *at += 1;
        match op {
            Entry::Call { call, .. } => pieces.push(Piece::Call(kernels_of(plan, &**call)?)),
            Entry::Begin { count, .. } => {
                let body = pieces_of(plan, ops, at)?;
                match count {
                    0 => {}
                    1 => pieces.extend(body),
                    _ => pieces.push(Piece::Repeat(*count, body)),
                }
            }
            Entry::End { .. } => break,
        }
    }
    Ok(pieces)
}

fn kernels_of(plan: &Plan, call: &dyn Call) -> Result<Vec<Kernel>, Unfit> {
    let shaders = call.shaders(plan).ok_or_else(|| Unfit::NoShader(call.name()))?;
    let wires = call.wires();
    Ok(shaders.into_iter().map(|shader| Kernel::new(shader, &wires)).collect())
}

/// Everything up to the next repeat that is none inside of a dispatch, as dispatches.
fn emit(pieces: Vec<Piece>, memory: &mut Memory, steps: &mut Vec<Step>) -> Result<(), Unfit> {
    let mut kernels: Vec<Kernel> = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Call(calls) => kernels.extend(calls),
            Piece::Repeat(count, body) => match as_loop(count, body) {
                Ok(calls) => kernels.extend(calls),
                Err(body) => {
                    write(&std::mem::take(&mut kernels), memory, steps)?;
                    let mut inner = Vec::new();
                    emit(body, memory, &mut inner)?;
                    steps.push(Step::Repeat { count, steps: inner });
                }
            },
        }
    }
    write(&kernels, memory, steps)
}

/// The calls of a body that fits a loop inside of one dispatch: all of it is cut into the same items and nothing waits
/// for others, but for what closes the loop. Else the body as it was.
fn as_loop(count: u32, body: Vec<Piece>) -> Result<Vec<Kernel>, Vec<Piece>> {
    let mut domain = None;
    let fits = body.iter().all(|piece| match piece {
        Piece::Repeat(..) => false,
        Piece::Call(kernels) => kernels.iter().flat_map(|kernel| &kernel.shader.stages).all(|stage| {
            stage.closes
                || (!stage.across
                    && matches!(stage.domain, Domain::Items(_))
                    && *domain.get_or_insert(stage.domain) == stage.domain)
        }),
    });
    if !fits {
        return Err(body);
    }
    let calls = |piece| match piece {
        Piece::Call(kernels) => kernels,
        Piece::Repeat(..) => Vec::new(),
    };
    Ok(body.into_iter().flat_map(calls).map(|kernel| Kernel { iterations: count, ..kernel }).collect())
}

/// A stage by its kernel's and its own number.
pub(super) type At = (usize, usize);

/// Stages that share a dispatch.
pub(super) struct Group {
    pub(super) domain: Domain,
    pub(super) iterations: u32,
    pub(super) stages: Vec<At>,
}

impl Group {
    fn takes(&self, domain: Domain, iterations: u32) -> bool {
        let is_alike =
            self.domain == domain || matches!((self.domain, domain), (Domain::Elements(_), Domain::Elements(_)));
        is_alike && self.iterations == iterations
    }

    fn add(&mut self, at: At, domain: Domain) {
        if let (Domain::Elements(most), Domain::Elements(count)) = (&mut self.domain, domain) {
            *most = count.max(*most);
        }
        self.stages.push(at);
    }
}

/// The stages of `kernels` in the order of the list; what closes a loop stands behind all of its body.
fn in_order(kernels: &[Kernel]) -> Vec<At> {
    let (mut order, mut closing) = (Vec::new(), Vec::new());
    for (k, kernel) in kernels.iter().enumerate() {
        if kernel.iterations == 1 {
            order.append(&mut closing);
        }
        for (s, stage) in kernel.shader.stages.iter().enumerate() {
            if stage.closes && kernel.iterations > 1 { closing.push((k, s)) } else { order.push((k, s)) }
        }
    }
    order.append(&mut closing);
    order
}

/// Each stage in the earliest dispatch that has, or comes behind, all that it waits for.
fn grouped(kernels: &[Kernel]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (k, s) in in_order(kernels) {
        let (stage, own) = (&kernels[k].shader.stages[s], &kernels[k].touched[s]);
        let iterations = kernels[k].iterations_of(stage);
        let mut least = 0;
        for (at, group) in groups.iter().enumerate() {
            for &(before, other) in &group.stages {
                let (earlier, others) = (&kernels[before].shader.stages[other], &kernels[before].touched[other]);
                if before != k && !depends(own, others) {
                    continue;
                }
                // What reads across waits for everything it reads, and holds up whoever overwrites that.
                let crosses = stage.across || earlier.across && overwrites(own, others);
                let shares = earlier.domain == stage.domain
                    && group.iterations == iterations
                    && (stage.domain == Domain::Solo || !crosses);
                least = least.max(if shares { at } else { at + 1 });
            }
        }
        match groups.iter_mut().skip(least).find(|group| group.takes(stage.domain, iterations)) {
            Some(group) => group.add((k, s), stage.domain),
            None => groups.push(Group { domain: stage.domain, iterations, stages: vec![(k, s)] }),
        }
    }
    groups
}

/// Whether `later` must come behind `earlier`.
fn depends(later: &Touched, earlier: &Touched) -> bool {
    meet(&later.reads, &earlier.writes) || overwrites(later, earlier) || meet(&later.writes, &earlier.writes)
}

/// Whether `later` writes what `earlier` reads.
fn overwrites(later: &Touched, earlier: &Touched) -> bool {
    meet(&later.writes, &earlier.reads)
}

fn meet(ours: &[(u8, u32)], theirs: &[(u8, u32)]) -> bool {
    ours.iter().any(|id| theirs.contains(id))
}

/// The dispatches of `kernels`, with a place in `memory` for all that is theirs alone.
fn write(kernels: &[Kernel], memory: &mut Memory, steps: &mut Vec<Step>) -> Result<(), Unfit> {
    let groups = grouped(kernels);
    let tiles: Vec<(u32, u32)> = groups.iter().map(|group| tile_of(kernels, group)).collect();
    // The workgroups of a kernel's last stage that is cut into items are those that have numbers each.
    let workgroups_of = |k: usize| {
        let is_cut =
            |&&(kernel, s): &&At| kernel == k && matches!(kernels[k].shader.stages[s].domain, Domain::Items(_));
        let last = groups.iter().rposition(|group| group.stages.iter().any(|at| is_cut(&at)));
        last.map_or(1, |group| tiles[group].1)
    };
    let constants = |(k, kernel): (usize, &Kernel)| constants_of(kernel, workgroups_of(k), memory);
    let constants: Vec<_> = kernels.iter().enumerate().map(constants).collect();
    for (group, &(tile, workgroups)) in groups.iter().zip(&tiles) {
        let source = module(kernels, &constants, group, tile)?;
        let names = group.stages.iter().map(|&(k, _)| kernels[k].shader.name).collect();
        steps.push(Step::Dispatch(Dispatch { kernels: names, source, groups: workgroups }));
    }
    Ok(())
}

/// What a kernel's text is told.
fn constants_of(kernel: &Kernel, workgroups: u32, memory: &mut Memory) -> Vec<(&'static str, Constant)> {
    let shader = &kernel.shader;
    let mut constants = Vec::new();
    for (name, constant) in &shader.constants {
        let value = match constant {
            Constant::Words(table) => Constant::Word(memory.keep_words(table)),
            Constant::Reals(table) => Constant::Word(memory.keep_reals(table)),
            other => other.clone(),
        };
        constants.push((*name, value));
    }
    for &(name, id) in &shader.buffers {
        constants.push((name, Constant::Word(memory.place(id))));
    }
    for own in &shader.scratch {
        let tiles = if own.per_tile { workgroups } else { 1 };
        let steps = if own.per_step { kernel.iterations } else { 1 };
        constants.push((own.name, Constant::Word(memory.claim(Array::Reals, own.len * tiles * steps))));
    }
    if shader.scratch.iter().any(|own| own.per_tile) {
        constants.push(("TILES", Constant::Word(workgroups)));
    }
    if shader.scratch.iter().any(|own| own.per_step) || shader.stages.iter().any(|stage| stage.closes) {
        constants.push(("ITERATIONS", Constant::Word(kernel.iterations)));
    }
    constants
}

/// Items of a workgroup, and workgroups.
fn tile_of(kernels: &[Kernel], group: &Group) -> (u32, u32) {
    match group.domain {
        Domain::Solo => (1, 1),
        Domain::Elements(count) => (1, element_groups(count)),
        Domain::Items(count) => {
            let stages = || group.stages.iter().map(|&(k, s)| (&kernels[k].shader, &kernels[k].shader.stages[s]));
            // A network's gradient is summed by each workgroup: by few of them, for the sums are large.
            let sums = stages().any(|(shader, stage)| stage.rows > 0 && shader.scratch.iter().any(|own| own.per_tile));
            let rows = stages().map(|(_, stage)| stage.rows).max().unwrap_or(0);
            let tile = match (sums, rows) {
                (true, _) => count.div_ceil(MOST_SUMS).max(ROWS / rows.max(1)),
                (false, 0) => ITEM_LANES.min(count.div_ceil(MOST_SUMS)),
                // Rows of all networks fill matrix products, if there are items enough to keep a device busy.
                (false, _) if count >= ROWS * MOST_SUMS => ROWS,
                (false, rows) => ROWS / rows,
            };
            let tile = tile.max(1);
            (tile, count.div_ceil(tile))
        }
    }
}

/// Workgroups that share the work on so many numbers.
pub(super) fn element_groups(count: u32) -> u32 {
    count.div_ceil(LANES).clamp(1, MOST_ELEMENT_GROUPS)
}
