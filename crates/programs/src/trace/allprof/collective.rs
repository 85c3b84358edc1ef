//! Collectives of a rank of a liballprof trace.

use super::layout::{blocking_name, bytes, communicator_place, places, product, VECTORS};
use super::rank::RankCalls;
use crate::call::{Operation, EQUAL};
use odonata_trace::allprof::AllprofCall;
use odonata_units::Bytes;

impl RankCalls<'_> {
    /// Replays a collective. Returns whether it has other ranks and known sizes.
    pub(super) fn collective(&mut self, call: &AllprofCall<'_>) -> Result<bool, String> {
        let (Some(name), Some(place)) = (blocking_name(call.name), communicator_place(call)) else { return Ok(false) };
        self.go_to(call.communicator(place)?)?;
        let request = if name == call.name { None } else { Some(call.address(call.len() - 1)?) };
        let (ranks, rank) = (self.trace.here.ranks, self.trace.here.rank);
        if ranks == 1 {
            return Ok(false);
        }
        let mut sizes = EQUAL;
        let (operation, root, bytes) = match places(name) {
            Some((operation, count, root, _)) => {
                let root = root.map_or(Ok(0), |at| self.root(call.number(at)?))?;
                let count = match operation {
                    // At the root, the other side counts.
                    Operation::Gather if rank == root => Some(4),
                    Operation::Scatter if rank == root => Some(1),
                    _ => count,
                };
                (operation, root, count.map_or(Ok(0), |count| bytes(call, count))?)
            }
            None => {
                let Some((operation, root, blocks)) = self.vector(name, call, request.is_some())? else {
                    return Ok(false);
                };
                self.trace.vectors.push((self.trace.here.number, operation, blocks));
                sizes = self.trace.vectors.len() as u32 - 1;
                (operation, root, 0)
            }
        };
        self.trace.starts = request.is_some();
        self.trace.together(operation, root, Bytes(bytes), sizes);
        self.trace.starts = false;
        if let Some(address) = request {
            let slot = self.trace.slot_of_latest_collective();
            self.started(address, slot);
        }
        Ok(true)
    }

    fn root(&self, root: i64) -> Result<u32, String> {
        let ranks = self.trace.here.ranks;
        let known = u32::try_from(root).ok().filter(|&root| root < ranks);
        known.ok_or_else(|| format!("root {root} of a communicator of {ranks} ranks, which count from 0"))
    }

    /// Operation, root and blocks of a vector form. `None` if its counts are not there.
    fn vector(
        &self,
        name: &str,
        call: &AllprofCall<'_>,
        is_nonblocking: bool,
    ) -> Result<Option<(Operation, u32, Vec<u64>)>, String> {
        let Some(&(_, plain, operation)) = VECTORS.iter().find(|(vector, ..)| *vector == name) else { return Ok(None) };
        let has_lists = call.len() > plain + usize::from(is_nonblocking);
        let here = self.trace.here;
        let list = |at: usize, of: usize| -> Result<Vec<u64>, String> {
            let size = call.type_size(of)?;
            let counts = call.list(at)?;
            if counts.len() != here.ranks as usize {
                return Err(format!("{} counts on a communicator of {} ranks", counts.len(), here.ranks));
            }
            counts.into_iter().map(|count| product(count, size)).collect()
        };
        Ok(Some(match operation {
            Operation::Gather => {
                // sendbuf, count, type, recvbuf, counts, displacements, type, root, communicator
                let root = self.root(call.number(if has_lists { 9 } else { 7 })?)?;
                let own =
                    if has_lists && root == here.rank { list(5, 8)?[here.rank as usize] } else { bytes(call, 1)? };
                (operation, root, vec![own])
            }
            Operation::Scatter => {
                // sendbuf, counts, displacements, type, recvbuf, count, type, root, communicator
                let root = self.root(call.number(if has_lists { 9 } else { 7 })?)?;
                if !has_lists {
                    return Ok(None);
                }
                let blocks = if root == here.rank { list(2, 5)? } else { vec![0; here.ranks as usize] };
                (operation, root, blocks)
            }
            Operation::Allgather => {
                // sendbuf, count, type, recvbuf, counts, displacements, type, communicator
                let own = if has_lists { list(5, 8)?[here.rank as usize] } else { bytes(call, 1)? };
                (operation, 0, vec![own])
            }
            _ if !has_lists => return Ok(None),
            // sendbuf, counts, displacements, type; sendbuf, recvbuf, counts, type
            Operation::Alltoall => (operation, 0, list(2, 5)?),
            _ => (operation, 0, list(3, 4)?),
        }))
    }
}
