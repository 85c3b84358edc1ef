//! Storage traffic: bursts of all ranks to a few I/O ranks, or reads from them.

use crate::call::Call;
use crate::rank_program::RankProgram;
use crate::repeat::repeat;
use crate::rule::{ProgramContext, ProgramRule};
use odonata_declare::{parameters, words, Kind, ParameterMistake};
use odonata_units::{Bytes, Time};
use std::sync::Arc;

words! {
    /// Direction of storage traffic.
    #[derive(Default)]
    pub enum StorageAccess {
        #[default]
        Write = "write": "ranks put their bytes into the memory of I/O ranks",
        Read = "read": "ranks get them from there",
    }
}

parameters! {
    /// Parameters of `checkpoint`.
    pub struct CheckpointParameters {
        /// Whether ranks write or read.
        pub access: StorageAccess = StorageAccess::Write;
        /// Number of I/O ranks: the last ones of the job. They only serve.
        pub servers: u32 = 1, Kind::COUNT;
        /// Bytes of each other rank in a burst.
        pub bytes: Bytes = Bytes::mib(16);
        /// Size of a stripe. The stripes of a rank go to the I/O ranks in turn, one after the other.
        pub stripe: Bytes = Bytes::mib(1);
        /// Time that each rank computes before a burst.
        pub compute: Time = Time::ZERO;
        /// Number of bursts.
        pub iterations: u32 = 1, Kind::COUNT;
    }
}

/// Rank r starts with I/O rank r modulo their number, so that they share the load.
impl ProgramRule for CheckpointParameters {
    fn io_ranks(&self) -> u32 {
        self.servers
    }

    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let (ranks, &Self { access, servers, bytes, stripe, compute, iterations }) = (context.ranks, self);
        if servers > ranks {
            return Err(("servers", format!("{servers}, but the job has {ranks} ranks")));
        }
        if stripe == Bytes(0) {
            return Err(("stripe", format!("{stripe}; expected more than 0 B")));
        }
        let clients = ranks - servers;
        Ok(repeat(ranks, iterations, &["compute", "burst"], move |rank, code| {
            if rank >= clients {
                return code.serve();
            }
            code.mark(0);
            code.compute_if_any(compute);
            code.mark(1);
            for number in 0..bytes.0.div_ceil(stripe.0) {
                let server = clients + ((u64::from(rank) + number) % u64::from(servers)) as u32;
                let part = Bytes(stripe.0.min(bytes.0 - number * stripe.0));
                code.push(match access {
                    StorageAccess::Write => Call::Put { to: server, bytes: part },
                    StorageAccess::Read => Call::Get { from: server, bytes: part },
                });
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::rank_walks::{build, try_build, untimed};
    use serde_json::json;

    /// 5 ranks with 10 kB each in stripes of 4 kB, 2 I/O ranks: stripes 0 and 2 of even ranks go to the first one.
    #[test]
    fn stripes_go_to_servers_in_turn() {
        let given = |access: &str| {
            [
                ("access", json!(access)),
                ("servers", json!(2)),
                ("bytes", json!("10 kB")),
                ("stripe", json!("4 kB")),
                ("final_barrier", json!(false)),
            ]
        };
        let written = untimed(&*build("checkpoint", 7, &given("write")));
        assert_eq!(written.totals(), (5 * 3, 5 * 10_000));
        assert_eq!((written.received_by(5), written.received_by(6)), (3 * 6_000 + 2 * 4_000, 3 * 4_000 + 2 * 6_000));
        let read = untimed(&*build("checkpoint", 7, &given("read")));
        assert_eq!((read.bytes_of(5), read.bytes_of(6)), (26_000, 24_000));
        let error = try_build("checkpoint", 3, &[("servers", json!(4))]).unwrap_err().to_string();
        assert_eq!(error, "job 'test': program 'checkpoint': servers: 4, but the job has 3 ranks");
    }
}
