//! A run resumed from a checkpoint has the same records, messages and calls.

use crate::checkpoint::{everything, resumed, RunOutput, SavedStates};
use crate::common;
use odonata_machine::topology::{Dragonfly, LinkFigures, Torus};
use odonata_packet::{
    ClassSettings, ControlName, ControlSettings, InjectionFifos, InjectionPreset, JobClass, JobTraffic, OpenJob,
    PacketEngine, PacketSettings, Recording, RunOptions, Schedule, Traffic, TrafficClass, TrafficClasses,
};
use odonata_programs::collective::Collectives;
use odonata_programs::expansion::JobProgram;
use odonata_programs::{Call, Operation, ProgramContext, ProgramSpec, Rounds, WORLD};
use odonata_trace::{Dependency, Event, RankTasks, Task, TaskGraph, Work};
use odonata_transport::{CallRecords, MessageRecord, MpiSettings, Progress, RankJob, RankRecord, RankWork, Ranks};
use odonata_units::{Bytes, NodeId, Stream, Time};
use std::sync::Arc;

/// All records of the ranks.
type Records = (Vec<RankRecord>, Vec<MessageRecord>, CallRecords);

/// Some programs, two ranks on each node, with open traffic on other nodes.
struct Case {
    engine: PacketEngine,
    jobs: Vec<RankJob>,
    settings: MpiSettings,
    /// Nodes with open traffic.
    open: Vec<NodeId>,
}

impl Case {
    fn traffic(&self) -> (Traffic, Ranks) {
        let ranks = Ranks::new(self.jobs.clone(), self.settings.clone()).with_messages().with_calls();
        let program: Arc<dyn odonata_packet::Program> = Arc::new(ranks.clone());
        let mut jobs: Vec<JobTraffic> = self.jobs.iter().map(|_| JobTraffic::Program(Arc::clone(&program))).collect();
        if !self.open.is_empty() {
            let nodes = self.open.clone();
            let draw = move |source: NodeId, random: &mut Stream| {
                let place = nodes.iter().position(|node| *node == source).unwrap();
                nodes[(place + 1 + random.index(nodes.len() - 1)) % nodes.len()]
            };
            jobs.push(JobTraffic::Open(OpenJob::constant(self.open.clone(), Arc::new(draw), 0.3)));
        }
        (Traffic { jobs }, ranks)
    }

    /// Runs to the end, and again from each of several checkpoints.
    fn check(&self, name: &str, checkpoints: usize) {
        let schedule = Schedule { warm_up: Time::ZERO, measure: Time::from_us(100_000), drain: Time::ZERO };
        let recording = Recording { packets: true, ..Recording::default() };
        let options = RunOptions { recording, threads: 2, ..RunOptions::default() };
        let records = |ranks: &Ranks| -> Records { (ranks.take_records(), ranks.take_messages(), ranks.take_calls()) };
        let (traffic, ranks) = self.traffic();
        let whole = everything(&self.engine, &traffic, schedule, &options, None);
        let recorded = records(&ranks);
        let random = &mut Stream::new(1, name, &[]);
        let mut times: Vec<u64> = (0..checkpoints).map(|_| random.below(whole.result.end.ps())).collect();
        times.sort_unstable();
        let saved = SavedStates::at(&times);
        let (traffic, ranks) = self.traffic();
        assert!(everything(&self.engine, &traffic, schedule, &options, Some(&saved)) == whole, "{name}");
        assert!(records(&ranks) == recorded, "{name}");
        let states = saved.states();
        assert!(2 * states.len() > checkpoints, "{name}: {} checkpoints", states.len());
        for (n, (state, before)) in states.iter().enumerate() {
            let (traffic, ranks) = self.traffic();
            let options = RunOptions { threads: 1 + n % 2, ..options };
            let RunOutput { result, mut rows } = resumed(&self.engine, &traffic, schedule, &options, state);
            rows.splice(0..0, before.iter().cloned());
            assert!(result == whole.result && rows == whole.rows, "{name}: checkpoint {n} of {times:?}");
            let (of_ranks, messages, calls) = records(&ranks);
            assert_eq!(of_ranks, recorded.0, "{name}: checkpoint {n} of {times:?}");
            assert_eq!(messages, recorded.1, "{name}: checkpoint {n} of {times:?}");
            assert!(calls == recorded.2, "{name}: calls from checkpoint {n} of {times:?}");
        }
    }
}

