//! The program `incast`: all ranks send to a few ranks at once.

use crate::rank_program::RankProgram;
use crate::repeat::repeat;
use crate::rule::{ProgramContext, ProgramRule};
use odonata_declare::{parameters, Kind, ParameterMistake};
use odonata_units::Bytes;
use std::sync::Arc;

parameters! {
    /// Parameters of `incast`.
    pub struct IncastParameters {
        /// Size of each message.
        pub bytes: Bytes = Bytes::kib(64);
        /// Number of receiving ranks, from rank 0. The other ranks send to them in turn.
        pub receivers: u32 = 1, Kind::COUNT;
        /// Number of times that every rank sends.
        pub iterations: u32 = 10, Kind::COUNT;
    }
}

/// Receivers post all their receives and wait. Rank r sends to receiver r modulo their number, blocking.
impl ProgramRule for IncastParameters {
    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let (ranks, &Self { bytes, receivers, iterations }) = (context.ranks, self);
        if receivers > ranks {
            return Err(("receivers", format!("{receivers}, but the job has {ranks} ranks")));
        }
        Ok(repeat(ranks, iterations, &["incast"], move |rank, code| {
            code.mark(0);
            if rank >= receivers {
                return code.send(rank % receivers, bytes, 0);
            }
            for from in (rank..ranks).step_by(receivers as usize).skip(1) {
                code.irecv(from, bytes, 0);
            }
            code.wait_all();
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::rank_walks::{build, try_build, untimed};
    use serde_json::json;

    #[test]
    fn everybody_sends_to_its_receiver() {
        let given = [("receivers", json!(3)), ("iterations", json!(2)), ("final_barrier", json!(false))];
        let report = untimed(&*build("incast", 11, &given));
        assert_eq!(report.totals().0, 2 * 8);
        assert!(report.messages.iter().all(|message| message.to == message.from % 3));
        let error = try_build("incast", 2, &given).unwrap_err().to_string();
        assert_eq!(error, "job 'test': program 'incast': receivers: 3, but the job has 2 ranks");
    }
}
