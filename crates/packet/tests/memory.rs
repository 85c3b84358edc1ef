//! Estimated against actual memory of a run.

use crate::common::{dragonfly, study, uniform};
use odonata_packet::{
    ControlName, ControlSettings, MemoryDemand, OpenJob, PacketEngine, PacketSettings, RunOptions, Schedule, Traffic,
};
use odonata_routing::algorithm::RoutingChoice;
use odonata_units::{Bytes, Time};

#[test]
fn covers_a_saturated_network_and_is_of_its_order() {
    let machine = dragonfly();
    for (algorithm, load) in [("min", 0.5), ("min", 1.0), ("valiant-n", 1.0), ("par", 1.0), ("q-adaptive", 1.0)] {
        let engine = PacketEngine::new(&machine, &PacketSettings::study(), &algorithm.parse().unwrap()).unwrap();
        let schedule = Schedule { warm_up: Time::from_us(5), measure: Time::from_us(10), drain: Time::ZERO };
        let traffic =
            Traffic::open(vec![OpenJob::constant(machine.nodes().collect(), uniform(machine.node_count()), load)]);
        let options = RunOptions::default();
        let cost = engine.run(&traffic, schedule, &options, &mut |_| true).cost;
        let demand = MemoryDemand { jobs: 1, recording: options.recording, ..MemoryDemand::default() };
        let (taken, estimate) = (cost.packet_bytes + cost.network_bytes, engine.memory_estimate(&demand));
        assert!(taken <= estimate && estimate <= 6 * taken, "{algorithm} {load}: {taken} taken, {estimate} estimated");
    }
}

/// With acknowledgements as packets, too.
#[test]
fn covers_control_packets() {
    let machine = dragonfly();
    for (load, bytes) in [(0.5, None), (0.5, Some(64)), (1.0, Some(8)), (1.0, Some(512))] {
        let control =
            ControlSettings { name: ControlName::Pair, control_bytes: bytes.map(Bytes), ..ControlSettings::default() };
        let settings = PacketSettings { control, ..PacketSettings::study() };
        let engine = PacketEngine::new(&machine, &settings, &"min".parse().unwrap()).unwrap();
        let schedule = Schedule { warm_up: Time::from_us(5), measure: Time::from_us(10), drain: Time::ZERO };
        let traffic =
            Traffic::open(vec![OpenJob::constant(machine.nodes().collect(), uniform(machine.node_count()), load)]);
        let cost = engine.run(&traffic, schedule, &RunOptions::default(), &mut |_| true).cost;
        let (taken, estimate) =
            (cost.packet_bytes + cost.network_bytes, engine.memory_estimate(&MemoryDemand::default()));
        assert!(taken <= estimate && estimate <= 8 * taken, "{load} {bytes:?}: {taken} taken, {estimate} estimated");
    }
}

/// Below saturation, the packets in flight follow Little's law.
#[test]
fn packets_in_flight_below_saturation_are_predicted() {
    let machine = dragonfly();
    let of = |name: &str| -> RoutingChoice { name.parse().unwrap() };
    let minimal = [0.1, 0.3, 0.6, 0.9].map(|load| (of("min"), load));
    let adaptive = [of("par"), of("ugal-n"), study("par"), study("ugal-n")].map(|choice| (choice, 0.3));
    for (choice, load) in minimal.into_iter().chain(adaptive) {
        let engine = PacketEngine::new(&machine, &PacketSettings::study(), &choice).unwrap();
        let schedule = Schedule { warm_up: Time::from_us(5), measure: Time::from_us(10), drain: Time::ZERO };
        let traffic =
            Traffic::open(vec![OpenJob::constant(machine.nodes().collect(), uniform(machine.node_count()), load)]);
        let taken = engine.run(&traffic, schedule, &RunOptions::default(), &mut |_| true).cost.peak_packets as f64;
        let expected = engine.expected_in_flight([(machine.node_count() as u64, load)]) as f64;
        assert!((0.6..1.6).contains(&(expected / taken)), "{choice:?} {load}: {taken} taken, {expected} expected");
    }
}

/// A virtual channel adds 16 B per port at its start (queue, bytes, credit), and a queue with its position at its
/// end.
#[test]
fn every_channel_of_every_port_counts() {
    let machine = dragonfly();
    let ports = machine.link_count() + machine.node_count();
    let taken = |algorithm: &str| {
        let engine = PacketEngine::new(&machine, &PacketSettings::study(), &algorithm.parse().unwrap()).unwrap();
        let schedule = Schedule { warm_up: Time::ZERO, measure: Time::from_ns(1), drain: Time::ZERO };
        let silent = OpenJob::constant(machine.nodes().collect(), uniform(machine.node_count()), 0.0);
        let cost = engine.run(&Traffic::open(vec![silent]), schedule, &RunOptions::default(), &mut |_| true).cost;
        (cost.network_bytes, u64::from(engine.virtual_channels()))
    };
    let ((few, fewer), (many, more)) = (taken("min"), taken("valiant-n"));
    let each = (many - few) as f64 / ports as f64 / (more - fewer) as f64;
    assert!((32.0..64.0).contains(&each), "{each} B for a channel of a port");
}
