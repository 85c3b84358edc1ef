//! Cables added or removed evenly: over pairs of groups, and as a share.

use odonata_machine::edit::{apply, Edit};
use odonata_machine::topology::{Dragonfly, Topology};
use odonata_machine::{presets, MachineBuilder, MachineError};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn edited(builder: &MachineBuilder, edit: &str) -> Result<MachineBuilder, MachineError> {
    apply(builder.clone(), &[Edit::parse(edit)?], 1)
}

/// Global cables of each pair of groups.
fn by_pair(builder: &MachineBuilder, class: usize) -> BTreeMap<(u32, u32), usize> {
    let mut pairs = BTreeMap::new();
    for cable in builder.cables.iter().filter(|cable| cable.class.index() == class) {
        let (a, b) = (builder.group_of[cable.a.index()].0, builder.group_of[cable.b.index()].0);
        *pairs.entry((a.min(b), a.max(b))).or_default() += 1;
    }
    pairs
}

#[test]
fn half_of_the_global_cables_of_frontier() {
    let frontier = presets::builder("frontier-like").unwrap();
    let global = frontier.classes.iter().position(|class| class.name == "global").unwrap();
    let before = by_pair(&frontier, global);
    let half = edited(&frontier, "-50% global").unwrap();
    let after = by_pair(&half, global);
    let total: usize = before.values().sum();
    assert_eq!(after.values().sum::<usize>(), total - total.div_ceil(2));
    // Every pair of groups keeps half of its cables, to one.
    for (pair, &count) in &before {
        let left = after.get(pair).copied().unwrap_or(0);
        assert!(left.abs_diff(count / 2) <= 1, "{pair:?}: {left} of {count}");
    }
    // The remaining cables existed before, at the same routers.
    let mut known = frontier.cables.clone();
    known.retain(|cable| half.cables.contains(cable));
    assert!(half.cables.len() <= known.len());
    half.build().unwrap();
    let one_less = by_pair(&edited(&frontier, "-1 global per group pair").unwrap(), global);
    assert!(before.iter().all(|(pair, &count)| one_less.get(pair).copied().unwrap_or(0) == count - 1));
}

#[test]
fn more_than_there_are() {
    let machine = Dragonfly { p: 1, a: 4, h: 2, g: 9, ..Dragonfly::default() }.lay_out().unwrap();
    let error = edited(&machine, "-2 global per group pair").unwrap_err().to_string();
    assert!(error.contains("2 cables can't be removed: there are 1 between groups 0 and 1"), "{error}");
    let error = edited(&machine, "-0.001% global").unwrap_err().to_string();
    assert!(error.contains("no cable changes"), "{error}");
    assert!(edited(&machine, "-50% globl").unwrap_err().to_string().contains("global"));
}

proptest! {
    /// The share is exact to one cable, no pair of groups is more than one cable from its part, and every added cable
    /// is parallel to an existing one.
    #[test]
    fn shares_are_even(a in 2u32..6, g in 2u32..7, cables in 1u32..4, percent in 1u32..=100, add: bool) {
        let h = cables * (g - 1);
        let family = Dragonfly { p: 1, a, h, g, global_cables: Some(cables.min(a * h / (g - 1))), ..Dragonfly::default() };
        let machine = family.lay_out().unwrap();
        let mut machine = machine;
        machine.classes[1].ports_per_router = None;
        machine.ports = None;
        let before = by_pair(&machine, 1);
        let total: usize = before.values().sum();
        let share = f64::from(percent) / 100.0;
        let changed = (total as f64 * share).round() as usize;
        let text = format!("{}{percent}% global", if add { '+' } else { '-' });
        let result = edited(&machine, &text);
        if changed == 0 {
            prop_assert!(result.is_err());
            return Ok(());
        }
        let after = by_pair(&result.unwrap(), 1);
        let now: usize = after.values().sum();
        prop_assert_eq!(now, if add { total + changed } else { total - changed });
        for (pair, &count) in &before {
            let left = after.get(pair).copied().unwrap_or(0) as f64;
            let wanted = count as f64 * if add { 1.0 + share } else { 1.0 - share };
            prop_assert!((left - wanted).abs() <= 1.0 + 1e-9, "{:?}: {} of {}", pair, left, count);
        }
        prop_assert!(after.keys().all(|pair| before.contains_key(pair)));
    }
}
