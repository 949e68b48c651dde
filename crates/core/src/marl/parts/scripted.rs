//! Seats that a program moves: it replaces whatever was chosen there, from the agent's own observation.

use std::sync::Arc;

use crate::base::float::Real;
use crate::base::rng::Stream;
use crate::env::script::{Program, Turn};
use crate::nn::graph::{Compute, Execution, Id, Reals, Singles, View, Wires, Words};

/// Scripts act on o_i alone. Their draws are those of the agent's own counter (environment, episode, step, agent·256),
/// so nobody else's draws move.
#[derive(Clone, Debug)]
pub struct ScriptedAct {
    /// Draws.
    pub stream: Stream,
    /// The program of each agent that has one `[n]`.
    pub programs: Vec<Option<Arc<dyn Program>>>,
    /// |A|.
    pub actions: u32,
    /// Numbers of an observation as the rules write it; the row goes on with id and padding.
    pub obs_len: u32,
    /// o_i `[E, n, padded]`.
    pub obs: Id<Reals, Execution>,
    /// Legal actions `[E, n, |A|]`.
    pub mask: Id<Words, Execution>,
    /// Episode and step of each environment `[E, 2]`.
    pub time: Id<Words, Execution>,
    /// Working space: one observation.
    pub shown: Id<Singles, Execution>,
    /// Chosen actions `[E, n]`.
    pub action: Id<Words, Execution>,
    /// Whether a choice was exploratory `[E, n]`: a script's never is.
    pub explored: Id<Words, Execution>,
}

impl Compute for ScriptedAct {
    type Side = Execution;
    const NAME: &'static str = "scripted_act";
    fn wires(&self, wires: &mut Wires) {
        wires.reads(self.obs).reads(self.mask).reads(self.time);
        wires.writes(self.shown).writes(self.action).writes(self.explored);
    }
    fn run<R: Real>(&self, view: View<'_, R, Execution>) {
        let (obs, mask, time) = (view.read(self.obs), view.read(self.mask), view.read(self.time));
        let mut shown = view.write(self.shown);
        let (mut action, mut explored) = (view.write(self.action), view.write(self.explored));
        let (n, a) = (self.programs.len(), self.actions as usize);
        let width = obs.len() / action.len();
        for row in 0..action.len() {
            let Some(program) = &self.programs[row % n] else { continue };
            for (to, from) in shown.iter_mut().zip(&obs[row * width..]) {
                *to = from.to_f32();
            }
            let env = row / n;
            let at = [env as u32, time[env * 2], time[env * 2 + 1]];
            let turn = Turn { stream: self.stream, at, agent: (row % n) as u32 };
            action[row] = program.act(&shown, &mask[row * a..(row + 1) * a], &turn);
            explored[row] = 0;
        }
    }
}
