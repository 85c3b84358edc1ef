//! Counts of paths against the paths themselves.

use crate::common::{adversarial, engine, routings_on, schedule, small_dragonfly, small_dragonfly_builder, uniform};
use odonata_machine::edit::{self, Edit};
use odonata_machine::topology::FatTree;
use odonata_machine::Machine;
use odonata_packet::{
    Destinations, IntervalRecord, LoadStep, OpenJob, PacketResult, Progress, Recording, Rows, RunOptions, TracedPacket,
    Traffic, Watch,
};
use odonata_units::{LinkId, NodeId, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Default)]
struct PacketStore(Vec<TracedPacket>);

impl Watch for PacketStore {
    fn progress(&mut self, _: Progress) -> bool {
        true
    }

    fn rows(&mut self, rows: Rows) {
        if let Rows::Packets(packets) = rows {
            self.0.extend(packets);
        }
    }
}

/// Runs with all paths recorded. Counts packets by the groups along their path, to find those with a third group.
fn recount(
    machine: &Machine,
    destinations: &Arc<dyn Destinations>,
    routing: &str,
    threads: usize,
) -> (PacketResult, u64) {
    let engine = engine(machine, routing);
    let recording = Recording { packets: true, paths: true, interval_ps: 1_300_000, ..Recording::default() };
    let options = RunOptions { recording, threads, seed: 3, ..RunOptions::default() };
    let mut kept = PacketStore::default();
    let silent = LoadStep { from: Time::from_us(10), load: 0.0 };
    let mut job = OpenJob::constant(machine.nodes().collect(), Arc::clone(destinations), 0.5);
    job.steps.push(silent);
    let result = engine.run_watched(&Traffic::open(vec![job]), schedule(0, 10, 1_000), &options, &mut kept);
    let link_of: BTreeMap<u32, usize> = engine.link_ports().into_iter().zip(0..).collect();
    let group = |node: u32| machine.group_of(machine.router_of(NodeId(node)));
    let mut over = 0;
    let mut intervals = vec![IntervalRecord::default(); result.series[0].len()];
    for TracedPacket { record, path } in &kept.0 {
        let ends = [group(record.source), group(record.destination)];
        let reached = path.iter().map(|hop| machine.target(LinkId::from_index(link_of[&hop.port])));
        let is_over = reached.map(|router| machine.group_of(router)).any(|group| !ends.contains(&group));
        assert_eq!(record.via_intermediate_group, is_over, "{routing}: {record:?}");
        over += u64::from(is_over);
        intervals[(record.delivered_ps / recording.interval_ps) as usize].via_intermediate_group += u64::from(is_over);
    }
    let job = &result.jobs[0];
    assert_eq!((job.packets, job.via_intermediate_group), (kept.0.len() as u64, over), "{routing}");
    assert!(job.packets == job.injected_packets && job.packets > 2_000);
    // Nothing is created after the window, so every packet of an interval has a record.
    let counted = |of: &[IntervalRecord]| of.iter().map(|row| row.via_intermediate_group).collect::<Vec<u64>>();
    assert_eq!(counted(&result.series[0]), counted(&intervals), "{routing}");
    (result, over)
}

#[test]
fn packets_via_an_intermediate_group_are_counted_by_their_path() {
    let machine = small_dragonfly();
    for (destinations, between) in [(uniform(72), 64.0 / 71.0), (adversarial(72, 8, 1), 1.0)] {
        for routing in routings_on(&machine) {
            let (result, over) = recount(&machine, &destinations, routing, 1);
            let job = &result.jobs[0];
            let (share, n) = (over as f64 / job.packets as f64, job.packets as f64);
            match routing {
                "min" => assert_eq!((over, job.non_minimal), (0, 0)),
                // All packets between groups, within four standard deviations of the draw.
                "valiant-g" | "valiant-n" => {
                    assert_eq!(over, job.non_minimal);
                    assert!((share - between).abs() <= 4.0 * (between * (1.0 - between) / n).sqrt(), "{share}");
                }
                // The minimal path is left for a third group only.
                "ugal-g" | "ugal-n" | "par" | "piggyback" => assert!(over > 0 && over == job.non_minimal, "{routing}"),
                // Detours inside a group, too.
                "q-adaptive" => assert!(0 < over && over < job.non_minimal, "{over} of {}", job.non_minimal),
                // These routings know no groups.
                "up-down" | "up-down-adaptive" => assert!(over > 0 && job.non_minimal == 0, "{routing}"),
                _ => {}
            }
        }
    }
}

/// With failed cables, minimal paths also cross third groups. The counts are equal for any number of threads.
#[test]
fn minimal_paths_through_third_groups_count_on_incomplete_machines() {
    let edits = [Edit::parse("fail 15% global").unwrap(), Edit::parse("fail 5% local").unwrap()];
    let machine = edit::apply(small_dragonfly_builder(), &edits, 4).unwrap().build().unwrap();
    for routing in routings_on(&machine) {
        let (result, over) = recount(&machine, &uniform(72), routing, 1);
        if routing == "min" {
            assert!(over > 0 && result.jobs[0].non_minimal == 0, "min: {over}");
        }
        assert_eq!(recount(&machine, &uniform(72), routing, 3).0.jobs, result.jobs, "{routing}");
    }
}

/// Pods are groups, and the routers that join them are another group.
#[test]
fn in_a_fat_tree_packets_between_pods_cross_the_core() {
    let machine = FatTree { k: 4, ..FatTree::default() }.builder().unwrap().build().unwrap();
    let (result, over) = recount(&machine, &uniform(16), "up-down-adaptive", 2);
    // 12 of 15 other nodes are in another pod.
    let share = over as f64 / result.jobs[0].packets as f64;
    assert!((share - 0.8).abs() <= 4.0 * (0.16 / result.jobs[0].packets as f64).sqrt(), "{share}");
}
