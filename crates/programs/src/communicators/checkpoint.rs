//! Checkpoint of communicators.

use super::{Group, Lineage, List, Member};
use crate::communicators::Communicators;
use odonata_checkpoint::{DecodeError, Reader, Snapshot, Writer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Communicators {
    /// Saves the communicators without the lists of their groups.
    pub(crate) fn save(&self, lists: &mut GroupLists, into: &mut Writer) {
        let mut member = |member: &Member| {
            let Member { group: Group { list, first, count, stride }, rank, collectives, lineage, is_freed } = member;
            let list = list.as_ref().map(|list| lists.add(list));
            SavedMember {
                list,
                places: (*first, *count, *stride),
                rank: *rank,
                collectives: *collectives,
                lineage: *lineage,
                is_freed: *is_freed,
            }
        };
        let members: Vec<Option<SavedMember>> = self.members.iter().map(|of| of.as_ref().map(&mut member)).collect();
        into.put(&members);
    }

    /// Adds the communicators of a rank to a snapshot. The numbers of their collectives are counters.
    pub(crate) fn snapshot(&self, own: u32, lists: &mut GroupLists, into: &mut Snapshot) {
        for (number, member) in (0u64..).zip(&self.members) {
            let Some(member) = member else { continue };
            let Member { group: Group { list, first, count, stride }, rank, collectives, lineage, is_freed } = member;
            into.put(&(number, list.as_ref().map(|list| lists.add(list)), first, count, stride));
            into.put(&(rank, lineage, is_freed));
            into.counter(COLLECTIVES, (u64::from(own), number), u64::from(*collectives));
        }
    }

    /// Loads the communicators.
    pub(crate) fn load(&mut self, lists: &GroupLists, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        let members: Vec<Option<SavedMember>> = from.get()?;
        let member = |saved: SavedMember| {
            let SavedMember { list, places: (first, count, stride), rank, collectives, lineage, is_freed } = saved;
            let list = list.map(|mark| lists.get(mark)).transpose()?;
            Ok(Member { group: Group { list, first, count, stride }, rank, collectives, lineage, is_freed })
        };
        self.members = members.into_iter().map(|of| of.map(member).transpose()).collect::<Result<_, _>>()?;
        Ok(())
    }
}

/// Class of the numbers of collectives, by rank and communicator.
pub const COLLECTIVES: &str = "collectives";

/// A member with the fingerprint of its group's list.
#[derive(Serialize, Deserialize)]
struct SavedMember {
    list: Option<u64>,
    /// First, count and stride of its group.
    places: (u32, u32, u32),
    rank: u32,
    collectives: u32,
    lineage: Lineage,
    is_freed: bool,
}

/// Rank lists shared by the communicators of several ranks, by fingerprint. Each list is saved once.
#[derive(Default, Debug)]
pub struct GroupLists {
    lists: BTreeMap<u64, Arc<List>>,
}

impl GroupLists {
    fn add(&mut self, list: &Arc<List>) -> u64 {
        self.lists.entry(list.mark).or_insert_with(|| Arc::clone(list));
        list.mark
    }

    fn get(&self, mark: u64) -> Result<Arc<List>, DecodeError> {
        self.lists.get(&mark).map(Arc::clone).ok_or_else(|| DecodeError("a communicator without its ranks".into()))
    }

    /// Saves the lists.
    pub fn save(&self, into: &mut Writer) {
        into.put(&self.lists.values().map(|list| &list.ranks).collect::<Vec<_>>());
    }

    /// Loads the lists.
    ///
    /// # Errors
    /// Invalid data.
    pub fn load(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let lists: Vec<Vec<u32>> = from.get()?;
        let list = |ranks| {
            let list = List::new(ranks);
            (list.mark, Arc::new(list))
        };
        Ok(Self { lists: lists.into_iter().map(list).collect() })
    }
}
