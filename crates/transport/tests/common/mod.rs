//! The study's machine without other traffic, and programs written as functions.

pub(crate) mod plain;

use odonata_machine::topology::{Dragonfly, LinkFigures};
use odonata_machine::Machine;
use odonata_packet::{Ending, JobTraffic, PacketEngine, PacketResult, PacketSettings, RunOptions, Schedule, Traffic};
use odonata_programs::collective::Collectives;
use odonata_programs::expansion::JobProgram;
use odonata_programs::{Code, RankProgram};
use odonata_transport::{MpiSettings, RankJob, RankRecord, RankWork, Ranks};
use odonata_units::{NodeId, Time};
use std::sync::Arc;

/// A program of one block, the same function for every rank.
pub(crate) struct Script<F> {
    ranks: u32,
    block: F,
}

impl<F> std::fmt::Debug for Script<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Script").field("ranks", &self.ranks).finish_non_exhaustive()
    }
}

impl<F: Fn(u32, &mut Code) + Send + Sync> Script<F> {
    pub(crate) fn new(ranks: u32, block: F) -> Self {
        Self { ranks, block }
    }
}

impl<F: Fn(u32, &mut Code) + Send + Sync> RankProgram for Script<F> {
    fn ranks(&self) -> u32 {
        self.ranks
    }
    fn blocks(&self, _: u32) -> u64 {
        1
    }
    fn block(&self, rank: u32, _: u64, code: &mut Code) {
        (self.block)(rank, code);
    }
    fn splits(&self) -> bool {
        true
    }
}

/// The machine.
pub(crate) struct Idle {
    pub(crate) machine: Machine,
}

impl Idle {
    pub(crate) fn new() -> Self {
        let figures = |ns: u64| LinkFigures::new(25_000_000_000, ns);
        let machine =
            Dragonfly { terminal: figures(10), local: figures(30), global: figures(300), ..Dragonfly::default() };
        Self { machine: machine.builder().and_then(|builder| builder.build()).expect("the study's machine builds") }
    }

    /// Time of a packet's head from NIC to NIC, on the single minimal path.
    pub(crate) fn head_ps(&self, from: NodeId, to: NodeId) -> u64 {
        let machine = &self.machine;
        let (from, to) = (machine.router_of(from), machine.router_of(to));
        let local = |a, b| if a == b { 0 } else { 50_000 };
        let (here, there) = (machine.group_of(from), machine.group_of(to));
        if here == there {
            return 40_000 + local(from, to);
        }
        let between = |link: &odonata_units::LinkId| {
            machine.group_of(machine.source(*link)) == here && machine.group_of(machine.target(*link)) == there
        };
        let global = machine.links().find(between).expect("every two groups are joined");
        40_000 + local(from, machine.source(global)) + 320_000 + local(machine.target(global), to)
    }

    /// Runs a program with its ranks on these nodes.
    pub(crate) fn run(
        &self,
        program: impl RankProgram + 'static,
        nodes: &[u32],
        settings: MpiSettings,
    ) -> Vec<RankRecord> {
        let (result, records) = self.try_run(program, nodes, settings, 1);
        assert_eq!(result.ending, Ending::Complete, "{:?}", result.unfinished);
        records
    }

    pub(crate) fn try_run(
        &self,
        program: impl RankProgram + 'static,
        nodes: &[u32],
        settings: MpiSettings,
        partitions: usize,
    ) -> (PacketResult, Vec<RankRecord>) {
        let shared = JobProgram::new(Arc::new(program), Arc::new(Collectives::study()));
        let node_of_rank = Arc::new(nodes.iter().map(|&node| NodeId(node)).collect());
        let ranks = Ranks::new(
            vec![RankJob {
                job: 0,
                work: RankWork::Calls(shared),
                node_of_rank,
                rails: None,
                start: Time::ZERO,
                background: false,
            }],
            settings,
        );
        let engine =
            PacketEngine::new(&self.machine, &PacketSettings::study(), &"min".parse().unwrap()).expect("min fits");
        let schedule = Schedule { warm_up: Time::ZERO, measure: Time::from_us(1_000_000), drain: Time::ZERO };
        let options = RunOptions { partitions, ..RunOptions::default() };
        let traffic = Traffic { jobs: vec![JobTraffic::Program(Arc::new(ranks.clone()))] };
        let result = engine.run(&traffic, schedule, &options, &mut |_| true);
        (result, ranks.take_records())
    }
}

/// Runs a program under the study's settings, one rank on each node, and returns the ranks. `with` selects the records.
pub(crate) fn finished(
    program: impl RankProgram + 'static,
    nodes: &[u32],
    routing: &str,
    partitions: usize,
    with: fn(Ranks) -> Ranks,
) -> Arc<Ranks> {
    finished_under(&MpiSettings::study(), program, nodes, (routing, partitions), with)
}

/// The same under other settings.
pub(crate) fn finished_under(
    settings: &MpiSettings,
    program: impl RankProgram + 'static,
    nodes: &[u32],
    how: (&str, usize),
    with: fn(Ranks) -> Ranks,
) -> Arc<Ranks> {
    finished_on(&PacketSettings::study(), settings, program, nodes, how, with)
}

/// The same with other routers.
pub(crate) fn finished_on(
    routers: &PacketSettings,
    settings: &MpiSettings,
    program: impl RankProgram + 'static,
    nodes: &[u32],
    (routing, partitions): (&str, usize),
    with: fn(Ranks) -> Ranks,
) -> Arc<Ranks> {
    let machine = Idle::new().machine;
    let engine = PacketEngine::new(&machine, routers, &routing.parse().unwrap()).unwrap();
    let job = RankJob {
        job: 0,
        work: RankWork::Calls(JobProgram::new(Arc::new(program), Arc::new(Collectives::study()))),
        node_of_rank: Arc::new(nodes.iter().map(|&node| NodeId(node)).collect()),
        rails: None,
        start: Time::ZERO,
        background: false,
    };
    let ranks = Arc::new(with(Ranks::new(vec![job], settings.clone())));
    let schedule = Schedule { warm_up: Time::ZERO, measure: Time::from_us(1_000_000), drain: Time::ZERO };
    let options = RunOptions { partitions, ..RunOptions::default() };
    let result = engine.run(&Traffic::program(ranks.clone()), schedule, &options, &mut |_| true);
    assert_eq!(result.ending, Ending::Complete, "{:?}", result.unfinished);
    ranks
}
