//! Endpoints: their notifications, the order of these, and that subscriptions do not affect others.

use crate::common::{adversarial, engine, graph, run, schedule, small_dragonfly, uniform};
use odonata_checkpoint::state;
use odonata_machine::Machine;
use odonata_packet::{
    Arrival, ClosedJob, Departure, Ending, Endpoints, Envelope, Injection, JobTraffic, LoadStep, Nics, NodeMessage,
    Offer, OpenJob, OutgoingPacket, PacketEngine, PacketSettings, Program, Recording, RunOptions, Socket, Subscription,
    Traffic,
};
use odonata_units::{Bytes, LinkClassId, NodeId, RouterId, Time};
use std::sync::{Arc, Mutex};

/// Endpoints of another program, with a subscription that they ignore.
struct SubscribedProgram<P>(P, Subscription);

struct SubscribedEndpoints {
    source: Box<dyn Endpoints>,
    subscription: Subscription,
}

state!(SubscribedEndpoints { nested: source; rebuilt: subscription });

impl<P: Program> Program for SubscribedProgram<P> {
    fn endpoints(&self, jobs: &[u16], nics: &Nics<'_>) -> Box<dyn Endpoints> {
        Box::new(SubscribedEndpoints { source: self.0.endpoints(jobs, nics), subscription: self.1 })
    }
}

impl Endpoints for SubscribedEndpoints {
    fn next_created_ps(&mut self, nic: u32) -> Option<u64> {
        self.source.next_created_ps(nic)
    }

    fn take(&mut self, nic: u32, leaves_ps: u64) -> OutgoingPacket {
        OutgoingPacket { notifies_departure: true, ..self.source.take(nic, leaves_ps) }
    }

    fn subscription(&self, _: u32) -> Subscription {
        self.subscription
    }

    /// Some notifications, but not all, make the engine ask for offers again.
    fn on_arrival(&mut self, _: u32, arrival: &Arrival, _: &mut Socket) -> Offer {
        if arrival.at_ps % 3 == 0 {
            Offer::Changed
        } else {
            Offer::Same
        }
    }

    fn has_work(&self, before_ps: u64) -> bool {
        self.source.has_work(before_ps)
    }
}

/// A saturated run that ends at its limit with packets everywhere, and a run whose sources are idle half of the time.
#[test]
fn a_subscription_changes_no_record() {
    let machine = small_dragonfly();
    let recording =
        Recording { channels: true, crossbar: true, interval_ps: 1_000_000, packets: true, ..Recording::default() };
    let options = RunOptions { recording, ..RunOptions::default() };
    for (routing, adversary, load, drain) in
        [("ugal-n", true, 0.9, 1), ("min", false, 0.5, 100), ("min", true, 0.15, 0)]
    {
        let engine = engine(&machine, routing);
        let destinations = if adversary { adversarial(72, 8, 1) } else { uniform(72) };
        let job = OpenJob::constant(machine.nodes().collect(), destinations, load);
        let plain = run(&engine, &Traffic::open(vec![job.clone()]), schedule(2, 6, drain), &options);
        assert!(plain.packets.len() > 2_000, "{routing} {load}: {}", plain.packets.len());
        for subscription in [Subscription::Nothing, Subscription::Arrivals, Subscription::Departures] {
            let traffic = Traffic::program(Arc::new(SubscribedProgram(job.clone(), subscription)));
            let mut notified = run(&engine, &traffic, schedule(2, 6, drain), &options);
            // Programs that go on are unfinished at a time limit; sources of open traffic are in neither case.
            notified.unfinished.clear();
            notified.ending = plain.ending;
            assert_eq!(notified.packets, plain.packets, "{routing} {load}: {subscription:?}");
            assert!(notified == plain, "{routing} {load}: {subscription:?}");
        }
    }
}

/// One router with `nodes` nodes; a packet of 512 B takes 10 + 10 ns to it, 10 + 10 ns from it, and 20.48 ns on a link.
fn star(nodes: u32) -> Machine {
    graph(1, nodes).build().unwrap()
}

const PATH_PS: u64 = 40_000;
const PACKET_PS: u64 = 20_480;

fn star_engine(nodes: u32, nics_per_node: u32) -> PacketEngine {
    let settings = PacketSettings { nics_per_node, ..PacketSettings::study() };
    PacketEngine::new(&star(nodes), &settings, &"min".parse().unwrap()).unwrap()
}

fn message(source: u32, destination: u32, packets: u64) -> NodeMessage {
    let (source, destination) = (NodeId(source), NodeId(destination));
    NodeMessage { source, destination, bytes: Bytes(512 * packets), rounds: 1 }
}

fn traced() -> RunOptions {
    RunOptions { recording: Recording { packets: true, ..Recording::default() }, ..RunOptions::default() }
}

