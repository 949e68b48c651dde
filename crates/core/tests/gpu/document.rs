//! `docs/gpu_kernels.md`, whose numbers are computed here.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use tandem_core::base::wgsl::Constant;
use tandem_core::marl::learner::Learner;
use tandem_core::nn::graph::{BufferInfo, Content, Doubles, Ints, List, Reals, Singles, Words};
use tandem_core::nn::memory::Memory;
use tandem_core::nn::program::{Program, Step};
use tandem_core::nn::shader::{Domain, Shader};

use crate::support::learner;
use crate::updates::{W1, W4};

/// What a shader is told.
fn word(shader: &Shader, name: &str) -> u64 {
    let found = shader.constants.iter().find_map(|(own, constant)| match constant {
        Constant::Word(word) if *own == name => Some(*word),
        _ => None,
    });
    u64::from(found.unwrap_or(0))
}

/// Multiplications and additions of matrix products, padding included.
fn flops(shader: &Shader) -> u64 {
    let items = shader.stages.iter().find_map(|stage| match stage.domain {
        Domain::Items(items) if stage.rows > 0 => Some(u64::from(items)),
        _ => None,
    });
    let rows = items.unwrap_or(0) * word(shader, "ITEM_ROWS");
    let tables = |names: &[&str]| -> Vec<[u32; 4]> {
        let of = |(name, constant): &(&'static str, Constant)| match constant {
            Constant::Rows(rows) if names.contains(name) => rows.clone(),
            _ => Vec::new(),
        };
        shader.constants.iter().flat_map(of).collect()
    };
    let products =
        |layers: &[[u32; 4]]| -> u64 { layers.iter().map(|layer| u64::from(layer[2]) * u64::from(layer[3])).sum() };
    let all = products(&tables(&["LAYERS", "FIRST", "SECOND"]));
    // Gradients of inputs are those of all layers but the first.
    let first = products(&tables(&["LAYERS"])[..tables(&["LAYERS"]).len().min(1)]) + products(&tables(&["FIRST"]));
    let times = if shader.name.ends_with("backward") { 2 * (2 * all - first) } else { 2 * all };
    rows * times
}

/// Bytes of the buffers that a shader knows, each counted once.
fn bytes(learner: &Learner, shader: &Shader) -> u64 {
    let plan = &learner.plan;
    let infos: BTreeMap<u8, &Vec<BufferInfo>> = [
        (Reals::KIND, Reals::infos(plan)),
        (Words::KIND, Words::infos(plan)),
        (Ints::KIND, Ints::infos(plan)),
        (Doubles::KIND, Doubles::infos(plan)),
        (Singles::KIND, Singles::infos(plan)),
    ]
    .into();
    let mut ids: Vec<(u8, u32)> = shader.buffers.iter().map(|&(_, id)| id).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.iter().map(|(kind, index)| 4 * infos[kind][*index as usize].len() as u64).sum()
}

/// The first sentence of a shader's header, which is its formula.
fn formula(shader: &Shader) -> String {
    let source = shader.sources[shader.sources.len() - 1];
    // A world's rules stand between what all worlds have and the kernel.
    let header: Vec<&str> = source.lines().map_while(|line| line.strip_prefix("//")).map(str::trim).collect();
    let header = header.join(" ");
    let end = header.match_indices(". ").find(|(at, _)| !header[..*at].ends_with("et al"));
    header[..end.map_or(header.len(), |(at, _)| at)].trim_end_matches('.').replace('|', "\\|")
}

fn kernels(learner: &Learner) -> String {
    let mut lines =
        String::from("| kernel | what it does | cut into | kB | MFLOP |\n| --- | --- | --- | --- | --- |\n");
    let lists: [&List; 2] = [&learner.rollout, &learner.gradient_steps];
    for (_, call) in lists.into_iter().flat_map(List::calls) {
        for shader in call.shaders(&learner.plan).expect("a device runs it") {
            let cut = |domain| match domain {
                Domain::Solo => "one workgroup".to_owned(),
                Domain::Items(items) => format!("{items} items"),
                Domain::Elements(numbers) => format!("{numbers} numbers"),
            };
            let mut cuts: Vec<String> = shader.stages.iter().map(|stage| cut(stage.domain)).collect();
            cuts.dedup();
            let (bytes, flops) = (bytes(learner, &shader), flops(&shader));
            let flops = if flops == 0 { String::new() } else { format!("{:.2}", flops as f64 / 1e6) };
            writeln!(
                lines,
                "| `{}` | {} | {} | {} | {flops} |",
                shader.name,
                formula(&shader),
                cuts.join(", "),
                bytes.div_ceil(1000)
            )
            .expect("a string takes text");
        }
    }
    lines
}

fn dispatches(learner: &Learner) -> String {
    fn list(steps: &[Step], depth: usize, lines: &mut String) {
        for step in steps {
            let indent = "  ".repeat(depth);
            match step {
                Step::Dispatch(dispatch) => {
                    let names: Vec<String> = dispatch.kernels.iter().map(|name| format!("`{name}`")).collect();
                    writeln!(lines, "{indent}- {} × {}", dispatch.groups, names.join(", "))
                        .expect("a string takes text");
                }
                Step::Repeat { count, steps } => {
                    writeln!(lines, "{indent}- {count} times:").expect("a string takes text");
                    list(steps, depth + 1, lines);
                }
            }
        }
    }
    let mut memory = Memory::new(&learner.plan);
    let program =
        Program::new(&learner.plan, &[&learner.rollout, &learner.gradient_steps], &mut memory).expect("it fits");
    let mut lines = String::new();
    list(&program.steps, 0, &mut lines);
    writeln!(
        lines,
        "\n{} dispatches an update, {:.1} MB on the device.",
        program.dispatches(),
        memory.bytes() as f64 / 1e6
    )
    .expect("a string takes text");
    lines
}

#[test]
fn the_document_lists_the_kernels_there_are() {
    let mut text = String::from(
        "<!-- Written by `BLESS=1 cargo test -p tandem-core --features gpu --test gpu document`. Do not edit. -->\n\n# Kernels on a \
         graphics processor\n\nOf two experiments: every kernel with the first sentence of its file, how its work is cut, the bytes of the \
         buffers it knows (each counted once) and the operations of its matrix products (padding included); then the dispatches \
         of one update, with their workgroups. [gpu.md](gpu.md) says how they come about.\n",
    );
    for (title, link) in [("QMIX on spread", W1), ("MAPPO on spread, 128 environments", W4)] {
        let learner = learner(link);
        write!(text, "\n## {title}\n\n`#{link}`\n\n{}\n{}", kernels(&learner), dispatches(&learner))
            .expect("a string takes text");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gpu_kernels.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &text).expect("the document can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        written, text,
        "docs/gpu_kernels.md is out of date: BLESS=1 cargo test -p tandem-core --features gpu --test gpu document"
    );
}
