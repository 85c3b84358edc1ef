//! Native decisions written as expressions: the same run, packet by packet.

use crate::common::{adversarial, open, run, schedule, small_dragonfly_builder, uniform};
use odonata_machine::edit::{self, Edit};
use odonata_machine::topology::{Dragonfly, HyperX, Topology, Torus};
use odonata_machine::Machine;
use odonata_packet::{PacketEngine, PacketResult, Recording, RunOptions};
use odonata_routing::algorithm::{
    AdaptivePreset, AdaptiveSettings, ExpressionSettings, Intermediate, ParSettings, RoutingChoice, SecondIntermediate,
};
use odonata_units::Bytes;

fn expression(non_minimal_when: &str) -> ExpressionSettings {
    ExpressionSettings { non_minimal_when: non_minimal_when.into(), ..Default::default() }
}

fn result(machine: &Machine, choice: &RoutingChoice, shift: u32, seed: u64) -> PacketResult {
    let engine = PacketEngine::new(machine, &Default::default(), choice).unwrap();
    let nodes = machine.node_count();
    let destinations = if shift > 0 { adversarial(nodes, 8, shift) } else { uniform(nodes) };
    let recording = Recording { packets: true, channels: true, ..Recording::default() };
    let options = RunOptions { seed, recording, threads: 1, ..RunOptions::default() };
    run(&engine, &open(machine, destinations, 0.4), schedule(5, 15, 30), &options)
}

/// Compares two runs under shifted and uniform traffic. Some packets, but not all, take detours.
fn same(what: &str, machine: &Machine, native: &RoutingChoice, expression: &ExpressionSettings) {
    let written = RoutingChoice::with("expression", expression.clone()).unwrap();
    let mut shares = Vec::new();
    for (shift, seed) in [(1, 1), (1, 2), (0, 3)] {
        let (a, b) = (result(machine, native, shift, seed), result(machine, &written, shift, seed));
        let first = a.packets.iter().zip(&b.packets).find(|(a, b)| a != b);
        assert!(first.is_none(), "{what}, shift {shift}, seed {seed}: first difference {first:?}");
        assert_eq!(a, b, "{what}, shift {shift}, seed {seed}");
        shares.push(a.jobs[0].non_minimal as f64 / a.jobs[0].packets as f64);
    }
    assert!(shares.iter().any(|share| (0.02..0.98).contains(share)), "{what}: non-minimal {shares:?}");
}

/// A whole dragonfly, one with failed cables, and one with two cables between any two groups.
fn with_groups() -> Vec<(&'static str, Machine)> {
    let faults = [Edit::parse("fail 10% global").unwrap()];
    let damaged = edit::apply(small_dragonfly_builder(), &faults, 1).unwrap();
    let five = Dragonfly { p: 2, a: 4, h: 2, g: 5, ..Dragonfly::default() }.builder().unwrap();
    [("dragonfly", small_dragonfly_builder()), ("damaged dragonfly", damaged), ("five groups", five)]
        .map(|(what, builder)| (what, builder.build().unwrap()))
        .into()
}

#[test]
fn ugal_and_par_written_as_expressions_give_the_same_run() {
    let default = AdaptiveSettings::default();
    let study = AdaptiveSettings::of(AdaptivePreset::Study);
    let other = AdaptiveSettings {
        threshold: 1.5,
        bias: Some(Bytes::kib(4)),
        minimal_candidates: 2,
        non_minimal_candidates: 3,
        ..default
    };
    let of_default = ExpressionSettings::default();
    let of_study = expression("minimal_queue > 2 * non_minimal_queue");
    let of_other = ExpressionSettings {
        minimal_candidates: 2,
        non_minimal_candidates: 3,
        ..expression("2 * minimal_queue > 3 * non_minimal_queue + 8 KiB")
    };
    for (what, machine) in with_groups() {
        for (settings, written) in [(default, &of_default), (study, &of_study), (other, &of_other)] {
            let ugal_n = RoutingChoice::with("ugal-n", settings).unwrap();
            same(&format!("ugal-n on {what}, {settings:?}"), &machine, &ugal_n, written);
            let ugal_g = RoutingChoice::with("ugal-g", settings).unwrap();
            let by_group = ExpressionSettings { intermediate: Intermediate::Group, ..written.clone() };
            same(&format!("ugal-g on {what}, {settings:?}"), &machine, &ugal_g, &by_group);
            for second_intermediate in [SecondIntermediate::Same, SecondIntermediate::New] {
                let par = RoutingChoice::with("par", ParSettings { choice: settings, second_intermediate }).unwrap();
                let twice = ExpressionSettings { second_decision: true, second_intermediate, ..written.clone() };
                same(&format!("par on {what}, {settings:?}"), &machine, &par, &twice);
            }
        }
    }
}

#[test]
fn ugal_l_written_as_an_expression_gives_the_same_run() {
    let hyperx = HyperX { dims: vec![4, 4], nodes_per_router: 4, ..HyperX::default() }.lay_out().unwrap();
    let torus = Torus { dims: vec![4, 4, 3], nodes_per_router: 1, ..Torus::default() }.lay_out().unwrap();
    for (what, builder) in [("hyperx", hyperx), ("torus", torus)] {
        let machine = builder.build().unwrap();
        let study = RoutingChoice::with("ugal-l", AdaptiveSettings::of(AdaptivePreset::Study)).unwrap();
        let written = expression("minimal_hops * minimal_queue > non_minimal_hops * non_minimal_queue");
        same(what, &machine, &study, &written);
    }
}

/// Conditions on more than queues: all packets to odd nodes, and a quarter of all others.
#[test]
fn detours_by_destination_and_by_chance() {
    let machine = small_dragonfly_builder().build().unwrap();
    let share = |text: &str| {
        let choice = RoutingChoice::with("expression", expression(text)).unwrap();
        let result = result(&machine, &choice, 1, 1);
        result.jobs[0].non_minimal as f64 / result.jobs[0].packets as f64
    };
    // ADV+1 crosses groups always, and half of the destinations are odd.
    let odd = share("destination % 2 == 1");
    assert!((odd - 0.5).abs() < 0.02, "{odd}");
    let chance = share("random < 250000");
    assert!((chance - 0.25).abs() < 0.02, "{chance}");
    assert_eq!(share("minimal_queue < 0 B"), 0.0);
}
