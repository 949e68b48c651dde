//! `tandem train LINK --steps N`: an experiment without a page, one run for each seed.
//!
//! A run ends at the first update boundary at or after N env steps, whatever step or budget its link names, and is the
//! page's run to the bit. Ctrl-C finishes the update that has begun, prints the summary and ends.

use std::ops::Range;
use std::process::ExitCode;
use std::sync::Arc;

use tandem_core::experiment::divergence::Divergence;
use tandem_core::experiment::knobs::{knob, remarks, scale_lr};
use tandem_core::experiment::link::{Link, has_keys, names_experiment, parse};
use tandem_core::experiment::run::Run;
use tandem_core::experiment::snapshot::{Cause, Sentence};
use tandem_core::experiment::spec::ExperimentSpec;
use tandem_core::nn::gpu::{Gpu, NoGpu};

use super::Failure;
use super::args::Args;
use super::report::Report;
use crate::platform::console::{Interrupt, stopwatch, tell};
use crate::view::text::Texts;

/// Engines this build has.
const ENGINES: [&str; 2] = ["cpu", "gpu"];
/// Exit status after Ctrl-C, as shells have it: 128 + SIGINT.
const INTERRUPTED: u8 = 130;

/// Notices after which the experiment is another one than the link's; not those of sizes that follow from others.
const ANOTHER: [&str; 22] = [
    "notice.unreadable",
    "notice.clamped",
    "notice.whole",
    "notice.too_many_agents",
    "notice.too_many_pellets",
    "notice.too_much_food",
    "notice.too_many_evaders",
    "notice.most_catchers",
    "notice.most_prey",
    "notice.seats_count",
    "notice.newer_version",
    "notice.link_cut",
    "notice.too_many_keys",
    "notice.more",
    "notice.world_broken",
    "notice.world_newer",
    "notice.world_other",
    "notice.world_unedited",
    "notice.map_size",
    "notice.payoff_table",
    "notice.algo_instead",
    "notice.seats_script",
];
/// Keys that are about a page, and nothing to a run without one.
const OF_THE_PAGE: [&str; 3] = ["step", "view", "lang"];

/// What was asked for.
struct Wanted {
    link: Link,
    steps: u32,
    seeds: Range<u64>,
    json: bool,
    /// What makes the updates, if not the processor.
    gpu: Option<Arc<Gpu>>,
}

impl Wanted {
    fn read(mut args: Args) -> Result<Self, Sentence> {
        let json = args.flag("--json");
        let steps = args.value("--steps", "1 … 4294967295")?;
        let seeds = args.value("--seeds", "A..B")?;
        let engine = args.value("--engine", &ENGINES.join(", "))?;
        let link = args.word();
        args.finish("LINK, --steps N, --seeds A..B, --engine cpu|gpu, --json")?;
        let link = link.ok_or_else(|| Sentence::new("cli.no_link", &[]))?;
        if !has_keys(&link) {
            return Err(Sentence::new("cli.no_keys", &[&link]));
        }
        if !names_experiment(&link) {
            return Err(Sentence::new("cli.no_experiment", &[&link]));
        }
        if let Some(engine) = engine.as_deref().filter(|engine| !ENGINES.contains(engine)) {
            return Err(Sentence::new("cli.engine", &[engine, &ENGINES.join(", ")]));
        }
        let steps = steps.ok_or_else(|| Sentence::new("cli.no_steps", &[]))?;
        let link = parse(&link);
        let steps = whole_steps(&steps, u32::MAX)?;
        let seeds = seeds.map_or(Ok(link.spec.seed..link.spec.seed.saturating_add(1)), |text| seed_range(&text))?;
        let gpu = if engine.as_deref() == Some("gpu") { Some(Arc::new(open_gpu()?)) } else { None };
        Ok(Self { link, steps, seeds, json, gpu })
    }
}

/// Whether a notice says that another experiment would be trained.
fn is_another(notice: &Sentence) -> bool {
    let is_of_the_page = notice.args.first().is_some_and(|key| OF_THE_PAGE.contains(&key.as_str()));
    ANOTHER.contains(&notice.id.as_str()) && !is_of_the_page
}

