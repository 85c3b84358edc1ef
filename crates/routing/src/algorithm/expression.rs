//! The candidates, paths and channels of UGAL and PAR, with the decision as an expression of the experiment file.
//!
//! With groups and one decision, packets take the paths of `ugal-n` or `ugal-g`; with a second decision, of `par`.
//! Without groups they take the paths of `ugal-l`. So the virtual channels and their check are the same too, whatever
//! the expression says.

use super::adaptive::{AdaptiveSettings, DetourRule, CANDIDATES};
use super::crossing::Crossing;
use super::detour_condition::DetourCondition;
use super::{par, ugal, via_router};
use super::{Algorithm, Engines, Machines, Needs, Refusal, Routing, SecondIntermediate};
use crate::next_hop::NextHops;
use odonata_declare::{parameters, words, Kind};
use std::sync::Arc;

words! {
    /// Intermediate of a non-minimal path.
    pub enum Intermediate {
        Router = "router": "a random router of another group (`ugal-n`), or without groups of all (`ugal-l`)",
        Group = "group": "a random group, crossed straight to the destination group (`ugal-g`)",
    }
}

parameters! {
    /// Parameters of a decision by an expression.
    #[derive(PartialEq)]
    pub struct ExpressionSettings {
        /// Condition for the non-minimal path, like "minimal_queue > non_minimal_queue + 16 KiB". Operators: + - * / %,
        /// comparisons, and, or, not, min(a, b), max(a, b).
        pub non_minimal_when: String = "minimal_queue > 2 * non_minimal_queue + 16 * packet_bytes".into(), Kind::Text;
        /// Intermediate of the non-minimal path.
        pub intermediate: Intermediate = Intermediate::Router;
        /// Whether a packet on a minimal path decides again at the second router of the source group, as in `par`.
        pub second_decision: bool = false;
        /// Intermediate router that the second decision weighs.
        pub second_intermediate: SecondIntermediate = SecondIntermediate::Same;
        /// Minimal ports to draw; the one with the shortest queue is used.
        pub minimal_candidates: u32 = 1, CANDIDATES;
        /// Non-minimal paths to draw; the one with the shortest queue is used.
        pub non_minimal_candidates: u32 = 1, CANDIDATES;
    }
}

pub(super) const EXPRESSION: Algorithm = Algorithm {
    name: "expression",
    doc: "paths of `ugal-n`, `ugal-g`, `par` or `ugal-l`; an expression of the experiment file decides",
    machines: Machines::WithIntermediate,
    needs: Needs::LOAD,
    engines: &Engines::hops(build),
};

fn build(hops: Arc<NextHops>, settings: &ExpressionSettings) -> Result<Box<dyn Routing>, Refusal> {
    let &ExpressionSettings { minimal_candidates, non_minimal_candidates, .. } = settings;
    let rule = DetourRule {
        settings: AdaptiveSettings { minimal_candidates, non_minimal_candidates, ..AdaptiveSettings::default() },
        condition: Some(DetourCondition::read("non_minimal_when", &settings.non_minimal_when)?),
    };
    let refused = |key, reason: &str| Err(Refusal::Setting(key, reason.to_owned()));
    let by_group = settings.intermediate == Intermediate::Group;
    match (hops.groups() > 1, settings.second_decision, by_group) {
        (false, true, _) => {
            refused("second_decision", "the machine has no groups, so packets decide once; expected false")
        }
        (false, _, true) => refused("intermediate", "the machine has no groups; expected \"router\""),
        (false, false, false) => via_router::build(hops, Some(rule)),
        (true, true, true) => refused("intermediate", "a second decision weighs routers; expected \"router\""),
        (true, true, false) => par::build(hops, rule, settings.second_intermediate),
        (true, false, true) => ugal::build(Crossing::Straight, hops, rule),
        (true, false, false) => ugal::build(Crossing::Router, hops, rule),
    }
}
