//! Definitions of an archive, and the numbers of a location.

use super::records::{Cursor, Records};
use std::collections::{BTreeMap, BTreeSet};

/// Kinds of definitions.
mod kind {
    pub(super) const CLOCK: u8 = 5;
    pub(super) const STRING: u8 = 10;
    pub(super) const LOCATION: u8 = 14;
    pub(super) const REGION: u8 = 15;
    pub(super) const GROUP: u8 = 18;
    pub(super) const COMMUNICATOR: u8 = 22;
    /// In the definitions of a location.
    pub(super) const NUMBERS: u8 = 5;
}

const MPI: u8 = 4;
const COMM_LOCATIONS: u8 = 4;
const COMM_SELF: u8 = 6;
/// Maps of local numbers.
const REGIONS: u8 = 3;
const COMMUNICATORS: u8 = 6;

/// Members of a communicator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Communicator {
    /// Ranks of the job, in order.
    Ranks(Vec<u32>),
    /// Each rank alone.
    Own,
    /// Of two groups, or without a known group.
    Foreign,
}

/// The definitions that a replay needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definitions {
    /// Ticks of the clock per second.
    pub ticks_per_s: u64,
    /// Location of each rank.
    pub ranks: Vec<u64>,
    /// Locations that are no rank: threads, GPUs, metrics.
    pub others: Vec<u64>,
    /// Regions of MPI by number.
    pub mpi_regions: BTreeMap<u64, String>,
    /// Communicators by number.
    pub communicators: BTreeMap<u64, Communicator>,
}

struct Group {
    kind: u8,
    paradigm: Option<u8>,
    members: Vec<u64>,
}

#[derive(Default)]
struct DefinitionRecords {
    strings: BTreeMap<u64, String>,
    /// Location and its group, in order.
    locations: Vec<(u64, u64)>,
    /// Region, name, paradigm.
    regions: Vec<(u64, u64, Option<u8>)>,
    groups: BTreeMap<u64, Group>,
    /// Communicator, group.
    communicators: Vec<(u64, Option<u64>)>,
    ticks_per_s: Option<u64>,
}

impl Definitions {
    /// Reads `NAME.def`, whose chunks have so many bytes.
    ///
    /// # Errors
    /// Bytes that are no definitions, or definitions without locations or clock.
    pub fn read(label: &str, bytes: &[u8], chunk: u64) -> Result<Self, String> {
        let mut found = DefinitionRecords::default();
        let mut read = || -> Result<(), String> {
            let mut records = Records::new(bytes, chunk, false)?;
            while let Some(record) = records.next_record()? {
                found.add(record.kind, record.fields)?;
            }
            Ok(())
        };
        read().and_then(|()| found.resolve()).map_err(|reason| format!("{label}: {reason}"))
    }
}

impl DefinitionRecords {
    fn add(&mut self, kind: u8, mut fields: Cursor<'_>) -> Result<(), String> {
        match kind {
            kind::CLOCK => self.ticks_per_s = fields.number()?,
            kind::STRING => {
                let number = fields.defined("number of a text")?;
                self.strings.insert(number, fields.text()?);
            }
            kind::LOCATION => {
                let number = fields.defined("number of a location")?;
                let (_name, _kind, _events) = (fields.number()?, fields.byte()?, fields.number()?);
                self.locations.push((number, fields.number()?.unwrap_or(u64::MAX)));
            }
            kind::REGION => {
                let (number, name) = (fields.defined("number of a region")?, fields.number()?);
                let (_description, _kind) = (fields.number()?, fields.byte()?);
                let (_file, _first, _last) = (fields.number()?, fields.number()?, fields.number()?);
                // Since version 1.1.
                let mut paradigm = None;
                if !fields.is_at_end() {
                    let (_canonical, _role) = (fields.number()?, fields.byte()?);
                    paradigm = Some(fields.byte()?);
                }
                self.regions.push((number, name.unwrap_or(u64::MAX), paradigm));
            }
            kind::GROUP => {
                let number = fields.defined("number of a group")?;
                let (_name, old_kind) = (fields.number()?, fields.byte()?);
                let count = fields.defined("number of members")?;
                // Grows as it is read, so a wrong count takes no memory.
                let mut members = Vec::new();
                for _ in 0..count {
                    members.push(fields.defined("member of a group")?);
                }
                let (mut kind, mut paradigm) = (old_kind, None);
                if !fields.is_at_end() {
                    (kind, paradigm) = (fields.byte()?, Some(fields.byte()?));
                }
                self.groups.insert(number, Group { kind, paradigm, members });
            }
            kind::COMMUNICATOR => {
                let number = fields.defined("number of a communicator")?;
                let _name = fields.number()?;
                self.communicators.push((number, fields.number()?));
            }
            _ => {}
        }
        Ok(())
    }

