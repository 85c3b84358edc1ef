//! Ends of runs.

use crate::common::{engine, run, schedule, small_dragonfly, uniform};
use odonata_machine::topology::{LinkFigures, Torus};
use odonata_packet::{
    Activity, ClosedJob, Ending, Endpoints, Injection, JobTraffic, LoadStep, Nics, NodeMessage, OpenJob,
    OutgoingPacket, PacketEngine, Program, RunOptions, Socket, Subscription, Traffic, UnfinishedEndpoint,
};
use odonata_units::{Bytes, NodeId, Stream, Time};
use std::sync::Arc;

/// Nothing happens for 5 ms. Then packets are injected 100 ns before a full microsecond, when the run checks for its
/// end. They are in flight then and none has ever arrived, but none is late.
#[test]
fn the_progress_timeout_ignores_silence_before_a_late_start() {
    let machine = small_dragonfly();
    let across = Arc::new(|source: NodeId, _: &mut Stream| NodeId((source.0 + 40) % 72));
    let start = Time::from_ns(4_999_900);
    let steps = [(start, 1.0), (start + Time::from_us(1), 0.0)];
    let open = Traffic::open(vec![OpenJob {
        nodes: machine.nodes().collect(),
        destinations: across,
        steps: steps.map(|(from, load)| LoadStep { from, load }).to_vec(),
        injection: Injection::Interval,
        burst: 1,
        room: None,
        packets: None,
    }]);
    let message = |n: u32| {
        let (source, destination) = (NodeId(n), NodeId((n + 40) % 72));
        NodeMessage { source, destination, bytes: Bytes(40 * 512), rounds: 1 }
    };
    let closed = Traffic::closed(vec![ClosedJob { messages: Arc::new((0..72).map(message).collect()), start }]);
    let options = RunOptions { progress_timeout: Time::from_us(10), ..RunOptions::default() };
    for traffic in [open, closed] {
        let result = run(&engine(&machine, "min"), &traffic, schedule(0, 10_000, 1_000), &options);
        assert_eq!(result.ending, Ending::Complete);
        assert!(result.jobs[0].packets >= 72 * 40 && result.jobs[0].packets == result.jobs[0].injected_packets);
    }
}

/// Open traffic with a closed job: the run ends with the microsecond of the job's last delivery, whatever the sources
/// create later. It does not wait for a job without messages.
#[test]
fn open_traffic_continues_until_closed_jobs_end() {
    let machine = small_dragonfly();
    let engine = engine(&machine, "min");
    let open = || JobTraffic::Open(OpenJob::constant(machine.nodes().collect(), uniform(72), 0.2));
    let message =
        |n: u32| NodeMessage { source: NodeId(n), destination: NodeId(71 - n), bytes: Bytes(512 * 200), rounds: 1 };
    // From groups 0, 2, 5 and 7 to 8, 6, 3 and 1.
    let start = Time::from_us(3);
    let closed = ClosedJob { messages: Arc::new([0, 20, 40, 60].map(message).to_vec()), start };
    let run_jobs = |jobs| run(&engine, &Traffic { jobs }, schedule(0, 50, 0), &RunOptions::default());
    for closed_first in [false, true] {
        let mut jobs = vec![open(), JobTraffic::Closed(closed.clone())];
        if closed_first {
            jobs.swap(0, 1);
        }
        let result = run_jobs(jobs);
        let (open, closed) = (&result.jobs[usize::from(closed_first)], &result.jobs[usize::from(!closed_first)]);
        assert_eq!((result.ending, closed.packets), (Ending::Complete, 4 * 200));
        // Alone, 200 packets of 20.48 ns take 4.1 us.
        let ended = Time(closed.last_arrival_ps);
        assert!(ended > start + Time(200 * 20_480) && ended < start + Time(2 * 200 * 20_480), "{ended}");
        assert_eq!(result.end, Time(ended.ps().div_ceil(1_000_000) * 1_000_000));
        let expected = 0.2 * 72.0 * result.end.ps() as f64 / 20_480.0;
        assert!((open.injected_packets as f64 / expected - 1.0).abs() < 0.1, "{} {expected}", open.injected_packets);
        assert!(open.packets < open.injected_packets, "some are in flight");
    }
    let result = run_jobs(vec![open(), JobTraffic::Closed(ClosedJob::new(Vec::new()))]);
    assert_eq!(result.window.1, Time::from_us(50));
    assert!(result.end >= result.window.1);
}

