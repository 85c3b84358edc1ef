//! Collectives of a rank from their records.

use super::rank::{Local, RankRecords};
use crate::call::{Operation, EQUAL};
use odonata_trace::dumpi::Record;
use odonata_units::Bytes;

impl RankRecords<'_> {
    /// Replays a collective. Returns whether it has other ranks.
    pub(super) fn collective(&mut self, kind: &str, record: &Record) -> Result<bool, String> {
        let number = |at: usize| record.numbers.get(at).copied().unwrap_or(0);
        let sized = |count: usize, data_type: usize| self.bytes(number(count), number(data_type));
        let list = |at: usize, data_type: i64| -> Result<Vec<u64>, String> {
            record.list(at).iter().map(|&count| self.bytes(count, data_type)).collect()
        };
        // The operation, the places of root and communicator, and bytes or blocks. The blocks of all but the own rank
        // come from the other ranks' records.
        let blocks;
        let (operation, root, communicator, bytes) = match kind {
            "Barrier" => (Operation::Barrier, None, 0, Some(0)),
            "Bcast" => (Operation::Broadcast, Some(2), 3, Some(sized(0, 1)?)),
            "Reduce" => (Operation::Reduce, Some(3), 4, Some(sized(0, 1)?)),
            "Allreduce" => (Operation::Allreduce, None, 3, Some(sized(0, 1)?)),
            "Scan" | "Exscan" => (Operation::Scan, None, 3, Some(sized(0, 1)?)),
            "Allgather" => (Operation::Allgather, None, 4, Some(sized(2, 3)?)),
            "Alltoall" => (Operation::Alltoall, None, 4, Some(sized(2, 3)?)),
            // Data may stay in place at the root, so its other arguments count.
            "Gather" if record.is_root => (Operation::Gather, Some(3), 4, Some(sized(5, 6)?)),
            "Gather" => (Operation::Gather, Some(3), 4, Some(sized(1, 2)?)),
            "Scatter" if record.is_root => (Operation::Scatter, Some(3), 4, Some(sized(5, 6)?)),
            "Scatter" => (Operation::Scatter, Some(3), 4, Some(sized(1, 2)?)),
            "Gatherv" => {
                let own = usize::try_from(number(0)).unwrap_or(0);
                let of_root = if record.is_root { record.list(0).get(own).copied() } else { None };
                blocks = match of_root {
                    Some(count) => vec![self.bytes(count, number(6))?],
                    None => vec![sized(2, 3)?],
                };
                return self.vector(Operation::Gather, number(4), number(5), blocks);
            }
            "Scatterv" => {
                blocks = list(0, number(2))?;
                return self.vector(Operation::Scatter, number(5), number(6), blocks);
            }
            "Allgatherv" => {
                blocks = list(0, number(3))?;
                return self.vector(Operation::Allgather, 0, number(4), blocks);
            }
            "Alltoallv" => {
                blocks = list(0, number(1))?;
                return self.vector(Operation::Alltoall, 0, number(3), blocks);
            }
            "Alltoallw" => {
                let each = record.list(0).iter().zip(record.list(2));
                blocks = each.map(|(&count, &of)| self.bytes(count, of)).collect::<Result<_, _>>()?;
                return self.vector(Operation::Alltoall, 0, number(1), blocks);
            }
            "Reduce_scatter" => {
                blocks = list(0, number(1))?;
                return self.vector(Operation::ReduceScatter, 0, number(3), blocks);
            }
            _ => unreachable!("{kind} is a kind that is replayed"),
        };
        let communicator = number(communicator) as u16;
        if self.go_to(communicator)? == Local::Own {
            return Ok(false);
        }
        let root = self.root(root.map_or(0, number))?;
        self.trace.together(operation, root, Bytes(bytes.unwrap_or(0)), EQUAL);
        Ok(true)
    }

    fn root(&self, root: i64) -> Result<u32, String> {
        let ranks = self.trace.here.ranks;
        let known = u32::try_from(root).ok().filter(|&root| root < ranks);
        known.ok_or_else(|| format!("root {root} of a communicator of {ranks} ranks, which count from 0"))
    }

    /// A collective in its vector form. `blocks` are the sizes in this record.
    fn vector(
        &mut self,
        operation: Operation,
        root: i64,
        communicator: i64,
        mut blocks: Vec<u64>,
    ) -> Result<bool, String> {
        if self.go_to(communicator as u16)? == Local::Own {
            return Ok(false);
        }
        let (ranks, rank) = (self.trace.here.ranks as usize, self.trace.here.rank as usize);
        let root = self.root(root)?;
        match operation {
            Operation::Gather => {}
            // Only the root has the sizes.
            Operation::Scatter if blocks.is_empty() => blocks = vec![0; ranks],
            _ if blocks.len() != ranks => {
                let count = blocks.len();
                return Err(format!("{count} sizes on a communicator of {ranks} ranks; expected one for each"));
            }
            Operation::Allgather => blocks = vec![blocks[rank]],
            _ => {}
        }
        let place = self.trace.vectors.len() as u32;
        self.trace.vectors.push((self.trace.here.number, operation, blocks));
        self.trace.together(operation, root, Bytes(0), place);
        Ok(true)
    }
}
