//! A rank relative to now (`odonata_checkpoint::Snapshot`).

use super::host::RankHost;
use super::lane::{ActiveCall, Lane, LaneState};
use super::state_machine::Rank;
use super::transfers::{Notice, Transfer};
use crate::relative::{put_label, MESSAGES};
use odonata_checkpoint::{Snapshot, Writer};
use odonata_programs::{GroupLists, Repetition};

impl Rank {
    /// Adds the state to a snapshot, without records.
    pub(crate) fn snapshot(&self, repetition: Option<&Repetition>, lists: &mut GroupLists, into: &mut Snapshot) {
        let Self {
            job: _,
            number,
            node: _,
            lane,
            tasks,
            host,
            record: _,
            sent,
            is_background: _,
            skipped: _,
            followed: _,
        } = self;
        into.counter(MESSAGES, (u64::from(*number), 0), *sent);
        if let Some(tasks) = tasks {
            // A task graph has absolute times: it never repeats.
            let mut bytes = Writer::default();
            tasks.save(&mut bytes);
            into.put(&bytes.into_bytes());
        }
        into.part("programs");
        put_lane(lane, repetition, lists, into);
        into.part("hosts");
        put_host(*number, host, into);
    }
}

fn put_lane(lane: &Lane, repetition: Option<&Repetition>, lists: &mut GroupLists, into: &mut Snapshot) {
    // Rounds belong to jobs in the background, and the last call to reports.
    let Lane { code, clock, state, call, collectives, round_start: _, phase, last: _ } = lane;
    code.snapshot(repetition, lists, into);
    into.deadline(*clock);
    match state {
        LaneState::Blocked { wait, incomplete, since } => {
            into.put(&(0u8, wait, incomplete));
            into.time(*since);
        }
        other => into.put(&(1u8, other)),
    }
    into.put(&call.is_some());
    if let Some(ActiveCall { kind, since, blocked, name: _ }) = call {
        into.put(&(kind, blocked));
        into.time(*since);
    }
    // Times of phases are records.
    into.put(&(collectives, phase.as_ref().map(|(number, ..)| number)));
}

fn put_host(rank: u32, host: &RankHost, into: &mut Snapshot) {
    let RankHost { clock, notices, posted, unexpected, requests, sends, receives } = host;
    into.deadline(*clock);
    into.put(&(requests, notices.len()));
    for (at, notice) in notices {
        into.time(*at);
        match *notice {
            Notice::Message { kind, label, bytes, transfer } => {
                into.put(&(0u8, kind, bytes, transfer));
                put_label(rank, label, into);
            }
            other => into.put(&(1u8, other)),
        }
    }
    into.put(&(posted.iter().count(), unexpected.iter().count()));
    for (label, receive) in posted.iter() {
        put_label(rank, label, into);
        into.put(&(receive.bytes, receive.slot));
        into.counter("calls", (rank.into(), 0), receive.call);
    }
    for (label, message) in unexpected.iter() {
        put_label(rank, label, into);
        into.put(&message);
    }
    for (place, transfers) in [sends, receives].into_iter().enumerate() {
        into.put(&transfers.open().count());
        for (id, Transfer { peer, bytes, slot, number, remote }) in transfers.open() {
            into.put(&(id, peer, bytes, slot, remote));
            // Receives have no number.
            if place == 0 {
                into.counter(MESSAGES, (rank.into(), 0), *number);
            }
        }
    }
}
