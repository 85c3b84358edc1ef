//! Ranks and their slow twin agree to the picosecond, whatever the program.

use crate::common::plain::{Ends, PlainRanks};
use crate::common::Idle;
use odonata_packet::{Ending, JobTraffic, PacketEngine, PacketSettings, RunOptions, Schedule, Traffic};
use odonata_programs::collective::Collectives;
use odonata_programs::expansion::JobProgram;
use odonata_programs::{Call, Code, Operation, RankProgram, Rounds, Sequence, ANY, WORLD};
use odonata_transport::{MpiSettings, RankJob, RankWork, Ranks};
use odonata_units::{Bytes, NodeId, Stream, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rounds of random messages that all arrive, all kinds of waits, computation, and collectives.
#[derive(Debug)]
struct Random {
    ranks: u32,
    rounds: u32,
    seed: u64,
    /// Whether all ranks meet at the end, because a repeated program reuses its tags.
    meets: bool,
}

/// A message of a round.
#[derive(Clone, Copy, Debug)]
struct RandomMessage {
    from: u32,
    to: u32,
    bytes: u64,
    tag: u32,
}

impl Random {
    fn messages(&self, round: u64) -> Vec<RandomMessage> {
        let mut random = Stream::new(self.seed, "messages", &[round]);
        let sizes = [0, 8, 100, 467, 468, 4_000, 12_000, 12_001, 13_000, 40_000];
        let count = random.index(3 * self.ranks as usize + 1);
        (0..count)
            .map(|_| RandomMessage {
                from: random.index(self.ranks as usize) as u32,
                to: random.index(self.ranks as usize) as u32,
                bytes: sizes[random.index(sizes.len())],
                // Ranks do not wait between rounds, so tags distinguish rounds.
                tag: 2 * round as u32 + random.index(2) as u32,
            })
            .filter(|message| message.from != message.to)
            .collect()
    }
}

impl RankProgram for Random {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn blocks(&self, _: u32) -> u64 {
        u64::from(self.rounds) + u64::from(self.meets)
    }

    fn block(&self, rank: u32, round: u64, code: &mut Code) {
        if round == u64::from(self.rounds) {
            code.collective(Operation::Barrier, 0, Bytes(0));
            return;
        }
        let messages = self.messages(round);
        let mut random = Stream::new(self.seed, "rank", &[round, rank.into()]);
        // In picoseconds, so that two ranks of a node never act at the same time.
        code.compute(Time(random.index(20_000_000) as u64));
        // Some rounds receive with wildcards and room for the longest message.
        let wild = Stream::new(self.seed, "wild", &[round, rank.into()]).index(3) == 0;
        for message in messages.iter().filter(|message| message.to == rank) {
            let (from, bytes) = if wild { (ANY, 40_000) } else { (message.from, message.bytes) };
            // Messages of one pair and tag match in order, whatever their sizes.
            let longest =
                messages.iter().filter(|other| (other.from, other.to, other.tag) == (message.from, rank, message.tag));
            let room = longest.map(|other| other.bytes).max().unwrap_or(0).max(bytes);
            code.irecv(from, Bytes(room), message.tag);
        }
        let received = code.requests();
        for message in messages.iter().filter(|message| message.from == rank) {
            match random.index(3) {
                0 => code.send(message.to, Bytes(message.bytes), message.tag),
                1 => code.compute(Time(random.index(3_000_000) as u64)),
                _ => {}
            }
            if random.index(3) > 0 && received > 0 {
                code.push(Call::Test { request: random.index(received as usize) as u32 });
            }
        }
        // Messages not sent at once: the same draws again.
        let mut again = Stream::new(self.seed, "rank", &[round, rank.into()]);
        again.index(20_000_000);
        for message in messages.iter().filter(|message| message.from == rank) {
            let kind = again.index(3);
            if kind == 1 {
                again.index(3_000_000);
            }
            if again.index(3) > 0 && received > 0 {
                again.index(received as usize);
            }
            if kind > 0 {
                code.isend(message.to, Bytes(message.bytes), message.tag);
            }
        }
        match random.index(3) {
            0 => (0..code.requests()).for_each(|_| code.push(Call::WaitAny { first: 0, count: code.requests() })),
            1 => code.push(Call::WaitSome { first: 0, count: code.requests() }),
            _ => {}
        }
        code.wait_all();
        let mut until = Stream::new(self.seed, "until", &[round, rank.into()]);
        if until.index(3) == 0 {
            // Rounds take about 20 us, so some ranks are early and some late.
            let time = round * 20_000_000 + until.index(40_000_000) as u64;
            code.push(Call::WaitUntil { time: Time(time) });
        }
        let mut all = Stream::new(self.seed, "collective", &[round]);
        let operations =
            [Operation::Barrier, Operation::Allreduce, Operation::Alltoall, Operation::Broadcast, Operation::Allgather];
        if all.index(2) == 0 {
            let (operation, bytes) = (operations[all.index(5)], [8, 700, 13_000][all.index(3)]);
            code.collective(operation, all.index(self.ranks as usize) as u32, Bytes(bytes));
        }
        if all.index(4) == 0 {
            code.push(Call::CommCreate {
                communicator: WORLD,
                new: 1,
                first: rank % 2,
                count: (self.ranks + 1 - rank % 2) / 2,
                stride: 2,
            });
            code.within(1);
            code.collective(Operation::Allreduce, 0, Bytes(900));
            code.push(Call::CommFree { communicator: 1 });
        }
    }
}

fn compare(
    seed: u64,
    ranks: u32,
    per_node: u32,
    routing: &str,
    settings: &MpiSettings,
    partitions: usize,
    (repeat, background): (u32, bool),
) -> Result<(), TestCaseError> {
    let machine = Idle::new().machine;
    let engine = PacketEngine::new(&machine, &PacketSettings::study(), &routing.parse().unwrap()).unwrap();
    let job = |job: u16| {
        let (seed, meets) = (seed + u64::from(job), repeat > 1 || background);
        let program = |rounds, seed| Arc::new(Random { ranks, rounds, seed, meets }) as Arc<dyn RankProgram>;
        // The second job repeats, or runs two programs, or runs in the background of the longer first job.
        let in_background = background && job == 1;
        let once = |program| JobProgram::new(program, Arc::new(Collectives::study()));
        let shared = match job {
            1 if background => once(program(1, seed)).repeated(Rounds::Endless),
            1 if repeat > 1 => once(Arc::new(Sequence::new(vec![program(2, seed), program(1, seed + 7)])))
                .repeated(Rounds::Times(repeat)),
            _ => once(program(4, seed)),
        };
        // The jobs share some nodes.
        let node = |rank: u32| NodeId((rank / per_node * 131 + u32::from(job) * 262) % 1_056);
        RankJob {
            job,
            work: RankWork::Calls(shared),
            rails: None,
            node_of_rank: Arc::new((0..ranks).map(node).collect()),
            start: Time::from_ns(700 * u64::from(job)),
            background: in_background,
        }
    };
    let jobs = || vec![job(0), job(1)];
    let schedule = Schedule { warm_up: Time::ZERO, measure: Time::from_us(1_000_000), drain: Time::ZERO };
    let options = |partitions| RunOptions { partitions, seed, ..RunOptions::default() };
    let ranks = Arc::new(Ranks::new(jobs(), settings.clone()));
    let traffic = |program: Arc<dyn odonata_packet::Program>| Traffic {
        jobs: vec![JobTraffic::Program(Arc::clone(&program)), JobTraffic::Program(program)],
    };
    let fast = engine.run(&traffic(ranks.clone()), schedule, &options(partitions), &mut |_| true);
    let ends: Ends = Ends::default();
    let plain = Arc::new(PlainRanks { jobs: jobs(), settings: settings.clone(), ends: Arc::clone(&ends) });
    let slow = engine.run(&traffic(plain), schedule, &options(1), &mut |_| true);
    prop_assert_eq!(fast.ending, Ending::Complete, "{:?}", fast.unfinished);
    prop_assert_eq!(slow.ending, Ending::Complete, "{:?}", slow.unfinished);
    let records = ranks.take_records();
    let found: BTreeMap<(u16, u32), (u64, u64)> = records
        .iter()
        .filter_map(|record| Some(((record.job, record.rank), (record.end?.ps(), record.communication.ps()))))
        .collect();
    prop_assert_eq!(found.len(), records.len() / if background { 2 } else { 1 });
    let rounds: BTreeMap<(u16, u32), u64> =
        records.iter().map(|record| ((record.job, record.rank), record.rounds)).collect();
    let twin = ends.lock().unwrap();
    prop_assume!(!twin.has_tie);
    prop_assert_eq!(&found, &twin.ends);
    prop_assert_eq!(&rounds, &twin.rounds);
    if background {
        prop_assert_eq!(fast.end, slow.end);
    }
    if twin.has_crowd {
        return Ok(());
    }
    for (fast, slow) in fast.jobs.iter().zip(&slow.jobs) {
        prop_assert_eq!((fast.packets, fast.bytes, fast.hops), (slow.packets, slow.bytes, slow.hops));
        prop_assert_eq!(fast.latency.mean().to_bits(), slow.latency.mean().to_bits());
        prop_assert_eq!(fast.latency.max(), slow.latency.max());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]

    #[test]
    fn ranks_and_their_twin_agree(
        seed in 0u64..1 << 40,
        ranks in 2u32..14,
        per_node in 1u32..4,
        routing in prop_oneof![Just("min"), Just("ugal-n"), Just("valiant-g")],
        preset in 0usize..5,
        partitions in 1usize..6,
        times in prop_oneof![Just((1, false)), Just((3, false)), Just((1, true))],
    ) {
        let presets = [
            MpiSettings::study(),
            MpiSettings::study_as_written(),
            MpiSettings::ideal(),
            MpiSettings::blue_gene_p(),
            MpiSettings::blue_gene_q(),
        ];
        let settings = presets[preset].clone();
        compare(seed, ranks, per_node, routing, &settings, partitions, times)?;
    }
}
