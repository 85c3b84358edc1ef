//! Ping-pong: each rank of the first half with a partner in the second half.

use crate::code::Code;
use crate::rank_program::RankProgram;
use crate::rule::{ProgramContext, ProgramRule};
use odonata_declare::{parameter, Kind, Parameter, ParameterError, Parameters};
use odonata_units::Bytes;
use std::sync::Arc;

/// Parameters of `ping-pong`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PingPongParameters {
    /// Size of each message.
    pub bytes: Bytes,
    /// Number of round trips.
    pub iterations: u32,
}

impl Parameters for PingPongParameters {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(bytes, Kind::Bytes, "Size of each message."),
        parameter!(iterations, Kind::count(1), "Number of round trips."),
    ];
}

impl Default for PingPongParameters {
    fn default() -> Self {
        Self { bytes: Bytes(8), iterations: 100 }
    }
}

impl ProgramRule for PingPongParameters {
    fn build(&self, _: &str, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterError> {
        Ok(Arc::new(PingPong { ranks: context.ranks, parameters: self.clone() }))
    }
}

/// Rank r of the first half sends to r + n/2 and receives from it, blocking. The partner receives first. With an odd
/// number of ranks the last one has no partner.
#[derive(Debug)]
struct PingPong {
    ranks: u32,
    parameters: PingPongParameters,
}

impl RankProgram for PingPong {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn blocks(&self, _: u32) -> u64 {
        self.parameters.iterations.into()
    }

    fn block(&self, rank: u32, _: u64, code: &mut Code) {
        code.mark(0);
        let (half, bytes) = (self.ranks / 2, self.parameters.bytes);
        if rank < half {
            code.send(rank + half, bytes, 0);
            code.recv(rank + half, bytes, 0);
        } else if rank < 2 * half {
            code.recv(rank - half, bytes, 0);
            code.send(rank - half, bytes, 0);
        }
    }

    fn phases(&self) -> Vec<String> {
        vec!["ping-pong".into()]
    }
}

#[cfg(test)]
mod tests {
    use crate::rank_walks::{build, untimed};
    use serde_json::json;

    #[test]
    fn pairs() {
        for ranks in [1, 2, 5, 8] {
            let given = [("iterations", json!(3)), ("final_barrier", json!(false))];
            let messages = 2 * 3 * u64::from(ranks / 2);
            assert_eq!(untimed(&*build("ping-pong", ranks, &given)).totals(), (messages, 8 * messages));
        }
    }
}
