//! What a message costs at the hosts and at the network interfaces.

use odonata_declare::{parameter, words, Field, Kind, Parameter, Parameters};
use odonata_units::{Bytes, Time};

words! {
    /// Where the values of the other keys come from that are not given.
    pub enum MpiPreset {
        Study = "study": "the interference study's runs (Kang et al. 2022)",
        StudyAsWritten = "study-as-written": "the same, and the receiver of an eager message copies it, too",
        Ideal = "ideal": "hosts and interfaces take no time: the network alone",
        BlueGeneP = "bgp": "Blue Gene/P: as `ideal`, and messages of less than 1,200 B go at once",
        BlueGeneQ = "bgq": "Blue Gene/Q: as `ideal`, and messages of up to 2,048 B go at once",
    }
}

/// What messages cost: a LogGP-like model of hosts and interfaces, with matching by the length of queues, eager and rendezvous.
#[derive(Clone, PartialEq, Debug)]
pub struct MpiSettings {
    /// Where the values that are not given come from.
    pub preset: MpiPreset,
    /// Messages up to this size go at once; longer ones when the receiver asks for them.
    pub eager_limit: Bytes,
    /// Time at the start and at the end of every call.
    pub enter: Time,
    /// See `enter`.
    pub leave: Time,
    /// Time to set up a send.
    pub send_setup: Time,
    /// Time to set up a receive that has found its message.
    pub receive_setup: Time,
    /// Time to write the header that receivers match.
    pub header: Time,
    /// Time for each byte that the sender of an eager message, or the receiver of one on the node, copies, in ns.
    pub copy_ns_per_byte: f64,
    /// The same at the receiver of an eager message, in ns.
    pub receive_copy_ns_per_byte: f64,
    /// Time to register or give back memory, and for each whole page of it.
    pub register: Time,
    /// See `register`.
    pub register_page: Time,
    /// Size of a page.
    pub page: Bytes,
    /// Time for each entry of a queue that is compared with a message or a receive.
    pub matching: Time,
    /// Time from the host to its interface, for a command, and back, for a completion.
    pub host_latency: Time,
    /// Time in which an interface starts a message.
    pub nic_start: Time,
    /// Time in which an interface takes the first packet of a message that its host has to look at.
    pub nic_receive: Time,
    /// Time in which an interface fetches the data that another one asks for.
    pub nic_fetch: Time,
    /// Time of a message between ranks of a node.
    pub node_latency: Time,
    /// Bytes that travel with an eager message.
    pub eager_overhead: Bytes,
    /// Bytes of the message that announces a long one.
    pub announcement: Bytes,
    /// Bytes of the message that asks for the data.
    pub get: Bytes,
    /// Bytes that travel with the data.
    pub data_overhead: Bytes,
    /// Bytes of the message that says that the data have come.
    pub acknowledgement: Bytes,
    /// Packets for which an interface has room before the link; a packet's latency counts from its entry.
    pub injection_buffer: u32,
    /// Packets that an interface prepares before those; a get waits behind both.
    pub prepared: u32,
}

impl MpiSettings {
    /// The study's: `docs/models/mpi.md` has where each value comes from.
    pub const fn study() -> Self {
        Self {
            preset: MpiPreset::Study,
            eager_limit: Bytes(12_000),
            enter: Time::from_ns(30),
            leave: Time::from_ns(30),
            send_setup: Time::from_ns(13),
            receive_setup: Time::from_ns(10),
            header: Time::from_ns(11),
            copy_ns_per_byte: 0.344,
            receive_copy_ns_per_byte: 0.0,
            register: Time::from_ns(300),
            register_page: Time::from_ns(10),
            page: Bytes(4_096),
            matching: Time::from_ns(15),
            host_latency: Time::from_ns(5),
            nic_start: Time::from_ns(5),
            nic_receive: Time::from_ns(10),
            nic_fetch: Time::from_ns(200),
            node_latency: Time::from_ns(2),
            eager_overhead: Bytes(45),
            announcement: Bytes(45),
            get: Bytes(13),
            data_overhead: Bytes(13),
            acknowledgement: Bytes(15),
            injection_buffer: 30,
            prepared: 100,
        }
    }

    /// The study's platform as its file reads: the receiver's copy is charged by the byte.
    pub const fn study_as_written() -> Self {
        let study = Self::study();
        Self { preset: MpiPreset::StudyAsWritten, receive_copy_ns_per_byte: study.copy_ns_per_byte, ..study }
    }

    /// Nothing but the network takes time. Messages and packets are those of the study.
    pub const fn ideal() -> Self {
        Self {
            preset: MpiPreset::Ideal,
            enter: Time::ZERO,
            leave: Time::ZERO,
            send_setup: Time::ZERO,
            receive_setup: Time::ZERO,
            header: Time::ZERO,
            copy_ns_per_byte: 0.0,
            receive_copy_ns_per_byte: 0.0,
            register: Time::ZERO,
            register_page: Time::ZERO,
            matching: Time::ZERO,
            host_latency: Time::ZERO,
            nic_start: Time::ZERO,
            nic_receive: Time::ZERO,
            nic_fetch: Time::ZERO,
            node_latency: Time::ZERO,
            ..Self::study()
        }
    }

