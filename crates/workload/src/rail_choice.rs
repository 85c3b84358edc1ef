//! Keys of the rail selection. [`crate::rails`] applies them.

use odonata_declare::{parameters, words};
use odonata_units::Bytes;

words! {
    /// Rule that selects the NIC of a message.
    #[derive(Default)]
    pub enum RailRule {
        Affinity = "affinity": "the NIC of its rank: the ranks of a node use the NICs in turn",
        RoundRobin = "round-robin": "the messages of a rank use the NICs in turn",
        Hash = "hash": "by a hash of both ranks",
        #[default]
        Stripe = "stripe": "all NICs, in equal parts; small messages as `affinity`",
    }
}

parameters! {
    /// Rail selection of messages.
    #[derive(Copy, PartialEq, Eq)]
    pub struct RailChoice {
        /// Rule that selects one of several NICs of a node for a message, at both ends.
        #[decides(result)]
        pub rail_rule: RailRule = RailRule::default();
        /// Smallest message that `stripe` divides into parts.
        pub stripe_from: Bytes = Bytes(16 << 10);
    }
}
