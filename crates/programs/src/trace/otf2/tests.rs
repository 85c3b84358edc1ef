//! Small archives, written here record by record.

use super::super::{ComputeTimes, Trace};
use super::read;
use crate::call::{Call, Operation, BLOCKING, EQUAL, WORLD};
use odonata_declare::Reader;
use odonata_units::{Bytes, Time};
use std::collections::BTreeMap;
use std::path::PathBuf;

const TIMES: ComputeTimes = ComputeTimes { ps_per_flop: 1e3, factor: 1.0, each: None };
const UNDEFINED: u64 = u64::MAX;

struct NamedFiles(BTreeMap<String, Vec<u8>>);

impl Reader for NamedFiles {
    fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        self.0.get(name).cloned().ok_or_else(|| format!("{name}: there is no such file"))
    }

    fn locate(&self, _: &str, name: &str) -> Result<PathBuf, String> {
        Err(format!("{name}: not there"))
    }
}

/// A file of records, in chunks of so many bytes.
#[derive(Clone)]
struct Writer {
    bytes: Vec<u8>,
    chunk: usize,
    is_big_endian: bool,
    are_definitions: bool,
}

/// A field of a record.
enum Field<'a> {
    /// A byte.
    B(u8),
    /// A number with its length before it.
    N(u64),
    Text(&'a str),
}
use Field::{Text, B, N};

impl Writer {
    fn new(chunk: usize, is_big_endian: bool) -> Self {
        let mut writer = Self { bytes: Vec::new(), chunk, is_big_endian, are_definitions: false };
        writer.header();
        writer
    }

    fn header(&mut self) {
        self.bytes.extend([3, if self.is_big_endian { 0x23 } else { 0x42 }]);
        self.bytes.extend([0; 16]);
    }

    fn full(&self, number: u64) -> [u8; 8] {
        if self.is_big_endian {
            number.to_be_bytes()
        } else {
            number.to_le_bytes()
        }
    }

    fn number(&self, number: u64) -> Vec<u8> {
        if number == UNDEFINED {
            return vec![0xff];
        }
        let length = 8 - number.leading_zeros() as usize / 8;
        let full = self.full(number);
        let used = if self.is_big_endian { &full[8 - length..] } else { &full[..length] };
        [&[length as u8], used].concat()
    }

