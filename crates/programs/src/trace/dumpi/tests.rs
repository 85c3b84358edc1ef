//! The shared set of sst-dumpi, and sets written here record by record.

use super::writer::*;
use super::*;
use crate::call::{Call, ANY};
use crate::collective::Collectives;
use crate::expansion::{CallExpander, JobProgram, Step};
use crate::rank_program::RankProgram;
use odonata_trace::dumpi::kind_number;
use odonata_units::{Bytes, Time};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Messages of the program by sender, receiver, tag and bytes, in job ranks, and collectives of a rank.
type SentMessages = BTreeMap<(u32, u32, u32, u64), u32>;

fn sent(trace: Trace) -> (SentMessages, Vec<Call>) {
    let ranks = trace.ranks();
    let shared = JobProgram::new(Arc::new(trace), Arc::new(Collectives::study()));
    let (mut sent, mut entered) = (SentMessages::new(), Vec::new());
    for rank in 0..ranks {
        let mut code = CallExpander::new(ranks, rank);
        while let Some(step) = code.next(&shared).unwrap() {
            match step {
                Step::Call(Call::Send { to, bytes, tag, .. } | Call::Isend { to, bytes, tag, .. }) => {
                    *sent.entry((rank, to, tag, bytes.0)).or_default() += 1;
                }
                Step::Enter(call) if rank == 0 => entered.push(call),
                _ => {}
            }
        }
    }
    (sent, entered)
}

fn calls(trace: &Trace, rank: u32) -> Vec<Call> {
    crate::rank_walks::calls(trace, rank)
}

fn computed(trace: &Trace, rank: u32) -> Vec<u64> {
    let times = calls(trace, rank).into_iter().filter_map(|call| match call {
        Call::Compute { time } => Some(time.0),
        _ => None,
    });
    times.collect()
}

/// Rank r sends 4 B with tag 1337 to the next rank. The wait of the send has garbage as status.
#[test]
fn the_set_of_sst_dumpi() {
    let Some(folder) = shared() else { return };
    let mut files = Disk;
    let folder = folder.join("sst-dumpi/tests/traces");
    for name in ["testtrace.meta", "testtrace-0002.bin"] {
        let path = folder.join(name).to_string_lossy().into_owned();
        let trace = read(&path, Some(4), TIMES, &mut files).unwrap();
        let names = ["Init", "Comm_rank", "Comm_size", "Barrier", "Isend", "Recv", "Wait", "Allreduce", "Finalize"];
        let kinds = &trace.survey().kinds;
        assert_eq!(kinds.values().map(|kind| kind.seen).sum::<u64>(), 36);
        assert!(names.iter().all(|name| kinds[&format!("MPI_{name}")].seen == 4));
        assert_eq!(trace.survey().warnings(), [""; 0]);
        // From testtrace-0000.txt: rank 0 starts a call at 694, 704, 712, 674, 699, 888, 909, 939 us, ...
        assert_eq!(
            computed(&trace, 0),
            [24, 6, 7, 15, 10, 8, 15, 7].map(|us| us * 1_000_000),
            "gaps of 737.670 to 694, 698 to 704, ... us"
        );
        let (sent, entered) = sent(trace);
        assert_eq!(sent, (0..4).map(|rank| ((rank, (rank + 1) % 4, 1337, 4), 1)).collect());
        let entered: Vec<_> = entered.iter().map(|call| (call.name(), bytes_of(call))).collect();
        assert_eq!(entered, [("barrier", 0), ("allreduce", 4)]);
    }
    let path = folder.join("testtrace.meta").to_string_lossy().into_owned();
    let error = read(&path, Some(8), TIMES, &mut files).unwrap_err();
    assert!(error.ends_with("a trace of 4 ranks, but the job has 8"), "{error}");
}

fn bytes_of(call: &Call) -> u64 {
    match call {
        Call::Collective { bytes, .. } => bytes.0,
        _ => 0,
    }
}

struct Disk;

impl Reader for Disk {
    fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        std::fs::read(name).map_err(|error| format!("{name}: {error}"))
    }

    fn locate(&self, _: &str, name: &str) -> Result<PathBuf, String> {
        Err(format!("{name}: not there"))
    }
}

fn shared() -> Option<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = std::env::var_os("ODONATA_SHARED").map_or_else(|| repository.join("../shared"), PathBuf::from);
    let folder = shared.join("data/traces/dumpi");
    if folder.is_dir() {
        return Some(folder);
    }
    writeln!(std::io::stderr(), "SKIPPED: {} is not there", folder.display()).expect("standard error is open");
    None
}

