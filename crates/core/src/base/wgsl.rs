//! Constants of a shader: what a kernel's WGSL is told before it is compiled.
//!
//! A file of WGSL declares each with a value of its own, so that it is valid as it stands; [`substitute`] puts the
//! values of an experiment in their place.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The value of a constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// `const NAME: u32 = …;`
    Word(u32),
    /// `const NAME: f32 = …;`
    Real(f32),
    /// `const NAME = array<vec4<u32>, …>(…);`, at least one row.
    Rows(Vec<[u32; 4]>),
    /// `const NAME: u32 = …;`, where these words lie on the device.
    Words(Vec<u32>),
    /// `const NAME: u32 = …;`, where these numbers lie on the device.
    Reals(Vec<f32>),
}

impl Constant {
    /// The declaration of `name`. Numbers that lie on the device are declared by their place.
    fn declaration(&self, name: &str) -> String {
        match self {
            Self::Word(word) => format!("const {name}: u32 = {word}u;"),
            // The shortest decimal that is read as the same number.
            Self::Real(real) => format!("const {name}: f32 = {real:?}f;"),
            Self::Rows(rows) => {
                let mut text = format!("const {name} = array<vec4<u32>, {}>(", rows.len());
                for [a, b, c, d] in rows {
                    write!(text, "vec4<u32>({a}u, {b}u, {c}u, {d}u), ").expect("a string takes text");
                }
                text + ");"
            }
            Self::Words(_) | Self::Reals(_) => unreachable!("numbers of the device have been given a place"),
        }
    }
}

/// `source` with each of `constants` in place of its own declaration of that name, and every name that it declares
/// ending in `suffix`, so that several sources can stand in one module.
///
/// # Panics
///
/// If `source` does not declare a constant, which is a mistake in one of the two.
pub fn substitute(source: &str, constants: &[(&str, Constant)], suffix: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut given = vec![false; constants.len()];
    for line in source.lines() {
        let declared = line.strip_prefix("const ").and_then(|rest| words(rest).next());
        let at = declared.and_then(|name| constants.iter().position(|(constant, _)| *constant == name));
        match at {
            Some(at) => {
                given[at] = true;
                text += &constants[at].1.declaration(constants[at].0);
            }
            None => text += line,
        }
        text.push('\n');
    }
    for ((name, _), given) in constants.iter().zip(given) {
        assert!(given, "the shader declares no constant {name}");
    }
    renamed(&text, suffix)
}

/// `text` with `suffix` behind every name that it declares at the outermost level.
fn renamed(text: &str, suffix: &str) -> String {
    let starts = ["const ", "fn ", "var<workgroup> ", "struct "];
    let declared: Vec<&str> = text
        .lines()
        .filter_map(|line| starts.iter().find_map(|start| line.strip_prefix(start)))
        .filter_map(|rest| words(rest).next())
        .collect();
    let mut result = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while !rest.is_empty() {
        let start = rest.find(is_word).unwrap_or(rest.len());
        let (before, from) = rest.split_at(start);
        let (word, after) = from.split_at(from.find(|c| !is_word(c)).unwrap_or(from.len()));
        result += before;
        result += word;
        // What follows a point is a field or a component.
        if declared.contains(&word) && !before.ends_with('.') {
            result += suffix;
        }
        rest = after;
    }
    result
}

/// The names that function `entry` of `source` uses, itself or through functions that it calls. A function begins with
/// `fn` and ends with a brace, both at the beginning of a line.
pub fn names_reached<'a>(source: &'a str, entry: &'a str) -> BTreeSet<&'a str> {
    let mut bodies: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut inside = None;
    for line in source.lines() {
        if let Some(name) = line.strip_prefix("fn ").and_then(|rest| words(rest).next()) {
            inside = Some(name);
        }
        if let Some(name) = inside {
            let code = line.split("//").next().unwrap_or_default();
            bodies.entry(name).or_default().extend(words(code));
        }
        if line.starts_with('}') {
            inside = None;
        }
    }
    let mut reached = BTreeSet::new();
    let mut open = vec![entry];
    while let Some(name) = open.pop() {
        for &word in bodies.get(name).into_iter().flatten() {
            if reached.insert(word) && bodies.contains_key(word) {
                open.push(word);
            }
        }
    }
    reached
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_word(c)).filter(|word| !word.is_empty())
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_take_their_values_and_names_their_suffix() {
        let source = "const WIDTH: u32 = 8u;\nfn area(x: Box) -> u32 { return x.WIDTH * WIDTH * area_of(x); }\n";
        let text = substitute(source, &[("WIDTH", Constant::Word(3))], "_7");
        assert_eq!(
            text,
            "const WIDTH_7: u32 = 3u;\nfn area_7(x: Box) -> u32 { return x.WIDTH * WIDTH_7 * area_of(x); }\n"
        );
    }

    #[test]
    fn a_function_reaches_what_its_callees_name() {
        let source = "fn one() {\n    two(A); // B\n}\nfn two(x: u32) {\n    C = x;\n}\nfn three() {\n    D = 1;\n}\n";
        let reached = names_reached(source, "one");
        assert_eq!(["A", "B", "C", "D"].map(|name| reached.contains(name)), [true, false, true, false]);
    }

    #[test]
    #[should_panic(expected = "declares no constant HEIGHT")]
    fn a_constant_without_a_declaration_is_a_mistake() {
        substitute("const WIDTH: u32 = 8u;", &[("HEIGHT", Constant::Word(3))], "");
    }
}
