//! The table of messages of rank programs.

use super::programs::Ran;
use odonata_declare::Type::{Bool, Coded, U32, U64};
use odonata_declare::Unit::{Bytes as InBytes, Plain, Ps};
use odonata_declare::{Column, FilledTable, Values, Word};
use odonata_packet::InjectionTimes;
use odonata_transport::{MessageRecord, Protocol};

/// Of the packet with which a message was complete, a time on its way, where nodes have injection FIFOs; none on its node.
fn on_the_way(ran: &Ran, get: impl Fn(&MessageRecord, &InjectionTimes) -> u64) -> Option<Values> {
    ran.has_fifos.then(|| of(ran, |m| m.injection_times.as_ref().map_or(0, |injection_times| get(m, injection_times))))
}

fn of<T>(ran: &Ran, get: impl Fn(&MessageRecord) -> T) -> Values
where
    Values: FromIterator<T>,
{
    ran.messages.iter().map(get).collect()
}

pub(super) const MESSAGES: FilledTable<'_, Ran> = FilledTable {
    name: "messages",
    row: "message between ranks of a job with a program that was received",
    sorted_by: &["job", "source", "destination", "number"],
    under: Some("record_messages = true"),
    doc: "Messages of collectives included. A message that is under way, or that waits for its receive, at the end of the run has no row.",
    columns: &[
        Column::key("job", U32, Plain, "Job", "Number of the job.").of("jobs").by(|ran| of(ran, |m| u32::from(m.job))),
        Column::key("source", U32, Plain, "Source", "Rank that sent it.").by(|ran| of(ran, |m| m.source)),
        Column::key("destination", U32, Plain, "Destination", "Rank that received it.")
            .by(|ran| of(ran, |m| m.destination)),
        Column::key("number", U32, Plain, "Number", "How many the one sent to the other before it.")
            .by(|ran| of(ran, |m| m.number)),
        Column::attribute("communicator", U32, Plain, "Communicator", "Communicator in its program; 0 is that of all ranks.")
            .by(|ran| of(ran, |m| u32::from(m.context.communicator))),
        Column::attribute("collective", Bool, Plain, "Collective", "Whether it is of a collective.")
            .by(|ran| of(ran, |m| m.context.collective)),
        Column::attribute(
            "tag",
            U32,
            Plain,
            "Tag",
            "Its tag; of a collective, how many there were before on its communicator.",
        )
        .by(|ran| of(ran, |m| m.context.tag)),
        Column::attribute(
            "protocol",
            Coded,
            Plain,
            "Protocol",
            "`eager`, at once with its data; `rendezvous`, announced, and sent when the receiver asks for it; `on-node`, between ranks of \
             one node.",
        )
        .by(|ran| Values::Text {
            codes: ran.messages.iter().map(|m| m.protocol as i32).collect(),
            texts: Protocol::ALL.iter().map(|protocol| protocol.word().to_owned()).collect(),
        }),
        Column::sum("bytes", U64, InBytes, "Size", "Its bytes, without those of the protocol.")
            .by(|ran| of(ran, |m| m.bytes.0)),
        Column::attribute("created_ps", U64, Ps, "Posted", "When its sender began to send it, on the sender's clock.")
            .by(|ran| of(ran, |m| m.created.ps())),
        Column::attribute(
            "injected_ps",
            U64,
            Ps,
            "Started",
            "When its first packet left the interface, of a long one that of the announcement; on a node, when the host handed it over.",
        )
        .by(|ran| of(ran, |m| m.injected.ps())),
        Column::attribute(
            "delivered_ps",
            U64,
            Ps,
            "Arrived",
            "When its last byte was at the receiver's interface; on a node, when it was handed over to the receiver.",
        )
        .by(|ran| of(ran, |m| m.delivered.ps())),
        Column::attribute(
            "matched_ps",
            U64,
            Ps,
            "Matched",
            "When it and its receive had found each other, on the receiver's clock: of a long one before, of others after it arrived.",
        )
        .by(|ran| of(ran, |m| m.matched.ps())),
        Column::attribute(
            "memory_fifo_ps",
            U64,
            Ps,
            "In the memory FIFO",
            "Of the packet with which its data was complete, the time from its making until a torus FIFO took it; 0 on a node.",
        )
        .under("injection")
        .by_if(|ran| on_the_way(ran, |_, injection_times| injection_times.taken_ps - injection_times.created_ps)),
        Column::attribute(
            "torus_fifo_ps",
            U64,
            Ps,
            "In the torus FIFO",
            "Of this packet, the time from then until the router took it, that between node and router included; 0 on a node.",
        )
        .under("injection")
        .by_if(|ran| on_the_way(ran, |_, injection_times| injection_times.injected_ps - injection_times.taken_ps)),
        Column::attribute(
            "network_ps",
            U64,
            Ps,
            "In the network",
            "Of this packet, the time from then until its last byte was at the receiver's interface; 0 on a node.",
        )
        .under("injection")
        .by_if(|ran| on_the_way(ran, |m, injection_times| m.delivered.ps() - injection_times.injected_ps)),
    ],
};
