//! Records with their own switches: they agree with each other and change nothing else.

use crate::common::{adversarial, closed, engine, graph, open, run, schedule, small_dragonfly, study, uniform};
use odonata_machine::topology::FatTree;
use odonata_machine::Machine;
use odonata_packet::{
    Arbitration, ChannelInterval, JobPortInterval, PacketEngine, PacketRecord, PacketResult, PacketSettings,
    PortInterval, PortRecord, PortView, Progress, Recording, Rows, RunOptions, Schedule, SeriesChoice, TracedPacket,
    Traffic, Watch,
};
use odonata_units::{LinkClassId, NodeId, RouterId, Time};
use std::collections::BTreeMap;

/// Stores all rows, and the number of rows of each call.
#[derive(Default, PartialEq, Debug)]
struct PacketStore {
    packets: Vec<TracedPacket>,
    ports: Vec<PortInterval>,
    channels: Vec<ChannelInterval>,
    port_jobs: Vec<JobPortInterval>,
    largest_batch: usize,
}

impl Watch for PacketStore {
    fn progress(&mut self, _: Progress) -> bool {
        true
    }

    fn rows(&mut self, rows: Rows) {
        match rows {
            Rows::Packets(rows) => {
                self.largest_batch = self.largest_batch.max(rows.len());
                self.packets.extend(rows);
            }
            Rows::Ports(rows) => self.ports.extend(rows),
            Rows::Channels(rows) => self.channels.extend(rows),
            Rows::PortJobs(rows) => self.port_jobs.extend(rows),
        }
    }
}

const ALL: Recording = Recording {
    channels: true,
    crossbar: true,
    counted_stall: true,
    job_waits: true,
    link_jobs: true,
    interval_ps: 700_000,
    series: SeriesChoice { jobs: true, ports: true, channels: true, port_jobs: true },
    packets: true,
    paths: true,
};

fn record(
    engine: &PacketEngine,
    traffic: &Traffic,
    schedule: Schedule,
    options: &RunOptions,
) -> (PacketResult, PacketStore) {
    let mut kept = PacketStore::default();
    let result = engine.run_watched(traffic, schedule, options, &mut kept);
    (result, kept)
}

/// Ports of links and ports to nodes.
fn every_port(result: &PacketResult) -> impl Iterator<Item = PortView<'_>> {
    result.ports.links().chain(result.ports.nodes().map(|node| node.port))
}

/// Takes detours at any load, so that queues stay short.
fn detouring(machine: &Machine) -> PacketEngine {
    PacketEngine::new(machine, &PacketSettings::study(), &study("ugal-n")).unwrap()
}

/// ADV+1 at a load that stalls many ports; everything is measured from time 0.
fn busy(machine: &Machine, options: &RunOptions) -> (PacketResult, PacketStore) {
    record(&detouring(machine), &open(machine, adversarial(72, 8, 1), 0.5), schedule(0, 20, 100), options)
}

#[test]
fn intervals_add_up_to_the_totals() {
    let machine = small_dragonfly();
    // The end of the window is not a multiple of the interval, and the run continues after it.
    let (result, kept) = busy(&machine, &RunOptions { recording: ALL, ..RunOptions::default() });
    let window = result.window.1.ps();
    assert_eq!(window % ALL.interval_ps, 400_000, "the interval that the window's end cuts is left out below");
    let whole = |start: u64| start + ALL.interval_ps <= window;
    let mut stalled = 0;
    for (p, view) in detouring(&machine).link_ports().into_iter().zip(result.ports.links()) {
        let port = view.record;
        let rows: Vec<_> = kept.ports.iter().filter(|r| r.port == p && whole(r.start_ps)).collect();
        let sum = |get: fn(&PortInterval) -> u64| rows.iter().map(|r| get(r)).sum::<u64>();
        // The two differ by at most the omitted 400 ns.
        for (parts, total) in [
            (sum(|r| r.busy_ps), port.busy_ps),
            (sum(|r| r.stall_ps), port.stall_ps),
            (sum(|r| r.packets) * 20_480, port.packets * 20_480),
        ] {
            assert!(parts <= total && total - parts <= 400_000 + 20_480, "port {p}: {parts} of {total}");
        }
        assert!(rows.iter().all(|r| r.busy_ps + r.stall_ps <= ALL.interval_ps), "port {p}");
        assert!(rows.iter().all(|r| r.peak_bytes <= port.peak_bytes), "port {p}");
        stalled += u64::from(port.stall_ps > 0);
        // Channels and jobs of an interval sum to their port.
        for row in rows {
            let of_port = kept.channels.iter().filter(|c| (c.port, c.start_ps) == (row.port, row.start_ps));
            let (bytes, packets): (Vec<u64>, Vec<u64>) = of_port.clone().map(|c| (c.bytes, c.packets)).unzip();
            assert_eq!((bytes.iter().sum(), packets.iter().sum()), (row.bytes, row.packets));
            assert!(of_port.clone().all(|c| c.stall_ps <= row.stall_ps && c.peak_bytes <= row.peak_bytes));
            // Whenever a port stalls, a channel stalls.
            assert!(of_port.map(|c| c.stall_ps).sum::<u64>() >= row.stall_ps);
            let jobs = kept.port_jobs.iter().filter(|c| (c.port, c.start_ps) == (row.port, row.start_ps));
            assert_eq!(jobs.map(|c| c.bytes).sum::<u64>(), row.bytes);
        }
    }
    assert!(stalled >= 5, "{stalled} ports stalled: the load is high enough to test it");
    let sorted = kept.ports.windows(2).all(|pair| (pair[0].start_ps, pair[0].port) < (pair[1].start_ps, pair[1].port));
    assert!(sorted, "one row for each port and interval, by time and port");
}

