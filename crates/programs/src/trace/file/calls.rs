//! Calls as columns.

use super::values::{Number, Values};
use crate::call::{Call, BLOCKING};
use crate::trace::communicators::Sizes;
use crate::trace::compute_times::ComputeTimes;
use crate::trace::rank::{TracedCall, EXCLUDED, SLOTS};
use odonata_trace::{BlockFile, Column};
use odonata_units::Time;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

const KIND: usize = 0;
const PLACE: usize = 1;
const PEER: usize = 2;
const BYTES: usize = 3;
const TAG: usize = 4;
const COMMUNICATOR: usize = 5;
const REQUEST: usize = 6;
const COUNT: usize = 7;
const TIME: usize = 8;
const OPERATION: usize = 9;
const SIZES: usize = 10;
const NEW: usize = 11;
const KEY: usize = 12;
const COLUMNS: usize = 13;

/// Most records of a block. More compress a little better, and every rank of a run holds one block.
pub(super) const MAX_BLOCK_RECORDS: usize = 4_096;

/// Time of a floating-point operation in the file.
const PS_PER_OPERATION: f64 = 1e3;

/// Most bytes of a message, as in SimGrid's traces.
const MAX_BYTES: u64 = 1 << 50;

/// Largest number of a communicator.
const MAX_COMMUNICATOR: u16 = EXCLUDED + SLOTS as u16;

/// Each call with its number in files and the columns of its fields.
macro_rules! calls {
    ($($kind:literal $call:ident { $($field:ident: $column:ident),* },)*) => {
        /// Appends the fields of a call. Only [`Call::Round`] has no number: a trace is one round.
        fn put(call: Call, into: &mut [Column; COLUMNS]) -> Result<(), String> {
            match call {
                $(Call::$call { $($field),* } => {
                    into[KIND].push($kind);
                    $(into[$column].push($field.number());)*
                })*
                Call::Round => return Err("the end of a round; expected the calls of one round".into()),
            }
            Ok(())
        }

        fn take(kind: u64, from: &mut Values<COLUMNS>) -> Result<Call, String> {
            Ok(match kind {
                $($kind => Call::$call { $($field: from.next($column)?),* },)*
                _ => return Err(format!("a call of kind {kind}, which this version does not know")),
            })
        }
    };
}

calls! {
    0 Send { to: PEER, bytes: BYTES, tag: TAG, communicator: COMMUNICATOR },
    1 Recv { from: PEER, bytes: BYTES, tag: TAG, communicator: COMMUNICATOR },
    2 Isend { to: PEER, bytes: BYTES, tag: TAG, communicator: COMMUNICATOR, request: REQUEST },
    3 Irecv { from: PEER, bytes: BYTES, tag: TAG, communicator: COMMUNICATOR, request: REQUEST },
    4 Wait { request: REQUEST },
    5 WaitAll { first: REQUEST, count: COUNT },
    6 WaitAny { first: REQUEST, count: COUNT },
    7 WaitSome { first: REQUEST, count: COUNT },
    8 Test { request: REQUEST },
    9 Compute { time: TIME },
    10 Sleep { time: TIME },
    11 WaitUntil { time: TIME },
    12 Mark { phase: COUNT },
    13 Collective { operation: OPERATION, root: PEER, bytes: BYTES, sizes: SIZES, communicator: COMMUNICATOR, request: REQUEST },
    14 CommSplit { communicator: COMMUNICATOR, new: NEW, color: TAG, key: KEY },
    15 CommCreate { communicator: COMMUNICATOR, new: NEW, first: PEER, count: COUNT, stride: KEY },
    16 Stream { stream: COUNT },
    17 Record { event: COUNT },
    18 Await { event: COUNT },
    19 CommFree { communicator: COMMUNICATOR },
    20 Put { to: PEER, bytes: BYTES },
    21 Get { from: PEER, bytes: BYTES },
}

/// What calls of a trace have in common.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub(super) struct CallHeader {
    /// What calls are numbered by in the original.
    pub(super) place: String,
    /// Whether computation is in floating-point operations, each of 1 ns.
    pub(super) has_operations: bool,
    pub(super) splits: bool,
    /// Number of request slots.
    pub(super) slots: u32,
    /// The longest computation.
    pub(super) longest: Time,
    /// Sizes of vector collectives, with the ranks of their communicators.
    pub(super) sizes: Vec<(Vec<u32>, Sizes)>,
}

