//! The engine against its slow twin, packet by packet: every algorithm under a load that makes packets wait.

use crate::common::{self, adversarial, engine, schedule, small_dragonfly, uniform};
use crate::twin::Twin;
use odonata_machine::topology::{FatTree, LinkFigures, Torus};
use odonata_machine::Machine;
use odonata_packet::{
    ClosedJob, Destinations, Endpoints, FifoChoice, Injection, InjectionFifos, InjectionPreset, LoadStep, NodeMessage,
    OpenJob, PacketEngine, PacketSettings, Program, Recording, RunOptions, Traffic,
};
use odonata_units::{Bytes, NodeId, Time};
use std::sync::Arc;

/// Runs the engine until everything created in the first `us` microseconds has arrived, and the twin.
fn compare(routing: &str, adversary: bool, load: f64, us: u64) {
    let machine = small_dragonfly();
    let destinations = if adversary { adversarial(72, 8, 1) } else { uniform(72) };
    compare_on(&machine, destinations, routing, load, us);
}

fn compare_on(machine: &Machine, destinations: Arc<dyn Destinations>, routing: &str, load: f64, us: u64) {
    for (injection, room) in [(Injection::Bernoulli, None), (Injection::Paced, Some(3))] {
        compare_sources(machine, Arc::clone(&destinations), routing, (load, us), (injection, room));
    }
}

fn compare_sources(
    machine: &Machine,
    destinations: Arc<dyn Destinations>,
    routing: &str,
    (load, us): (f64, u64),
    (injection, room): (Injection, Option<u32>),
) {
    let step = |us: u64, load: f64| LoadStep { from: Time::from_us(us), load };
    let job = OpenJob {
        nodes: machine.nodes().collect(),
        destinations,
        steps: vec![step(0, load), step(us, 0.0)],
        injection,
        burst: 1,
        room,
        packets: None,
    };
    let engine = engine(machine, routing);
    let endpoints = job.endpoints(&[0], &engine.nics(5));
    let traffic = Traffic::open(vec![job]);
    compare_packets((machine, &PacketSettings::study()), (&engine, routing), endpoints, &traffic, us);
}

/// Every packet created in the first `us` microseconds, in the engine and in the twin.
fn compare_packets(
    (machine, settings): (&Machine, &PacketSettings),
    (engine, routing): (&PacketEngine, &str),
    endpoints: Box<dyn Endpoints>,
    traffic: &Traffic,
    us: u64,
) {
    let found = Twin::new(machine, settings, &routing.parse().unwrap(), 5, (engine, endpoints)).run();
    let recording = Recording { packets: true, ..Recording::default() };
    let options = RunOptions { recording, seed: 5, ..RunOptions::default() };
    let result = common::run(engine, traffic, schedule(0, us, 1_000), &options);
    assert_eq!(result.jobs[0].packets, result.jobs[0].injected_packets);
    // Different packets, the first one to leave in front.
    let mut packets = result.packets;
    packets.sort_unstable();
    let differ = |of: &[_], from: &[_]| {
        let mut differ: Vec<_> = of.iter().copied().filter(|p| from.binary_search(p).is_err()).collect();
        differ.sort_unstable_by_key(|p: &odonata_packet::PacketRecord| p.injected_ps);
        differ.first().copied()
    };
    let first = (differ(&packets, &found), differ(&found, &packets));
    assert!(first == (None, None), "{routing}: the first that differ in the engine and in the twin: {first:#?}");
    assert_eq!(packets.len(), found.len(), "{routing}");
}

/// A torus and a fat tree, heavily loaded: dateline channels, bubbles, promised space, up and down paths.
#[test]
fn every_packet_on_other_machines_matches_the_twin() {
    let figures = LinkFigures::new(25_000_000_000, 30);
    let torus = Torus {
        dims: vec![5, 4],
        wrap: vec![true; 2].into(),
        nodes_per_router: 2,
        local: figures,
        terminal: LinkFigures::new(25_000_000_000, 10),
        ..Torus::default()
    };
    let machine = torus.builder().unwrap().build().unwrap();
    compare_on(&machine, uniform(40), "dimension-order", 0.6, 3);
    compare_on(&machine, uniform(40), "torus-adaptive", 0.8, 3);
    compare_on(&machine, uniform(40), "torus-deterministic", 0.6, 3);
    compare_on(&machine, uniform(40), "torus-dynamic", 0.9, 3);
    let tree = FatTree { k: 4, local: figures, global: figures, ..FatTree::default() };
    let machine = tree.builder().unwrap().build().unwrap();
    compare_on(&machine, uniform(16), "up-down", 0.7, 3);
    compare_on(&machine, uniform(16), "up-down-adaptive", 0.7, 3);
}

/// Packets and FIFOs of Blue Gene/P, with masks of all kinds: messages of all sizes to all nodes at once, from two
/// nodes per router.
#[test]
fn every_packet_through_fifos_matches_the_twin() {
    let torus = Torus {
        dims: vec![4, 3, 2],
        wrap: vec![true; 3].into(),
        nodes_per_router: 2,
        local: LinkFigures::new(425_000_000, 100),
        terminal: LinkFigures::new(2_550_000_000, 100),
        ..Torus::default()
    };
    let machine = torus.builder().unwrap().build().unwrap();
    let messages = (0..48u32).flat_map(|source| (1..20).map(move |ahead| (source, (source + ahead * 7) % 48, ahead)));
    let messages: Vec<NodeMessage> = messages
        .filter(|(source, destination, _)| source != destination)
        .map(|(source, destination, ahead)| NodeMessage {
            source: NodeId(source),
            destination: NodeId(destination),
            bytes: Bytes(1 + u64::from(source * 131 + ahead * 977) % 1_500),
            rounds: 1 + ahead % 2,
        })
        .collect();
    let uneven = InjectionFifos {
        fifos: 3,
        map: vec![0b101, 0b010, 0b111, 0b001],
        fifo_choice: FifoChoice::ByDestination,
        fifo_packets: 2,
        ..InjectionFifos::default()
    };
    let presets = [InjectionPreset::Dcmf, InjectionPreset::DcmfSpread, InjectionPreset::All, InjectionPreset::Pami];
    for fifos in presets.map(InjectionFifos::of).into_iter().chain([uneven]) {
        let settings = PacketSettings { injection: Some(fifos), ..PacketSettings::bgp() };
        for routing in ["torus-deterministic", "torus-dynamic"] {
            let engine = PacketEngine::new(&machine, &settings, &routing.parse().unwrap()).unwrap();
            let job = ClosedJob::new(messages.clone());
            let endpoints = job.endpoints(&[0], &engine.nics(5));
            compare_packets((&machine, &settings), (&engine, routing), endpoints, &Traffic::closed(vec![job]), 10_000);
        }
    }
}

#[test]
fn every_packet_of_min_and_valiant_matches_the_twin() {
    compare("min", false, 0.7, 3);
    compare("min", true, 0.4, 3);
    compare("valiant-g", true, 0.6, 3);
    compare("valiant-n", false, 0.6, 3);
}

#[test]
fn every_packet_of_adaptive_algorithms_matches_the_twin() {
    compare("ugal-g", true, 0.5, 3);
    compare("ugal-n", false, 0.8, 3);
    compare("par", true, 0.5, 3);
}

#[test]
fn every_packet_of_q_adaptive_matches_the_twin() {
    compare("q-adaptive", true, 0.4, 4);
    compare("q-adaptive", false, 0.8, 3);
}