/// Sums of a job and of its intervals equal the sums of its packets. Each packet costs a few events.
#[test]
fn jobs_and_intervals_are_the_sums_of_their_packets() {
    let machine = small_dragonfly();
    let away = (0..72).map(|n| (n, (n * 7 + 3) % 72, 900 + u64::from(n) * 777)).filter(|m| m.0 != m.1);
    let outside = (0..72).map(|n| (n, n ^ 1, 700));
    let messages: Vec<(u32, u32, u64)> = away.chain(outside).collect();
    let options = RunOptions { recording: ALL, ..RunOptions::default() };
    let (result, kept) = record(&engine(&machine, "par"), &closed(&messages), schedule(0, 1_000, 0), &options);
    let sum = |from: u64, until: u64, of: fn(&PacketRecord) -> u64| -> u64 {
        let packets = kept.packets.iter().map(|traced| &traced.record);
        packets.filter(|p| (from..until).contains(&p.delivered_ps)).map(of).sum()
    };
    let all = |of| sum(0, u64::MAX, of);
    let job = &result.jobs[0];
    assert_eq!(job.packets, kept.packets.len() as u64);
    assert_eq!(job.bytes, all(|p| u64::from(p.size)));
    assert_eq!(job.hops, all(|p| u64::from(p.hops)));
    assert_eq!(job.byte_hops, all(|p| u64::from(p.hops) * u64::from(p.size)));
    assert_eq!(job.on_router_bytes, all(|p| if p.hops == 0 { u64::from(p.size) } else { 0 }));
    assert_eq!(job.non_minimal, all(|p| u64::from(p.non_minimal)));
    assert_eq!(job.via_intermediate_group, all(|p| u64::from(p.via_intermediate_group)));
    assert_eq!(job.source_wait_ps, all(|p| p.injected_ps - p.created_ps));
    assert!(job.non_minimal > 0 && job.on_router_bytes > 0);
    // Everything is measured, so a channel with packets has some at a port.
    let links: Vec<PortView<'_>> = result.ports.links().collect();
    let carried = |vc: usize| links.iter().any(|port| port.channels[vc].packets > 0);
    for vc in 0..result.channels_per_port {
        assert_eq!(result.channels_used >> vc & 1 == 1, carried(vc), "channel {vc}");
    }
    let per_packet = result.cost.events as f64 / job.packets as f64;
    assert!((2.0..12.0).contains(&per_packet), "{per_packet} events per packet");
    for (i, row) in (0..).zip(&result.series[0]) {
        let within = |of| sum(i * ALL.interval_ps, (i + 1) * ALL.interval_ps, of);
        assert_eq!((row.packets, row.bytes), (within(|_| 1), within(|p| u64::from(p.size))), "interval {i}");
        assert_eq!(row.latency_ps, within(|p| p.delivered_ps - p.created_ps), "interval {i}");
        assert_eq!(row.non_minimal, within(|p| u64::from(p.non_minimal)), "interval {i}");
        assert_eq!(row.via_intermediate_group, within(|p| u64::from(p.via_intermediate_group)), "interval {i}");
    }
    assert!(result.series[0].len() > 3);
}