    fn resolve(self) -> Result<Definitions, String> {
        let ticks_per_s =
            self.ticks_per_s.filter(|&ticks| ticks > 0).ok_or("no clock; expected its ticks per second")?;
        let is_mpi = |paradigm: Option<u8>| paradigm.is_none_or(|paradigm| paradigm == MPI);
        let world = self.groups.values().find(|group| group.kind == COMM_LOCATIONS && is_mpi(group.paradigm));
        let ranks = match world {
            Some(world) => world.members.clone(),
            None => self.first_locations(),
        };
        if ranks.is_empty() {
            return Err("no locations; expected one for each rank".into());
        }
        let known: BTreeSet<u64> = self.locations.iter().map(|(location, _)| *location).collect();
        if let Some(number) = ranks.iter().find(|number| !known.contains(number)) {
            return Err(format!("location {number} of a rank is not defined"));
        }
        let count = ranks.len() as u64;
        let communicators = self.communicators.iter().map(|&(number, group)| {
            let of = match group.and_then(|group| self.groups.get(&group)) {
                Some(group) if group.kind == COMM_SELF => Communicator::Own,
                Some(group) if group.members.iter().all(|&member| member < count) && !group.members.is_empty() => {
                    Communicator::Ranks(group.members.iter().map(|&member| member as u32).collect())
                }
                _ => Communicator::Foreign,
            };
            (number, of)
        });
        let communicators = communicators.collect();
        let name = |number: &u64| self.strings.get(number).map_or("", String::as_str);
        let is_mpi = |(_, text, paradigm): &&(u64, u64, Option<u8>)| match paradigm {
            Some(paradigm) => *paradigm == MPI,
            None => name(text).starts_with("MPI_"),
        };
        let mpi_regions = self.regions.iter().filter(is_mpi);
        let mpi_regions = mpi_regions.map(|(number, text, _)| (*number, name(text).to_owned())).collect();
        let of_ranks: BTreeSet<u64> = ranks.iter().copied().collect();
        let others = known.difference(&of_ranks).copied().collect();
        Ok(Definitions { ticks_per_s, others, ranks, mpi_regions, communicators })
    }

    /// The first location of each process, for archives without a list of the locations of ranks.
    fn first_locations(&self) -> Vec<u64> {
        let mut seen = BTreeSet::new();
        self.locations.iter().filter(|(_, group)| seen.insert(*group)).map(|(number, _)| *number).collect()
    }
}

/// Numbers that a location uses for what the definitions number otherwise.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct LocalNumbers {
    regions: BTreeMap<u64, u64>,
    communicators: BTreeMap<u64, u64>,
}

impl LocalNumbers {
    /// Reads `NAME/LOCATION.def`, whose chunks have so many bytes.
    ///
    /// # Errors
    /// Bytes that are no definitions.
    pub fn read(label: &str, bytes: &[u8], chunk: u64) -> Result<Self, String> {
        let mut numbers = Self::default();
        let mut read = || -> Result<(), String> {
            let mut records = Records::new(bytes, chunk, false)?;
            while let Some(record) = records.next_record()? {
                if record.kind == kind::NUMBERS {
                    numbers.add(record.fields)?;
                }
            }
            Ok(())
        };
        read().map_err(|reason| format!("{label}: {reason}"))?;
        Ok(numbers)
    }

    fn add(&mut self, mut fields: Cursor<'_>) -> Result<(), String> {
        let map = match fields.byte()? {
            REGIONS => &mut self.regions,
            COMMUNICATORS => &mut self.communicators,
            _ => return Ok(()),
        };
        let (count, is_sparse) = (fields.defined("size of a map")?, fields.byte()? != 0);
        for place in 0..count {
            let local = if is_sparse { fields.defined("local number")? } else { place };
            map.insert(local, fields.defined("number of a definition")?);
        }
        Ok(())
    }

    pub(super) fn region(&self, local: u64) -> u64 {
        self.regions.get(&local).copied().unwrap_or(local)
    }

    pub(super) fn communicator(&self, local: u64) -> u64 {
        self.communicators.get(&local).copied().unwrap_or(local)
    }
}
