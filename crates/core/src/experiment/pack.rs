//! Edited worlds as one value of a link: a version byte and a deflated postcard, in URL-safe base64.
//!
//! Nothing read here is trusted: sizes are bounded before anything is unpacked, and whatever does not unpack whole is
//! [`Unpacked::Broken`]. Whether the contents suit the experiment is judged afterwards, by [`super::knobs::normalise`].

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD_INDIFFERENT as BASE64;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use serde::{Deserialize, Serialize};

use super::spec::{EnvChoice, ExperimentSpec, GameChoice, GridMap, Payoffs, TwoStepSettings};

/// Version of the layout below; rises when a variant changes. Variants are appended, never reordered.
const VERSION: u8 = 1;
/// Largest packed text looked at, in characters, and largest data unpacked from it, in bytes: the largest world (16×16
/// cells, 8 starts) takes a tenth.
const LONGEST: usize = 4_096;
const LARGEST: usize = 4_096;

#[derive(Serialize, Deserialize)]
enum World {
    Pellet(GridMap),
    Matrix(Payoffs),
    TwoStep(TwoStepSettings),
}

/// What became of a packed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpacked {
    /// The world is in the experiment now.
    Done,
    /// It is an edited world of another environment.
    OtherWorld,
    /// It was made by a newer release.
    Newer,
    /// It cannot be unpacked.
    Broken,
}

/// The experiment's edited world, if it has one.
pub fn pack(spec: &ExperimentSpec) -> Option<String> {
    let world = match spec.env {
        EnvChoice::Pellet => World::Pellet(spec.pellet.map.clone()?),
        EnvChoice::Matrix if spec.matrix.game == GameChoice::Custom => World::Matrix(spec.matrix.payoffs.clone()?),
        EnvChoice::Matrix
        | EnvChoice::Foraging
        | EnvChoice::Pursuit
        | EnvChoice::Particles(_)
        | EnvChoice::Board(_) => return None,
        EnvChoice::TwoStep => {
            let unedited = ExperimentSpec::defaults(spec.env, spec.algo).two_step;
            (spec.two_step != unedited).then(|| World::TwoStep(spec.two_step.clone()))?
        }
    };
    let plain = postcard::to_stdvec(&world).expect("lists of numbers always serialise");
    let mut bytes = vec![VERSION];
    bytes.extend(compress_to_vec(&plain, 9));
    Some(BASE64.encode(bytes))
}

/// Puts a packed world into the experiment, which is unchanged unless the answer is [`Unpacked::Done`].
pub fn unpack(text: &str, spec: &mut ExperimentSpec) -> Unpacked {
    if text.len() > LONGEST {
        return Unpacked::Broken;
    }
    let Ok(bytes) = BASE64.decode(text) else { return Unpacked::Broken };
    let deflated = match bytes.split_first() {
        Some((&VERSION, deflated)) => deflated,
        Some((&version, _)) if version > VERSION => return Unpacked::Newer,
        _ => return Unpacked::Broken,
    };
    let Ok(plain) = decompress_to_vec_with_limit(deflated, LARGEST) else { return Unpacked::Broken };
    let Ok((world, [])) = postcard::take_from_bytes::<World>(&plain) else { return Unpacked::Broken };
    match (spec.env, world) {
        (EnvChoice::Pellet, World::Pellet(map)) => spec.pellet.map = Some(map),
        (EnvChoice::Matrix, World::Matrix(payoffs)) if spec.matrix.game == GameChoice::Custom => {
            spec.matrix.payoffs = Some(payoffs);
        }
        (EnvChoice::TwoStep, World::TwoStep(payoffs)) => spec.two_step = payoffs,
        _ => return Unpacked::OtherWorld,
    }
    Unpacked::Done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::spec::{AlgoChoice, CellKind};

    fn walled() -> ExperimentSpec {
        let mut spec = ExperimentSpec::default();
        let mut cells = vec![CellKind::Free; 16];
        cells[5] = CellKind::Wall;
        cells[10] = CellKind::NoPellet;
        spec.pellet.map = Some(GridMap { cells, starts: vec![0, 15] });
        spec
    }

    #[test]
    fn an_edited_world_comes_back() {
        let spec = walled();
        let mut read = ExperimentSpec::default();
        assert_eq!(unpack(&pack(&spec).expect("it is edited"), &mut read), Unpacked::Done);
        assert_eq!(read, spec);
    }

    #[test]
    fn an_unedited_world_needs_no_key() {
        for env in EnvChoice::ALL {
            assert_eq!(pack(&ExperimentSpec::defaults(env, AlgoChoice::Iql)), None);
        }
    }

    #[test]
    fn broken_data_change_nothing() {
        let packed = pack(&walled()).expect("it is edited");
        let mut spec = ExperimentSpec::default();
        for cut in 0..packed.len() {
            let _ = unpack(&packed[..cut], &mut spec);
            assert_eq!(spec, ExperimentSpec::default(), "cut after {cut}");
        }
        let newer = BASE64.encode([VERSION + 1, 0, 0]);
        assert_eq!(unpack(&newer, &mut spec), Unpacked::Newer);
        let mut matrix = ExperimentSpec::defaults(EnvChoice::Matrix, AlgoChoice::Iql);
        assert_eq!(unpack(&packed, &mut matrix), Unpacked::OtherWorld);
    }

    #[test]
    fn a_small_text_cannot_unpack_to_much() {
        let bomb = compress_to_vec(&vec![0; 1 << 22], 9);
        let text = BASE64.encode([&[VERSION][..], &bomb].concat());
        let short = &text[..text.len().min(LONGEST)];
        assert_eq!(unpack(short, &mut ExperimentSpec::default()), Unpacked::Broken);
    }
}