/// Every rank of a communicator of even or odd ranks, made in another order of numbers by each, sends in it.
#[test]
fn communicators_are_matched_by_the_order_of_creation() {
    let ranks = each(4, |rank, writer| {
        let rank = rank as i32;
        // Reverse order of keys: ranks 3, 2, 1, 0 are 0, 0, 1, 1 of their parts. Numbers differ by rank.
        let (half, twin, own) = (4 + rank as u16, 20 - rank as u16, 30);
        writer.call("Comm_split", &[H(WORLD), I(rank % 2), I(-rank), H(half)]);
        writer.call("Comm_dup", &[H(half), H(twin)]);
        writer.call("Comm_dup", &[H(3), H(own)]);
        let in_half = i32::from(rank < 2);
        writer.call("Isend", &[I(3), H(INT), I(1 - in_half), I(rank), H(twin), I(2)]);
        writer.call("Recv", &[I(3), H(INT), I(1 - in_half), I(ANY_SOURCE), H(twin), Statuses(&[])]);
        writer.call("Wait", &[I(2), Statuses(&[])]);
        writer.call("Allreduce", &[I(5), H(INT), B(3), H(half)]);
        writer.call("Isend", &[I(1), H(INT), I(0), I(7), H(own), I(3)]);
        writer.call("Recv", &[I(1), H(INT), I(0), I(7), H(3), Statuses(&[])]);
        writer.call("Wait", &[I(3), Statuses(&[])]);
        writer.call("Barrier", &[H(own)]);
        writer.call("Comm_free", &[H(twin)]);
    });
    let trace = traced(&ranks).unwrap();
    let barriers = &trace.survey().kinds["MPI_Barrier"];
    assert_eq!((barriers.seen, barriers.used), (4, 0), "a barrier of one rank");
    let (sent, entered) = sent(trace);
    let partner = |rank: u32| (rank + 2) % 4;
    let expected = (0..4).flat_map(|rank| [((rank, partner(rank), rank, 12), 1), ((rank, rank, 7, 4), 1)]);
    assert_eq!(sent, expected.collect());
    assert_eq!(entered.iter().map(Call::name).collect::<Vec<_>>(), ["split", "split", "allreduce", "free"]);
}

