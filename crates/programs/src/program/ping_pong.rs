//! Ping-pong: each rank of the first half with a partner in the second half.

use crate::rank_program::RankProgram;
use crate::repeat::repeat;
use crate::rule::{ProgramContext, ProgramRule};
use odonata_declare::{parameters, Kind, ParameterMistake};
use odonata_units::Bytes;
use std::sync::Arc;

parameters! {
    /// Parameters of `ping-pong`.
    pub struct PingPongParameters {
        /// Size of each message.
        pub bytes: Bytes = Bytes(8);
        /// Number of round trips.
        pub iterations: u32 = 100, Kind::COUNT;
    }
}

/// Rank r of the first half sends to r + n/2 and receives from it, blocking. The partner receives first. With an odd
/// number of ranks the last one has no partner.
impl ProgramRule for PingPongParameters {
    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let (half, &Self { bytes, iterations }) = (context.ranks / 2, self);
        Ok(repeat(context.ranks, iterations, &["ping-pong"], move |rank, code| {
            code.mark(0);
            if rank < half {
                code.send(rank + half, bytes, 0);
                code.recv(rank + half, bytes, 0);
            } else if rank < 2 * half {
                code.recv(rank - half, bytes, 0);
                code.send(rank - half, bytes, 0);
            }
        }))
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
