//! Editing the world on the stage: pure functions from a spec and a stroke to the spec it makes.
//!
//! Validity is the environment's business: a world that cannot be played is refused by the session with a sentence.

use tandem_core::env::api::{Env as _, EnvState, Frame};
use tandem_core::env::pellet::{Cell, PelletMap, PelletSpec, StartLayout};
use tandem_core::experiment::spec::{
    CellKind, ExperimentSpec, GameChoice, GridMap, MatrixSettings, Payoffs, PelletSettings, StartChoice,
};
use tandem_core::experiment::world::matrix_spec;

/// The map on the stage: the edited one, or an open one of the same size.
pub fn map_of(settings: &PelletSettings) -> GridMap {
    let cells = (settings.width * settings.height) as usize;
    match &settings.map {
        Some(map) if map.cells.len() == cells => map.clone(),
        _ => GridMap { cells: vec![CellKind::Free; cells], starts: Vec::new() },
    }
}

/// `cells` painted with `kind`. A wall never covers a hand-placed start.
pub fn paint(spec: &ExperimentSpec, cells: &[u32], kind: CellKind) -> ExperimentSpec {
    let mut spec = spec.clone();
    let mut map = map_of(&spec.pellet);
    let is_start = |cell: u32| spec.pellet.start == StartChoice::Placed && map.starts.contains(&cell);
    let painted: Vec<u32> = cells.iter().copied().filter(|&cell| kind != CellKind::Wall || !is_start(cell)).collect();
    for cell in painted {
        if let Some(place) = map.cells.get_mut(cell as usize) {
            *place = kind;
        }
    }
    let is_open = map.starts.is_empty() && map.cells.iter().all(|&cell| cell == CellKind::Free);
    spec.pellet.map = (!is_open).then_some(map);
    spec
}

/// `agent` starts at `cell`, the others where they started before; `None` on a wall.
pub fn move_start(spec: &ExperimentSpec, agent: u32, cell: u32) -> Option<ExperimentSpec> {
    let mut map = map_of(&spec.pellet);
    if map.cells.get(cell as usize).is_none_or(|&kind| kind == CellKind::Wall) {
        return None;
    }
    map.starts = starts_of(&spec.pellet);
    *map.starts.get_mut(agent as usize)? = cell;
    let mut spec = spec.clone();
    spec.pellet.map = Some(map);
    spec.pellet.start = StartChoice::Placed;
    Some(spec)
}

/// Without walls, forbidden cells and hand-placed starts.
pub fn clear_map(spec: &ExperimentSpec) -> ExperimentSpec {
    let mut spec = spec.clone();
    spec.pellet.map = None;
    if spec.pellet.start == StartChoice::Placed {
        spec.pellet.start = StartChoice::Corner;
    }
    spec
}

/// Start cell of each agent as the settings have it; where starts are drawn, those of the first enumerated episode.
pub fn starts_of(settings: &PelletSettings) -> Vec<u32> {
    let map = map_of(settings);
    let agents = settings.agents as usize;
    if settings.start == StartChoice::Placed && map.starts.len() == agents {
        return map.starts;
    }
    let layout = match settings.start {
        StartChoice::Opposite => StartLayout::OppositeCorners,
        StartChoice::Spread => StartLayout::Spread,
        StartChoice::Corner | StartChoice::Random | StartChoice::Placed => StartLayout::OneCorner,
    };
    let cell = |kind: &CellKind| match kind {
        CellKind::Free => Cell::Free,
        CellKind::Wall => Cell::Wall,
        CellKind::NoPellet => Cell::NoPellet,
    };
    let world = PelletSpec {
        map: PelletMap {
            width: settings.width,
            height: settings.height,
            cells: map.cells.iter().map(cell).collect(),
            starts: Vec::new(),
        },
        num_agents: settings.agents,
        starts: layout,
        num_pellets: 1,
        ..PelletSpec::default()
    };
    let Ok(world) = world.validate() else { return vec![0; agents] };
    let mut state = EnvState::new(world.info());
    world.reset_to(state.view_mut(), 0);
    match world.frame(state.view()) {
        Frame::Grid { agents, .. } => agents,
        _ => vec![0; agents],
    }
}

/// The payoff table as the settings have it.
pub fn payoffs_of(settings: &MatrixSettings) -> Payoffs {
    let game = matrix_spec(settings);
    Payoffs { rows: game.rows, columns: game.columns, cells: game.payoffs }
}