/// Five nodes share a cable, so until the end of the window their NICs always send or wait for credit. A packet that
/// leaves across either end of the window makes a difference of its time on the link.
#[test]
fn a_nic_with_packets_sends_or_stalls() {
    let mut builder = graph(2, 6);
    builder.add_cables(RouterId(0), RouterId(1), LinkClassId(0), 1);
    let machine = builder.build().unwrap();
    let to_last: Vec<(u32, u32, u64)> = (0..5).map(|n| (n, 6, 512 * 10_000)).collect();
    let limit = 100;
    let options = RunOptions::default();
    let (result, _) = record(&engine(&machine, "min"), &closed(&to_last), schedule(0, limit, 0), &options);
    for node in result.ports.nodes().take(5) {
        let accounted = node.injected_bytes / 512 * 20_480 + node.stall_ps;
        assert!(accounted.abs_diff(limit * 1_000_000) <= 20_480, "{accounted} ps of {limit} us");
    }
}

#[test]
fn channels_add_up_to_their_ports() {
    let machine = small_dragonfly();
    let (result, _) = busy(&machine, &RunOptions { recording: ALL, ..RunOptions::default() });
    for PortView { record: port, channels, .. } in every_port(&result) {
        assert_eq!(channels.len(), result.channels_per_port);
        assert_eq!(channels.iter().map(|c| c.bytes).sum::<u64>(), port.bytes);
        assert_eq!(channels.iter().map(|c| c.packets).sum::<u64>(), port.packets);
        assert!(channels.iter().all(|c| c.stall_ps <= port.stall_ps && c.peak_bytes <= port.peak_bytes));
        assert!(channels.iter().map(|c| c.stall_ps).sum::<u64>() >= port.stall_ps);
        assert!(channels.iter().map(|c| c.peak_bytes).sum::<u64>() >= port.peak_bytes);
        // Buffers hold whole packets, 30 of them.
        assert!(channels.iter().all(|c| c.peak_bytes % 512 == 0 && c.peak_bytes <= 15_360));
    }
}

/// The links of a path connect the source's router with the destination's, one per hop. The bytes of each link equal
/// the bytes of the packets on it.
#[test]
fn paths_lead_from_the_source_to_the_destination() {
    let options = RunOptions { recording: ALL, ..RunOptions::default() };
    let dragonfly = small_dragonfly();
    follow_the_paths(&dragonfly, &detouring(&dragonfly), &busy(&dragonfly, &options));
    // The machine numbers the routers of a pod separately.
    let tree = FatTree { k: 4, ..FatTree::default() }.builder().unwrap().build().unwrap();
    let engine = engine(&tree, "up-down-adaptive");
    let ran = record(&engine, &open(&tree, uniform(16), 0.5), schedule(0, 40, 100), &options);
    follow_the_paths(&tree, &engine, &ran);
}

fn follow_the_paths(machine: &Machine, engine: &PacketEngine, (result, kept): &(PacketResult, PacketStore)) {
    let ports = engine.link_ports();
    let link_of: BTreeMap<u32, usize> = ports.into_iter().enumerate().map(|(l, port)| (port, l)).collect();
    let mut bytes = vec![0; machine.link_count()];
    assert!(kept.packets.len() as u64 == result.jobs[0].packets && kept.packets.len() > 5_000);
    assert!(kept.packets.windows(2).all(|pair| pair[0].record < pair[1].record), "by arrival, none twice");
    for TracedPacket { record, path } in &kept.packets {
        assert_eq!(path.len(), usize::from(record.hops));
        let mut at = machine.router_of(NodeId(record.source));
        for hop in path {
            let link = odonata_units::LinkId::from_index(link_of[&hop.port]);
            assert_eq!(machine.source(link), at);
            assert!(usize::from(hop.vc) < result.channels_per_port);
            at = machine.target(link);
            bytes[link.index()] += u64::from(record.size);
        }
        assert_eq!(at, machine.router_of(NodeId(record.destination)));
    }
    // Traffic at the end was not created in the window, or continued after it.
    for (link, (bytes, view)) in bytes.into_iter().zip(result.ports.links()).enumerate() {
        let found = view.record.bytes;
        assert!(bytes.abs_diff(found) <= found / 10 + 20_000, "link {link}: {bytes} of {found}");
    }
}

#[test]
fn records_are_the_same_for_any_threads_and_partitions() {
    let machine = small_dragonfly();
    let options = RunOptions { recording: ALL, ..RunOptions::default() };
    let (whole, kept) = busy(&machine, &options);
    for (threads, partitions) in [(2, 0), (3, 4), (1, 1)] {
        let (other, other_kept) = busy(&machine, &RunOptions { threads, partitions, ..options });
        assert!(whole == other && kept.packets == other_kept.packets && kept.ports == other_kept.ports);
        assert!(kept.channels == other_kept.channels && kept.port_jobs == other_kept.port_jobs);
    }
}

