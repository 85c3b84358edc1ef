//! Cost of a message at hosts and NICs.

use odonata_declare::{parameters, words, Kind};
use odonata_units::{Bytes, Time};

words! {
    /// Source of the costs that are not given.
    pub enum HostCosts {
        Modern = "modern": "current adapters and processors, fitted to published OSU micro-benchmarks",
        Study = "study": "runs of the interference study (Kang et al. 2022)",
        StudyAsWritten = "study-as-written": "as `study`, but the receiver of an eager message copies it too",
        Ideal = "ideal": "hosts and NICs take no time: only the network counts",
        BlueGeneP = "bgp": "Blue Gene/P: as `ideal`, with eager messages below 1,200 B",
        BlueGeneQ = "bgq": "Blue Gene/Q: as `ideal`, with eager messages up to 2,048 B",
    }
}

words! {
    /// Time at which the host of a rank works on messages.
    #[derive(Default)]
    pub enum Progress {
        #[default]
        InCalls = "in-calls": "only while its rank is in a call",
        Async = "async": "also while its rank computes or sleeps, by a progress thread or the NIC; a call waits for work that has begun",
    }
}

parameters! {
    /// Cost of messages: a LogGP-like model of hosts and NICs with eager and rendezvous protocols. Matching is charged by
    /// queue length.
    #[derive(PartialEq)]
    pub struct MpiSettings {
        /// Source of the costs of hosts and NICs that are not given. The defaults shown here are from `modern`.
        #[decides(result)]
        pub host: HostCosts = HostCosts::Modern => Self::of;
        /// Time at which messages make progress.
        pub progress: Progress = Progress::InCalls;
        /// Most tasks of a task graph that a rank has read and not done. A run whose result would depend on it stops.
        pub task_window: u32 = 4_096, Kind::COUNT;
        /// Largest eager message. Longer messages use a rendezvous.
        pub eager_limit: Bytes = Bytes(8_192);
        /// Time at the start of every call. A collective is one call.
        pub enter: Time = Time::from_ns(20);
        /// Time at the end of every call.
        pub leave: Time = Time::from_ns(20);
        /// Time to set up a send.
        pub send_setup: Time = Time::from_ns(40);
        /// Time to set up a receive after its match.
        pub receive_setup: Time = Time::from_ns(40);
        /// Time to write the header that receivers match.
        pub header_setup: Time = Time::from_ns(20);
        /// Time per byte, in ns, that the sender of an eager message copies, or the receiver of a message on its node.
        /// A copy takes whole ns.
        pub copy_ns_per_byte: f64 = 0.09, NS_PER_BYTE;
        /// Time per byte, in ns, that the receiver of an eager message copies.
        pub receive_copy_ns_per_byte: f64 = 0.09, NS_PER_BYTE;
        /// Time to register the memory of a rendezvous message: at the sender, at the receiver when it posts the
        /// receive, and again after its wait.
        pub register: Time = Time::ZERO;
        /// Additional time to register each whole page.
        pub register_page: Time = Time::ZERO;
        /// Size of a page.
        pub page: Bytes = Bytes(4_096);
        /// Time per queue entry that is compared, including the match.
        pub matching: Time = Time::from_ns(20);
        /// Time from the host to its NIC for every command, and back for every completion.
        pub host_latency: Time = Time::from_ns(370);
        /// Time of a NIC to start a message. A get request takes none.
        pub nic_start: Time = Time::from_ns(10);
        /// Time of a NIC to receive the first packet of an eager message, a rendezvous header or an acknowledgement.
        pub nic_receive: Time = Time::from_ns(10);
        /// Time of a NIC to fetch data for a get request.
        pub nic_fetch: Time = Time::from_ns(200);
        /// Latency of a message between ranks of a node.
        pub node_latency: Time = Time::from_ns(90);
        /// Header bytes of an eager message.
        pub eager_overhead: Bytes = Bytes(45);
        /// Size of the rendezvous header, which the sender sends first.
        pub rendezvous_header: Bytes = Bytes(45);
        /// Size of the get request, with which the receiver requests the data.
        pub get_request: Bytes = Bytes(13);
        /// Header bytes of rendezvous data.
        pub data_overhead: Bytes = Bytes(13);
        /// Size of the acknowledgement, which ends a rendezvous.
        pub acknowledgement: Bytes = Bytes(15);
        /// Capacity of a NIC's injection buffer, in packets. A packet's latency counts from its entry.
        pub injection_buffer_packets: u32 = 30, Kind::COUNT;
        /// Packets that a NIC prepares before the injection buffer. A get request waits for both.
        pub prepared_packets: u32 = 100, Kind::COUNT;
    }
}

impl MpiSettings {
    /// The settings of a choice of costs.
    pub fn of(host: HostCosts) -> Self {
        match host {
            HostCosts::Modern => Self::modern(),
            HostCosts::Study => Self::study(),
            HostCosts::StudyAsWritten => Self::study_as_written(),
            HostCosts::Ideal => Self::ideal(),
            HostCosts::BlueGeneP => Self::blue_gene_p(),
            HostCosts::BlueGeneQ => Self::blue_gene_q(),
        }
    }

    /// Current adapters and processors. `docs/models/mpi.md` names the measurements.
    pub fn modern() -> Self {
        Self::default()
    }

    /// The study's values. `docs/models/mpi.md` gives their sources.
    pub fn study() -> Self {
        Self {
            host: HostCosts::Study,
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
            matching: Time::from_ns(15),
            host_latency: Time::from_ns(5),
            nic_start: Time::from_ns(5),
            node_latency: Time::from_ns(2),
            // Sizes and buffers are the same.
            ..Self::modern()
        }
    }

    /// The platform file of the study, taken literally: the receiver's copy costs time per byte.
    pub fn study_as_written() -> Self {
        let study = Self::study();
        Self { host: HostCosts::StudyAsWritten, receive_copy_ns_per_byte: study.copy_ns_per_byte, ..study }
    }

    /// Only the network takes time. Messages and packets are as in `study`.
    pub fn ideal() -> Self {
        Self {
            host: HostCosts::Ideal,
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
    pub fn blue_gene_p() -> Self {
        Self { host: HostCosts::BlueGeneP, eager_limit: Bytes(1_199), ..Self::ideal() }
    }

    /// Blue Gene/Q: `ideal`, with PAMI's limit: 2,049 B is the smallest rendezvous message.
    pub fn blue_gene_q() -> Self {
        Self { host: HostCosts::BlueGeneQ, eager_limit: Bytes(2_048), ..Self::ideal() }
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

const NS_PER_BYTE: Kind = Kind::Number { min: 0.0, max: 1e6 };

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
