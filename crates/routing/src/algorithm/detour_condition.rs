//! The user's condition for a non-minimal path: an expression over what UGAL and PAR see when they decide.

use super::{Decision, Header, Refusal};
use crate::next_hop::Port;
use odonata_expression::{Dimension, Expression, Scope};

/// A quantity of the condition.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// Name.
    pub name: &'static str,
    /// Dimension.
    pub dimension: Dimension,
    /// Meaning.
    pub doc: &'static str,
}

const fn quantity(name: &'static str, dimension: Dimension, doc: &'static str) -> Quantity {
    Quantity { name, dimension, doc }
}

/// The quantities, in the order of the variables.
pub const QUANTITIES: [Quantity; 13] = [
    quantity("minimal_queue", Dimension::Data, "queue estimate of the minimal port"),
    quantity("non_minimal_queue", Dimension::Data, "queue estimate of the port of the non-minimal path"),
    quantity("minimal_waiting", Dimension::Data, "packets at heads of input queues that wait for the minimal port"),
    quantity("non_minimal_waiting", Dimension::Data, "the same for the port of the non-minimal path"),
    quantity("minimal_hops", Dimension::Number, "hops of the minimal path from here"),
    quantity("non_minimal_hops", Dimension::Number, "hops of the non-minimal path from here"),
    quantity("packet_bytes", Dimension::Data, "size of a full packet"),
    quantity("hops", Dimension::Number, "hops so far: 0 at the source router, 1 at a second decision"),
    quantity("router", Dimension::Number, "number of the deciding router"),
    quantity("source", Dimension::Number, "number of the source node"),
    quantity("destination", Dimension::Number, "number of the destination node"),
    quantity("now", Dimension::Time, "simulated time"),
    quantity("random", Dimension::Number, "a number from 0 to 999,999, drawn for each decision"),
];

/// Values that `random` takes.
const RANDOM: u64 = 1_000_000;

/// Places in [`QUANTITIES`] of what is expensive to know.
const WAITING: usize = 2;
const HOPS: usize = 4;
const DRAW: usize = 12;

/// One of the two paths of a decision: its first port, and the queue there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alternative {
    pub(super) port: Port,
    pub(super) queue: u64,
}

/// The condition.
#[derive(Debug)]
pub(super) struct DetourCondition {
    expression: Expression,
    reads_waiting: bool,
    reads_hops: bool,
    reads_random: bool,
}

impl DetourCondition {
    /// Reads the parameter called `key`.
    pub(super) fn read(key: &'static str, text: &str) -> Result<Self, Refusal> {
        let scope = Scope::of_variables(QUANTITIES.map(|quantity| (quantity.name, quantity.dimension)));
        let expression = Expression::read(text, &scope, Dimension::Truth).map_err(|mistake| {
            let line = if text.contains('\n') { format!("line {}, ", mistake.line) } else { String::new() };
            Refusal::Setting(key, format!("{line}column {}: {}", mistake.column, mistake.reason))
        })?;
        let reads = |first: usize, count: usize| (first..first + count).any(|place| expression.depends_on(place));
        let (reads_waiting, reads_hops, reads_random) = (reads(WAITING, 2), reads(HOPS, 2), reads(DRAW, 1));
        Ok(Self { expression, reads_waiting, reads_hops, reads_random })
    }

    /// Whether the packet takes the second alternative, the non-minimal path. `hops` gives the hops of both.
    pub(super) fn holds(
        &self,
        alternatives: [Alternative; 2],
        decision: &mut Decision<'_>,
        packet: &Header,
        hops: impl FnOnce([Alternative; 2]) -> [u32; 2],
    ) -> bool {
        let load = decision.load;
        let amount = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        let [minimal, other] = alternatives;
        let waiting = |path: Alternative| if self.reads_waiting { amount(load.waiting_bytes(path.port)) } else { 0 };
        let [minimal_hops, other_hops] = if self.reads_hops { hops(alternatives) } else { [0; 2] };
        let values: [i64; QUANTITIES.len()] = [
            amount(minimal.queue),
            amount(other.queue),
            waiting(minimal),
            waiting(other),
            minimal_hops.into(),
            other_hops.into(),
            amount(load.packet_bytes()),
            packet.state.hops.into(),
            decision.router.0.into(),
            packet.source.0.into(),
            packet.destination.0.into(),
            amount(decision.now_ps),
            if self.reads_random { decision.random.below(RANDOM) as i64 } else { 0 },
        ];
        self.expression.saturating(&values) != 0
    }
}
