//! What a rollout tells on its way: returns of the latest episodes, action frequencies, reward parts of one episode, the
//! trace hash. Nothing here is learned from.

use super::clock::{Clock, ENV_STEP, EPISODES};
use super::world::{MAX_AGENTS, World};
use crate::base::float::Real;
use crate::base::hash::TraceHash;
use crate::nn::graph::{Compute, Id, Plan, Reals, Training, View, Wires, Words};
use crate::nn::shader::{Domain, Scratch, Shader};

/// What training episodes gave lately: raw, undiscounted, per agent; and how often each action was taken.
#[derive(Clone, Debug)]
pub struct Tally {
    /// The worlds.
    pub world: World,
    /// Counters.
    pub clock: Clock,
    /// Return so far `[E, n]`.
    pub running: Id<Reals, Training>,
    /// Returns of the latest finished episodes `[RECENT, n]`, a ring by the episode count.
    pub recent: Id<Reals, Training>,
    /// Action frequencies `[n, |A|]`, forgetting by 1/256 per env step of a world.
    pub frequency: Id<Reals, Training>,
    /// Raw reward parts of world 0's episode so far, the newest [`STEPS_KEPT`] env steps, a ring by the env step
    /// `[STEPS_KEPT, n, parts]`.
    pub episode_parts: Id<Reals, Training>,
    /// Env steps of that episode, and whether the last of them ended it: then it is kept until the next begins `[2]`.
    pub episode_steps: Id<Words, Training>,
    /// The trace hash's two words.
    pub trace: Id<Words, Training>,
}

/// Env steps in [`Tally::episode_parts`]: more than fit side by side into a picture.
pub const STEPS_KEPT: u32 = 200;
/// Episodes in [`Tally::recent`].
pub const RECENT: u32 = 64;

impl Tally {
    /// Its buffers.
    pub fn new(plan: &mut Plan, world: &World, clock: Clock) -> Self {
        let info = world.env.info();
        let (n, a, p) = (info.num_agents, info.num_actions, info.part_names.len() as u32);
        Self {
            world: world.clone(),
            clock,
            episode_parts: plan.buffer("tally.episode_parts", &[STEPS_KEPT, n, p]),
            episode_steps: plan.buffer("tally.episode_steps", &[2]),
            running: plan.buffer("tally.running_return", &[world.envs, n]),
            recent: plan.buffer("tally.recent_returns", &[RECENT, n]),
            frequency: plan.buffer("tally.action_frequency", &[n, a]),
            trace: plan.buffer("trace", &[2]),
        }
    }
}

impl Compute for Tally {
    type Side = Training;
    const NAME: &'static str = "tally";
    fn wires(&self, wires: &mut Wires) {
        let w = &self.world;
        wires.reads(w.action).reads(w.reward).reads(w.parts).reads(w.ended).reads(w.live);
        wires.writes(self.running).writes(self.recent).writes(self.frequency);
        wires.writes(self.episode_parts).writes(self.episode_steps);
        wires.writes(self.trace).writes(self.clock.counters);
    }
    fn run<R: Real>(&self, view: View<'_, R, Training>) {
        let w = &self.world;
        let info = w.env.info();
        let (n, a) = (info.num_agents as usize, info.num_actions as usize);
        let (action, reward) = (view.read(w.action), view.read(w.reward));
        let (ended, live) = (view.read(w.ended), view.read(w.live));
        let mut clock = view.write(self.clock.counters);
        let (mut running, mut recent) = (view.write(self.running), view.write(self.recent));
        let mut frequency = view.write(self.frequency);
        let mut trace = view.write(self.trace);
        let mut hash = TraceHash([trace[0], trace[1]]);
        let forget = R::from_f32(1.0 / 256.0);
        let mut record = [0_u32; 2 + 2 * MAX_AGENTS];
        for e in (0..w.envs as usize).filter(|&e| live[e] != 0) {
            // The env-step number of world e is the number of lockstep steps so far.
            record[0] = e as u32;
            record[1] = clock[ENV_STEP] / w.envs;
            for i in 0..n {
                let row = e * n + i;
                record[2 + 2 * i] = action[row];
                let r = reward[e * (n + 1) + i];
                record[3 + 2 * i] = r.to_f32().to_bits();
                running[row] += r;
                for (b, f) in frequency[i * a..(i + 1) * a].iter_mut().enumerate() {
                    let hit = if b as u32 == action[row] { R::ONE } else { R::ZERO };
                    *f += (hit - *f) * forget;
                }
            }
            hash.add(&record[..2 + 2 * n]);
            if ended[e] != 0 {
                let slot = (clock[EPISODES] % RECENT) as usize;
                recent[slot * n..(slot + 1) * n].copy_from_slice(&running[e * n..(e + 1) * n]);
                running[e * n..(e + 1) * n].fill(R::ZERO);
                clock[EPISODES] += 1;
            }
        }
        trace.copy_from_slice(&hash.0);
        clock[ENV_STEP] += w.envs;

        if live[0] == 0 {
            return;
        }
        let (mut steps, mut kept) = (view.write(self.episode_steps), view.write(self.episode_parts));
        if steps[1] != 0 {
            steps[0] = 0;
        }
        let p = n * info.part_names.len();
        let row = (steps[0] % STEPS_KEPT) as usize;
        kept[row * p..(row + 1) * p].copy_from_slice(&view.read(w.parts)[..p]);
        steps[0] += 1;
        steps[1] = u32::from(ended[0] != 0);
    }
    fn shaders(&self, _: &Plan) -> Option<Vec<Shader>> {
        let w = &self.world;
        let info = w.env.info();
        let (n, a) = (info.num_agents, info.num_actions);
        let shader = Shader::new(Self::NAME, include_str!("../wgsl/tally.wgsl"))
            .word("ENVS", w.envs)
            .word("AGENTS", n)
            .word("ACTIONS", a)
            .buffer("CLOCK", self.clock.counters)
            .buffer("ACTION", w.action)
            .buffer("REWARD", w.reward)
            .buffer("PARTS", w.parts)
            .word("PARTS_LEN", n * info.part_names.len() as u32)
            .buffer("ENDED", w.ended)
            .buffer("LIVE", w.live)
            .buffer("RUNNING", self.running)
            .buffer("RECENT", self.recent)
            .buffer("FREQUENCY", self.frequency)
            .buffer("EPISODE_PARTS", self.episode_parts)
            .buffer("EPISODE_STEPS", self.episode_steps)
            .own(Scratch { name: "FINISHED", len: w.envs * (1 + n), per_tile: false, per_step: true })
            .own(Scratch { name: "OBSERVED", len: 1 + n * a, per_tile: true, per_step: true })
            .stage(Self::NAME, Domain::Items(w.envs))
            .close("end_tally");
        Some(vec![shader])
    }
}
