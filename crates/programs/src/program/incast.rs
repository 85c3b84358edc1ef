//! The program `incast`: all ranks send to a few ranks at once.

use crate::code::Code;
use crate::rank_program::RankProgram;
use crate::rule::{ProgramContext, ProgramRule};
use odonata_declare::{parameter, Kind, Parameter, ParameterError, Parameters};
use odonata_units::Bytes;
use std::sync::Arc;

/// Parameters of `incast`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IncastParameters {
    /// Size of each message.
    pub bytes: Bytes,
    /// Number of receiving ranks, from rank 0.
    pub receivers: u32,
    /// Number of iterations.
    pub iterations: u32,
}

impl Parameters for IncastParameters {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(bytes, Kind::Bytes, "Size of each message."),
        parameter!(
            receivers,
            Kind::count(1),
            "Number of receiving ranks, from rank 0. The other ranks send to them in turn."
        ),
        parameter!(iterations, Kind::count(1), "Number of times that every rank sends."),
    ];
}

impl Default for IncastParameters {
    fn default() -> Self {
        Self { bytes: Bytes::kib(64), receivers: 1, iterations: 10 }
    }
}

impl ProgramRule for IncastParameters {
    fn build(&self, owner: &str, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterError> {
        if self.receivers > context.ranks {
            let reason = format!("{}, but the job has {} ranks", self.receivers, context.ranks);
            return Err(ParameterError::new(owner, "receivers", reason));
        }
        Ok(Arc::new(Incast { ranks: context.ranks, parameters: self.clone() }))
    }
}

/// Receivers post all their receives and wait. Rank r sends to receiver r modulo their number, blocking.
#[derive(Debug)]
struct Incast {
    ranks: u32,
    parameters: IncastParameters,
}

impl RankProgram for Incast {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn blocks(&self, _: u32) -> u64 {
        self.parameters.iterations.into()
    }

    fn block(&self, rank: u32, _: u64, code: &mut Code) {
        code.mark(0);
        let IncastParameters { bytes, receivers, .. } = self.parameters;
        if rank >= receivers {
            return code.send(rank % receivers, bytes, 0);
        }
        for from in (rank..self.ranks).step_by(receivers as usize).skip(1) {
            code.irecv(from, bytes, 0);
        }
        code.wait_all();
    }

    fn phases(&self) -> Vec<String> {
        vec!["incast".into()]
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
