//! The files of a set, one per rank: `NAME.RANK.et`.

use super::json;
use odonata_declare::Reader;
use odonata_trace::chakra::{self, Nodes};
use std::collections::BTreeMap;

/// Files looked for after a missing one. Too few: a longer gap in a set goes unseen. Each costs a look-up.
const LOOKED_FOR: u32 = 256;

/// The files of a set.
pub(super) struct RankFiles<'a> {
    /// The file that the user names.
    path: &'a str,
    /// The rank of that file.
    own: u32,
    /// What all names begin with.
    prefix: &'a str,
    end: &'a str,
}

impl<'a> RankFiles<'a> {
    /// The set of a file of any rank.
    pub(super) fn of(path: &'a str) -> Result<Self, String> {
        let parts = path.rsplit_once('.').and_then(|(stem, end)| {
            let (prefix, rank) = stem.rsplit_once('.')?;
            rank.parse().ok().map(|own| Self { path, own, prefix, end })
        });
        parts.ok_or_else(|| format!("{path}: expected the file of a rank, such as NAME.0.et"))
    }

    /// Name of a rank's file.
    pub(super) fn name(&self, rank: u32) -> String {
        format!("{}.{rank}.{}", self.prefix, self.end)
    }

    /// Reads all of them. `ranks` is the number of ranks of the job, if it is given.
    pub(super) fn read(&self, ranks: Option<u32>, files: &mut dyn Reader) -> Result<Vec<Nodes>, String> {
        let path = self.path;
        let mut all: Vec<Nodes> = Vec::new();
        while ranks.is_none_or(|ranks| (all.len() as u32) < ranks) {
            let name = self.name(all.len() as u32);
            match files.read(&name) {
                Ok(bytes) => all.push(read_rank(&name, &bytes)?),
                // One that is there but cannot be read does not end the set.
                Err(_) if ranks.is_none() && !all.is_empty() && files.locate("traces", &name).is_err() => break,
                Err(reason) => {
                    let of = ranks.map_or(String::new(), |ranks| format!(" of {ranks}"));
                    return Err(format!("{path}: the file of rank {}{of} is missing: {reason}", all.len()));
                }
            }
        }
        let count = all.len() as u32;
        let Some(later) = self.later(count, files) else { return Ok(all) };
        Err(match ranks {
            Some(_) => format!("{path}: a trace of more ranks: {later} is there, but the job has {count}"),
            None => format!("{path}: the file of rank {count} is missing: {}; {later} is there", self.name(count)),
        })
    }

    /// A file of a rank that is not read, if there is one.
    fn later(&self, count: u32, files: &dyn Reader) -> Option<String> {
        let next = count..count.saturating_add(LOOKED_FOR);
        let own = Some(self.own).filter(|own| *own >= count && !next.contains(own));
        let names = next.chain(own).map(|rank| self.name(rank));
        names.into_iter().find(|name| files.locate("traces", name).is_ok())
    }

    /// Checks that each rank that the trace names has a file.
    pub(super) fn check_named(&self, all: &[Nodes], groups: &BTreeMap<String, Vec<u32>>) -> Result<(), String> {
        let count = all.len() as u32;
        let missing = |rank: u32| {
            let has =
                if count == 1 { "the file of 1 rank is".into() } else { format!("the files of {count} ranks are") };
            format!("its file {} is missing; {has} there", self.name(rank))
        };
        for (rank, nodes) in (0..).zip(all) {
            for node in &nodes.nodes {
                if let Some(peer) = node.peer.filter(|&peer| peer >= count) {
                    return Err(format!("{}: node {}: rank {peer}; {}", self.name(rank), node.id, missing(peer)));
                }
            }
        }
        for (group, members) in groups {
            if let Some(&rank) = members.iter().find(|&&rank| rank >= count) {
                return Err(format!("{}: group '{group}' contains rank {rank}; {}", self.path, missing(rank)));
            }
        }
        Ok(())
    }

    /// Name of the file with the groups, unless the user names another.
    pub(super) fn groups_name(&self) -> String {
        format!("{}.json", self.prefix)
    }
}

fn read_rank(name: &str, bytes: &[u8]) -> Result<Nodes, String> {
    match json::is_json(bytes) {
        true => json::read(name, bytes),
        false => chakra::read(name, bytes),
    }
}
