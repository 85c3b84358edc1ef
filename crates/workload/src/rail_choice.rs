//! Keys of the rail selection. [`crate::rails`] applies them.

use odonata_declare::{parameter, words, Kind, Parameter, Parameters};
use odonata_units::Bytes;

words! {
    /// Rule that selects the NIC of a message.
    #[derive(Default)]
    pub enum RailRule {
        #[default]
        Affinity = "affinity": "the NIC of its rank: the ranks of a node use the NICs in turn",
        RoundRobin = "round-robin": "the messages of a rank use the NICs in turn",
        Hash = "hash": "by a hash of both ranks",
        Stripe = "stripe": "all NICs, in equal parts; small messages as `affinity`",
    }
}

/// Rail selection of messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RailChoice {
    /// The rule.
    pub rail_rule: RailRule,
    /// Smallest striped message.
    pub stripe_from: Bytes,
}

impl Default for RailChoice {
    fn default() -> Self {
        Self { rail_rule: RailRule::default(), stripe_from: Bytes(16 << 10) }
    }
}

impl Parameters for RailChoice {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(
            rail_rule,
            RailRule::KIND,
            "Rule that selects one of several NICs of a node for a message, at both ends."
        ),
        parameter!(stripe_from, Kind::Bytes, "Smallest message that `stripe` divides into parts."),
    ];
}
