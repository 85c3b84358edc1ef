//! A ring: every rank sends to the next rank and receives from the rank before.

use crate::code::Code;
use crate::rank_program::RankProgram;
use crate::rule::{ProgramContext, ProgramRule};
use odonata_declare::{parameter, Kind, Parameter, ParameterError, Parameters};
use odonata_units::Bytes;
use std::sync::Arc;

/// Parameters of `ring`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RingParameters {
    /// Size of each message.
    pub bytes: Bytes,
    /// Number of iterations.
    pub iterations: u32,
}

impl Parameters for RingParameters {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(bytes, Kind::Bytes, "Size of each message."),
        parameter!(iterations, Kind::count(1), "Number of times that every rank sends."),
    ];
}

impl Default for RingParameters {
    fn default() -> Self {
        Self { bytes: Bytes::kib(64), iterations: 10 }
    }
}

impl ProgramRule for RingParameters {
    fn build(&self, _: &str, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterError> {
        Ok(Arc::new(Ring { ranks: context.ranks, parameters: self.clone() }))
    }
}

/// Posts the receive, sends, blocking, and waits. A single rank does nothing.
#[derive(Debug)]
struct Ring {
    ranks: u32,
    parameters: RingParameters,
}

impl RankProgram for Ring {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn blocks(&self, _: u32) -> u64 {
        self.parameters.iterations.into()
    }

    fn block(&self, rank: u32, _: u64, code: &mut Code) {
        code.mark(0);
        if self.ranks > 1 {
            let before = rank.checked_sub(1).unwrap_or(self.ranks - 1);
            let after = if rank + 1 == self.ranks { 0 } else { rank + 1 };
            let request = code.irecv(before, self.parameters.bytes, 0);
            code.send(after, self.parameters.bytes, 0);
            code.wait(request);
        }
    }

    fn phases(&self) -> Vec<String> {
        vec!["ring".into()]
    }
}

#[cfg(test)]
mod tests {
    use crate::rank_walks::{build, untimed};
    use serde_json::json;

    #[test]
    fn everybody_sends_to_the_next() {
        let given = [("iterations", json!(4)), ("final_barrier", json!(false))];
        let report = untimed(&*build("ring", 5, &given));
        assert_eq!(report.totals(), (20, 20 << 16));
        assert!(report.messages.iter().all(|message| message.to == (message.from + 1) % 5));
    }
}
