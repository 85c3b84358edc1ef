//! What a user says of how messages are spread over the interfaces of nodes; [`crate::rails`] does it.

use odonata_declare::{parameter, words, Kind, Parameter, Parameters};
use odonata_units::Bytes;

words! {
    /// Which of the interfaces of its node a message takes.
    #[derive(Default)]
    pub enum RailRule {
        #[default]
        Affinity = "affinity": "that of its rank: the ranks of a node take turns",
        RoundRobin = "round-robin": "the messages of a rank take turns",
        Hash = "hash": "by a hash of both ranks",
        Stripe = "stripe": "all of them, in equal parts; small ones as `affinity`",
    }
}

/// How messages are spread over the interfaces of nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RailChoice {
    /// Which they take.
    pub rail_rule: RailRule,
    /// Size from which on they are striped.
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
            "Which of several interfaces of its node a message takes, there and at its target."
        ),
        parameter!(stripe_from, Kind::Bytes, "Size from which on `stripe` cuts a message in parts."),
    ];
}