/// `tandem train`.
pub(super) fn train(args: Args, texts: Texts) -> Result<ExitCode, Failure> {
    let wanted = Wanted::read(args)?;
    let (another, warnings): (Vec<&Sentence>, _) = wanted.link.notices.iter().partition(|notice| is_another(notice));
    for told in warnings.into_iter().chain(&remarks(&wanted.link.spec)) {
        tell(&texts.f("cli.warning", &[&texts.sentence(told)]));
    }
    if !another.is_empty() {
        let told: Vec<String> = another.into_iter().map(|notice| texts.sentence(notice)).collect();
        return Err(Sentence::new("cli.another", &[&told.join(" ")]).into());
    }
    let interrupt = Interrupt::listen();
    let mut report = Report::new(texts, wanted.json)?;
    let mut status = ExitCode::SUCCESS;
    for seed in wanted.seeds.clone() {
        let run = train_one(&wanted, seed, &interrupt, &mut report)?;
        if let Some(Divergence { tensor, cause }) = &run.diverged {
            let id = match cause {
                Cause::NotFinite => "cli.diverged.not_finite",
                Cause::Gradient => "cli.diverged.gradient",
                Cause::Weights => "cli.diverged.weights",
            };
            let why = texts.f(id, &[tensor]);
            let update = run.updates().to_string();
            tell(&texts.f("cli.diverged", &[&seed.to_string(), &update, &why, &tenth(&run.spec)]));
            status = ExitCode::FAILURE;
        }
        if interrupt.came() {
            tell(texts.t("cli.interrupted"));
            return Ok(ExitCode::from(INTERRUPTED));
        }
    }
    Ok(status)
}

fn train_one(wanted: &Wanted, seed: u64, interrupt: &Interrupt, report: &mut Report) -> Result<Run, Failure> {
    let seconds = stopwatch();
    // Where the run ends is its budget, so that it is evaluated there.
    let spec = ExperimentSpec { seed, budget: wanted.steps, ..wanted.link.spec.clone() };
    let mut run = Run::new(spec, 1)?;
    whole_steps(&wanted.steps.to_string(), run.most_env_steps())?;
    if let Some(gpu) = &wanted.gpu {
        run.move_to(Arc::clone(gpu))?;
    }
    let mut told = 0;
    while run.end().is_none() && !(interrupt.came() && run.is_between_updates()) {
        run.work();
        for point in &run.evals[told..] {
            report.evaluation(&run, point, seconds())?;
        }
        told = run.evals.len();
    }
    run.fetch();
    report.ladder(&run)?;
    report.summary(&run, seconds())?;
    Ok(run)
}

/// The graphics processor, or why there is none.
fn open_gpu() -> Result<Gpu, Sentence> {
    pollster::block_on(Gpu::open()).map_err(|why| match why {
        NoGpu::Adapter(_) => Sentence::new("cli.no_adapter", &[]),
        NoGpu::Device(why) => Sentence::new("cli.no_device", &[&why.to_string()]),
    })
}

/// A tenth of the learning rates, as a link says it.
fn tenth(spec: &ExperimentSpec) -> String {
    let mut spec = spec.clone();
    scale_lr(&mut spec, 0.1);
    let rates = ["lr", "lr_end", "critic_lr"].into_iter().filter_map(knob).filter(|knob| (knob.applies)(&spec));
    let pairs: Vec<String> = rates.map(|knob| format!("{}={}", knob.key, knob.text(&spec))).collect();
    pairs.join("&")
}

fn whole_steps(text: &str, most: u32) -> Result<u32, Sentence> {
    let steps = text.parse().ok().filter(|steps| (1..=most).contains(steps));
    steps.ok_or_else(|| Sentence::new("cli.steps", &[text, &most.to_string()]))
}

/// `A..B` without B.
fn seed_range(text: &str) -> Result<Range<u64>, Sentence> {
    let ends = text.split_once("..").and_then(|(first, end)| Some(first.parse().ok()?..end.parse().ok()?));
    ends.filter(|seeds| !seeds.is_empty()).ok_or_else(|| Sentence::new("cli.seeds", &[text]))
}
