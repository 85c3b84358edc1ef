//! Cost of a message at hosts and NICs.

use odonata_declare::{parameter, words, Field, Kind, Parameter, Parameters};
use odonata_units::{Bytes, Time};

words! {
    /// Source of the values that are not given.
    pub enum MpiPreset {
        Study = "study": "runs of the interference study (Kang et al. 2022)",
        StudyAsWritten = "study-as-written": "as `study`, but the receiver of an eager message copies it too",
        Ideal = "ideal": "hosts and NICs take no time: only the network counts",
        BlueGeneP = "bgp": "Blue Gene/P: as `ideal`, with eager messages below 1,200 B",
        BlueGeneQ = "bgq": "Blue Gene/Q: as `ideal`, with eager messages up to 2,048 B",
    }
}

/// Cost of messages: a LogGP-like model of hosts and NICs with eager and rendezvous protocols. Matching is charged by
/// queue length.
#[derive(Clone, PartialEq, Debug)]
pub struct MpiSettings {
    /// Source of the values that are not given.
    pub preset: MpiPreset,
    /// Largest eager message. Longer messages use a rendezvous.
    pub eager_limit: Bytes,
    /// Time at the start of every call.
    pub enter: Time,
    /// Time at the end of every call.
    pub leave: Time,
    /// Time to set up a send.
    pub send_setup: Time,
    /// Time to set up a receive after its match.
    pub receive_setup: Time,
    /// Time to write the header that receivers match.
    pub header_setup: Time,
    /// Time per byte, in ns, that the sender of an eager message copies, or the receiver of a message on its node.
    pub copy_ns_per_byte: f64,
    /// Time per byte, in ns, that the receiver of an eager message copies.
    pub receive_copy_ns_per_byte: f64,
    /// Time to register or deregister memory.
    pub register: Time,
    /// Additional time for each whole page.
    pub register_page: Time,
    /// Size of a page.
    pub page: Bytes,
    /// Time per queue entry that is compared.
    pub matching: Time,
    /// Time from the host to its NIC for a command, and back for a completion.
    pub host_latency: Time,
    /// Time of a NIC to start a message.
    pub nic_start: Time,
    /// Time of a NIC to receive the first packet of a message that its host must handle.
    pub nic_receive: Time,
    /// Time of a NIC to fetch data for a get request.
    pub nic_fetch: Time,
    /// Latency of a message between ranks of a node.
    pub node_latency: Time,
    /// Header bytes of an eager message.
    pub eager_overhead: Bytes,
    /// Size of the rendezvous header.
    pub rendezvous_header: Bytes,
    /// Size of a get request.
    pub get_request: Bytes,
    /// Header bytes of rendezvous data.
    pub data_overhead: Bytes,
    /// Size of the acknowledgement.
    pub acknowledgement: Bytes,
    /// Capacity of a NIC's injection buffer, in packets. A packet's latency counts from its entry.
    pub injection_buffer_packets: u32,
    /// Packets that a NIC prepares before the buffer. A get request waits for both.
    pub prepared_packets: u32,
}

impl MpiSettings {
    /// The study's values. `docs/models/mpi.md` gives their sources.
    pub const fn study() -> Self {
        Self {
            preset: MpiPreset::Study,
            eager_limit: Bytes(12_000),
            enter: Time::from_ns(30),
            leave: Time::from_ns(30),
            send_setup: Time::from_ns(13),
            receive_setup: Time::from_ns(10),
            header_setup: Time::from_ns(11),
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
            rendezvous_header: Bytes(45),
            get_request: Bytes(13),
            data_overhead: Bytes(13),
            acknowledgement: Bytes(15),
            injection_buffer_packets: 30,
            prepared_packets: 100,
        }
    }

    /// The platform file of the study, taken literally: the receiver's copy costs time per byte.
    pub const fn study_as_written() -> Self {
        let study = Self::study();
        Self { preset: MpiPreset::StudyAsWritten, receive_copy_ns_per_byte: study.copy_ns_per_byte, ..study }
    }