    /// Blue Gene/P: `ideal`, with the limit of its MPICH (`DCMF_EAGER`: from 1,200 B on a message is announced).
    pub const fn blue_gene_p() -> Self {
        Self { preset: MpiPreset::BlueGeneP, eager_limit: Bytes(1_199), ..Self::ideal() }
    }

    /// Blue Gene/Q: `ideal`, with PAMI's limit: 2,049 B is the first size that is announced.
    pub const fn blue_gene_q() -> Self {
        Self { preset: MpiPreset::BlueGeneQ, eager_limit: Bytes(2_048), ..Self::ideal() }
    }

    /// Whether a message of so many bytes goes at once.
    pub fn is_eager(&self, bytes: Bytes) -> bool {
        bytes <= self.eager_limit
    }

    /// Time in ps to register, or give back, the memory of a message: nothing for those that go at once.
    pub(crate) fn registration_ps(&self, bytes: Bytes) -> u64 {
        if self.is_eager(bytes) {
            return 0;
        }
        self.register.ps() + (bytes.0 / self.page.0.max(1)).saturating_mul(self.register_page.ps())
    }

    /// Time in ps of a copy, in whole ns.
    pub(crate) fn copy_ps(ns_per_byte: f64, bytes: Bytes) -> u64 {
        (ns_per_byte * bytes.as_f64()).round() as u64 * 1_000
    }
}

impl Default for MpiSettings {
    fn default() -> Self {
        Self::study()
    }
}

const NS_PER_BYTE: Kind = Kind::Number { min: 0.0, max: 1e6 };

impl Parameters for MpiSettings {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        Parameter::new(
            "preset",
            MpiPreset::KIND,
            "Where the values of the keys below come from when they are not given; their defaults here are those of `study`.",
            |settings| settings.preset.get(),
            |settings, preset| {
                *settings = match MpiPreset::of(preset) {
                    MpiPreset::Study => Self::study(),
                    MpiPreset::StudyAsWritten => Self::study_as_written(),
                    MpiPreset::Ideal => Self::ideal(),
                    MpiPreset::BlueGeneP => Self::blue_gene_p(),
                    MpiPreset::BlueGeneQ => Self::blue_gene_q(),
                }
            },
        ),
        parameter!(eager_limit, Kind::Bytes, "Messages up to this size go at once; longer ones when the receiver asks for them."),
        parameter!(enter, Kind::Time, "Time at the start of every call; a collective is one."),
        parameter!(leave, Kind::Time, "Time at the end of every call."),
        parameter!(send_setup, Kind::Time, "Time to set up a send."),
        parameter!(receive_setup, Kind::Time, "Time to set up a receive that has found its message."),
        parameter!(header, Kind::Time, "Time to write the header that receivers match."),
        parameter!(copy_ns_per_byte, NS_PER_BYTE, "Time for each byte that the sender of an eager message copies, or the receiver of one on its node, in ns; a copy takes whole ns."),
        parameter!(receive_copy_ns_per_byte, NS_PER_BYTE, "The same at the receiver of an eager message."),
        parameter!(register, Kind::Time, "Time to register the memory of a message longer than `eager_limit`: at the sender, at the receiver when it posts the receive, and once more when it has waited for it."),
        parameter!(register_page, Kind::Time, "The same for each whole page of it."),
        parameter!(page, Kind::Bytes, "Size of a page."),
        parameter!(matching, Kind::Time, "Time for each entry of a queue that is compared, the one found included."),
        parameter!(host_latency, Kind::Time, "Time from the host to its interface and back, for every command and every completion."),
        parameter!(nic_start, Kind::Time, "Time in which an interface starts a message; a get takes none."),
        parameter!(nic_receive, Kind::Time, "Time in which an interface takes the first packet of an eager message, an announcement or an acknowledgement."),
        parameter!(nic_fetch, Kind::Time, "Time in which an interface fetches the data that another one asks for."),
        parameter!(node_latency, Kind::Time, "Time of a message between ranks of a node."),
        parameter!(eager_overhead, Kind::Bytes, "Bytes that travel with an eager message."),
        parameter!(announcement, Kind::Bytes, "Bytes of the message that announces a long one."),
        parameter!(get, Kind::Bytes, "Bytes of the message that asks for the data."),
        parameter!(data_overhead, Kind::Bytes, "Bytes that travel with the data."),
        parameter!(acknowledgement, Kind::Bytes, "Bytes of the message that says that the data have come."),
        parameter!(injection_buffer, Kind::count(1), "Packets for which an interface has room before its link; a packet's latency counts from its entry."),
        parameter!(prepared, Kind::COUNT, "Packets that an interface prepares before those; a get waits behind both."),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes that their messaging software sends at once, and the first that it does not (`DCMF_EAGER`; PAMI).
    #[test]
    fn blue_gene_rendezvous_starts_at_1200_and_2049_bytes() {
        for (settings, first) in [(MpiSettings::blue_gene_p(), 1_200), (MpiSettings::blue_gene_q(), 2_049)] {
            assert!(settings.is_eager(Bytes(first - 1)));
            assert!(!settings.is_eager(Bytes(first)));
        }
    }
}