/// Routers in a line with cables of 20 us and one node each: 3 ms from the first to the last.
fn line() -> PacketEngine {
    let torus = Torus {
        dims: vec![151],
        wrap: vec![false].into(),
        local: LinkFigures::new(25_000_000_000, 20_000),
        terminal: LinkFigures::new(25_000_000_000, 10),
        ..Torus::default()
    };
    engine(&torus.builder().unwrap().build().unwrap(), "dimension-order")
}

const LAST: NodeId = NodeId(150);

/// Node 0 sends one packet. The last node waits for `packets` packets, and has a timer for `until` unless that is 0.
#[derive(Clone)]
struct WaitingProgram {
    until: Time,
    packets: u32,
}

struct Nodes {
    program: WaitingProgram,
    receiver: Option<u32>,
    sender: Option<u32>,
    computes: bool,
}

odonata_checkpoint::state!(Nodes { value: receiver, sender, computes; rebuilt: program });

impl Program for WaitingProgram {
    fn endpoints(&self, _: &[u16], nics: &Nics<'_>) -> Box<dyn Endpoints> {
        let (sender, receiver) = (nics.first_of(NodeId(0)), nics.first_of(LAST));
        Box::new(Nodes { program: self.clone(), receiver, sender, computes: false })
    }
}

impl Endpoints for Nodes {
    fn next_created_ps(&mut self, nic: u32) -> Option<u64> {
        (self.sender == Some(nic)).then_some(0)
    }

    fn take(&mut self, _: u32, _: u64) -> OutgoingPacket {
        self.sender = None;
        OutgoingPacket::new(0, LAST, 512)
    }

    fn subscription(&self, _: u32) -> Subscription {
        Subscription::Arrivals
    }

    fn on_start(&mut self, nic: u32, socket: &mut Socket) {
        if self.receiver == Some(nic) && self.program.until > Time::ZERO {
            socket.wake_at(self.program.until.ps());
            self.computes = true;
        }
    }

    fn on_arrival(&mut self, _: u32, _: &odonata_packet::Arrival, _: &mut Socket) -> odonata_packet::Offer {
        self.program.packets -= 1;
        odonata_packet::Offer::Same
    }

    fn on_timer(&mut self, _: u32, _: &mut Socket) -> odonata_packet::Offer {
        self.computes = false;
        odonata_packet::Offer::Same
    }

    fn has_work(&self, _: u64) -> bool {
        self.receiver.is_some() && (self.program.packets > 0 || self.computes)
    }

    fn on_end(&mut self, _: u64) -> Vec<UnfinishedEndpoint> {
        if !self.has_work(0) {
            return Vec::new();
        }
        let activity = if self.computes {
            Activity::Computing { until: self.program.until }
        } else {
            Activity::Waiting { since: Time::ZERO, peer: Some(0), what: format!("{} packets", self.program.packets) }
        };
        vec![UnfinishedEndpoint { job: 0, rank: Some(150), node: LAST, activity }]
    }
}

/// A packet is in flight for 3 ms, with an event every 20 us. A progress timeout of 1 ms is too short, unless an
/// endpoint computes.
#[test]
fn the_progress_timeout_waits_for_timers() {
    let engine = line();
    for (until, ending) in [(0, Ending::NoProgress), (2_500, Ending::Complete), (4_000, Ending::Complete)] {
        let program = WaitingProgram { until: Time::from_us(until), packets: 1 };
        let traffic = Traffic::program(Arc::new(program));
        let result = run(&engine, &traffic, schedule(0, 10_000, 0), &RunOptions::default());
        assert_eq!(result.ending, ending, "computing until {until} us");
        if ending == Ending::Complete {
            // 150 cables, 20 ns in each of 151 routers, 10 ns at both ends, the packet's 20.48 ns; or else the timer.
            let arrival = Time::from_us(3_000) + Time::from_ns(151 * 20 + 2 * 10) + Time(20_480);
            assert_eq!(result.end, arrival.max(Time::from_us(until)));
            assert_eq!(result.unfinished, []);
        }
    }
}

