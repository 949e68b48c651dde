//! The texts of the shaders: what every device can compile.

use crate::support::{gpu, learner};
use tandem_core::nn::graph::List;
use tandem_core::nn::memory::Memory;
use tandem_core::nn::program::Program;

/// Experiments that between them use every shader there is.
const ALL: [&str; 8] = [
    "env=two_step&algo=qmix",
    "env=matrix&algo=vdn&standardise=on",
    "env=pellet&algo=iql&shared=off",
    "env=spread&algo=qmix&team=mean&hyper=1",
    "env=spread&algo=mappo",
    "env=spread&algo=ippo&shared=off",
    "env=pellet&algo=mappo",
    "env=matrix&algo=ippo",
];

fn modules() -> Vec<String> {
    let of = |text: &&str| {
        let learner = learner(text);
        let mut memory = Memory::new(&learner.plan);
        let lists: [&List; 2] = [&learner.rollout, &learner.gradient_steps];
        let program =
            Program::new(&learner.plan, &lists, &mut memory).unwrap_or_else(|unfit| panic!("{text}: {unfit}"));
        program.modules().into_iter().map(|module| module.source.clone()).collect::<Vec<String>>()
    };
    ALL.iter().flat_map(of).collect()
}

/// No text that a comment holds.
fn code(source: &str) -> String {
    source.lines().map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n").collect()
}

#[test]
fn p12_nothing_is_infinite_or_asked_whether_it_is_a_number() {
    for source in modules() {
        let code = code(&source);
        for word in ["inf", "isNan", "isInf", "0x1p128", "3.5e38"] {
            let found = code.split(|c: char| !c.is_alphanumeric() && c != '.').any(|said| said == word);
            assert!(!found, "{word}:\n{source}");
        }
    }
}

/// Some browsers take neither arrays whose length is overridden nor pointers as parameters.
#[test]
fn p73_no_override_and_no_pointer_is_needed() {
    for source in modules() {
        let code = code(&source);
        assert!(!code.contains("override ") && !code.contains("ptr<"), "{source}");
    }
}

/// Three arrays, 256 invocations and 16 KiB of workgroup memory are all that is asked of a device.
#[test]
fn p63_p64_every_kernel_fits_the_limits_that_all_devices_have() {
    let gpu = gpu();
    for text in ["env=spread&algo=mappo&hidden=128", "env=spread&algo=qmix&team=mean&hidden=128&embed=64&hyper=1"] {
        let learner = learner(text);
        let mut memory = Memory::new(&learner.plan);
        let lists: [&List; 2] = [&learner.rollout, &learner.gradient_steps];
        let program =
            Program::new(&learner.plan, &lists, &mut memory).unwrap_or_else(|unfit| panic!("{text}: {unfit}"));
        // The device was opened with those limits: what exceeds them stops the test.
        gpu.compile(&program);
    }
    for source in modules() {
        assert_eq!(source.matches("var<storage").count(), 3, "{source}");
        let lanes = source.lines().find_map(|line| line.strip_prefix("const LANES: u32 = ")).expect("it is declared");
        let lanes: u32 = lanes.trim_end_matches("u;").parse().expect("a number");
        assert!(lanes <= 256, "{source}");
    }
}
