//! Table I of the interference study, to the digit: all calls of all ranks of its nine applications.
//!
//! A message up to 12,000 B is eager: n + 45 B in packets of 512 B. A longer message is a rendezvous: n + 13 B of data,
//! a header of 45 B, a get request of 13 B and an acknowledgement of 15 B, one packet each.

use crate::call::Call;
use crate::code::Code;
use crate::rank_program::RankProgram;
use crate::rank_walks::{build, untimed, Walk};
use serde_json::{json, Value};
use std::collections::BTreeSet;

const EAGER_LIMIT: u64 = 12_000;

/// Messages of a job.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Volume {
    /// Messages with data.
    messages: u64,
    /// Empty messages.
    empty: u64,
    packets: u64,
    payload: u64,
    wire: u64,
    /// Most bytes that a rank sends in sequence to different partners, without posting a receive or waiting.
    peak: u64,
}

impl Volume {
    fn send(&mut self, n: u64) {
        let (wire, packets) = match n <= EAGER_LIMIT {
            true => (n + 45, (n + 45).div_ceil(512)),
            false => (n + 86, (n + 13).div_ceil(512) + 3),
        };
        self.messages += u64::from(n > 0);
        self.empty += u64::from(n == 0);
        self.packets += packets;
        self.payload += n;
        self.wire += wire;
    }
}

/// One rank, and its current sequence of sends.
struct Sender<'a> {
    walk: Walk<'a>,
    partners: BTreeSet<u32>,
    bytes: u64,
}

impl Sender<'_> {
    /// Runs to the next mark. Returns its number.
    fn until_mark(&mut self, volume: &mut Volume) -> Option<u32> {
        loop {
            match self.walk.next()? {
                Call::Mark { phase } => return Some(phase),
                Call::Send { to, bytes, .. } | Call::Isend { to, bytes, .. } => {
                    volume.send(bytes.0);
                    if !self.partners.insert(to) {
                        (self.bytes, self.partners) = (0, BTreeSet::from([to]));
                    }
                    self.bytes += bytes.0;
                    volume.peak = volume.peak.max(self.bytes);
                }
                Call::Compute { .. } | Call::Sleep { .. } | Call::WaitUntil { .. } => {}
                _ => {
                    self.bytes = 0;
                    self.partners.clear();
                }
            }
        }
    }
}

/// Messages of all ranks, and of the final barrier. Ranks run from mark to mark together, so each permutation is drawn
/// once.
fn volumes(program: &dyn RankProgram) -> (Volume, Volume) {
    let (mut volume, mut end) = (Volume::default(), Volume::default());
    let sender = |rank| Sender { walk: Walk::new(program, rank), partners: BTreeSet::new(), bytes: 0 };
    let mut senders: Vec<Sender<'_>> = (0..program.ranks()).map(sender).collect();
    let last = program.phases().len() as u32 - 1;
    while !senders.is_empty() {
        senders.retain_mut(|sender| match sender.until_mark(&mut volume) {
            Some(phase) if phase == last => {
                assert_eq!(sender.until_mark(&mut end), None, "the end is the end");
                false
            }
            phase => phase.is_some(),
        });
    }
    (volume, end)
}

/// Millions of bytes with two decimals, as in the table.
fn mb(bytes: u64) -> String {
    format!("{:.2}", bytes as f64 / 1e6)
}