fn job(number: u16, spec: &str, ranks: u32, nodes: impl Fn(u32) -> u32) -> RankJob {
    let context = ProgramContext { job: "a", ranks, seed: 1 };
    let spec = ProgramSpec::parse(spec).unwrap_or_else(|error| panic!("{error}"));
    let program = odonata_programs::build(&spec, &context).unwrap_or_else(|error| panic!("{error}"));
    let node_of_rank = Arc::new((0..ranks).map(|rank| NodeId(nodes(rank))).collect());
    let shared = JobProgram::new(program, Arc::new(Collectives::study()));
    RankJob {
        job: number,
        work: RankWork::Calls(shared),
        node_of_rank,
        rails: None,
        start: Time::from_us(2 * u64::from(number)),
        background: false,
    }
}

/// A dragonfly of 72 nodes.
fn engine(settings: &PacketSettings, routing: &str) -> PacketEngine {
    let figures = |ns| LinkFigures::new(25_000_000_000, ns);
    let (terminal, local, global) = (figures(10), figures(30), figures(300));
    let machine = Dragonfly { p: 2, a: 4, h: 2, g: 9, terminal, local, global, ..Dragonfly::default() };
    let machine = machine.builder().unwrap().build().unwrap();
    PacketEngine::new(&machine, settings, &routing.parse().unwrap()).unwrap()
}

/// Programs with eager and rendezvous messages.
#[test]
fn programs_resume() {
    let programs = ["ring", "allreduce", "all-to-all", "incast", "lu", "stencil-nd"];
    let settings = [MpiSettings::study(), MpiSettings::blue_gene_p(), MpiSettings::ideal()];
    for (i, spec) in programs.into_iter().enumerate() {
        let jobs = vec![job(0, spec, 8, |rank| rank / 2 * 9)];
        let routing = ["min", "ugal-n", "q-adaptive"][i % 3];
        let progress = [Progress::Async, Progress::InCalls][i % 2];
        let case = Case {
            engine: engine(&PacketSettings::study(), routing),
            jobs,
            settings: MpiSettings { progress, ..settings[i % 3].clone() },
            open: Vec::new(),
        };
        case.check(spec, 3);
    }
}

/// Programs whose large messages are in another class, two of them on the same nodes.
#[test]
fn programs_in_traffic_classes_resume() {
    let class = |name: &str, priority, control| TrafficClass {
        name: name.into(),
        settings: ClassSettings { priority, control, ..ClassSettings::default() },
    };
    let pair = ControlSettings { name: ControlName::Pair, ..ControlSettings::default() };
    let list = vec![class("small", 1, None), class("large", 0, Some(pair)), class("other", 0, None)];
    let large = Some((Bytes(1_000), 1));
    let of_job = vec![JobClass { class: 0, large }, JobClass { class: 2, large }];
    let classes = TrafficClasses { list, of_job };
    let settings = PacketSettings { classes, ..PacketSettings::study() };
    for (spec, routing) in [("stencil-nd", "ugal-n"), ("lu", "min")] {
        let jobs = vec![job(0, spec, 8, |rank| rank / 2 * 9), job(1, "allreduce", 8, |rank| rank / 2 * 9)];
        let case = Case { engine: engine(&settings, routing), jobs, settings: MpiSettings::study(), open: Vec::new() };
        case.check(spec, 4);
    }
}