    /// Only the network takes time. Messages and packets are as in `study`.
    pub const fn ideal() -> Self {
        Self {
            preset: MpiPreset::Ideal,
            enter: Time::ZERO,
            leave: Time::ZERO,
            send_setup: Time::ZERO,
            receive_setup: Time::ZERO,
            header_setup: Time::ZERO,
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

    /// Blue Gene/P: `ideal`, with the limit of its MPICH (`DCMF_EAGER`): 1,200 B is the smallest rendezvous message.
    pub const fn blue_gene_p() -> Self {
        Self { preset: MpiPreset::BlueGeneP, eager_limit: Bytes(1_199), ..Self::ideal() }
    }

    /// Blue Gene/Q: `ideal`, with PAMI's limit: 2,049 B is the smallest rendezvous message.
    pub const fn blue_gene_q() -> Self {
        Self { preset: MpiPreset::BlueGeneQ, eager_limit: Bytes(2_048), ..Self::ideal() }
    }

    /// Whether a message of this size is eager.
    pub fn is_eager(&self, bytes: Bytes) -> bool {
        bytes <= self.eager_limit
    }

    /// Time in ps to register or deregister the memory of a message. Eager messages need none.
    pub(crate) fn registration_ps(&self, bytes: Bytes) -> u64 {
        if self.is_eager(bytes) {
            return 0;
        }
        self.register.ps() + (bytes.0 / self.page.0.max(1)).saturating_mul(self.register_page.ps())
    }

    /// Time of a copy in ps. A copy takes whole ns.
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
            "Source of the values of the other keys that are not given. The defaults shown here are from `study`.",
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
        parameter!(eager_limit, Kind::Bytes, "Largest eager message. Longer messages use a rendezvous."),
        parameter!(enter, Kind::Time, "Time at the start of every call. A collective is one call."),
        parameter!(leave, Kind::Time, "Time at the end of every call."),
        parameter!(send_setup, Kind::Time, "Time to set up a send."),
        parameter!(receive_setup, Kind::Time, "Time to set up a receive after its match."),
        parameter!(header_setup, Kind::Time, "Time to write the header that receivers match."),
        parameter!(
            copy_ns_per_byte,
            NS_PER_BYTE,
            "Time per byte, in ns, that the sender of an eager message copies, \
            or the receiver of a message on its node. A copy takes whole ns."
        ),
        parameter!(
            receive_copy_ns_per_byte,
            NS_PER_BYTE,
            "Time per byte, in ns, that the receiver of an eager \
            message copies."
        ),
        parameter!(
            register,
            Kind::Time,
            "Time to register the memory of a rendezvous message: at the sender, at the \
            receiver when it posts the receive, and again after its wait."
        ),
        parameter!(register_page, Kind::Time, "Additional time to register each whole page."),
        parameter!(page, Kind::Bytes, "Size of a page."),
        parameter!(matching, Kind::Time, "Time per queue entry that is compared, including the match."),
        parameter!(
            host_latency,
            Kind::Time,
            "Time from the host to its NIC for every command, and back for every \
            completion."
        ),
        parameter!(nic_start, Kind::Time, "Time of a NIC to start a message. A get request takes none."),
        parameter!(
            nic_receive,
            Kind::Time,
            "Time of a NIC to receive the first packet of an eager message, a \
            rendezvous header or an acknowledgement."
        ),
        parameter!(nic_fetch, Kind::Time, "Time of a NIC to fetch data for a get request."),
        parameter!(node_latency, Kind::Time, "Latency of a message between ranks of a node."),
        parameter!(eager_overhead, Kind::Bytes, "Header bytes of an eager message."),
        parameter!(rendezvous_header, Kind::Bytes, "Size of the rendezvous header, which the sender sends first."),
        parameter!(get_request, Kind::Bytes, "Size of the get request, with which the receiver requests the data."),
        parameter!(data_overhead, Kind::Bytes, "Header bytes of rendezvous data."),
        parameter!(acknowledgement, Kind::Bytes, "Size of the acknowledgement, which ends a rendezvous."),
        parameter!(
            injection_buffer_packets,
            Kind::count(1),
            "Capacity of a NIC's injection buffer, in packets. A \
            packet's latency counts from its entry."
        ),
        parameter!(
            prepared_packets,
            Kind::COUNT,
            "Packets that a NIC prepares before the injection buffer. A get \
            request waits for both."
        ),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest eager and smallest rendezvous message of their messaging software (`DCMF_EAGER`; PAMI).
    #[test]
    fn blue_gene_rendezvous_starts_at_1200_and_2049_bytes() {
        for (settings, first) in [(MpiSettings::blue_gene_p(), 1_200), (MpiSettings::blue_gene_q(), 2_049)] {
            assert!(settings.is_eager(Bytes(first - 1)));
            assert!(!settings.is_eager(Bytes(first)));
        }
    }
}