    fn record(&mut self, kind: u8, fields: &[Field<'_>]) -> &mut Self {
        let mut body = Vec::new();
        for field in fields {
            match field {
                B(byte) => body.push(*byte),
                N(number) => body.extend(self.number(*number)),
                Text(text) => body.extend(text.bytes().chain([0])),
            }
        }
        // A timestamp, and the byte after the chunk.
        if self.bytes.len() % self.chunk + body.len() + 12 > self.chunk {
            let rest = self.chunk - self.bytes.len() % self.chunk;
            self.bytes.extend(vec![0; rest]);
            self.header();
        }
        self.bytes.push(kind);
        // The only number of a record says how long it is.
        if ![ENTER, LEAVE, 16, 17].contains(&kind) || self.are_definitions {
            self.bytes.push(body.len() as u8);
        }
        self.bytes.extend(body);
        self
    }

    fn at(&mut self, ticks: u64) -> &mut Self {
        if self.bytes.len() % self.chunk + 64 > self.chunk {
            let rest = self.chunk - self.bytes.len() % self.chunk;
            self.bytes.extend(vec![0; rest]);
            self.header();
        }
        self.bytes.push(5);
        self.bytes.extend(self.full(ticks));
        self
    }

    fn end(&self) -> Vec<u8> {
        [&self.bytes[..], &[2, 1]].concat()
    }
}

const ENTER: u8 = 12;
const LEAVE: u8 = 13;

/// Regions: 0 a function of the user, 1 any call of MPI, 2 MPI_Sendrecv, 3 MPI_Iallreduce. Communicators: 0 of all three
/// ranks, 1 of ranks 2 and 0, 2 of each alone. A tick is 10 ns.
fn archive(chunk: usize, is_big_endian: bool, ranks: &[Writer]) -> NamedFiles {
    let mut definitions = Writer::new(chunk, is_big_endian);
    definitions.are_definitions = true;
    definitions.record(5, &[N(100_000_000), N(0), N(0)]);
    for (number, name) in (0..).zip(["work", "MPI_Wait", "MPI_Sendrecv", "MPI_Iallreduce"]) {
        definitions.record(10, &[N(number), Text(name)]);
        let paradigm = if number == 0 { 1 } else { 4 };
        let place = [N(UNDEFINED), N(0), N(0)];
        let [file, first, last] = place;
        definitions
            .record(15, &[N(number), N(number), N(0), B(0), file, first, last, N(number), B(1), B(paradigm), N(0)]);
    }
    for rank in 0..3 {
        definitions.record(14, &[N(10 + rank), N(0), B(1), N(0), N(rank)]);
    }
    definitions.record(18, &[N(0), N(0), B(4), N(3), N(10), N(11), N(12), B(4), B(4), N(0)]);
    definitions.record(18, &[N(1), N(0), B(5), N(3), N(0), N(1), N(2), B(5), B(4), N(0)]);
    definitions.record(18, &[N(2), N(0), B(5), N(2), N(2), N(0), B(5), B(4), N(0)]);
    definitions.record(18, &[N(3), N(0), B(6), N(0), B(6), B(4), N(0)]);
    for (number, group) in [(0, 1), (1, 2), (2, 3)] {
        definitions.record(22, &[N(number), N(0), N(group), N(UNDEFINED)]);
    }
    let mut anchor = Writer::new(1 << 20, is_big_endian);
    anchor.bytes.truncate(2);
    anchor.bytes.extend(b"OTF2\0\x03\x02\x03\x02\x00");
    anchor.bytes.truncate(2 + 5 + 5);
    let size = anchor.full(chunk as u64);
    anchor.bytes.extend([size, size].concat());
    anchor.bytes.extend([1, 1]);
    let mut files = BTreeMap::from([("a/t.otf2".to_owned(), anchor.bytes), ("a/t.def".to_owned(), definitions.end())]);
    for (rank, writer) in ranks.iter().enumerate() {
        files.insert(format!("a/t/{}.evt", 10 + rank), writer.end());
    }
    NamedFiles(files)
}

fn traced(files: &mut NamedFiles) -> Result<Trace, String> {
    read("a/t.otf2", None, TIMES, files)
}

/// Three ranks, each as `write` says.
fn written(chunk: usize, is_big_endian: bool, write: impl Fn(u64, &mut Writer)) -> NamedFiles {
    let ranks: Vec<Writer> = (0..3)
        .map(|rank| {
            let mut writer = Writer::new(chunk, is_big_endian);
            writer.at(0).record(ENTER, &[N(1)]);
            writer.at(0).record(LEAVE, &[N(1)]);
            write(rank, &mut writer);
            writer
        })
        .collect();
    archive(chunk, is_big_endian, &ranks)
}

fn calls(trace: &Trace, rank: u32) -> Vec<Call> {
    crate::rank_walks::calls(trace, rank)
}

/// A receive gets its sender from its completion; gaps between calls of MPI are computation, also in functions of the user.
#[test]
fn messages_and_computation() {
    for (chunk, is_big_endian) in [(1 << 12, false), (256, true), (256, false)] {
        let mut files = written(chunk, is_big_endian, |rank, events| {
            events.at(100).record(ENTER, &[N(0)]);
            match rank {
                0 => {
                    // An attribute before the record is skipped.
                    events.at(150).record(6, &[B(1), B(2)]).record(14, &[N(1), N(0), N(5), N(300)]);
                    events.at(150).record(ENTER, &[N(1)]).record(15, &[N(0), N(1), N(6), N(70_000), N(8)]);
                    events.at(160).record(16, &[N(8)]).record(LEAVE, &[N(1)]);
                }
                1 => _ = events.at(170).record(18, &[N(0), N(0), N(5), N(300)]),
                _ => {
                    events.at(120).record(ENTER, &[N(1)]).record(17, &[N(9)]).record(LEAVE, &[N(1)]);
                    events.at(180).record(ENTER, &[N(1)]).record(19, &[N(1), N(1), N(6), N(70_000), N(9)]);
                    events.at(190).record(LEAVE, &[N(1)]);
                }
            }
        });
        let trace = traced(&mut files).unwrap();
        let slot = 2;
        let start = |rank: u32| match rank {
            1 => vec![
                Call::Mark { phase: 0 },
                Call::CommSplit { communicator: WORLD, new: 1, color: u32::MAX - 2, key: 0 },
                Call::CommFree { communicator: 1 },
            ],
            _ => vec![
                Call::Mark { phase: 0 },
                Call::CommSplit { communicator: WORLD, new: slot, color: 1, key: u32::from(rank == 0) },
            ],
        };
        let compute = |ticks: u64| Call::Compute { time: Time(ticks * 10_000) };
        let (large, small) = (Bytes(70_000), Bytes(300));
        let wait = Call::Wait { request: 0 };
        let rest = [
            compute(150),
            Call::Send { to: 1, bytes: small, tag: 5, communicator: WORLD },
            Call::Isend { to: 0, bytes: large, tag: 6, communicator: slot, request: 0 },
            wait,
        ];
        assert_eq!(calls(&trace, 0), [start(0), rest.to_vec()].concat());
        let rest = [compute(170), Call::Recv { from: 0, bytes: small, tag: 5, communicator: WORLD }];
        assert_eq!(calls(&trace, 1), [start(1), rest.to_vec()].concat());
        let receive = Call::Irecv { from: 1, bytes: large, tag: 6, communicator: slot, request: 0 };
        assert_eq!(calls(&trace, 2), [start(2), vec![compute(120), receive, compute(60), wait]].concat());
    }
}

/// The two messages of MPI_Sendrecv start together, in whatever order the file has them.
#[test]
fn an_exchange_starts_both_messages() {
    let mut files = written(1 << 12, false, |rank, events| {
        events.at(0).record(ENTER, &[N(2)]);
        events.record(18, &[N((rank + 2) % 3), N(0), N(1), N(8)]).record(14, &[N((rank + 1) % 3), N(0), N(1), N(8)]);
        events.record(LEAVE, &[N(2)]);
    });
    let trace = traced(&mut files).unwrap();
    let found = calls(&trace, 1);
    assert_eq!(
        found[1..],
        [
            Call::Irecv { from: 0, bytes: Bytes(8), tag: 1, communicator: WORLD, request: 0 },
            Call::Isend { to: 2, bytes: Bytes(8), tag: 1, communicator: WORLD, request: 1 },
            Call::Wait { request: 0 },
            Call::Wait { request: 1 },
        ]
    );
}

/// A nonblocking collective is known when it completes; one without a record is counted as missing.
#[test]
fn nonblocking_collectives() {
    let with = |has_records: bool| {
        written(1 << 12, false, move |_, events| {
            events.at(0).record(ENTER, &[N(3)]);
            if has_records {
                events.record(85, &[N(7)]);
            }
            events.record(LEAVE, &[N(3)]);
            if has_records {
                events.record(86, &[B(11), N(0), N(UNDEFINED), N(24), N(24), N(7)]);
            }
        })
    };
    let trace = traced(&mut with(true)).unwrap();
    let call = Call::Collective {
        operation: Operation::Allreduce,
        root: 0,
        bytes: Bytes(8),
        sizes: EQUAL,
        communicator: WORLD,
        request: 0,
    };
    assert_eq!(calls(&trace, 2)[1..], [call, Call::Wait { request: 0 }]);
    assert!(trace.survey().warnings().is_empty());
    let trace = traced(&mut with(false)).unwrap();
    assert_eq!(trace.survey().warnings(), ["MPI_Iallreduce (its sizes): 0 recorded of 3 called"]);
}

/// Bytes of one contribution from the sums that Score-P writes; the root of a scatter gets the sizes of all.
#[test]
fn sizes_of_collectives() {
    let of = |operation: u8, root: u64, sent: fn(u64) -> u64, received: fn(u64) -> u64| {
        let mut files = written(1 << 12, false, move |rank, events| {
            events.record(22, &[]).record(23, &[B(operation), N(0), N(root), N(sent(rank)), N(received(rank))]);
        });
        let trace = traced(&mut files).unwrap();
        let Call::Collective { operation, bytes, sizes, request: BLOCKING, .. } = calls(&trace, 0)[1] else {
            panic!("a collective")
        };
        (operation, bytes.0, (sizes != EQUAL).then(|| format!("{:?}", trace.sizes[sizes as usize].1)))
    };
    let none = UNDEFINED;
    assert_eq!(of(11, none, |_| 24, |_| 24), (Operation::Allreduce, 8, None));
    assert_eq!(of(6, none, |_| 24, |_| 24), (Operation::Allgather, 8, None));
    assert_eq!(of(1, 1, |rank| if rank == 1 { 24 } else { 0 }, |_| 8), (Operation::Broadcast, 8, None));
    assert_eq!(of(2, 1, |_| 8, |rank| if rank == 1 { 24 } else { 0 }), (Operation::Gather, 8, None));
    assert_eq!(of(14, none, |rank| 8 * (3 - rank), |rank| 8 * (rank + 1)), (Operation::Scan, 8, None));
    let scattered = of(5, 0, |rank| if rank == 0 { 60 } else { 0 }, |rank| 10 + 10 * rank);
    assert_eq!(scattered, (Operation::Scatter, 0, Some("To([10, 20, 30])".into())));
    // Sizes of single pairs are not recorded: 25 B over three.
    let (operation, _, sizes) = of(9, none, |_| 25, |_| 25);
    assert_eq!((operation, sizes.unwrap()), (Operation::Alltoall, "Pairs([[9, 8, 8], [9, 8, 8], [9, 8, 8]])".into()));
}

#[test]
fn mistakes_name_the_file_and_the_event() {
    let wrong = |send: &[Field<'_>]| {
        let mut files = written(1 << 12, false, |rank, events| {
            if rank == 1 {
                events.record(14, send);
            }
        });
        traced(&mut files).unwrap_err()
    };
    let error = wrong(&[N(3), N(0), N(5), N(8)]);
    assert_eq!(error, "a/t/11.evt: event 3 (MPI_SEND): rank 3 of a communicator of 3 ranks, which count from 0");
    let error = wrong(&[N(0), N(9), N(5), N(8)]);
    assert_eq!(error, "a/t/11.evt: event 3 (MPI_SEND): communicator 9 is not in the definitions");
    let error = wrong(&[N(0), N(1), N(5), N(8)]);
    assert_eq!(error, "a/t/11.evt: event 3 (MPI_SEND): communicator 1, whose group does not contain rank 1");
    let error = wrong(&[N(0), N(0)]);
    assert!(error.contains("a/t/11.evt: event 3: byte") && error.contains("the record ends"), "{error}");
    // A file that is cut within a record.
    let mut files = written(1 << 12, false, |_, events| {
        events.record(23, &[B(0), N(0), N(0), N(0), N(0)]);
    });
    files.0.get_mut("a/t/11.evt").unwrap().truncate(45);
    let error = traced(&mut files).unwrap_err();
    assert!(error.contains("the record ends"), "{error}");
    // A file that is cut between two records is replayed up to there.
    for rank in 10..13 {
        files.0.get_mut(&format!("a/t/{rank}.evt")).unwrap().truncate(42);
    }
    let cut = traced(&mut files).unwrap();
    assert_eq!(cut.survey().notes[1], "a/t/11.evt: the file is cut after event 2");
    files.0.remove("a/t/11.evt");
    assert!(traced(&mut files).unwrap_err().contains("there is no such file"));
    assert!(read("a/t.otf2", Some(4), TIMES, &mut files)
        .unwrap_err()
        .contains("a trace of 3 ranks, but the job has 4"));
    assert!(read("a/t.def", None, TIMES, &mut files).unwrap_err().contains("expected the anchor file"));
}