/// The matrix game with one payoff changed: that of `agent`, or of both where `is_common`.
pub fn set_payoff(
    spec: &ExperimentSpec,
    table: &Payoffs,
    (row, column): (u32, u32),
    agent: u32,
    value: f32,
    is_common: bool,
) -> ExperimentSpec {
    let mut table = table.clone();
    if let Some(cell) = table.cells.get_mut((row * table.columns + column) as usize) {
        match (is_common, agent) {
            (true, _) => *cell = (value, value),
            (false, 0) => cell.0 = value,
            (false, _) => cell.1 = value,
        }
    }
    let mut spec = spec.clone();
    spec.matrix.game = GameChoice::Custom;
    spec.matrix.payoffs = Some(table);
    spec
}

/// The matrix game with agent 1's payoffs for both agents.
pub fn make_common(spec: &ExperimentSpec, table: &Payoffs) -> ExperimentSpec {
    let cells = table.cells.iter().map(|cell| (cell.0, cell.0)).collect();
    let mut spec = spec.clone();
    spec.matrix.game = GameChoice::Custom;
    spec.matrix.payoffs = Some(Payoffs { cells, ..table.clone() });
    spec
}

/// The two-step game with one payoff of state 2A (`stage` 1) or 2B changed.
pub fn set_two_step(spec: &ExperimentSpec, stage: u32, (row, column): (u32, u32), value: f32) -> ExperimentSpec {
    let mut spec = spec.clone();
    let table = if stage == 1 { &mut spec.two_step.a } else { &mut spec.two_step.b };
    if let Some(cell) = table.get_mut((row * 2 + column) as usize) {
        *cell = value;
    }
    spec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_edit_makes_a_map_of_the_worlds_size() {
        let spec = paint(&ExperimentSpec::default(), &[5, 6], CellKind::Wall);
        let map = spec.pellet.map.as_ref().expect("an edit makes a map");
        assert_eq!(map.cells.len(), 16);
        assert_eq!(map.cells.iter().filter(|&&cell| cell == CellKind::Wall).count(), 2);
        assert_eq!(spec.pellet.start, StartChoice::Corner, "painting moves nobody");
        let undone = paint(&spec, &[5, 6], CellKind::Free);
        assert_eq!(undone, ExperimentSpec::default(), "an open map is no edit");
    }

    #[test]
    fn moving_one_start_keeps_the_others_where_they_were() {
        let mut spec = ExperimentSpec::default();
        spec.pellet.start = StartChoice::Opposite;
        let moved = move_start(&spec, 0, 9).expect("a free cell");
        assert_eq!(moved.pellet.start, StartChoice::Placed);
        assert_eq!(moved.pellet.map.as_ref().expect("a map").starts, [9, 15]);
        let walled = paint(&moved, &[9, 10], CellKind::Wall);
        let cells = &walled.pellet.map.as_ref().expect("a map").cells;
        assert_eq!((cells[9], cells[10]), (CellKind::Free, CellKind::Wall), "a wall spares a start");
        assert_eq!(move_start(&walled, 1, 10), None, "nobody starts in a wall");
        assert_eq!(clear_map(&walled).pellet.map, None);
        assert_eq!(clear_map(&walled).pellet.start, StartChoice::Corner);
    }

    #[test]
    fn a_typed_payoff_makes_the_game_a_custom_one() {
        let table = Payoffs { rows: 2, columns: 2, cells: vec![(1.0, 1.0), (0.0, 0.0), (0.0, 0.0), (1.0, 1.0)] };
        let spec = set_payoff(&ExperimentSpec::default(), &table, (0, 1), 1, 5.0, false);
        assert_eq!(spec.matrix.game, GameChoice::Custom);
        assert_eq!(spec.matrix.payoffs.as_ref().map(|table| table.cells[1]), Some((0.0, 5.0)));
        let spec = set_payoff(&spec, &table, (1, 1), 0, 5.0, true);
        assert_eq!(spec.matrix.payoffs.as_ref().map(|table| table.cells[3]), Some((5.0, 5.0)));
        let common = make_common(&spec, &Payoffs { cells: vec![(3.0, -1.0); 4], ..table.clone() });
        assert_eq!(common.matrix.payoffs.as_ref().map(|table| table.cells[2]), Some((3.0, 3.0)));
        assert_eq!(set_two_step(&spec, 2, (1, 0), -4.0).two_step.b, [0.0, 1.0, -4.0, 8.0]);
    }
}