/// Groups: union, difference, ranges; a communicator of some ranks; a grid and its rows.
#[test]
fn groups_and_grids() {
    let ranks = each(6, |rank, writer| {
        let is_member = [5, 0, 2].contains(&rank);
        let call = |writer: &mut Writer, kind: &str, of: &[Argument<'_>]| {
            writer.call(kind, of);
        };
        call(writer, "Comm_group", &[H(WORLD), H(3)]);
        call(writer, "Group_incl", &[H(3), I(2), list(&[5, 0]), H(4)]);
        call(writer, "Group_excl", &[H(3), I(3), list(&[0, 1, 3]), H(5)]);
        // {2, 4, 5} less {4} is {2, 5}; with {5, 0}: 5, 0, 2.
        let ranges: [&[Argument<'_>]; 1] = [&[H(3), I(1), I(1), list(&[4, 4, 1]), H(6)]];
        call(writer, "Group_range_incl", ranges[0]);
        call(writer, "Group_difference", &[H(5), H(6), H(7)]);
        call(writer, "Group_union", &[H(4), H(7), H(8)]);
        call(writer, "Comm_create", &[H(WORLD), H(8), H(if is_member { 4 } else { 1 })]);
        if is_member {
            call(writer, "Bcast", &[I(1), H(BYTE), I(1), H(4)]);
            if rank == 5 {
                call(writer, "Send", &[I(10), H(BYTE), I(2), I(0), H(4)]);
            } else if rank == 2 {
                call(writer, "Recv", &[I(10), H(BYTE), I(0), I(0), H(4), Statuses(&[])]);
            }
        }
        call(writer, "Cart_create", &[H(WORLD), I(2), list(&[2, 3]), list(&[0, 0]), I(0), H(9)]);
        call(writer, "Cart_sub", &[I(2), H(9), list(&[0, 1]), H(10)]);
        // Each row: the first sends to the last.
        match rank % 3 {
            0 => call(writer, "Send", &[I(1), H(BYTE), I(2), I(1), H(10)]),
            2 => call(writer, "Recv", &[I(1), H(BYTE), I(0), I(1), H(10), Statuses(&[])]),
            _ => {}
        }
    });
    let (sent, entered) = sent(traced(&ranks).unwrap());
    let expected: SentMessages = [((5, 2, 0, 10), 1), ((0, 2, 1, 1), 1), ((3, 5, 1, 1), 1)].into();
    assert_eq!(sent, expected);
    assert_eq!(entered.iter().map(Call::name).collect::<Vec<_>>(), ["split", "bcast", "split", "split"]);
}

#[test]
fn requests_complete_as_recorded() {
    let mut sender = Writer::new();
    for tag in 0..4 {
        sender.call("Send", &[I(8), H(BYTE), I(1), I(tag), H(WORLD)]);
    }
    sender.call("Send", &[I(8), H(BYTE), I(PROC_NULL), I(9), H(WORLD)]);
    sender.call("Send_init", &[I(6), H(BYTE), I(1), I(8), H(WORLD), I(2)]);
    for _ in 0..2 {
        sender.call("Start", &[I(2)]).call("Wait", &[I(2), Statuses(&[])]);
    }
    let mut receiver = Writer::new();
    for (tag, request) in (0..).zip([2, 3, 4, 5]) {
        let from = if tag == 1 { ANY_SOURCE } else { 0 };
        receiver.call("Irecv", &[I(8), H(BYTE), I(from), I(tag), H(WORLD), I(request)]);
    }
    receiver.call("Test", &[I(2), I(0), Statuses(&[])]);
    receiver.call("Waitany", &[I(4), list(&[2, 3, 4, 5]), I(1), Statuses(&[(8, 0, 1)])]);
    receiver.call("Waitsome", &[I(4), list(&[2, 1, 4, 5]), I(2), list(&[3, 0]), Statuses(&[])]);
    // Request 1 is null.
    receiver.call("Waitall", &[I(4), list(&[1, 1, 4, 1]), Statuses(&[])]);
    receiver.call("Recv_init", &[I(6), H(BYTE), I(0), I(8), H(WORLD), I(2)]);
    receiver.call("Startall", &[I(1), list(&[2])]).call("Waitall", &[I(1), list(&[2]), Statuses(&[])]);
    receiver.call("Start", &[I(2)]).call("Test", &[I(2), I(1), Statuses(&[])]);
    receiver.call("Irecv", &[I(6), H(BYTE), I(ANY_SOURCE), I(50), H(WORLD), I(7)]).call("Cancel", &[I(7)]);
    receiver.call("Wait", &[I(7), Statuses(&[])]);
    let trace = traced(&[sender, receiver]).unwrap();
    let waits: Vec<u32> = calls(&trace, 1)
        .into_iter()
        .filter_map(|call| match call {
            Call::Wait { request } => Some(request),
            _ => None,
        })
        .collect();
    assert_eq!(waits, [1, 3, 0, 2, 0, 0]);
    let received = calls(&trace, 1).into_iter().filter_map(|call| match call {
        Call::Irecv { from, tag, .. } => Some((from, tag)),
        _ => None,
    });
    assert_eq!(received.collect::<Vec<_>>(), [(0, 0), (0, 1), (0, 2), (0, 3), (0, 8), (0, 8)]);
    let tests = &trace.survey().kinds["MPI_Test"];
    assert_eq!((tests.seen, tests.used), (2, 1));
    assert_eq!(trace.survey().kinds["MPI_Send"].ignored(), 1, "to no rank");
    // Every message finds its receive.
    let report = crate::rank_walks::untimed(&trace);
    assert_eq!(report.totals(), (6, 4 * 8 + 2 * 6));
}

/// A status that cannot be true leaves the receive from any.
#[test]
fn a_wildcard_takes_the_sender_of_its_status() {
    let with = |status: &[(i32, i32, i32)]| {
        let mut receiver = Writer::new();
        receiver.call("Recv", &[I(4), H(BYTE), I(ANY_SOURCE), I(ANY_SOURCE), H(WORLD), Statuses(status)]);
        let mut sender = Writer::new();
        sender.call("Send", &[I(4), H(BYTE), I(0), I(3), H(WORLD)]);
        calls(&traced(&[receiver, sender]).unwrap(), 0)[1]
    };
    let expected = |from, tag| Call::Recv { from, bytes: Bytes(4), tag, communicator: crate::call::WORLD };
    assert_eq!(with(&[(4, 1, 3)]), expected(1, 3));
    assert_eq!(with(&[]), expected(ANY, ANY));
    assert_eq!(with(&[(4, 9, 3)]), expected(ANY, ANY), "there is no rank 9");
}

#[test]
fn sizes_of_vector_forms_and_of_types() {
    let ranks = each(3, |rank, writer| {
        let own = rank as i32;
        // Three vectors of 2 ints each; 7 of its parts are 7 x 24 B.
        writer.call("Type_vector", &[I(3), I(2), I(5), H(INT), H(28)]);
        writer.call("Type_struct", &[I(2), list(&[1, 4]), list(&[0, 64]), Types(&[28, BYTE]), H(29)]);
        writer.call("Bcast", &[I(7), H(28), I(0), H(WORLD)]);
        writer.call("Bcast", &[I(1), H(29), I(0), H(WORLD)]);
        let counts = [own + 1, own + 2, own + 3];
        let places = [0, 0, 0];
        let pairs = [list(&counts), list(&places), H(INT), list(&counts), list(&places), H(INT), H(WORLD)];
        writer.call("Alltoallv", &[&[I(3)], &pairs[..]].concat_arguments());
        if rank == 1 {
            let root = [I(1), I(3), I(1 + own), H(INT), I(1), H(WORLD), list(&[1, 2, 3]), list(&places), H(INT)];
            writer.call("Gatherv", &root);
            writer.call("Scatter", &[I(1), I(2), H(INT), I(1), H(WORLD), I(2), H(INT)]);
        } else {
            writer.call("Gatherv", &[I(own), I(3), I(1 + own), H(INT), I(1), H(WORLD), H(INT)]);
            writer.call("Scatter", &[I(own), I(2), H(INT), I(1), H(WORLD)]);
        }
        writer.call("Reduce_scatter", &[I(3), list(&[1, 0, 5]), H(INT), B(3), H(WORLD)]);
    });
    let trace = traced(&ranks).unwrap();
    let of_pairs = |sizes: u32| -> Vec<Vec<u64>> {
        (0..3).map(|from| (0..3).map(|to| trace.size(sizes, from, to).0).collect()).collect()
    };
    assert_eq!(of_pairs(0), [[4, 8, 12], [8, 12, 16], [12, 16, 20]], "alltoallv");
    assert_eq!(of_pairs(1), [[4, 4, 4], [8, 8, 8], [12, 12, 12]], "gatherv, by sender");
    assert_eq!(of_pairs(2), [[4, 0, 20], [4, 0, 20], [4, 0, 20]], "reduce-scatter, by receiver");
    let (_, entered) = sent(trace);
    let entered: Vec<_> = entered.iter().map(|call| (call.name(), bytes_of(call))).collect();
    let expected =
        [("bcast", 168), ("bcast", 28), ("alltoall", 0), ("gather", 0), ("scatter", 8), ("reduce-scatter", 0)];
    assert_eq!(entered, expected);
}

#[test]
fn computation_is_the_gap_between_calls() {
    let mut writer = Writer::new();
    writer.call("Init", &[I(0)]);
    writer.at_ns += 65_535 * 1_000_000_000;
    // Seconds wrap here.
    writer.call("Comm_rank", &[H(WORLD), I(0)]);
    writer.at_ns += 2_000_000_000;
    writer.call("Barrier", &[H(WORLD)]);
    let ranks = [writer.end()];
    let with = |times| computed(&read("a/app.meta", None, times, &mut given(&ranks)).unwrap(), 0);
    assert_eq!(with(TIMES), [65_535_000_000_010_000, 2_000_000_010_000]);
    let half = ComputeTimes { factor: 0.5, ..TIMES };
    assert_eq!(with(half), [32_767_500_000_005_000, 1_000_000_005_000]);
    let constant = ComputeTimes { each: Some(Time(7)), ..TIMES };
    assert_eq!(with(constant), [7, 7]);
}

#[test]
fn calls_without_records_are_said() {
    let mut writer = Writer::new();
    writer.call("Isend", &[I(1), H(BYTE), I(0), I(0), H(WORLD), I(2)]);
    writer.call("Recv", &[I(1), H(BYTE), I(0), I(0), H(WORLD), Statuses(&[])]);
    // The request of a call that was not recorded.
    writer.call("Waitall", &[I(2), list(&[2, 77]), Statuses(&[])]);
    writer.missing[usize::from(kind_number("Isend").unwrap())] = 81_262;
    let trace = traced(&[writer]).unwrap();
    assert_eq!(trace.survey().warnings(), ["MPI_Isend: 1 recorded of 81,263 called"]);
}

#[test]
fn a_file_that_was_cut_short_is_read_up_to_there() {
    let mut writer = Writer::new();
    writer.call("Init", &[I(0)]).call("Barrier", &[H(WORLD)]).call("Barrier", &[H(WORLD)]);
    let whole = writer.bytes.clone();
    for (length, seen) in [(whole.len(), 3), (whole.len() - 1, 2), (whole.len() - 18, 2)] {
        let mut files = given(&[whole[..length].to_vec()]);
        let trace = read("a/app-0000.bin", Some(1), TIMES, &mut files).unwrap();
        assert_eq!(trace.survey().kinds.values().map(|kind| kind.seen).sum::<u64>(), seen);
        let note = &trace.survey().warnings()[0];
        assert!(note.starts_with("a/app-0000.bin: no index; read up to byte"), "{note}");
        assert!(note.ends_with(&format!("of {length}: {seen} records")), "{note}");
    }
}

#[test]
fn mistakes_name_the_file_and_the_record() {
    let mistake = |write: &dyn Fn(&mut Writer)| {
        let mut writer = Writer::new();
        write(&mut writer);
        traced(&[writer]).unwrap_err()
    };
    let wrong = mistake(&|writer| {
        writer.call("Send", &[I(1), H(BYTE), I(4), I(0), H(WORLD)]);
    });
    assert_eq!(wrong, "a/app-0000.bin: record 1 (MPI_Send): rank 4 of a communicator of 1 ranks, which count from 0");
    let wrong = mistake(&|writer| {
        writer.call("Barrier", &[H(9)]);
    });
    assert!(wrong.contains("record 1 (MPI_Barrier): communicator 9; expected MPI_COMM_WORLD (2)"), "{wrong}");
    let wrong = mistake(&|writer| {
        writer.call("Send", &[I(1), H(99), I(0), I(0), H(WORLD)]);
    });
    assert!(wrong.ends_with("data type 99 without a size; expected a record that creates it"), "{wrong}");
    let wrong = mistake(&|writer| {
        writer.call("Intercomm_create", &[H(WORLD), I(0), H(WORLD), I(0), I(1), H(5)]).call("Barrier", &[H(5)]);
    });
    assert!(
        wrong.ends_with("communicator 5 is one with other jobs or of two groups, which is not replayed"),
        "{wrong}"
    );
    // Only one of two ranks splits.
    let mut splits = Writer::new();
    splits.call("Comm_split", &[H(WORLD), I(0), I(0), H(4)]);
    let wrong = traced(&[splits.clone(), Writer::new()]).unwrap_err();
    let expected = "a/app.meta: rank 0, record 1: MPI_Comm_split is called by 1 of the 2 ranks of its communicator; expected all of them";
    assert_eq!(wrong, expected);
    let mut duplicates = Writer::new();
    duplicates.call("Comm_dup", &[H(WORLD), H(4)]);
    let wrong = traced(&[splits, duplicates]).unwrap_err();
    assert!(wrong.contains("rank 1, record 1: MPI_Comm_dup, but record 1 of rank 0 on the same"), "{wrong}");
    // Different collectives.
    let mut barrier = Writer::new();
    barrier.call("Barrier", &[H(WORLD)]);
    let mut sum = Writer::new();
    sum.call("Allreduce", &[I(1), H(INT), B(3), H(WORLD)]);
    let wrong = traced(&[barrier.clone(), sum]).unwrap_err();
    assert!(wrong.contains("'barrier' for rank 0 (record 1) and 'allreduce' for rank 1 (record 1)"), "{wrong}");
    // Sets and files.
    let bytes = barrier.end();
    let set = |files: &mut NamedFiles, path| read(path, None, TIMES, files).unwrap_err();
    let mut files = given(&[bytes.clone(), bytes.clone()]);
    files.0.remove("a/app-0001.bin");
    let expected =
        "a/app.meta: the set has 2 ranks, but the file of rank 1 is missing: a/app-0001.bin: there is no such file";
    assert_eq!(set(&mut files, "a/app.meta"), expected);
    files.0.insert("a/app-0001.bin".into(), b"\x00\x05\x16\x07 a resource fork".to_vec());
    assert!(set(&mut files, "a/app.meta").contains("byte 0: a file of macOS with attributes of another file"));
    files.0.insert("a/app-0001.bin".into(), b"a text".to_vec());
    assert_eq!(set(&mut files, "a/app.meta"), "a/app-0001.bin: byte 0: no magic number; expected a file of DUMPI");
    let mut damaged = bytes.clone();
    damaged[16..18].copy_from_slice(&[1, 34]);
    let wrong = set(&mut given(&[damaged]), "a/app.meta");
    assert_eq!(
        wrong,
        "a/app-0000.bin: byte 18: record 1 (MPI_ALL_FUNCTIONS): a record of kind 290; expected 0 to 281, 291 or 292"
    );
}