/// Records change no event, and disabled records are empty.
#[test]
fn each_record_is_alone_and_changes_nothing() {
    let machine = small_dragonfly();
    let none = Recording { link_jobs: false, ..Recording::default() };
    let with = |recording| busy(&machine, &RunOptions { recording, ..RunOptions::default() });
    let (plain, kept) = with(none);
    assert!(plain.series.is_empty());
    assert!(every_port(&plain).all(|port| port.channels.is_empty() && port.crossbar_stall_ps.is_none()));
    assert_eq!(kept, PacketStore::default());
    let series = |series| Recording { interval_ps: 1_000_000, series, ..none };
    let off = SeriesChoice { jobs: false, ports: false, channels: false, port_jobs: false };
    for (recording, made) in [
        (Recording { job_waits: true, ..none }, [0, 0, 0, 0, 0, 0, 0]),
        (Recording { counted_stall: true, ..none }, [0, 0, 0, 0, 0, 0, 0]),
        (Recording { channels: true, ..none }, [1, 0, 0, 0, 0, 0, 0]),
        (Recording { crossbar: true, ..none }, [0, 1, 0, 0, 0, 0, 0]),
        (Recording { packets: true, ..none }, [0, 0, 1, 0, 0, 0, 0]),
        (series(SeriesChoice { jobs: true, ..off }), [0, 0, 0, 1, 0, 0, 0]),
        (series(SeriesChoice { ports: true, ..off }), [0, 0, 0, 0, 1, 0, 0]),
        (series(SeriesChoice { channels: true, ..off }), [0, 0, 0, 0, 0, 1, 0]),
        (series(SeriesChoice { port_jobs: true, ..off }), [0, 0, 0, 0, 0, 0, 1]),
    ] {
        let (result, kept) = with(recording);
        let found = [
            every_port(&result).all(|port| !port.channels.is_empty()),
            every_port(&result).all(|port| port.crossbar_stall_ps.is_some()),
            !kept.packets.is_empty(),
            !result.series.is_empty(),
            !kept.ports.is_empty(),
            !kept.channels.is_empty(),
            !kept.port_jobs.is_empty(),
        ];
        assert_eq!(found.map(u8::from), made, "{recording:?}");
        assert_eq!(result.ports.links().all(|port| !port.job_waits.is_empty()), recording.job_waits);
        assert!(every_port(&result).all(|port| port.counted_stall_ps.is_some() == recording.counted_stall));
        assert_eq!(result.jobs, plain.jobs);
        let without_peak = |port: PortView<'_>| PortRecord { peak_bytes: 0, ..*port.record };
        assert!(every_port(&result).map(without_peak).eq(every_port(&plain).map(without_peak)));
        let nics = |result: &PacketResult| -> Vec<(u64, u64)> {
            result.ports.nodes().map(|node| (node.injected_bytes, node.stall_ps)).collect()
        };
        assert_eq!(nics(&result), nics(&plain));
        assert!(kept.packets.iter().all(|p| p.path.is_empty()), "paths are recorded only when asked for");
    }
}

/// Two packets reach the heads of their input queues at the same time and want the same output. The second waits
/// until the crossbar has passed the first, 512 B at four times 25 GB/s = 5.12 ns.
#[test]
fn the_second_of_two_packets_waits_for_the_crossbar() {
    for arbitration in [Arbitration::LeastRecentlyUsed, Arbitration::RoundRobin] {
        let mut builder = graph(2, 4);
        builder.add_cables(RouterId(0), RouterId(1), LinkClassId(0), 1);
        let machine = builder.build().unwrap();
        let settings = PacketSettings { arbitration, ..PacketSettings::study() };
        let engine = PacketEngine::new(&machine, &settings, &"min".parse().unwrap()).unwrap();
        let recording = Recording { crossbar: true, ..Recording::default() };
        let options = RunOptions { recording, ..RunOptions::default() };
        let result = run(&engine, &closed(&[(0, 4, 512), (1, 4, 512)]), schedule(0, 10, 0), &options);
        let cable = result.ports.links().next().unwrap();
        assert_eq!(cable.crossbar_stall_ps, Some(5_120));
        // At the next router they arrive 20.48 ns apart, one packet time of the cable, and neither waits.
        assert_eq!(every_port(&result).filter_map(|port| port.crossbar_stall_ps).sum::<u64>(), 5_120);
        // The cable is busy for two packets and always has credit.
        assert_eq!((cable.record.busy_ps, cable.record.stall_ps), (2 * 20_480, 0));
    }
}

