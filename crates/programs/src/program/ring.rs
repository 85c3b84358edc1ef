//! A ring: every rank sends to the next rank and receives from the rank before.

use crate::rank_program::RankProgram;
use crate::repeat::repeat;
use crate::rule::{ProgramContext, ProgramRule};
use odonata_declare::{parameters, Kind, ParameterMistake};
use odonata_units::Bytes;
use std::sync::Arc;

parameters! {
    /// Parameters of `ring`.
    pub struct RingParameters {
        /// Size of each message.
        pub bytes: Bytes = Bytes::kib(64);
        /// Number of times that every rank sends.
        pub iterations: u32 = 10, Kind::COUNT;
    }
}

/// Posts the receive, sends, blocking, and waits. A single rank does nothing.
impl ProgramRule for RingParameters {
    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let (ranks, &Self { bytes, iterations }) = (context.ranks, self);
        Ok(repeat(ranks, iterations, &["ring"], move |rank, code| {
            code.mark(0);
            if ranks > 1 {
                let before = rank.checked_sub(1).unwrap_or(ranks - 1);
                let after = if rank + 1 == ranks { 0 } else { rank + 1 };
                let request = code.irecv(before, bytes, 0);
                code.send(after, bytes, 0);
                code.wait(request);
            }
        }))
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
