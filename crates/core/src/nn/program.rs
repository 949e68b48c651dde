//! Lists as dispatches: what a device is told to do, made once from the lists of a run.
//!
//! Calls that belong together share a dispatch. A stage of a kernel joins the earliest dispatch whose work is cut the
//! same way and that has, or comes behind, everything it waits for, which the wires of the calls say; so the number of
//! dispatches follows from what depends on what, not from the order of the list. A repeat whose body fits one dispatch
//! of items (the env steps of a rollout) is a loop inside of it.

use std::fmt::Write as _;

use super::graph::{Call, List, Op as Entry, Plan, Wires};
use super::memory::{Array, Memory};
use super::shader::{Domain, Shader, Stage};
use crate::base::wgsl::{Constant, names_reached, substitute};

/// Rows of a matrix product that a workgroup works on together.
const ROWS: u32 = 16;
/// Most workgroups that sum gradients: each needs as many numbers as there are parameters.
const MOST_SUMS: u32 = 32;
/// Invocations of a workgroup that works on items: 16 rows × 64 outputs are a block of 8 × 4 for each.
const ITEM_LANES: u32 = 32;
/// Invocations of a workgroup that works on single numbers.
const LANES: u32 = 64;
/// Invocations of a workgroup that works alone.
const SOLO_LANES: u32 = 256;
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
    /// A repeat of a rollout does not fit one dispatch.
    #[error("{0} stands in a repeat and closes it, but the repeat does not fit one dispatch")]
    NoLoop(&'static str),
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

/// A shader, and what each of its stages reads and writes.
struct Kernel {
    shader: Shader,
    stages: Vec<Touched>,
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
        let stages = shader.stages.iter().map(touched).collect();
        Self { shader, stages }
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

/// Stages that share a dispatch.
#[derive(Default)]
struct Group {
    domain: Option<Domain>,
    /// Kernel and stage.
    stages: Vec<(usize, usize)>,
}

/// Everything up to the next repeat that is none inside of a dispatch, as dispatches.
fn emit(pieces: Vec<Piece>, memory: &mut Memory, steps: &mut Vec<Step>) -> Result<(), Unfit> {
    let mut kernels: Vec<Kernel> = Vec::new();
    // Iterations of the loop that each kernel stands in.
    let mut loops: Vec<u32> = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Call(calls) => {
                loops.extend(calls.iter().map(|_| 1));
                kernels.extend(calls);
            }
            Piece::Repeat(count, body) => match as_loop(body) {
                Ok(calls) => {
                    loops.extend(calls.iter().map(|_| count));
                    kernels.extend(calls);
                }
                Err(body) => {
                    flush(&std::mem::take(&mut kernels), &std::mem::take(&mut loops), memory, steps)?;
                    let mut inner = Vec::new();
                    emit(body, memory, &mut inner)?;
                    steps.push(Step::Repeat { count, steps: inner });
                }
            },
        }
    }
    flush(&kernels, &loops, memory, steps)
}

/// The calls of a body that fits a loop inside of one dispatch: all of it is cut into the same items and nothing waits
/// for others, but for what closes the loop. Else the body as it was.
fn as_loop(body: Vec<Piece>) -> Result<Vec<Kernel>, Vec<Piece>> {
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
    Ok(body.into_iter().flat_map(calls).collect())
}