struct Row {
    program: &'static str,
    ranks: u32,
    given: Vec<(&'static str, Value)>,
    messages: u64,
    /// Messages of FFT3D's barriers. The other programs have only the final one.
    empty: u64,
    packets: u64,
    payload: &'static str,
    wire: &'static str,
    peak: u64,
}

/// Messages, packets and payload without the final barrier; bytes on the wire with it.
fn check(row: Row) {
    let program = build(row.program, row.ranks, &row.given);
    let (volume, end) = volumes(&*program);
    assert_eq!((volume.messages, volume.empty), (row.messages, row.empty), "{}", row.program);
    assert_eq!(volume.packets, row.packets, "{}", row.program);
    assert_eq!((mb(volume.payload).as_str(), mb(volume.wire + end.wire).as_str()), (row.payload, row.wire));
    assert_eq!(volume.peak, row.peak, "{}", row.program);
    // 2 (p - 1) empty messages of 45 B: 47,430 B for 528 ranks, 45,990 for 512.
    let barrier = 2 * u64::from(row.ranks - 1);
    assert_eq!((end.wire, end.packets, end.empty, end.messages), (45 * barrier, barrier, barrier, 0));
}

fn row(
    program: &'static str,
    messages: u64,
    packets: u64,
    payload: &'static str,
    wire: &'static str,
    peak: u64,
) -> Row {
    Row { program, ranks: 528, given: Vec::new(), messages, empty: 0, packets, payload, wire, peak }
}

#[test]
fn uniform_random() {
    check(row("uniform-random", 3_795_135, 26_565_945, "11658.65", "11829.48", 3072));
}

#[test]
fn lu() {
    check(row("lu", 909_000, 29_997_000, "13635.00", "13713.22", 2 * 15_000));
}

/// The largest block is 16 x 10 x 19 x 17 B. Of the 20,992 empty messages 4,128 create and free the communicators.
#[test]
fn fft_3d() {
    let row = row("fft-3d", 371_712, 32_165_888, "15748.13", "15781.09", 51_680);
    check(Row { empty: 20_992, ..row });
}

#[test]
fn halo_3d() {
    check(row("halo-3d", 82_920, 93_616_680, "47761.92", "47769.10", 2 * 576_000));
}

/// 12,992 messages and 2,108 sums. The peak: two messages to each of the four neighbours above, 4.60 MB.
#[test]
fn lqcd() {
    let peak = 2 * (1_149_984 + 313_632 + 2 * 418_176);
    check(row("lqcd", 12_992 + 2_108, 23_335_964, "11923.05", "11924.31", peak));
}

#[test]
fn stencil_5d() {
    check(row("stencil-nd", 3_512, 19_217_664, "9833.60", "9833.95", 5 * 2_800_000));
}

#[test]
fn cosmoflow() {
    check(row("allreduce", 2_108, 4_643_924, "2373.61", "2373.84", 2 * 1_126_000));
}

#[test]
fn dl() {
    let given = vec![("bytes", json!("1152 kB")), ("compute", json!("0 ns")), ("iterations", json!(8))];
    check(Row { given, ..row("allreduce", 8_432, 19_005_728, "9713.66", "9714.44", 2 * 1_152_000) });
}

#[test]
fn lulesh() {
    let messages = 121_632 + 1_171_200 + 12_264;
    let row = row("lulesh", messages, 35_825_064, "17836.36", "17900.12", 26 * 74_814);
    check(Row { ranks: 512, ..row });
}

/// Most calls of a block, 24 B each: the memory of a rank's program. Inner ranks of the grid have the most.
#[test]
fn longest_blocks() {
    let longest = |name: &str| {
        let program = build(name, 528, &[]);
        let mut code = Code::default();
        let mut longest = 0;
        for rank in 0..528 {
            for index in 0..program.blocks(rank).min(200) {
                code.clear();
                program.block(rank, index, &mut code);
                longest = longest.max(code.calls().len());
            }
        }
        longest
    };
    let expected = [("lu", 6), ("fft-3d", 24), ("halo-3d", 16), ("lqcd", 41), ("stencil-nd", 18), ("lulesh", 54)];
    assert_eq!(expected.map(|(name, _)| (name, longest(name))), expected);
}

/// The mixed workload of the study, with the default grids of these numbers of ranks: 69.8 million packets, 34.7 GB.
#[test]
fn mixed_workload() {
    let jobs =
        [("fft-3d", 140), ("allreduce", 138), ("lu", 140), ("uniform-random", 139), ("lqcd", 256), ("stencil-nd", 243)];
    let sum = jobs.iter().fold((0, 0), |(packets, bytes), &(name, ranks)| {
        let (volume, _) = volumes(&*build(name, ranks, &[]));
        (packets + volume.packets, bytes + volume.payload)
    });
    let shown = (format!("{:.1}", sum.0 as f64 / 1e6), format!("{:.1}", sum.1 as f64 / 1e9));
    assert_eq!(shown, ("69.8".into(), "34.7".into()));
}

/// On the study's grids, with fewer iterations: no rank blocks forever with synchronous sends.
#[test]
fn nobody_needs_a_buffer() {
    let few = |key: &'static str, count: u32| (key, json!(count));
    let cases = [
        ("lu", 528, vec![few("planes", 20), few("iterations", 1)]),
        ("halo-3d", 528, vec![few("iterations", 1)]),
        ("lqcd", 528, vec![few("parities", 1)]),
        ("stencil-nd", 528, vec![]),
        ("lulesh", 512, vec![few("iterations", 1), few("sweep_blocks", 2)]),
        ("allreduce", 528, vec![]),
        ("uniform-random", 528, vec![few("iterations", 5)]),
    ];
    for (name, ranks, given) in cases {
        assert!(untimed(&*build(name, ranks, &given)).totals().0 > 0, "{name}");
    }
}