/// Graphs on several lanes, with a window that is full most of the time.
#[test]
fn task_graphs_resume() {
    let ranks = (0..12).map(|rank| {
        let peer = |by: u32| (rank + by) % 12;
        let (mut tasks, mut waits) = (Vec::<Task>::new(), Vec::new());
        for round in 0..20u32 {
            let first = tasks.len() as u32;
            let bytes = Bytes(if round % 2 == 0 { 30_000 } else { 90 });
            tasks.push(Work::Receive { from: peer(11), bytes, tag: round, communicator: 0 }.into());
            tasks.push(Work::Send { to: peer(1), bytes, tag: round, communicator: 0 }.into());
            let time = Time::from_ns(700 * u64::from(1 + (rank + round) % 4));
            tasks.push(Task { lane: 1 + (round % 2) as u8, ..Work::Compute { time }.into() });
            if first > 0 {
                let after = |on, event| Dependency { on, event };
                waits.push((first, after(first - 3, Event::End)));
                waits.push((first + 1, after(first - 1, Event::End)));
                waits.push((first + 2, after(first - 2, Event::Start)));
                waits.push((first + 2, after(first, Event::Start)));
            }
        }
        RankTasks::new(tasks, &waits)
    });
    let graph = Arc::new(TaskGraph { ranks: ranks.collect(), ..TaskGraph::default() });
    for (progress, routing) in [(Progress::Async, "ugal-n"), (Progress::InCalls, "min")] {
        let work = RankWork::Tasks(Arc::clone(&graph));
        let jobs = vec![RankJob { work, ..job(0, "ring", 12, |rank| rank / 2 * 9) }];
        let settings = MpiSettings { progress, task_window: 12, ..MpiSettings::study() };
        Case { engine: engine(&PacketSettings::study(), routing), jobs, settings, open: Vec::new() }.check("graph", 6);
    }
}

/// Collectives on communicators that were split twice, with open requests and unexpected messages.
#[test]
fn communicators_resume() {
    let script = common::Script::new(12, |rank, code| {
        for round in 0..6 {
            code.irecv((rank + 11) % 12, Bytes(40_000), round);
            code.compute(Time::from_us(u64::from(rank % 3)));
            code.isend((rank + 1) % 12, Bytes(if round % 2 == 0 { 30_000 } else { 90 }), round);
            let new = 1 + 2 * round as u16;
            code.push(Call::CommSplit { communicator: WORLD, new, color: rank % 3, key: 12 - rank });
            code.push(Call::CommCreate { communicator: new, new: new + 1, first: rank / 3 % 2, count: 2, stride: 2 });
            for communicator in [WORLD, new, new + 1] {
                code.within(communicator);
                code.collective(Operation::Allreduce, 0, Bytes(20_000));
            }
            code.within(WORLD);
            code.icollective(Operation::Allreduce, 0, Bytes(if round % 2 == 0 { 20_000 } else { 8 }));
        }
        code.push(Call::WaitAll { first: 0, count: 18 });
    });
    let shared = JobProgram::new(Arc::new(script), Arc::new(Collectives::study()));
    let jobs = vec![RankJob { work: RankWork::Calls(shared), ..job(0, "ring", 12, |rank| rank / 2 * 9) }];
    let engine = engine(&PacketSettings::study(), "ugal-g");
    Case { engine, jobs, settings: MpiSettings::study(), open: Vec::new() }.check("communicators", 12);
}

#[test]
fn background_jobs_and_open_traffic_resume() {
    let endless = job(1, "ring", 8, |rank| 3 + rank * 9);
    let RankWork::Calls(shared) = &endless.work else { unreachable!("a program") };
    let work = RankWork::Calls(shared.repeated(Rounds::Endless));
    let endless = RankJob { work, background: true, ..endless };
    let jobs = vec![job(0, "all-to-all", 8, |rank| rank / 2 * 9), endless];
    let settings = PacketSettings { nics_per_node: 2, ..PacketSettings::study() };
    let open = (0..72).step_by(9).map(NodeId).collect();
    Case { engine: engine(&settings, "par"), jobs, settings: MpiSettings::study(), open }.check("background", 6);
}

#[test]
fn ranks_behind_injection_fifos_resume() {
    let torus = Torus { dims: vec![2, 3, 4], wrap: vec![true; 3].into(), ..Torus::default() };
    let machine = torus.builder().unwrap().build().unwrap();
    let injection = Some(InjectionFifos::of(InjectionPreset::PamiAll));
    let settings = PacketSettings { injection, ..PacketSettings::study() };
    let engine = PacketEngine::new(&machine, &settings, &"torus-adaptive".parse().unwrap()).unwrap();
    let jobs = vec![job(0, "ring", 12, |rank| 2 * rank), job(1, "all-to-all", 8, |rank| 3 * rank)];
    Case { engine, jobs, settings: MpiSettings::blue_gene_q(), open: Vec::new() }.check("fifos", 6);
}
