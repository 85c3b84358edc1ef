//! The program `amg-setup`: the recorded set-up of a hierarchy, kernel by kernel and exchange by exchange.
//!
//! In each exchange a rank posts its receives, starts its sends and waits for all, as in the program `amg`. The
//! empty messages of packages go along trees, which carry the news that all ranks are done: a rank sends after it has
//! received. Collectives follow the exchange after which the ranks called them. Nothing
//! is computed.

use crate::import::recording::{self, Collective, Recording};
use crate::{Phase, HIERARCHIES};
use odonata_declare::{parameters, Kind, ParameterMistake, Reader};
use odonata_import::CommunicationGraph;
use odonata_programs::{Code, ProgramContext, ProgramRule, RankProgram};
use odonata_units::{Bytes, RankId};
use std::sync::Arc;

parameters! {
    /// Parameters of `amg-setup` and the data read for them.
    pub struct SetUpParameters {
        /// Directory of `odonata amg hierarchy --record`.
        pub hierarchy: String, Kind::KnownOrPath(HIERARCHIES);
        /// The program that was read.
        program: Option<Arc<SetUpProgram>> = None, no key;
    }
}

const KEY: &str = "hierarchy";

impl ProgramRule for SetUpParameters {
    fn read(&mut self, ranks: u32, files: &mut dyn Reader) -> Result<(), ParameterMistake> {
        let wrong = |reason: String| (KEY, format!("'{KEY}': {reason}"));
        let recording = recording::read(&self.hierarchy, ranks, files).map_err(wrong)?;
        self.program = Some(Arc::new(SetUpProgram::new(ranks, recording)));
        Ok(())
    }

    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        match &self.program {
            Some(program) if program.ranks == context.ranks => Ok(program.clone()),
            Some(program) => {
                let (made_on, job) = (program.ranks, context.ranks);
                Err((KEY, format!("'{}' has {made_on} ranks, but the job has {job}", self.hierarchy)))
            }
            None if self.hierarchy.is_empty() => {
                Err((KEY, "missing; write the path of a hierarchy's directory".into()))
            }
            None => Err((KEY, format!("no hierarchy was read from '{}'", self.hierarchy))),
        }
    }
}

#[derive(Debug)]
struct Step {
    /// Number of its phase.
    phase: u32,
    sent: CommunicationGraph,
    /// The same messages by receiver: each message's target is its source.
    received: CommunicationGraph,
    /// Whether its messages only say that all ranks are done.
    is_tree: bool,
    collectives: Vec<Collective>,
}

#[derive(Debug)]
struct SetUpProgram {
    ranks: u32,
    steps: Vec<Step>,
    phases: Vec<String>,
}

/// Whether empty messages go to lower ranks alone, or to higher ranks alone. Then no ranks wait for each other.
fn is_tree(messages: &[(RankId, RankId, Bytes)]) -> bool {
    let all = |holds: fn(&(RankId, RankId, Bytes)) -> bool| messages.iter().all(holds);
    all(|one| one.2 .0 == 0) && (all(|one| one.0 > one.1) || all(|one| one.0 < one.1))
}

impl SetUpProgram {
    fn new(ranks: u32, recording: Recording) -> Self {
        let mut numbered: Vec<(u32, Phase)> = Vec::new();
        let mut steps = Vec::new();
        for ((level, _, kernel), exchange) in recording {
            let known = numbered.iter().position(|one| *one == (level, kernel));
            let phase = known.unwrap_or_else(|| {
                numbered.push((level, kernel));
                numbered.len() - 1
            });
            let turned: Vec<_> = exchange.messages.iter().map(|&(from, to, bytes)| (to, from, bytes)).collect();
            let graph = |messages: &[(RankId, RankId, Bytes)]| {
                CommunicationGraph::from_messages("set-up", ranks, messages).expect("the reader checks ranks")
            };
            steps.push(Step {
                phase: phase as u32,
                sent: graph(&exchange.messages),
                received: graph(&turned),
                is_tree: kernel == Phase::Packages && is_tree(&exchange.messages),
                collectives: exchange.collectives,
            });
        }
        let phases = numbered.iter().map(|(level, kernel)| format!("level {level} {}", kernel.word())).collect();
        Self { ranks, steps, phases }
    }
}

impl RankProgram for SetUpProgram {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn blocks(&self, _: u32) -> u64 {
        self.steps.len() as u64
    }

    fn block(&self, rank: u32, index: u64, code: &mut Code) {
        let step = &self.steps[index as usize];
        code.mark(step.phase);
        for (source, bytes) in step.received.messages_of(RankId(rank)) {
            code.irecv(source.0, bytes, 0);
        }
        let received = code.requests();
        if step.is_tree && received > 0 {
            code.wait_all();
        }
        for (target, bytes) in step.sent.messages_of(RankId(rank)) {
            code.isend(target.0, bytes, 0);
        }
        let first = if step.is_tree { received } else { 0 };
        if code.requests() > first {
            code.wait_for(first, code.requests() - first);
        }
        for one in &step.collectives {
            (0..one.calls).for_each(|_| code.collective(one.operation, 0, one.bytes));
        }
    }