/// A port whose next buffer holds one packet sends one packet and waits for its credit. The packet's head arrives
/// after 10, 30 and 10 ns and crosses at once; the credit takes 30 ns back. So of every 80 ns the link sends for
/// 20.48 ns and is stalled for the rest.
#[test]
fn a_port_without_credit_stalls_for_the_round_trip() {
    let mut builder = graph(2, 1);
    builder.add_cables(RouterId(0), RouterId(1), LinkClassId(0), 1);
    let machine = builder.build().unwrap();
    let settings = PacketSettings { input_buffer: odonata_units::Bytes(512), ..PacketSettings::study() };
    let engine = PacketEngine::new(&machine, &settings, &"min".parse().unwrap()).unwrap();
    let recording = Recording { channels: true, interval_ps: 80_000, ..Recording::default() };
    let recording = Recording { series: SeriesChoice { ports: true, ..SeriesChoice::default() }, ..recording };
    let options = RunOptions { recording, ..RunOptions::default() };
    let (result, kept) = record(&engine, &closed(&[(0, 1, 512 * 200)]), schedule(0, 100, 0), &options);
    let number = engine.link_ports()[0];
    let steady: Vec<_> = kept.ports.iter().filter(|r| r.port == number).skip(100).take(20).collect();
    for row in &steady {
        assert_eq!((row.packets, row.busy_ps, row.stall_ps), (1, 20_480, 80_000 - 20_480), "{row:?}");
    }
    assert_eq!(steady.len(), 20);
    let cable = result.ports.links().next().unwrap();
    assert_eq!(cable.channels.iter().map(|c| c.stall_ps).max(), Some(cable.record.stall_ps));
}

/// The same port and three packets, which reach it 30 ns apart, since NICs wait for credit, too. After the first
/// departure the second waits from 30 ns to 80 ns. The third waits from the end of the second, at 100.48 ns, to 160
/// ns. The third joins the second at 60 ns, and earlier waits do not count.
#[test]
fn stalls_are_counted_from_the_last_packet_that_joined() {
    let mut builder = graph(2, 1);
    builder.add_cables(RouterId(0), RouterId(1), LinkClassId(0), 1);
    let machine = builder.build().unwrap();
    let settings = PacketSettings { input_buffer: odonata_units::Bytes(512), ..PacketSettings::study() };
    let engine = PacketEngine::new(&machine, &settings, &"min".parse().unwrap()).unwrap();
    let recording = Recording { counted_stall: true, ..Recording::default() };
    let options = RunOptions { recording, ..RunOptions::default() };
    let result = run(&engine, &closed(&[(0, 1, 512 * 3)]), schedule(0, 10, 0), &options);
    let cable = result.ports.links().next().unwrap();
    assert_eq!(cable.record.stall_ps, 50_000 + 59_520);
    assert_eq!(cable.counted_stall_ps, Some(20_000 + 59_520));
}

/// The counted stall never exceeds the stall, is equal with and without intervals, and is much smaller if many
/// channels share a port.
#[test]
fn counted_stalls_are_a_part_of_stalls() {
    let machine = small_dragonfly();
    let counted = Recording { counted_stall: true, ..Recording::default() };
    let with = |recording| busy(&machine, &RunOptions { recording, ..RunOptions::default() }).0;
    let (result, cut) = (with(counted), with(ALL));
    let stalls = |result: &PacketResult| -> Vec<(u64, u64)> {
        every_port(result).map(|port| (port.record.stall_ps, port.counted_stall_ps.unwrap())).collect()
    };
    assert_eq!(stalls(&result), stalls(&cut));
    assert!(stalls(&result).iter().all(|&(all, part)| part <= all));
    let (all, part) = stalls(&result).iter().fold((0, 0), |sum, port| (sum.0 + port.0, sum.1 + port.1));
    assert!(part > 0 && part < all * 9 / 10, "{part} of {all}");
}

/// A long run passes on its packets in batches of limited size.
#[test]
fn packets_are_handed_out_while_the_run_goes() {
    let machine = small_dragonfly();
    let engine = engine(&machine, "min");
    let recording = Recording { packets: true, ..Recording::default() };
    let options = RunOptions { recording, ..RunOptions::default() };
    let traffic = open(&machine, uniform(72), 0.8);
    let times = Schedule { warm_up: Time::ZERO, measure: Time::from_us(120), drain: Time::from_us(100) };
    let (_, kept) = record(&engine, &traffic, times, &options);
    // 72 nodes create 72 * 48.8 * 0.8 = 2,812 packets per microsecond, the time between two batches.
    assert!(kept.packets.len() > 300_000 && kept.largest_batch < (1 << 16) + 2 * 2_812, "{}", kept.largest_batch);
}