/// Groups the stages of `kernels` and writes each group as a dispatch.
fn flush(kernels: &[Kernel], loops: &[u32], memory: &mut Memory, steps: &mut Vec<Step>) -> Result<(), Unfit> {
    let mut groups: Vec<Group> = Vec::new();
    // Of each stage placed so far: kernel, stage, group.
    let mut placed: Vec<(usize, usize, usize)> = Vec::new();
    let is_looped = |kernel: usize, stage: &Stage| loops[kernel] > 1 && !stage.closes;
    // What closes a loop stands behind all of its body.
    let mut order: Vec<(usize, usize)> = Vec::new();
    let mut closing: Vec<(usize, usize)> = Vec::new();
    for (k, kernel) in kernels.iter().enumerate() {
        if loops[k] == 1 {
            order.append(&mut closing);
        }
        for (s, stage) in kernel.shader.stages.iter().enumerate() {
            if stage.closes && loops[k] > 1 { closing.push((k, s)) } else { order.push((k, s)) }
        }
    }
    order.append(&mut closing);
    for (k, s) in order {
        let stage = &kernels[k].shader.stages[s];
        let mut least = 0;
        for &(before, other, group) in &placed {
            let earlier = &kernels[before].shader.stages[other];
            let (own, others) = (&kernels[k].stages[s], &kernels[before].stages[other]);
            if before != k && !depends(own, others) {
                continue;
            }
            // What reads across waits for everything it reads, and holds up whoever overwrites that.
            let crosses = stage.across || earlier.across && overwrites(own, others);
            let shares = earlier.domain == stage.domain
                && (stage.domain == Domain::Solo || !crosses)
                && is_looped(k, stage) == is_looped(before, earlier);
            least = least.max(if shares { group } else { group + 1 });
        }
        let joins = |group: &Group| {
            group.domain.is_some_and(|domain| can_share(domain, stage.domain))
                && group.stages.iter().all(|&(other, at)| {
                    is_looped(k, stage) == is_looped(other, &kernels[other].shader.stages[at])
                        && (loops[k] == loops[other] || stage.closes || !is_looped(k, stage))
                })
        };
        let at = (least..groups.len()).find(|&at| joins(&groups[at]));
        let at = at.unwrap_or_else(|| {
            groups.push(Group::default());
            groups.len() - 1
        });
        let group = &mut groups[at];
        group.domain = Some(group.domain.map_or(stage.domain, |domain| wider(domain, stage.domain)));
        group.stages.push((k, s));
        placed.push((k, s, at));
    }
    write(kernels, loops, &groups, &placed, memory, steps)
}

/// Whether two domains may be of one dispatch.
fn can_share(a: Domain, b: Domain) -> bool {
    a == b || matches!((a, b), (Domain::Elements(_), Domain::Elements(_)))
}

