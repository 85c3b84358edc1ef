//! Writes sets record by record, for tests.

use super::{read, ComputeTimes, Trace};
use odonata_declare::Reader;
use odonata_trace::dumpi::kind_number;
use std::collections::BTreeMap;
use std::path::PathBuf;

pub(super) const TIMES: ComputeTimes = ComputeTimes { ps_per_flop: 1e3, factor: 1.0, each: None };
pub(super) const WORLD: u16 = 2;
pub(super) const INT: u16 = 9;
pub(super) const BYTE: u16 = 5;
pub(super) const ANY_SOURCE: i32 = -1;
pub(super) const PROC_NULL: i32 = -2;

/// Files by name.
pub(super) struct NamedFiles(pub(super) BTreeMap<String, Vec<u8>>);

impl Reader for NamedFiles {
    fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        self.0.get(name).cloned().ok_or_else(|| format!("{name}: there is no such file"))
    }

    fn locate(&self, _: &str, name: &str) -> Result<PathBuf, String> {
        Err(format!("{name}: not there"))
    }
}

/// A file of one rank, record by record.
#[derive(Clone)]
pub(super) struct Writer {
    pub(super) bytes: Vec<u8>,
    pub(super) at_ns: u64,
    pub(super) recorded: Vec<i32>,
    pub(super) missing: Vec<i32>,
}

/// An argument.
pub(super) enum Argument<'a> {
    H(u16),
    I(i32),
    B(u8),
    List(&'a [i32]),
    Types(&'a [u16]),
    /// Bytes, source, tag of each.
    Statuses(&'a [(i32, i32, i32)]),
}
pub(super) use Argument::{Statuses, Types, B, H, I};

pub(super) fn list(of: &[i32]) -> Argument<'_> {
    Argument::List(of)
}

impl Writer {
    pub(super) fn new() -> Self {
        let mut bytes = b"\xff\xaa\xddDUMPI".to_vec();
        bytes.extend([0; 8]);
        Self { bytes, at_ns: 0, recorded: vec![0; 291], missing: vec![0; 291] }
    }

    /// A call that starts 10 ns after the one before and takes 5 ns.
    pub(super) fn call(&mut self, kind: &str, arguments: &[Argument<'_>]) -> &mut Self {
        let number = kind_number(kind).unwrap();
        self.recorded[usize::from(number)] += 1;
        self.bytes.extend(number.to_be_bytes());
        // Wall times, a thread, statuses.
        self.bytes.extend([0x4b, 0, 0]);
        self.at_ns += 10;
        for ns in [self.at_ns, self.at_ns + 5] {
            self.bytes.extend(((ns / 1_000_000_000) as u16).to_be_bytes());
            self.bytes.extend(((ns % 1_000_000_000) as u32).to_be_bytes());
        }
        self.at_ns += 5;
        for argument in arguments {
            match argument {
                H(number) => self.bytes.extend(number.to_be_bytes()),
                I(number) => self.bytes.extend(number.to_be_bytes()),
                B(number) => self.bytes.push(*number),
                Argument::List(numbers) => {
                    self.bytes.extend((numbers.len() as i32).to_be_bytes());
                    numbers.iter().for_each(|number| self.bytes.extend(number.to_be_bytes()));
                }
                Types(numbers) => {
                    self.bytes.extend((numbers.len() as i32).to_be_bytes());
                    numbers.iter().for_each(|number| self.bytes.extend(number.to_be_bytes()));
                }
                Statuses(statuses) => {
                    self.bytes.extend((statuses.len() as i32).to_be_bytes());
                    for (bytes, source, tag) in *statuses {
                        self.bytes.extend(bytes.to_be_bytes());
                        self.bytes.extend(source.to_be_bytes());
                        self.bytes.extend([0, 0]);
                        self.bytes.extend(tag.to_be_bytes());
                    }
                }
            }
        }
        self
    }

    pub(super) fn end(&self) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        bytes.extend(293u16.to_be_bytes());
        let header = bytes.len() as u64;
        bytes.extend([1, 0, 0]);
        let footer = bytes.len() as u64;
        bytes.extend(0xF007_FEE7_u64.to_be_bytes());
        self.recorded.iter().chain(&self.missing).for_each(|count| bytes.extend(count.to_be_bytes()));
        bytes.extend(b"\xff\xaa\xddDUMPI");
        [0, 0, 0, header, 8, footer, 0].iter().for_each(|offset: &u64| bytes.extend(offset.to_be_bytes()));
        bytes
    }
}

pub(super) fn given(ranks: &[Vec<u8>]) -> NamedFiles {
    let meta = format!("hostname=a\nnumprocs={}\nfileprefix=app\n", ranks.len());
    let files = (0..).zip(ranks).map(|(rank, bytes)| (format!("a/app-{rank:04}.bin"), bytes.clone()));
    NamedFiles(files.chain([("a/app.meta".to_owned(), meta.into_bytes())]).collect())
}

pub(super) fn traced(ranks: &[Writer]) -> Result<Trace, String> {
    let ranks: Vec<_> = ranks.iter().map(Writer::end).collect();
    read("a/app.meta", None, TIMES, &mut given(&ranks))
}

/// The set of one kind of program for all ranks.
pub(super) fn each(ranks: u32, write: impl Fn(u32, &mut Writer)) -> Vec<Writer> {
    let mut all = vec![Writer::new(); ranks as usize];
    (0..).zip(&mut all).for_each(|(rank, writer)| write(rank, writer));
    all
}

pub(super) trait ConcatArguments<'a> {
    fn concat_arguments(self) -> Vec<Argument<'a>>;
}

impl<'a> ConcatArguments<'a> for [&[Argument<'a>]; 2] {
    fn concat_arguments(self) -> Vec<Argument<'a>> {
        let copy = |of: &Argument<'a>| match of {
            H(number) => H(*number),
            I(number) => I(*number),
            B(number) => B(*number),
            Argument::List(numbers) => Argument::List(numbers),
            Types(numbers) => Types(numbers),
            Statuses(statuses) => Statuses(statuses),
        };
        self.into_iter().flatten().map(copy).collect()
    }
}
