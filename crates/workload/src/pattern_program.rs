//! Any pattern as a program: post all receives, start all sends, wait.

use crate::{Pattern, SentMessage};
use odonata_programs::{Code, RankProgram};
use odonata_units::{Bytes, RankId};
use std::sync::Arc;

/// In each iteration a rank posts a receive for each incoming message, source by source. It starts its sends in the
/// order of the pattern, and waits for all of them.
///
/// A pattern gives the messages that a rank sends, so their sources are listed: 4 B per message, 12 B if sizes differ.
#[derive(Debug)]
pub struct PatternProgram {
    pattern: Arc<dyn Pattern>,
    iterations: u32,
    /// First source of each rank, and the end.
    starts: Vec<usize>,
    sources: Vec<u32>,
    sizes: Sizes,
}

/// Sizes of incoming messages.
#[derive(Debug)]
enum Sizes {
    Same(Bytes),
    /// Size per source.
    Each(Vec<Bytes>),
}

impl PatternProgram {
    /// The pattern, `iterations` times.
    pub fn new(pattern: Arc<dyn Pattern>, iterations: u32) -> Self {
        let ranks = pattern.ranks();
        let mut sends: Vec<SentMessage> = Vec::new();
        let mut each = |with: &mut dyn FnMut(u32, SentMessage)| {
            for rank in 0..ranks {
                sends.clear();
                pattern.sends(RankId(rank), &mut sends);
                sends.iter().for_each(|&message| with(rank, message));
            }
        };
        let mut starts = vec![0; ranks as usize + 1];
        let (mut least, mut most) = (Bytes(u64::MAX), Bytes(0));
        each(&mut |_, message| {
            starts[message.target.index() + 1] += 1;
            (least, most) = (least.min(message.bytes), most.max(message.bytes));
        });
        for rank in 0..ranks as usize {
            starts[rank + 1] += starts[rank];
        }
        let messages = starts[ranks as usize];
        let same = least >= most;
        let mut next = starts.clone();
        let mut sources = vec![0; messages];
        let mut bytes = vec![Bytes(0); if same { 0 } else { messages }];
        each(&mut |rank, message| {
            let place = &mut next[message.target.index()];
            sources[*place] = rank;
            if !same {
                bytes[*place] = message.bytes;
            }
            *place += 1;
        });
        let sizes = if same { Sizes::Same(most) } else { Sizes::Each(bytes) };
        Self { pattern, iterations, starts, sources, sizes }
    }

    /// Calls of a rank in one exchange.
    pub fn exchange(&self, rank: u32, code: &mut Code) {
        for place in self.starts[rank as usize]..self.starts[rank as usize + 1] {
            let bytes = match &self.sizes {
                Sizes::Same(bytes) => *bytes,
                Sizes::Each(bytes) => bytes[place],
            };
            code.irecv(self.sources[place], bytes, 0);
        }
        let mut sends = Vec::new();
        self.pattern.sends(RankId(rank), &mut sends);
        for message in sends {
            code.isend(message.target.0, message.bytes, 0);
        }
        if code.requests() > 0 {
            code.wait_all();
        }
    }
}

impl RankProgram for PatternProgram {
    fn ranks(&self) -> u32 {
        self.pattern.ranks()
    }

    fn blocks(&self, _: u32) -> u64 {
        self.iterations.into()
    }

    fn block(&self, rank: u32, _: u64, code: &mut Code) {
        code.mark(0);
        self.exchange(rank, code);
    }

    fn phases(&self) -> Vec<String> {
        vec!["exchange".into()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_machines::groups;
    use crate::{PatternContext, PatternSpec};
    use odonata_import::CommunicationGraph;
    use odonata_programs::{Call, Cursor};
    use odonata_units::NodeId;

    /// Source, target, bytes.
    fn messages(pattern: &dyn Pattern) -> Vec<(u32, u32, u64)> {
        let mut all = Vec::new();
        for rank in 0..pattern.ranks() {
            let mut sends = Vec::new();
            pattern.sends(RankId(rank), &mut sends);
            all.extend(sends.into_iter().map(|m| (rank, m.target.0, m.bytes.0)));
        }
        all
    }

    fn check(pattern: Arc<dyn Pattern>) {
        let program = PatternProgram::new(Arc::clone(&pattern), 2);
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        for rank in 0..program.ranks() {
            let (mut cursor, mut open) = (Cursor::default(), 0);
            while let Some(call) = cursor.next(&program, rank) {
                match call {
                    Call::Irecv { from, bytes, .. } => received.push((from, rank, bytes.0)),
                    Call::Isend { to, bytes, .. } => sent.push((rank, to, bytes.0)),
                    Call::WaitAll { first, count } => {
                        assert_eq!((first, count), (0, open), "rank {rank} waits for all requests");
                        open = 0;
                        continue;
                    }
                    _ => {
                        assert_eq!(open, 0, "rank {rank} leaves requests open");
                        continue;
                    }
                }
                open += 1;
            }
            assert_eq!(open, 0, "rank {rank} leaves requests open");
        }
        let expected = messages(&*pattern).repeat(2);
        // Stable: messages of a pair keep their order.
        let by_pair = |mut all: Vec<(u32, u32, u64)>| {
            all.sort_by_key(|&(from, to, _)| (from, to));
            all
        };
        assert_eq!(by_pair(sent), by_pair(expected.clone()));
        assert_eq!(by_pair(received), by_pair(expected));
    }

    /// Every message of the pattern occurs in each iteration. Both ends agree on sizes, and several messages of a pair
    /// keep their order.
    #[test]
    fn programs_send_the_messages_of_their_patterns() {
        let machine = groups(1, 1, 24);
        let node_of_rank: Vec<NodeId> = (0..24).map(NodeId).collect();
        for name in ["stencil-3d", "uniform", "spread", "random-permutation", "all-to-all", "tornado"] {
            let context =
                PatternContext { machine: &machine, job: "test", ranks: 24, seed: 3, node_of_rank: &node_of_rank };
            check(PatternSpec::parse(name).unwrap().rule().build(&context).unwrap());
        }
        let rank = RankId;
        let list = [(rank(0), rank(1), Bytes(9)), (rank(0), rank(1), Bytes(5)), (rank(1), rank(1), Bytes(7))];
        check(Arc::new(CommunicationGraph::from_messages("test", 3, &list).unwrap()));
    }
}
