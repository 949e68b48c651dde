//! Who is measured at which work, what the numbers must come to, and how much faster Tandem means to be.
//!
//! The order of [`CONTESTANTS`] is the order within a round.

/// Something to do, described in docs/PERFORMANCE.md.
pub(super) struct Work {
    pub(super) id: &'static str,
    pub(super) about: &'static str,
    /// Numbers by name: what they should be, and how far off they may be.
    pub(super) checks: &'static [(&'static str, f64, f64)],
}

/// Losses are the same for all but rounding; returns are means over random episodes.
pub(super) const WORKS: [Work; 5] = [
    Work { id: "W1", about: "QMIX update", checks: &[("first_loss", 1.811_299, 2e-5), ("loss31", 0.630_435, 2e-5)] },
    Work { id: "W2", about: "MAPPO update", checks: &[("first_loss", 0.897_996, 2e-5), ("loss16", 0.882_933, 2e-5)] },
    Work { id: "W3", about: "environment", checks: &[("mean_return", -26.55, 1.5)] },
    Work { id: "W4", about: "MAPPO end to end", checks: &[("return_first", -26.4, 2.5), ("return_after", -22.5, 3.0)] },
    Work {
        id: "W5",
        about: "small QMIX update",
        checks: &[("first_loss", 2.507_312, 2e-5), ("loss31", 1.121_289, 2e-5)],
    },
];

/// Where a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Native,
    Wasm,
}

impl Place {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Wasm => "wasm",
        }
    }
}

/// What to start.
pub(super) enum Program {
    /// `tandem bench` or the page's `?bench=`.
    Tandem,
    /// A file of `xtask/peers`, or of `xtask/peers/web` in the browser, and the package that it measures.
    Peer { file: &'static str, package: &'static str },
}

/// Somebody who does some of the works.
pub(super) struct Contestant {
    pub(super) name: &'static str,
    pub(super) place: Place,
    pub(super) program: Program,
    pub(super) works: &'static [&'static str],
}

const fn peer(
    name: &'static str,
    place: Place,
    file: &'static str,
    package: &'static str,
    works: &'static [&'static str],
) -> Contestant {
    Contestant { name, place, program: Program::Peer { file, package }, works }
}

const fn tandem(place: Place) -> Contestant {
    Contestant { name: "Tandem", place, program: Program::Tandem, works: &["W1", "W2", "W3", "W4", "W5"] }
}

pub(super) const CONTESTANTS: [Contestant; 9] = [
    tandem(Place::Native),
    peer("PyTorch", Place::Native, "pytorch.py", "torch", &["W1", "W2", "W4", "W5"]),
    peer("JAX jit", Place::Native, "jax_jit.py", "jax", &["W1", "W2", "W3", "W4", "W5"]),
    peer("JaxMARL", Place::Native, "jaxmarl_env.py", "jaxmarl", &["W3"]),
    peer("NumPy", Place::Native, "numpy_env.py", "numpy", &["W3"]),
    peer("PettingZoo", Place::Native, "mpe2_env.py", "mpe2", &["W3"]),
    tandem(Place::Wasm),
    peer("TensorFlow.js", Place::Wasm, "tfjs.html", "@tensorflow/tfjs", &["W1", "W2", "W5"]),
    peer("jax-js", Place::Wasm, "jaxjs.html", "@jax-js/jax", &["W1", "W5"]),
];

/// How many times a peer's rate Tandem means to reach.
pub(super) struct Target {
    pub(super) work: &'static str,
    /// Where Tandem runs.
    pub(super) place: Place,
    pub(super) peer: &'static str,
    pub(super) at_least: f64,
}

const fn target(work: &'static str, place: Place, peer: &'static str, at_least: f64) -> Target {
    Target { work, place, peer, at_least }
}

pub(super) const TARGETS: [Target; 18] = [
    target("W1", Place::Wasm, "TensorFlow.js", 6.0),
    target("W1", Place::Wasm, "jax-js", 4.0),
    target("W2", Place::Wasm, "TensorFlow.js", 8.0),
    target("W3", Place::Wasm, "JaxMARL", 15.0),
    target("W3", Place::Wasm, "PettingZoo", 1_200.0),
    target("W4", Place::Wasm, "JAX jit", 0.4),
    target("W4", Place::Wasm, "PyTorch", 1.0),
    target("W5", Place::Wasm, "TensorFlow.js", 30.0),
    target("W1", Place::Native, "PyTorch", 1.2),
    target("W1", Place::Native, "JAX jit", 0.5),
    target("W2", Place::Native, "PyTorch", 1.4),
    target("W2", Place::Native, "JAX jit", 0.55),
    target("W3", Place::Native, "JAX jit", 4.0),
    target("W3", Place::Native, "JaxMARL", 20.0),
    target("W4", Place::Native, "JAX jit", 0.75),
    target("W4", Place::Native, "PyTorch", 1.8),
    target("W5", Place::Native, "JAX jit", 1.3),
    target("W5", Place::Native, "PyTorch", 15.0),
];

#[cfg(test)]
mod tests {
    use super::{CONTESTANTS, TARGETS, WORKS};

    #[test]
    fn every_target_compares_with_somebody_who_does_the_work() {
        for target in TARGETS {
            let does = CONTESTANTS.iter().any(|by| by.name == target.peer && by.works.contains(&target.work));
            assert!(does, "{} does not do {}", target.peer, target.work);
        }
        for by in CONTESTANTS {
            assert!(by.works.iter().all(|id| WORKS.iter().any(|work| work.id == *id)), "{}", by.name);
        }
    }
}
