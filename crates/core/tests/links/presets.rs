//! The experiments of the menu.

use tandem_core::experiment::knobs::why_not;
use tandem_core::experiment::link::{Link, too_long};
use tandem_core::experiment::presets::{PresetGroup, matching, next_after, presets};
use tandem_core::experiment::spec::AlgoChoice;
use tandem_core::experiment::world;

#[test]
fn presets_open_without_a_word() {
    for preset in presets() {
        let link = preset.read();
        assert_eq!(link.notices, [], "{}", preset.id);
        assert_eq!(link.unknown, [], "{}", preset.id);
        assert!(world::build(&link.spec).is_ok(), "{}", preset.id);
        assert!(!too_long(&preset.link), "{}", preset.id);
    }
}

#[test]
fn the_first_preset_is_what_an_empty_address_opens() {
    assert_eq!(*presets()[0].read(), Link::default());
}

#[test]
fn presets_differ_and_stand_in_groups() {
    for (i, preset) in presets().iter().enumerate() {
        assert_eq!(matching(&preset.read().spec), Some(preset), "the same experiment stands in the list twice");
        let next = &presets()[(i + 1) % presets().len()];
        assert_eq!(next_after(&preset.id), next);
    }
    let order: Vec<_> = presets().iter().map(|preset| preset.group).collect();
    let sorted: Vec<_> =
        PresetGroup::ALL.iter().flat_map(|group| order.iter().filter(move |given| *given == group)).copied().collect();
    assert_eq!(order, sorted, "groups are not mixed");
    assert!(PresetGroup::ALL.iter().all(|group| order.contains(group)));
}

#[test]
fn conflict_presets_refuse_value_factorisation() {
    for preset in presets().iter().filter(|preset| preset.group == PresetGroup::Conflict) {
        let spec = preset.read().spec.clone();
        assert!(
            matches!(spec.algo, AlgoChoice::Iql | AlgoChoice::Ippo | AlgoChoice::Coma),
            "{}: every agent learns for itself, or is judged against itself",
            preset.id
        );
        // Where all rewards but the costs of moves are common, the conflict is about who pays.
        let is_common = spec.pellet.alpha == 1.0;
        for algo in [AlgoChoice::Vdn, AlgoChoice::Qmix, AlgoChoice::Coma] {
            assert_eq!(why_not(&spec, algo).is_some(), !is_common, "{}", preset.id);
        }
    }
}

/// The numbers the texts state are those of the worlds.
#[test]
fn stated_optima_are_exact() {
    let optimum = |id: &str| {
        let preset = presets().iter().find(|preset| preset.id == id).expect("it is in the list");
        let env = world::build(&preset.read().spec).expect("presets can be built");
        env.optimum().expect("a team world has an optimum")
    };
    for (id, value) in
        [("pellet_qmix", 3.0), ("pellet_6x6", 5.0), ("two_step_vdn", 8.0), ("climbing_iql", 11.0), ("sanity_vdn", 1.0)]
    {
        assert_eq!((optimum(id).value, optimum(id).exact), (value, true), "{id}");
    }
    assert!(optimum("sight_4x4").full_information && optimum("sight_6x6").full_information);
}
