//! Builds programs, and walks over them in a plain manner: collectives as the calls of their algorithms, communicators
//! as lists of ranks.

use crate::call::{Call, Operation, EQUAL, WORLD};
use crate::code::Code;
use crate::collective::{Collective, Collectives};
use crate::cursor::Cursor;
use crate::rank_program::RankProgram;
use crate::rule::{ProgramContext, ProgramSpec};
use crate::untimed::{self, Report};
use odonata_declare::ParameterError;
use odonata_units::Bytes;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

pub(crate) fn try_build(
    name: &str,
    ranks: u32,
    parameters: &[(&str, Value)],
) -> Result<Arc<dyn RankProgram>, ParameterError> {
    let mut spec = ProgramSpec::parse(name).unwrap();
    for (parameter, value) in parameters {
        spec.set(parameter, value.clone())?;
    }
    crate::rule::build(&spec, &ProgramContext { job: "test", ranks, seed: 7 })
}

pub(crate) fn build(name: &str, ranks: u32, parameters: &[(&str, Value)]) -> Arc<dyn RankProgram> {
    try_build(name, ranks, parameters).unwrap()
}

/// All calls of a rank.
pub(crate) fn calls(program: &dyn RankProgram, rank: u32) -> Vec<Call> {
    let mut cursor = Cursor::default();
    std::iter::from_fn(|| cursor.next(program, rank)).collect()
}

/// One rank, with collectives as single messages between ranks of the job.
pub(crate) struct Walk<'a> {
    program: &'a dyn RankProgram,
    collectives: Collectives,
    rank: u32,
    cursor: Cursor,
    /// Ranks of each communicator.
    members: BTreeMap<u16, Vec<u32>>,
    /// Number of collectives so far on each communicator.
    count: BTreeMap<u16, u16>,
    ahead: VecDeque<Call>,
    /// Requests of nonblocking collectives, which run where they start.
    done: BTreeSet<u32>,
}

/// Requests of collectives are separate from the program's.
const COLLECTIVE_REQUESTS: u32 = 1 << 30;

impl<'a> Walk<'a> {
    pub(crate) fn new(program: &'a dyn RankProgram, rank: u32) -> Self {
        Self {
            program,
            collectives: Collectives::study(),
            rank,
            cursor: Cursor::default(),
            members: BTreeMap::from([(WORLD, (0..program.ranks()).collect())]),
            count: BTreeMap::new(),
            ahead: VecDeque::new(),
            done: BTreeSet::new(),
        }
    }

    /// The next call that is not a collective.
    pub(crate) fn next(&mut self) -> Option<Call> {
        while self.ahead.is_empty() {
            match self.cursor.next(self.program, self.rank)? {
                Call::Wait { request } if self.done.remove(&request) => {}
                Call::Collective { operation, root, bytes, sizes, communicator, request } => {
                    self.done.insert(request);
                    self.expand(operation, root, bytes, sizes, communicator);
                }
                // Messages of the study's MPI for this call.
                Call::CommCreate { communicator, new, first, count, stride } => {
                    self.expand(Operation::Barrier, 0, Bytes(0), EQUAL, communicator);
                    let parent = &self.members[&communicator];
                    let ranks = (0..count).map(|i| parent[(first + i * stride) as usize]).collect();
                    self.members.insert(new, ranks);
                }
                Call::CommFree { communicator } => {
                    self.expand(Operation::Barrier, 0, Bytes(0), EQUAL, communicator);
                }
                Call::Stream { .. } | Call::Record { .. } | Call::Await { .. } => {}
                Call::CommSplit { .. } => panic!("splitting needs all ranks"),
                single => self.ahead.push_back(single),
            }
        }
        self.ahead.pop_front()
    }

    fn expand(&mut self, operation: Operation, root: u32, bytes: Bytes, sizes: u32, communicator: u16) {
        let members = &self.members[&communicator];
        let rank = members.iter().position(|&member| member == self.rank).expect("one of them") as u32;
        let count = self.count.entry(communicator).or_default();
        *count += 1;
        // A separate communicator for each collective.
        let context = 0x8000 | communicator << 12 | (*count & 0xfff);
        let size_of = |from: u32, to: u32| self.program.size(sizes, members[from as usize], members[to as usize]);
        let collective = Collective {
            operation,
            rank,
            size: members.len() as u32,
            root,
            bytes,
            sizes: (sizes != EQUAL).then_some(&size_of),
        };
        let algorithm = self.collectives.algorithm(&collective).algorithm;
        let mut code = Code::default();
        for step in 0.. {
            code.clear();
            if !algorithm.step(&collective, step, &mut code) {
                break;
            }
            self.ahead.extend(code.calls().iter().map(|&call| in_job(call, members, context)));
        }
    }
}

fn in_job(mut call: Call, members: &[u32], context: u16) -> Call {
    match &mut call {
        Call::Send { to: peer, communicator, .. } | Call::Recv { from: peer, communicator, .. } => {
            (*peer, *communicator) = (members[*peer as usize], context);
        }
        Call::Isend { to: peer, communicator, request, .. } | Call::Irecv { from: peer, communicator, request, .. } => {
            (*peer, *communicator) = (members[*peer as usize], context);
            *request += COLLECTIVE_REQUESTS;
        }
        Call::Wait { request } | Call::WaitAll { first: request, .. } => *request += COLLECTIVE_REQUESTS,
        other => panic!("an algorithm does no {other:?}"),
    }
    call
}

/// Runs all ranks without time.
pub(crate) fn untimed(program: &dyn RankProgram) -> Report {
    let mut walks: Vec<Walk<'_>> = (0..program.ranks()).map(|rank| Walk::new(program, rank)).collect();
    untimed::run(program.ranks(), &mut |rank| walks[rank as usize].next())
}