/// Two closed jobs share node 0. The first has it alone until the second starts; then they take turns.
#[test]
fn closed_jobs_start_at_their_start_time() {
    let start = Time(10 * PACKET_PS);
    let jobs =
        vec![ClosedJob::new(vec![message(0, 1, 20)]), ClosedJob { messages: Arc::new(vec![message(0, 2, 5)]), start }];
    let result = run(&star_engine(3, 1), &Traffic::closed(jobs), schedule(0, 1_000, 0), &traced());
    assert_eq!(result.ending, Ending::Complete);
    let jobs: Vec<u16> = result.packets.iter().map(|p| p.job).collect();
    let expected = [vec![0; 10], [1, 0].repeat(5), vec![0; 5]].concat();
    assert_eq!(jobs, expected);
    for (i, packet) in result.packets.iter().enumerate() {
        assert_eq!(packet.injected_ps, i as u64 * PACKET_PS, "the link is never idle");
        assert_eq!(packet.created_ps, u64::from(packet.job) * start.ps());
    }
}

/// An open job at full load and a closed job share node 0. While both have packets, they alternate.
#[test]
fn open_and_closed_jobs_take_turns() {
    let open = OpenJob {
        steps: vec![LoadStep { from: Time::ZERO, load: 1.0 }, LoadStep { from: Time(100 * PACKET_PS), load: 0.0 }],
        injection: Injection::Bernoulli,
        ..OpenJob::constant(vec![NodeId(0)], uniform(2), 1.0)
    };
    let closed = ClosedJob { messages: Arc::new(vec![message(0, 1, 40)]), start: Time(20 * PACKET_PS) };
    let traffic = Traffic { jobs: vec![JobTraffic::Closed(closed), JobTraffic::Open(open)] };
    let result = run(&star_engine(2, 1), &traffic, schedule(0, 1_000, 0), &traced());
    assert_eq!(result.ending, Ending::Complete);
    assert_eq!(result.jobs[0].packets, 40);
    assert!(result.jobs[1].packets >= 99, "a packet in each packet time, less a phase");
    let share: Vec<u16> = result.packets.iter().skip_while(|p| p.job == 1).map(|p| p.job).take(79).collect();
    assert!(share.chunks(2).all(|pair| pair[0] == 0 && pair.get(1).is_none_or(|&job| job == 1)), "{share:?}");
}

/// Calls of a node, with the NIC.
type Log = Arc<Mutex<Vec<(u32, String)>>>;

/// Node 0 follows a script from the start. All nodes log their notifications.
struct ScriptedProgram {
    offers: Vec<(u32, OutgoingPacket)>,
    timer: Option<u64>,
    on_node: Vec<u64>,
    log: Log,
}

impl Program for ScriptedProgram {
    fn endpoints(&self, _: &[u16], nics: &Nics<'_>) -> Box<dyn Endpoints> {
        Box::new(Script {
            node_of: (0..nics.count()).map(|nic| nics.node(nic)).collect(),
            offers: self.offers.clone(),
            timer: self.timer,
            on_node: self.on_node.clone(),
            log: Arc::clone(&self.log),
        })
    }
}

struct Script {
    node_of: Vec<NodeId>,
    /// By the NIC of node 0.
    offers: Vec<(u32, OutgoingPacket)>,
    timer: Option<u64>,
    on_node: Vec<u64>,
    log: Log,
}

state!(Script { value: offers, timer, on_node; rebuilt: node_of, log });

impl Script {
    fn note(&self, nic: u32, what: String) {
        self.log.lock().unwrap().push((nic, what));
    }
}

impl Endpoints for Script {
    fn next_created_ps(&mut self, nic: u32) -> Option<u64> {
        self.offers.iter().find(|offer| offer.0 == nic).map(|offer| offer.1.created_ps)
    }

    fn take(&mut self, nic: u32, leaves_ps: u64) -> OutgoingPacket {
        let i = self.offers.iter().position(|offer| offer.0 == nic).unwrap();
        self.note(nic, format!("take {leaves_ps}"));
        self.offers.remove(i).1
    }

    fn subscription(&self, _: u32) -> Subscription {
        Subscription::Departures
    }

    fn on_start(&mut self, nic: u32, socket: &mut Socket) {
        if nic == 0 {
            for &at_ps in &self.on_node {
                let source = self.node_of[0];
                socket.deliver(Arrival {
                    at_ps,
                    source,
                    size: 8,
                    job: 0,
                    message: at_ps as u32,
                    envelope: None,
                    injection_times: None,
                });
            }
            if let Some(timer) = self.timer {
                socket.wake_at(timer);
            }
        }
    }

    fn on_departure(&mut self, nic: u32, departure: &Departure, _: &mut Socket) -> Offer {
        self.note(nic, format!("left {}", departure.at_ps));
        Offer::Same
    }

    fn on_arrival(&mut self, nic: u32, arrival: &Arrival, _: &mut Socket) -> Offer {
        let tag = arrival.envelope.map(|envelope| envelope.tag);
        self.note(nic, format!("arrived {} from {} {tag:?}", arrival.at_ps, arrival.source.0));
        Offer::Same
    }

    fn on_timer(&mut self, nic: u32, socket: &mut Socket) -> Offer {
        self.note(nic, format!("woken {}", socket.now_ps()));
        Offer::Same
    }

    fn has_work(&self, _: u64) -> bool {
        !self.offers.is_empty()
    }
}

