//! What ranks of programs are thought to take. `docs/models/memory.md` has what was measured.

use odonata_programs::expansion::JobProgram;
use odonata_programs::MessageCounts;
use odonata_programs::{Call, Code};
use odonata_trace::RankTasks;
use odonata_units::RankId;

/// Of a rank and its share of a NIC, of the code of a collective, and of its row: idle ones took 1,360 B.
const PER_RANK: u64 = 1_900;
/// Of a pair of ranks that talk, for each direction: the state of the NICs about each other, packets that arrived out of order,
/// messages that wait for receives.
const PER_PAIR: u64 = 512;
/// A rank with many partners fills its tables better: an alltoall of 512 ranks took 160 B for each pair.
const FEW_PAIRS: u64 = 32;
const PER_FURTHER_PAIR: u64 = 256;
/// Of a call of the block that a rank is in, and of a message or a receive that it begins there: a request, a posted receive, a
/// message in a queue.
const PER_CALL: u64 = 48;
const PER_REQUEST: u64 = 100;
/// Of a message that is recorded: notes while the run goes, its row.
const PER_RECORD: u64 = 400;

/// Of what is recorded of calls for each message: two or three calls, three notes, up to three waits, their rows.
const PER_RECORDED_CALL: u64 = 1_000;

/// Of a task that is not done: its place in the window with those that wait for it, and in queues, or its receive.
const PER_TASK: u64 = 250;

/// Blocks of a rank that are looked at: programs repeat them.
const BLOCKS: u64 = 3;

/// Total memory of a job's ranks.
#[derive(Default)]
pub(super) struct RankMemory {
    bytes: u64,
    ranks: u64,
    code: Code,
}

impl RankMemory {
    /// Adds a rank and the calls of its first blocks.
    pub(super) fn add_rank(&mut self, shared: &JobProgram, rank: RankId) {
        let mut most = 0;
        for block in 0..shared.program.blocks(rank.0).min(BLOCKS) {
            self.code.clear();
            shared.program.block(rank.0, block, &mut self.code);
            let begins =
                |call: &&Call| matches!(call, Call::Isend { .. } | Call::Irecv { .. } | Call::Collective { .. });
            let begun = self.code.calls().iter().filter(begins).count() as u64;
            most = most.max(self.code.calls().len() as u64 * PER_CALL + begun * PER_REQUEST);
        }
        self.bytes += PER_RANK + most;
        self.ranks += 1;
    }

    /// Adds a rank that runs tasks. The graph itself is in memory before.
    pub(super) fn add_tasks(&mut self, tasks: &RankTasks, window: u32) {
        let open = tasks.tasks().len().min(window as usize) as u64;
        self.bytes += PER_RANK + open * PER_TASK;
        self.ranks += 1;
    }

    /// Adds what all ranks send. Of each message so many records are made, and of what its ranks do for it so many.
    pub(super) fn add_messages(&mut self, sent: &MessageCounts, records: u64, calls: u64) {
        let each = records.saturating_mul(PER_RECORD).saturating_add(calls.saturating_mul(PER_RECORDED_CALL));
        let recorded = sent.messages().saturating_mul(each);
        let few = sent.pairs.min(FEW_PAIRS * self.ranks);
        let pairs = few * PER_PAIR + (sent.pairs - few) * PER_FURTHER_PAIR;
        self.bytes = self.bytes.saturating_add(pairs).saturating_add(recorded);
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}
