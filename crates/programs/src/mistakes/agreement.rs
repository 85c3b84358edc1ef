//! Checks that the ranks of a communicator call the same collectives in the same order.
//!
//! A fingerprint of the calls of a rank on a communicator is equal for all ranks if they call the same. Another
//! fingerprint identifies the communicator. If fingerprints differ, both ranks are walked again, and their calls are
//! compared.

use super::walker::{place, Mistake, OwnCommunicator, Walker};
use crate::call::{Call, Operation, BLOCKING, WORLD};
use crate::expansion::JobProgram;
use crate::fingerprint::mixed;
use std::collections::HashMap;

/// Limit on communicators. More would use too much memory.
const MAX_COMMUNICATORS: usize = 1 << 20;

const EXPECTED: &str =
    "expected all ranks of a communicator to call the same collectives in the same order, with the same root and size";

/// Fingerprint of the calls on a communicator by its first rank.
#[derive(Clone, Copy, Debug)]
struct SharedCommunicator {
    /// Its number, the first rank that was checked, and the number of that rank's call that created it.
    communicator: u16,
    rank: u32,
    made: u64,
    size: u32,
    /// Number of ranks that created it.
    makers: u32,
    calls: u64,
}

/// All communicators of the checked ranks.
#[derive(Default, Debug)]
pub(super) struct Agreement {
    known: HashMap<u64, SharedCommunicator>,
    pub(super) is_full: bool,
}

