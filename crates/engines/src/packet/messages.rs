//! The table of messages of rank programs.

use super::program_records::ProgramRecords;
use crate::record::ids::JOB;
use odonata_declare::Type::{Bool, Coded, U32, U64};
use odonata_declare::Unit::{Bytes as InBytes, Plain, Ps};
use odonata_declare::{Column, FilledTable, Values, Word};
use odonata_packet::InjectionTimes;
use odonata_transport::{MessageRecord, Protocol};

/// A time on the path of the packet that completed a message, if nodes have injection FIFOs; 0 within a node.
fn on_path(ran: &ProgramRecords, get: impl Fn(&MessageRecord, &InjectionTimes) -> u64) -> Option<Values> {
    ran.has_fifos.then(|| of(ran, |m| m.injection_times.as_ref().map_or(0, |injection_times| get(m, injection_times))))
}

fn of<T>(ran: &ProgramRecords, get: impl Fn(&MessageRecord) -> T) -> Values
where
    Values: FromIterator<T>,
{
    ran.messages.iter().map(get).collect()
}

pub(super) const MESSAGES: FilledTable<'_, ProgramRecords> = FilledTable {
    name: "messages",
    row: "received message between ranks of a job with a program",
    sorted_by: &["job", "source", "destination", "number"],
    under: Some("record_messages = true"),
    doc: "Includes messages of collectives. A message in flight, or waiting for its receive, at the end of the run has no row.",
    columns: &[
        JOB.by(|ran| of(ran, |m| u32::from(m.job))),
        Column::key("source", U32, Plain, "Source", "Sending rank.").by(|ran| of(ran, |m| m.source)),
        Column::key("destination", U32, Plain, "Destination", "Receiving rank.")
            .by(|ran| of(ran, |m| m.destination)),
        Column::key("number", U32, Plain, "Number", "Number of the message from this source to this destination, from 0.")
            .by(|ran| of(ran, |m| m.number)),
        Column::attribute("communicator", U32, Plain, "Communicator", "Communicator in the program; 0 contains all ranks.")
            .by(|ran| of(ran, |m| u32::from(m.context.communicator))),
        Column::attribute("collective", Bool, Plain, "Collective", "Whether a collective sent the message.")
            .by(|ran| of(ran, |m| m.context.collective)),
        Column::attribute(
            "tag",
            U32,
            Plain,
            "Tag",
            "Tag; for a collective, its number on the communicator, from 0.",
        )
        .by(|ran| of(ran, |m| m.context.tag)),
        Column::attribute(
            "protocol",
            Coded,
            Plain,
            "Protocol",
            "`eager`: sent at once with its data. `rendezvous`: a header first, the data when the receiver requests them. `on-node`: between ranks of one node.",
        )
        .by(|ran| Values::Text {
            codes: ran.messages.iter().map(|m| m.protocol as i32).collect(),
            texts: Protocol::ALL.iter().map(|protocol| protocol.word().to_owned()).collect(),
        }),
        Column::sum("bytes", U64, InBytes, "Payload", "Payload of the message.")
            .by(|ran| of(ran, |m| m.bytes.0)),
        Column::attribute("created_ps", U64, Ps, "Created", "Start of the send, on the sender's clock.")
            .by(|ran| of(ran, |m| m.created.ps())),
        Column::attribute(
            "injected_ps",
            U64,
            Ps,
            "Injected",
            "Departure of the first packet from the NIC; for `rendezvous`, of the header. On a node: time at which the host passed it on.",
        )
        .by(|ran| of(ran, |m| m.injected.ps())),
        Column::attribute(
            "delivered_ps",
            U64,
            Ps,
            "Delivered",
            "Delivery of the last byte to the receiver's NIC. On a node: time at which the receiver got it.",
        )
        .by(|ran| of(ran, |m| m.delivered.ps())),
        Column::attribute(
            "matched_ps",
            U64,
            Ps,
            "Matched",
            "Time at which the message matched its receive, on the receiver's clock: for `rendezvous` before the data are delivered, otherwise after.",
        )
        .by(|ran| of(ran, |m| m.matched.ps())),
        Column::attribute(
            "memory_fifo_ps",
            U64,
            Ps,
            "In the memory FIFO",
            "Time of the last packet from creation until a torus FIFO took it; 0 on a node.",
        )
        .under("injection")
        .by_if(|ran| on_path(ran, |_, injection_times| injection_times.taken_ps - injection_times.created_ps)),
        Column::attribute(
            "torus_fifo_ps",
            U64,
            Ps,
            "In the torus FIFO",
            "Time of this packet from the end of `memory_fifo_ps` until the router took it, including the link from the node; 0 on a node.",
        )
        .under("injection")
        .by_if(|ran| on_path(ran, |_, injection_times| injection_times.injected_ps - injection_times.taken_ps)),
        Column::attribute(
            "network_ps",
            U64,
            Ps,
            "In the network",
            "Time of this packet from the end of `torus_fifo_ps` until the delivery of its last byte; 0 on a node.",
        )
        .under("injection")
        .by_if(|ran| on_path(ran, |m, injection_times| m.delivered.ps() - injection_times.injected_ps)),
    ],
};