impl CallHeader {
    /// Includes a call.
    pub(super) fn add(&mut self, call: &Call) {
        let slots = match *call {
            Call::CommSplit { .. } => {
                self.splits = true;
                0
            }
            Call::Compute { time } => {
                self.longest = self.longest.max(time);
                0
            }
            Call::WaitAll { first, count } | Call::WaitAny { first, count } | Call::WaitSome { first, count } => {
                first.saturating_add(count)
            }
            Call::Collective { request: BLOCKING, .. } => 0,
            Call::Isend { request, .. }
            | Call::Irecv { request, .. }
            | Call::Wait { request }
            | Call::Test { request }
            | Call::Collective { request, .. } => request.saturating_add(1),
            _ => 0,
        };
        self.slots = self.slots.max(slots);
    }

    /// Checks what the runner takes for granted.
    fn check(&self, call: &Call) -> Result<(), String> {
        let mut own = Self { slots: 0, ..Self::default() };
        own.add(call);
        if own.slots > self.slots {
            return Err(format!("request {}; expected less than {}", own.slots - 1, self.slots));
        }
        match *call {
            Call::Send { bytes, .. } | Call::Isend { bytes, .. } | Call::Collective { bytes, .. }
                if bytes.0 > MAX_BYTES =>
            {
                Err(format!("a message of {} bytes; expected at most 2^50", bytes.0))
            }
            Call::Mark { phase: 1.. } | Call::Stream { .. } | Call::Record { .. } | Call::Await { .. } => {
                Err("a phase or stream; expected the calls of a trace".into())
            }
            Call::CommSplit { new, .. } | Call::CommCreate { new, .. } if new > MAX_COMMUNICATOR => {
                Err(format!("communicator {new}; expected a number up to {MAX_COMMUNICATOR}"))
            }
            _ => Ok(()),
        }
    }
}

/// Columns of a block.
pub(super) fn encode(calls: &[TracedCall], header: &CallHeader) -> Result<[Column; COLUMNS], String> {
    let mut columns: [Column; COLUMNS] = Default::default();
    for (call, place) in calls {
        header
            .check(call)
            .and_then(|()| put(*call, &mut columns))
            .map_err(|why| format!("{} {place}: {why}", header.place))?;
        columns[PLACE].push(u64::from(*place));
    }
    Ok(columns)
}

/// The calls of a trace file, block by block.
#[derive(Debug)]
pub(crate) struct CallFile {
    file: BlockFile,
    header: CallHeader,
    times: ComputeTimes,
    /// Why a block could not be read.
    failure: OnceLock<String>,
}

impl CallFile {
    /// The calls of an open file, with other times of computation.
    pub(super) fn new(file: BlockFile, header: CallHeader, times: ComputeTimes) -> Result<Self, String> {
        let records = (0..file.ranks()).map(|rank| file.records(rank)).max().unwrap_or(0);
        if u64::from(header.slots) > records {
            return Err(format!("{} requests, but at most {records} calls of a rank", header.slots));
        }
        let calls = Self { file, header, times, failure: OnceLock::new() };
        // Longer times are an error here, and none later.
        calls.time(calls.header.longest)?;
        Ok(calls)
    }

    pub(crate) fn ranks(&self) -> u32 {
        self.file.ranks()
    }

    pub(crate) fn blocks(&self, rank: u32) -> u64 {
        self.file.blocks(rank) as u64
    }

    pub(crate) fn splits(&self) -> bool {
        self.header.splits
    }

    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.get().cloned()
    }

    /// The calls of a block. None after a failure.
    pub(crate) fn block(&self, rank: u32, index: u64) -> Vec<TracedCall> {
        let block = self.file.block(rank, index as usize, |records, columns| self.decode(records, columns));
        block.unwrap_or_else(|reason| {
            self.failure.get_or_init(|| reason);
            Vec::new()
        })
    }

    fn decode(&self, records: usize, columns: [Column; COLUMNS]) -> Result<Vec<TracedCall>, String> {
        let mut values = Values::new(columns);
        let mut calls = Vec::with_capacity(records.min(MAX_BLOCK_RECORDS));
        for _ in 0..records {
            let kind = values.value(KIND)?;
            let mut call = take(kind, &mut values)?;
            let place = values.value(PLACE)?;
            self.header.check(&call)?;
            if let Call::Compute { time } = &mut call {
                *time = self.time(*time)?;
                if *time == Time::ZERO {
                    continue;
                }
            }
            calls.push((call, u32::try_from(place).map_err(|_| "a place of more than 32 bits")?));
        }
        values.end()?;
        Ok(calls)
    }

    /// A time of the file as a time of computation.
    fn time(&self, time: Time) -> Result<Time, String> {
        let scale = if self.header.has_operations { self.times.ps_per_flop / PS_PER_OPERATION } else { 1.0 };
        if self.times.is_measured() && scale == 1.0 {
            return Ok(time);
        }
        self.times.of_ps(time.0 as f64 * scale)
    }
}