impl Agreement {
    /// Follows the last call of a rank.
    pub(super) fn follow(&mut self, shared: &JobProgram, walker: &mut Walker) -> Result<(), Mistake> {
        let Some(call) = walker.last else { return Ok(()) };
        let Some((communicator, mark)) = mark(&call) else { return Ok(()) };
        let own = walker.owns[usize::from(communicator)].as_mut().expect("it is a member");
        own.calls = mixed(own.calls, mark as u32, (mark >> 32) as u32);
        own.count += 1;
        let parent = *own;
        match call {
            Call::CommFree { .. } => {
                walker.owns[usize::from(communicator)] = None;
                self.end(shared, walker.rank, communicator, &parent)
            }
            Call::CommSplit { new, .. } | Call::CommCreate { new, .. } => {
                let members = walker.code.communicators();
                let group = members.mark_of_group(new).expect("it was just made");
                let (size, _) = members.size_and_rank(new).expect("it was just made");
                let identity = mixed(mixed(parent.identity ^ group, parent.count, 0), new.into(), size);
                let slot = usize::from(new);
                if walker.owns.len() <= slot {
                    walker.owns.resize(slot + 1, None);
                }
                let made = walker.code.calls();
                walker.owns[slot] = Some(OwnCommunicator { identity, made, size, calls: 0, count: 0 });
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Ends a rank and its communicators.
    pub(super) fn finish(&mut self, shared: &JobProgram, walker: &Walker) -> Result<(), Mistake> {
        for (communicator, own) in walker.owns.iter().enumerate() {
            if let Some(own) = own {
                self.end(shared, walker.rank, communicator as u16, own)?;
            }
        }
        Ok(())
    }

    /// Ends a communicator of a rank.
    fn end(&mut self, shared: &JobProgram, rank: u32, communicator: u16, own: &OwnCommunicator) -> Result<(), Mistake> {
        if self.known.len() >= MAX_COMMUNICATORS {
            self.is_full = true;
            return Ok(());
        }
        let OwnCommunicator { made, size, calls, .. } = *own;
        let known = self.known.entry(own.identity).or_insert(SharedCommunicator {
            communicator,
            rank,
            made,
            size,
            makers: 0,
            calls,
        });
        known.makers += 1;
        if known.calls == calls {
            return Ok(());
        }
        let known = *known;
        Err(disagreement(shared, communicator, Maker { rank: known.rank, made: known.made }, Maker { rank, made }))
    }

    /// Checks that all ranks of every communicator created it.
    pub(super) fn all_made(&self, shared: &JobProgram) -> Result<(), Mistake> {
        let missing = self.known.values().filter(|known| known.makers < known.size);
        let Some(known) = missing.min_by_key(|known| (known.rank, known.made)) else { return Ok(()) };
        let SharedCommunicator { communicator, rank, made, size, makers, .. } = *known;
        let reason = format!(
            "communicator {communicator} has {size} ranks here, but only {makers} of them create the same one; \
            expected all of them to create it with the same ranks"
        );
        Err(Mistake(format!("{}: {reason}", place(shared, rank, made))))
    }
}

/// The communicator of a collective call, and the fingerprint that must agree.
fn mark(call: &Call) -> Option<(u16, u64)> {
    Some(match *call {
        Call::Collective { operation, root, bytes, sizes, communicator, request } => {
            let root = if is_rooted(operation) { root } else { 0 };
            let bytes = if operation == Operation::Barrier { 0 } else { bytes.0 };
            // A nonblocking collective does not match a blocking one.
            let operation = operation as u64 | u64::from(request != BLOCKING) << 8;
            (communicator, mixed(bytes, mixed(operation, root, sizes) as u32, (bytes >> 32) as u32))
        }
        Call::CommSplit { communicator, .. } => (communicator, 1),
        Call::CommCreate { communicator, .. } => (communicator, 2),
        Call::CommFree { communicator } => (communicator, 3),
        _ => return None,
    })
}

const fn is_rooted(operation: Operation) -> bool {
    matches!(operation, Operation::Broadcast | Operation::Reduce | Operation::Gather | Operation::Scatter)
}

/// Description of a collective with what must agree.
fn words(call: &Call) -> String {
    match *call {
        Call::Collective { operation: Operation::Barrier, .. } => call.name().into(),
        Call::Collective { operation, root, bytes, sizes, .. } => {
            let of = if sizes == crate::call::EQUAL { format!("{} B", bytes.0) } else { format!("sizes {sizes}") };
            let root = if is_rooted(operation) { format!(" with root {root}") } else { String::new() };
            format!("{} of {of}{root}", call.name())
        }
        other => other.to_string(),
    }
}

/// A rank, and the number of its call that created a communicator.
#[derive(Clone, Copy)]
struct Maker {
    rank: u32,
    made: u64,
}

/// Collectives of a rank on the communicator created by its call `made`, with the numbers of their calls.
fn collectives(shared: &JobProgram, communicator: u16, maker: Maker) -> impl Iterator<Item = (u64, Call)> + use<'_> {
    let Maker { rank, made } = maker;
    let mut walker = Walker::new(shared, rank);
    let mut is_over = false;
    std::iter::from_fn(move || {
        while !is_over && matches!(walker.step(shared, None), Ok(true)) {
            let Some(call) = walker.last else { continue };
            if walker.code.calls() > made && mark(&call).is_some_and(|(of, _)| of == communicator) {
                is_over = matches!(call, Call::CommFree { .. }) && communicator != WORLD;
                return Some((walker.code.calls(), call));
            }
        }
        None
    })
}

/// The first difference between two ranks of a communicator.
fn disagreement(shared: &JobProgram, communicator: u16, one: Maker, other: Maker) -> Mistake {
    let (mut ones, mut others) = (collectives(shared, communicator, one), collectives(shared, communicator, other));
    for nth in 1.. {
        let (a, b) = (ones.next(), others.next());
        let at = |rank: u32, call: u64| place(shared, rank, call);
        let reason = match (a, b) {
            (Some((_, a)), Some((_, b))) if mark(&a) == mark(&b) => continue,
            (Some((first, a)), Some((second, b))) => format!(
                "{}: {} is collective {nth} of communicator {communicator}, where {} calls {}",
                at(other.rank, second),
                words(&b),
                at(one.rank, first),
                words(&a)
            ),
            (Some((call, a)), None) => missing(&at(one.rank, call), &a, nth, communicator, other.rank),
            (None, Some((call, b))) => missing(&at(other.rank, call), &b, nth, communicator, one.rank),
            (None, None) => unreachable!("they differ"),
        };
        return Mistake(format!("{reason}; {EXPECTED}"));
    }
    unreachable!("programs end")
}

fn missing(place: &str, call: &Call, nth: u64, communicator: u16, lacks: u32) -> String {
    let words = words(call);
    format!(
        "{place}: {words} is collective {nth} of communicator {communicator}, but rank {lacks} calls only {}",
        nth - 1
    )
}