/// A timer that expired early does not extend the timeout.
#[test]
fn the_progress_timeout_ignores_expired_timers() {
    let program = WaitingProgram { until: Time::from_us(100), packets: 1 };
    let result = run(&line(), &Traffic::program(Arc::new(program)), schedule(0, 10_000, 0), &RunOptions::default());
    assert_eq!(result.ending, Ending::NoProgress);
    assert!(result.end < Time::from_us(1_200), "{}", result.end);
}

/// Messages without bytes or rounds are not sent. No run waits for them, and open traffic alone has a window.
#[test]
fn messages_that_are_not_sent_are_no_traffic() {
    let machine = small_dragonfly();
    let message = |bytes: u64, rounds: u32| NodeMessage {
        source: NodeId(0),
        destination: NodeId(70),
        bytes: Bytes(bytes),
        rounds,
    };
    let nothing = ClosedJob::new(vec![message(0, 3), message(512, 0)]);
    let open = OpenJob::constant(machine.nodes().collect(), uniform(72), 0.1);
    let traffic = Traffic { jobs: vec![JobTraffic::Open(open), JobTraffic::Closed(nothing)] };
    assert!(!traffic.is_mixed());
    let result = run(&engine(&machine, "min"), &traffic, schedule(0, 20, 20), &RunOptions::default());
    assert_eq!((result.ending, result.jobs[1].injected_packets), (Ending::Complete, 0));
    assert!(result.end >= result.window.1);
}

/// The second packet never arrives: the run ends at once and names the waiting rank.
#[test]
fn deadlocked_endpoints_are_named() {
    let program = WaitingProgram { until: Time::ZERO, packets: 2 };
    let options = RunOptions { progress_timeout: Time::from_us(5_000), ..RunOptions::default() };
    let result = run(&line(), &Traffic::program(Arc::new(program)), schedule(0, 100_000, 0), &options);
    assert_eq!(result.ending, Ending::Deadlock);
    assert!(result.end < Time::from_us(3_010), "{}", result.end);
    let activity = Activity::Waiting { since: Time::ZERO, peer: Some(0), what: "1 packets".into() };
    assert_eq!(result.unfinished, [UnfinishedEndpoint { job: 0, rank: Some(150), node: LAST, activity }]);
}

/// At the limit, unfinished work is listed: messages to send, a computing node.
#[test]
fn unfinished_endpoints_are_listed_at_the_limit() {
    let machine = small_dragonfly();
    let message = |destination: u32, rounds: u32| NodeMessage {
        source: NodeId(0),
        destination: NodeId(destination),
        bytes: Bytes(512 * 50),
        rounds,
    };
    // 48 packets of 20.48 ns leave in a microsecond: 24 of each message.
    let traffic = Traffic::closed(vec![ClosedJob::new(vec![message(1, 1), message(70, 3)])]);
    let result = run(&engine(&machine, "min"), &traffic, schedule(0, 1, 0), &RunOptions::default());
    assert_eq!(result.ending, Ending::TimeLimit);
    let activity = Activity::Sending { messages: 1 + 3 };
    assert_eq!(result.unfinished, [UnfinishedEndpoint { job: 0, rank: None, node: NodeId(0), activity }]);

    let program = WaitingProgram { until: Time::from_us(50), packets: 1 };
    let result = run(&line(), &Traffic::program(Arc::new(program)), schedule(0, 10, 0), &RunOptions::default());
    assert_eq!(result.ending, Ending::TimeLimit);
    assert_eq!(result.unfinished.len(), 1);
    assert_eq!(result.unfinished[0].activity, Activity::Computing { until: Time::from_us(50) });
}