fn scripted(engine: &PacketEngine, script: ScriptedProgram) -> Vec<(u32, String)> {
    let log = Arc::clone(&script.log);
    let result = run(engine, &Traffic::program(Arc::new(script)), schedule(0, 1_000, 0), &RunOptions::default());
    assert_eq!(result.ending, Ending::Complete);
    let log = log.lock().unwrap().clone();
    log
}

/// Derived by hand: two packets leave node 0 in sequence. When the first has left, the timer expires and a message
/// within the node arrives. The order is: departure, next packet, message, timer.
#[test]
fn an_instant_at_a_node_has_an_order() {
    let packet = |tag: u32| OutgoingPacket {
        envelope: Some(Envelope { tag, ..Envelope::default() }),
        notifies_departure: tag == 7,
        ..OutgoingPacket::new(0, NodeId(1), 512)
    };
    let script = ScriptedProgram {
        offers: vec![(0, packet(7)), (0, packet(8))],
        timer: Some(PACKET_PS),
        on_node: vec![PACKET_PS, 5_000],
        log: Log::default(),
    };
    let calls = scripted(&star_engine(2, 1), script);
    let arrival = PATH_PS + PACKET_PS;
    let expected = [
        (0, "take 0".to_owned()),
        (0, "arrived 5000 from 0 None".to_owned()),
        (0, format!("left {PACKET_PS}")),
        (0, format!("take {PACKET_PS}")),
        (0, format!("arrived {PACKET_PS} from 0 None")),
        (0, format!("woken {PACKET_PS}")),
        (1, format!("arrived {arrival} from 0 Some(7)")),
        (1, format!("arrived {} from 0 Some(8)", arrival + PACKET_PS)),
    ];
    assert_eq!(calls, expected);
}

/// Over two NICs two packets leave and arrive at once; over one NIC they take twice the time.
#[test]
fn each_nic_has_its_own_link() {
    let to = |nic: u8| OutgoingPacket { nic, ..OutgoingPacket::new(0, NodeId(1), 512) };
    let arrivals = |offers: Vec<(u32, OutgoingPacket)>, nics_per_node: u32| {
        let script = ScriptedProgram { offers, timer: None, on_node: Vec::new(), log: Log::default() };
        let calls = scripted(&star_engine(2, nics_per_node), script);
        calls.into_iter().filter(|(_, what)| what.starts_with("arrived")).collect::<Vec<_>>()
    };
    let at = |nic: u32, after: u64| (nic, format!("arrived {} from 0 None", PATH_PS + PACKET_PS + after));
    // Node 1 has NICs 2 and 3.
    assert_eq!(arrivals(vec![(0, to(1)), (1, to(0))], 2), [at(2, 0), at(3, 0)]);
    assert_eq!(arrivals(vec![(0, to(0)), (1, to(0))], 2), [at(2, 0), at(2, PACKET_PS)]);
    assert_eq!(arrivals(vec![(0, to(0)), (0, to(0))], 1), [at(1, 0), at(1, PACKET_PS)]);
}

/// Each packet has its own path, although both left one node at one time.
#[test]
fn packets_of_two_nics_have_separate_paths() {
    let mut builder = graph(3, 1);
    builder.add_cables(RouterId(0), RouterId(1), LinkClassId(0), 1);
    builder.add_cables(RouterId(0), RouterId(2), LinkClassId(0), 1);
    let machine = builder.build().unwrap();
    let settings = PacketSettings { nics_per_node: 2, ..PacketSettings::study() };
    let engine = PacketEngine::new(&machine, &settings, &"min".parse().unwrap()).unwrap();
    let script = ScriptedProgram {
        offers: vec![(0, OutgoingPacket::new(0, NodeId(1), 512)), (1, OutgoingPacket::new(0, NodeId(2), 512))],
        timer: None,
        on_node: Vec::new(),
        log: Log::default(),
    };
    struct PathLengths(Vec<(u32, usize)>);
    impl odonata_packet::Watch for PathLengths {
        fn progress(&mut self, _: odonata_packet::Progress) -> bool {
            true
        }
        fn rows(&mut self, rows: odonata_packet::Rows) {
            if let odonata_packet::Rows::Packets(packets) = rows {
                self.0.extend(packets.iter().map(|p| (p.record.destination, p.path.len())));
            }
        }
    }
    let recording = Recording { packets: true, paths: true, ..Recording::default() };
    let options = RunOptions { recording, ..RunOptions::default() };
    let mut lengths = PathLengths(Vec::new());
    let traffic = Traffic::program(Arc::new(script));
    engine.run_watched(&traffic, schedule(0, 100, 0), &options, &mut lengths);
    assert_eq!(lengths.0, [(1, 1), (2, 1)]);
}

#[test]
#[should_panic(expected = "an endpoint handed over an invalid packet at 0 ps")]
fn a_packet_larger_than_a_packet_is_refused() {
    let offers = vec![(0, OutgoingPacket::new(0, NodeId(1), 513))];
    scripted(&star_engine(2, 1), ScriptedProgram { offers, timer: None, on_node: Vec::new(), log: Log::default() });
}
