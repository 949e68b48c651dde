//! The text of a dispatch: what all kernels stand on, the kernels one behind the other, and what calls their stages.

use std::fmt::Write as _;

use super::program::{At, Group, ITEM_LANES, Kernel, LANES, SOLO_LANES, Unfit, WIDEST, element_groups};
use super::shader::{Domain, Shader};
use crate::base::wgsl::{Constant, substitute};

/// What stands between two stages: what one wrote the other may read.
const BETWEEN: &str = "        storageBarrier();\n        workgroupBarrier();\n";

const TAKES: &str = "a string takes text";

/// The text of `group`, of whose items a workgroup has `tile`; `constants` are those of each kernel.
pub(super) fn module(
    kernels: &[Kernel],
    constants: &[Vec<(&'static str, Constant)>],
    group: &Group,
    tile: u32,
) -> Result<String, Unfit> {
    let lanes = match group.domain {
        Domain::Solo => SOLO_LANES,
        Domain::Items(_) => ITEM_LANES,
        Domain::Elements(_) => LANES,
    };
    let mut used: Vec<usize> = group.stages.iter().map(|&(k, _)| k).collect();
    used.sort_unstable();
    used.dedup();
    let wide = used.iter().map(|&k| widest(&kernels[k].shader)).max().unwrap_or(0).max(8);
    if wide > WIDEST {
        return Err(Unfit::TooWide(wide));
    }
    let globals = [
        ("LANES", Constant::Word(lanes)),
        ("TILE", Constant::Word(tile)),
        ("STEPS", Constant::Word(group.iterations)),
        ("WIDE", Constant::Word(wide)),
    ];
    let mut text = substitute(include_str!("wgsl/prelude.wgsl"), &globals, "");
    for &k in &used {
        let source = kernels[k].shader.sources.join("\n");
        write!(text, "\n// {}\n\n", kernels[k].shader.name).expect(TAKES);
        text += &substitute(&source, &constants[k], &format!("_{k}"));
    }
    let calls = |arguments: &str| {
        let call = |&(k, s): &At| format!("        {}_{k}({arguments});\n", kernels[k].shader.stages[s].entry);
        group.stages.iter().map(call).collect::<Vec<_>>().join(BETWEEN)
    };
    text += "\n@compute @workgroup_size(LANES)\nfn main(@builtin(workgroup_id) group: vec3<u32>, \
             @builtin(local_invocation_index) lane: u32) {\n";
    match group.domain {
        Domain::Solo => text += &calls("lane"),
        Domain::Items(count) => {
            write!(text, "    let first = group.x * TILE;\n    let count = min(TILE, {count}u - first);\n")
                .expect(TAKES);
            let calls = calls("first, count, lane, t");
            write!(text, "    for (var t = 0u; t < STEPS; t++) {{\n{calls}{BETWEEN}    }}\n").expect(TAKES);
        }
        Domain::Elements(count) => {
            let call = |&(k, s): &At| {
                let stage = &kernels[k].shader.stages[s];
                let Domain::Elements(own) = stage.domain else { return String::new() };
                format!("        if (k < {own}u) {{ {}_{k}(k); }}\n", stage.entry)
            };
            let (calls, step): (String, _) = (group.stages.iter().map(call).collect(), LANES * element_groups(count));
            write!(text, "    for (var k = group.x * LANES + lane; k < {count}u; k += {step}u) {{\n{calls}    }}\n")
                .expect(TAKES);
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