    fn phases(&self) -> Vec<String> {
        self.phases.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_help::Directory;
    use odonata_programs::{Call, Operation};

    const MESSAGES: &str = "phase,level,step,source,destination,messages,bytes\n\
                            galerkin,0,3,1,0,1,7\ncoarsen,0,1,0,1,2,10\npackages,0,2,1,0,1,0\nsmooth,0,0,0,1,1,80\n\
                            regroup,1,0,1,0,1,24\n";
    const COLLECTIVES: &str = "phase,level,step,call,communicator,ranks,calls,bytes\n\
                               coarsen,0,1,MPI_Allreduce,0,2,4,32\nweights,0,1,MPI_Bcast,0,2,2,8\n\
                               elimination,1,0,MPI_Allgather,3,1,1,4\n";

    #[test]
    fn empty_messages_in_one_direction_are_a_tree() {
        let of = |messages: &[(u32, u32, u64)]| {
            is_tree(
                &messages.iter().map(|&(from, to, bytes)| (RankId(from), RankId(to), Bytes(bytes))).collect::<Vec<_>>(),
            )
        };
        assert!(of(&[(1, 0, 0), (3, 1, 0)]) && of(&[(0, 1, 0), (1, 3, 0)]));
        assert!(!of(&[(1, 0, 0), (0, 1, 0)]) && !of(&[(1, 0, 8)]) && !of(&[(1, 1, 0)]));
    }

    #[test]
    fn a_hierarchy_must_be_read_first() {
        let error = |hierarchy: &str| {
            let rule = SetUpParameters { hierarchy: hierarchy.into(), ..SetUpParameters::default() };
            rule.build(&ProgramContext { job: "a", ranks: 2, seed: 1 }).map(|_| ()).unwrap_err().1
        };
        assert_eq!(error(""), "missing; write the path of a hierarchy's directory");
        assert_eq!(error("h"), "no hierarchy was read from 'h'");
    }

    fn built(messages: &'static str) -> Result<Arc<dyn RankProgram>, String> {
        let files: &'static [(&'static str, &'static str)] = Box::leak(Box::new([
            ("h/recorded_messages.parquet", messages),
            ("h/recorded_collectives.parquet", COLLECTIVES),
        ]));
        let mut rule = SetUpParameters { hierarchy: "h".into(), ..SetUpParameters::default() };
        let mistake = |(key, reason): ParameterMistake| format!("{key}: {reason}");
        rule.read(2, &mut Directory(files)).map_err(mistake)?;
        rule.build(&ProgramContext { job: "a", ranks: 2, seed: 1 }).map_err(mistake)
    }

    fn block(program: &dyn RankProgram, rank: u32, index: u64) -> Vec<Call> {
        let mut code = Code::default();
        program.block(rank, index, &mut code);
        code.calls().to_vec()
    }

    /// By step: two messages and two allreduces, a broadcast of another kernel in the same step, a tree in which rank 0
    /// waits first, the product; then the gathering of level 1. The cycle's message is no part.
    #[test]
    fn a_set_up_by_hand() {
        let program = built(MESSAGES).unwrap();
        assert_eq!(
            program.phases(),
            ["level 0 coarsen", "level 0 weights", "level 0 packages", "level 0 galerkin", "level 1 regroup"]
        );
        let calls = block(&*program, 0, 0);
        let sent = |calls: &[Call]| -> Vec<u64> {
            let bytes = calls.iter().filter_map(|call| match call {
                Call::Isend { bytes, .. } => Some(bytes.0),
                _ => None,
            });
            bytes.collect()
        };
        assert_eq!(sent(&calls), [5, 5]);
        let reduced =
            |call: &&Call| matches!(call, Call::Collective { operation: Operation::Allreduce, bytes: Bytes(8), .. });
        assert_eq!(calls.iter().filter(reduced).count(), 2);
        assert!(matches!(block(&*program, 1, 1)[1], Call::Collective { operation: Operation::Broadcast, .. }));
        // Rank 1 sends at once; rank 0 only receives.
        assert!(matches!(block(&*program, 1, 2)[1], Call::Isend { .. }));
        assert!(matches!(block(&*program, 0, 2)[1..], [Call::Irecv { .. }, Call::WaitAll { .. }]));
        assert_eq!((sent(&block(&*program, 1, 3)), sent(&block(&*program, 1, 4))), (vec![7], vec![24]));
        assert_eq!(program.blocks(0), 5);
    }

    #[test]
    fn mistakes_have_a_reason() {
        let error = |text| built(text).unwrap_err();
        assert!(error("phase,level,source,destination,messages,bytes\n").contains("no column 'step'"));
        assert!(error("phase,level,step,source,destination,messages,bytes\n").ends_with("has no messages of a set-up"));
        assert!(error("phase,level,step,source,destination,messages,bytes\ncoarsen,0,1,0,2,1,8\n")
            .contains("rank 2 in a job with ranks 0 to 1"));
    }
}
