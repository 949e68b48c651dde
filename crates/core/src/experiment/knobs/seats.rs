//! Seats as text: one word for each agent, in order, separated by commas.
//!
//! `learner` (group a; alone: everyone), `learner.b`, `frozen`, a script's name, `human` or `human.SCRIPT` (who plays
//! where no person can). Whether the words suit the world and each other is for [`super::normalise`].

use crate::env::script::{SCRIPTS, Script};
use crate::experiment::snapshot::Sentence;
use crate::experiment::spec::{Controller, ExperimentSpec, Seats};
use crate::experiment::world::{self, num_agents};
use crate::marl::seats::GROUPS;

/// Most words looked at; more than any world has agents.
const MOST: usize = 64;

/// Everyone's word; `learner` alone where everyone learns together.
pub(super) fn write(seats: &Seats) -> String {
    if seats.list.is_empty() {
        return word(Controller::default());
    }
    let words: Vec<String> = seats.list.iter().copied().map(word).collect();
    words.join(",")
}

/// One controller as links write it.
pub fn word(controller: Controller) -> String {
    match controller {
        Controller::Learner(0) => "learner".to_owned(),
        Controller::Learner(group) => format!("learner.{}", letter(group)),
        Controller::Frozen => "frozen".to_owned(),
        Controller::Scripted(script) => script.info().id.to_owned(),
        Controller::Human(Script::Uniform) => "human".to_owned(),
        Controller::Human(script) => format!("human.{}", script.info().id),
    }
}

/// `a` for group 0.
pub fn letter(group: u8) -> char {
    char::from(b'a' + group.min(GROUPS - 1))
}

/// The controllers, or the first word that is none.
pub(super) fn read(text: &str) -> Result<Seats, String> {
    let controller = |word: &str| read_word(word.trim()).ok_or_else(|| word.trim().to_owned());
    let mut list: Vec<Controller> = text.split(',').take(MOST).map(controller).collect::<Result<_, _>>()?;
    if list == [Controller::default()] {
        list.clear();
    }
    Ok(Seats { list })
}

fn read_word(word: &str) -> Option<Controller> {
    match word.split_once('.') {
        None if word == "learner" => Some(Controller::Learner(0)),
        None if word == "frozen" => Some(Controller::Frozen),
        None if word == "human" => Some(Controller::Human(Script::Uniform)),
        None => Script::of_id(word).map(Controller::Scripted),
        Some(("learner", group)) => (0..GROUPS).find(|&g| group == letter(g).to_string()).map(Controller::Learner),
        Some(("human", stand_in)) => Script::of_id(stand_in).map(Controller::Human),
        Some(_) => None,
    }
}

/// The words there are, for a sentence.
pub(super) fn allowed() -> String {
    words(&SCRIPTS.map(|info| info.id))
}

/// Those that suit the world of `spec`.
pub(super) fn allowed_in(spec: &ExperimentSpec) -> String {
    let env = world::env_spec(spec).build();
    let ids = |scripts: &[Script]| scripts.iter().map(|script| script.info().id).collect::<Vec<_>>();
    env.map_or_else(|_| allowed(), |env| words(&ids(env.scripts())))
}

fn words(scripts: &[&str]) -> String {
    let last = letter(GROUPS - 1);
    // One example of a stand-in is enough.
    let stand_in = scripts.get(1).map_or_else(String::new, |id| format!(" | human.{id}"));
    format!("learner | learner.b … learner.{last} | frozen | human{stand_in} | {}", scripts.join(" | "))
}

/// As many seats as agents, and scripts that suit the world.
pub(super) fn normalise(spec: &mut ExperimentSpec, told: &mut Vec<Sentence>) {
    let agents = num_agents(spec);
    let given = spec.learner.seats.list.len() as u32;
    if given > 0 && given != agents {
        spec.learner.seats.list.resize(agents as usize, Controller::default());
        told.push(Sentence::new("notice.seats_count", &["seats", &given.to_string(), &agents.to_string()]));
    }
    if let Ok(env) = world::env_spec(spec).build() {
        for (controller, agent) in spec.learner.seats.list.iter_mut().zip(1..) {
            let Some(script) = controller.script().filter(|script| !env.scripts().contains(script)) else { continue };
            told.push(Sentence::new("notice.seats_script", &["seats", &agent.to_string(), script.info().id]));
            *controller = match controller {
                Controller::Human(_) => Controller::Human(Script::Uniform),
                _ => Controller::Scripted(Script::Uniform),
            };
        }
    }
}

/// Whether a run of `spec` can go on with other seats: everyone's network is there, a mixer joins whom it joined, and
/// nothing would have to be changed for it, least of all a size because the run would be too large.
pub fn can_reseat(spec: &ExperimentSpec, seats: &Seats) -> bool {
    let mut then = spec.clone();
    then.learner.seats.clone_from(seats);
    let (now, agents) = (&spec.learner.seats, num_agents(spec));
    let joins_the_same = (0..agents).all(|i| now.of(i).has_network() == seats.of(i).has_network());
    now.can_become(seats, agents, spec.learner.shared)
        && (joins_the_same || !spec.algo.info().team_value)
        && super::normalise(&mut then).is_empty()
}

/// Groups mean something only where networks are shared, and which letter a group has means nothing: they are named in
/// the order of the agents. Everyone learning in the first is the default.
pub(super) fn forget_unused(spec: &mut ExperimentSpec) {
    let mut named: Vec<u8> = Vec::new();
    for controller in &mut spec.learner.seats.list {
        let Controller::Learner(group) = controller else { continue };
        let known = named.iter().position(|known| known == group).unwrap_or_else(|| {
            named.push(*group);
            named.len() - 1
        });
        *group = if spec.learner.shared { known as u8 } else { 0 };
    }
    if spec.learner.seats.list.iter().all(|&controller| controller == Controller::default()) {
        spec.learner.seats.list.clear();
    }
}
