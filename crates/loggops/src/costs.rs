//! The six parameters of the LogGOPS model.

use odonata_declare::parameters;
use odonata_units::{Bytes, Time};

parameters! {
    /// The parameters, with LogGOPSim's defaults.
    #[derive(Copy, PartialEq, Eq)]
    pub struct Costs {
        /// `L`: latency of the network.
        #[decides(result)]
        pub latency: Time = Time::from_ns(2_500);
        /// `o`: processor time of a send or of an arriving message.
        #[decides(result)]
        pub overhead: Time = Time::from_ns(1_500);
        /// `g`: minimum time between two messages of a NIC, in each direction.
        #[decides(result)]
        pub gap: Time = Time::from_ns(1_000);
        /// `G`: time per byte after the first at the NIC, and at the receiving processor.
        #[decides(result)]
        pub gap_per_byte: Time = Time::from_ns(6);
        /// `O`: processor time per byte after the first.
        #[decides(result)]
        pub overhead_per_byte: Time = Time::ZERO;
        /// `S`: largest eager message. The send of a larger message ends when the message is matched.
        #[decides(result)]
        pub eager_limit: Bytes = Bytes(65_535);
    }
}

impl Costs {
    /// Processor time of a send.
    pub(crate) fn send_overhead(&self, bytes: Bytes) -> Time {
        charge(self.overhead, self.overhead_per_byte, bytes)
    }

    /// Processor time of an arriving message.
    pub(crate) fn receive_overhead(&self, bytes: Bytes) -> Time {
        charge(self.overhead, self.overhead_per_byte.max(self.gap_per_byte), bytes)
    }

    /// Time at a NIC in one direction.
    pub(crate) fn nic_time(&self, bytes: Bytes) -> Time {
        charge(self.gap, self.gap_per_byte, bytes)
    }

    /// Time from the start of a send to the arrival of its first byte.
    pub(crate) fn first_byte(&self) -> Time {
        sum(self.overhead, self.latency)
    }

    /// Whether the send of a message waits for its receive.
    pub(crate) fn is_rendezvous(&self, bytes: Bytes) -> bool {
        bytes > self.eager_limit
    }
}

/// A message costs a constant for its first byte and time for each further byte. Without bytes it costs the constant.
fn charge(first: Time, per_byte: Time, bytes: Bytes) -> Time {
    sum(first, Time(per_byte.0.saturating_mul(bytes.0.saturating_sub(1))))
}

/// A sum that stays at the largest time. [`run`](crate::run) reports it.
pub(crate) fn sum(a: Time, b: Time) -> Time {
    Time(a.0.saturating_add(b.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LogGOPSim computes with 0 - 1 bytes: 1,494 ns instead of 1,500.
    #[test]
    fn a_message_without_bytes_costs_the_constants() {
        let costs = Costs { overhead_per_byte: Time::from_ns(1), ..Costs::default() };
        for bytes in [Bytes(0), Bytes(1)] {
            assert_eq!(costs.send_overhead(bytes), costs.overhead);
            assert_eq!(costs.receive_overhead(bytes), costs.overhead);
            assert_eq!(costs.nic_time(bytes), costs.gap);
        }
        assert_eq!(costs.send_overhead(Bytes(11)), Time::from_ns(1_510));
        assert_eq!(costs.receive_overhead(Bytes(11)), Time::from_ns(1_560));
        assert_eq!(costs.nic_time(Bytes(11)), Time::from_ns(1_060));
    }
}
