//! The position of a rank in its program, relative to its loop.

use super::{ActiveCollective, CallExpander, TAG_BITS};
use crate::communicators::{GroupLists, COLLECTIVES};
use crate::repetition::Repetition;
use odonata_checkpoint::Snapshot;

impl CallExpander {
    /// Adds the position to a snapshot, with its calls as counters of `rank`. The iterations of `repetition` are
    /// counters of one class: all ranks of equal states are the same number of iterations ahead.
    pub fn snapshot(&self, repetition: Option<&Repetition>, lists: &mut GroupLists, into: &mut Snapshot) {
        let Self { rank, cursor, communicators, inside, lanes, spare: _, calls } = self;
        let (started, next) = cursor.place();
        match repetition.filter(|of| started > of.first && !of.is_left(started)) {
            Some(of) => {
                into.counter("iterations", (0, 0), (started - of.first - 1) / of.blocks);
                into.put(&((started - of.first - 1) % of.blocks, next));
            }
            None => into.put(&(started, next)),
        }
        into.counter("calls", (u64::from(*rank), 0), *calls);
        into.put(&(inside.is_some(), lanes.len()));
        for (lane, active) in (0u32..).zip([inside].into_iter().chain(lanes)) {
            let Some(active) = active else { continue };
            let ActiveCollective {
                call,
                operation,
                communicator,
                root,
                bytes,
                sizes,
                tag,
                begun,
                code,
                next,
                algorithm: _,
            } = &**active;
            into.put(&(lane, call, operation, communicator, root, bytes));
            into.put(&(sizes, tag & ((1 << TAG_BITS) - 1), begun, code, next));
            into.counter(COLLECTIVES, (u64::from(*rank), u64::from(*communicator)), u64::from(tag >> TAG_BITS));
        }
        communicators.snapshot(*rank, lists, into);
    }
}
