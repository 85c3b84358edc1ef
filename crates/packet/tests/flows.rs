//! Ordered traffic classes: packets of a flow take one path.

use crate::common::{adversarial, schedule, small_dragonfly, uniform};
use odonata_packet::{
    ClassSettings, Destinations, OpenJob, PacketEngine, PacketError, PacketSettings, PathHop, Progress, Recording,
    Rows, RunOptions, TracedPacket, Traffic, TrafficClass, TrafficClasses, Watch,
};
use odonata_units::{NodeId, Stream, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

fn engine(ordered: bool, flow_gap: Time, routing: &str) -> Result<PacketEngine, PacketError> {
    let class = TrafficClass {
        name: "messages".into(),
        settings: ClassSettings { ordered, flow_gap, ..ClassSettings::default() },
    };
    let classes = TrafficClasses { list: vec![class], of_job: Vec::new() };
    let settings = PacketSettings { classes, ..PacketSettings::study() };
    PacketEngine::new(&small_dragonfly(), &settings, &routing.parse().unwrap())
}

/// Each node sends to the same node of the next group, so that the cables between groups are congested.
fn next_group() -> Arc<dyn Destinations> {
    Arc::new(|source: NodeId, _: &mut Stream| NodeId((source.0 + 8) % 72))
}

/// All packets, with their paths.
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

fn measure(engine: &PacketEngine, to: Arc<dyn Destinations>, load: f64, options: &RunOptions) -> Vec<TracedPacket> {
    let job = OpenJob::constant((0..72).map(NodeId).collect(), to, load);
    let mut kept = PacketStore::default();
    engine.run_watched(&Traffic::open(vec![job]), schedule(0, 60, 200), options, &mut kept);
    kept.0.sort_by_key(|packet| (packet.record.injected_ps, packet.record.source));
    kept.0
}

fn recorded() -> RunOptions {
    RunOptions { recording: Recording { packets: true, paths: true, ..Recording::default() }, ..RunOptions::default() }
}

/// Injection, delivery and path of a packet.
type Trip<'a> = (u64, u64, &'a [PathHop]);

/// Packets of each pair of nodes in the order in which they entered the network.
fn by_pair(packets: &[TracedPacket]) -> BTreeMap<(u32, u32), Vec<Trip<'_>>> {
    let mut pairs: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for TracedPacket { record, path } in packets {
        let of = pairs.entry((record.source, record.destination)).or_default();
        of.push((record.injected_ps, record.delivered_ps, path.as_slice()));
    }
    pairs.values_mut().for_each(|packets| packets.sort_by_key(|packet| packet.0));
    pairs
}

/// Pairs whose packets overtake each other, and pairs whose packets take several paths.
fn disorder(packets: &[TracedPacket]) -> (usize, usize) {
    let pairs = by_pair(packets);
    let overtakes = |packets: &&Vec<Trip<'_>>| packets.windows(2).any(|two| two[0].1 > two[1].1);
    let differs = |packets: &&Vec<Trip<'_>>| packets.windows(2).any(|two| two[0].2 != two[1].2);
    (pairs.values().filter(overtakes).count(), pairs.values().filter(differs).count())
}

/// With an endless gap a flow never changes its path, so its packets arrive in order. Packet by packet they do not.
#[test]
fn packets_of_a_flow_stay_in_order_on_one_path() {
    for routing in ["ugal-g", "par", "valiant-n"] {
        let of = |ordered| {
            let engine = engine(ordered, Time::from_us(1_000_000), routing).unwrap();
            let packets = measure(&engine, next_group(), 0.3, &recorded());
            assert!(packets.len() > 30_000, "{routing}: {} packets", packets.len());
            disorder(&packets)
        };
        assert_eq!(of(true), (0, 0), "{routing}");
        let (overtaking, differing) = of(false);
        assert!(overtaking > 36 && differing > 60, "{routing}: {overtaking}, {differing} of 72 pairs");
    }
}

/// Flows of single packets: without a gap every packet gets a decision of its own, as in a class that is not ordered.
#[test]
fn single_packets_are_routed_as_without_order() {
    let result = |ordered| {
        let engine = engine(ordered, Time::ZERO, "par").unwrap();
        measure(&engine, adversarial(72, 8, 1), 0.02, &recorded())
    };
    let (with, without) = (result(true), result(false));
    assert!(!with.is_empty() && with == without);
}

/// Expired flows are dropped at times that depend on the partition; the result does not.
#[test]
fn flows_do_not_depend_on_partitions() {
    for routing in ["ugal-g", "par"] {
        let engine = engine(true, Time::from_ns(300), routing).unwrap();
        let result =
            |threads, partitions| measure(&engine, uniform(72), 0.6, &RunOptions { threads, partitions, ..recorded() });
        let whole = result(1, 1);
        assert!(result(1, 0) == whole && result(2, 5) == whole, "{routing}");
    }
}

#[test]
fn routings_whose_packets_cannot_follow_are_refused() {
    let refused = |routing| match engine(true, Time::from_us(4), routing) {
        Err(PacketError::Settings(error)) => error.to_string(),
        _ => panic!("{routing} is accepted"),
    };
    assert_eq!(
        refused("q-adaptive"),
        "traffic_class.0.ordered: routing 'q-adaptive' learns from the decision of each packet; expected `ordered = false`"
    );
}