fn wider(a: Domain, b: Domain) -> Domain {
    match (a, b) {
        (Domain::Elements(a), Domain::Elements(b)) => Domain::Elements(a.max(b)),
        _ => a,
    }
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

fn write(
    kernels: &[Kernel],
    loops: &[u32],
    groups: &[Group],
    placed: &[(usize, usize, usize)],
    memory: &mut Memory,
    steps: &mut Vec<Step>,
) -> Result<(), Unfit> {
    let tiles: Vec<(u32, u32)> = groups.iter().map(|group| tile_of(kernels, group)).collect();
    // The dispatch of a kernel's last stage that is cut into items: its workgroups are those that have numbers each.
    let cut = |&&(kernel, stage, _): &&(usize, usize, usize)| {
        matches!(kernels[kernel].shader.stages[stage].domain, Domain::Items(_))
    };
    let group_of =
        |k: usize| placed.iter().rev().filter(cut).find(|&&(kernel, ..)| kernel == k).map_or(0, |&(.., group)| group);
    let mut instances = Vec::new();
    for (k, kernel) in kernels.iter().enumerate() {
        let mut constants = Vec::new();
        for (name, constant) in &kernel.shader.constants {
            let value = match constant {
                Constant::Words(table) => Constant::Word(memory.keep_words(table)),
                Constant::Reals(table) => Constant::Word(memory.keep_reals(table)),
                other => other.clone(),
            };
            constants.push((*name, value));
        }
        for &(name, id) in &kernel.shader.buffers {
            constants.push((name, Constant::Word(memory.place(id))));
        }
        let (_, workgroups) = tiles[group_of(k)];
        for own in &kernel.shader.scratch {
            let times = if own.per_tile { workgroups } else { 1 } * if own.per_step { loops[k] } else { 1 };
            constants.push((own.name, Constant::Word(memory.claim(Array::Reals, own.len * times))));
        }
        if kernel.shader.scratch.iter().any(|own| own.per_tile) {
            constants.push(("TILES", Constant::Word(workgroups)));
        }
        if kernel.shader.scratch.iter().any(|own| own.per_step) || kernel.shader.stages.iter().any(|s| s.closes) {
            constants.push(("ITERATIONS", Constant::Word(loops[k])));
        }
        instances.push(constants);
    }
    for (group, &(tile, workgroups)) in groups.iter().zip(&tiles) {
        let source = module(kernels, loops, &instances, group, tile)?;
        let names = group.stages.iter().map(|&(k, _)| kernels[k].shader.name).collect();
        steps.push(Step::Dispatch(Dispatch { kernels: names, source, groups: workgroups }));
    }
    Ok(())
}

/// Items of a workgroup, and workgroups.
fn tile_of(kernels: &[Kernel], group: &Group) -> (u32, u32) {
    match group.domain.unwrap_or(Domain::Solo) {
        Domain::Solo => (1, 1),
        Domain::Elements(count) => (1, count.div_ceil(LANES).clamp(1, MOST_ELEMENT_GROUPS)),
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

/// The text of a dispatch.
fn module(
    kernels: &[Kernel],
    loops: &[u32],
    instances: &[Vec<(&'static str, Constant)>],
    group: &Group,
    tile: u32,
) -> Result<String, Unfit> {
    let domain = group.domain.unwrap_or(Domain::Solo);
    let lanes = match domain {
        Domain::Solo => SOLO_LANES,
        Domain::Items(_) => ITEM_LANES,
        Domain::Elements(_) => LANES,
    };
    let mut used: Vec<usize> = group.stages.iter().map(|&(k, _)| k).collect();
    used.dedup();
    used.sort_unstable();
    used.dedup();
    let wide = used.iter().map(|&k| widest(&kernels[k].shader)).max().unwrap_or(0).max(8);
    if wide > WIDEST {
        return Err(Unfit::TooWide(wide));
    }
    let iterations = group.stages.iter().filter(|&&(k, s)| !kernels[k].shader.stages[s].closes).map(|&(k, _)| loops[k]);
    let iterations = iterations.max().unwrap_or(1);
    let globals = [
        ("LANES", Constant::Word(lanes)),
        ("TILE", Constant::Word(tile)),
        ("STEPS", Constant::Word(iterations)),
        ("WIDE", Constant::Word(wide)),
    ];
    let mut text = substitute(include_str!("wgsl/prelude.wgsl"), &globals, "");
    for &k in &used {
        let source = kernels[k].shader.sources.join("\n");
        write!(text, "\n// {}\n\n", kernels[k].shader.name).expect("a string takes text");
        text += &substitute(&source, &instances[k], &format!("_{k}"));
    }
    let calls = |arguments: &str| {
        let call =
            |&(k, s): &(usize, usize)| format!("        {}_{k}({arguments});\n", kernels[k].shader.stages[s].entry);
        let between = "        storageBarrier();\n        workgroupBarrier();\n";
        group.stages.iter().map(call).collect::<Vec<_>>().join(between)
    };
    text += "\n@compute @workgroup_size(LANES)\nfn main(@builtin(workgroup_id) group: vec3<u32>, \
             @builtin(local_invocation_index) lane: u32) {\n";
    match domain {
        Domain::Solo => text += &calls("lane"),
        Domain::Items(count) => {
            write!(
                text,
                "    let first = group.x * TILE;\n    let count = min(TILE, {count}u - first);\n    \
                 for (var t = 0u; t < STEPS; t++) {{\n{}        storageBarrier();\n        workgroupBarrier();\n    }}\n",
                calls("first, count, lane, t")
            )
            .expect("a string takes text");
        }
        Domain::Elements(count) => {
            let step = LANES * count.div_ceil(LANES).clamp(1, MOST_ELEMENT_GROUPS);
            let call = |&(k, s): &(usize, usize)| {
                let stage = &kernels[k].shader.stages[s];
                let Domain::Elements(own) = stage.domain else { return String::new() };
                format!("        if (k < {own}u) {{ {}_{k}(k); }}\n", stage.entry)
            };
            let calls: String = group.stages.iter().map(call).collect();
            write!(text, "    for (var k = group.x * LANES + lane; k < {count}u; k += {step}u) {{\n{calls}    }}\n")
                .expect("a string takes text");
        }
    }
    text += "}\n";
    Ok(text)
}

/// The widest layer that a shader knows of.
fn widest(shader: &Shader) -> u32 {
    let rows = |constant: &Constant| match constant {
        Constant::Rows(rows) => rows.iter().map(|row| row[3]).max().unwrap_or(0),
        _ => 0,
    };
    let named = |name: &str| name == "LAYERS" || name == "WIDTHS";
    let table = shader.constants.iter().filter(|(name, _)| named(name)).map(|(_, constant)| rows(constant)).max();
    table.unwrap_or(0)
}
