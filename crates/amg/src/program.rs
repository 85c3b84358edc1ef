//! The program `amg`: V-cycles of a hierarchy, exchange by exchange.
//!
//! Down: on each level two products with the matrix (a sweep, the residual) and the restriction. Coarsest level: three
//! products. Up: the interpolation and one product (a sweep). In each exchange a rank posts its receives, starts its
//! sends, waits for all of them, and computes. It computes the mean work of all ranks. As in the formulas (`cycle`),
//! computation and communication do not overlap. A rank waits only for its partners, so one slow exchange does not
//! delay all ranks.

use crate::cycle::Work;
use crate::import::messages::LevelExchanges;
use crate::import::{self, WholeCycle, HIERARCHIES};
use crate::{Hierarchy, SetUpParameters};
use odonata_declare::{parameters, Kind, ParameterMistake, Reader, Variant};
use odonata_import::CommunicationGraph;
use odonata_programs::{Code, ProgramContext, ProgramRule, RankProgram};
use odonata_units::Time;
use odonata_workload::PatternProgram;
use std::sync::Arc;

/// The programs of this crate.
pub const PROGRAMS: &[Variant<dyn ProgramRule>] = &[
    Variant {
        name: "amg",
        doc: "cycles of an algebraic multigrid hierarchy, level by level",
        default: || Box::new(CycleParameters::default()),
    },
    Variant {
        name: "amg-setup",
        doc: "the set-up of an algebraic multigrid hierarchy, exchange by exchange as recorded",
        default: || Box::new(SetUpParameters::default()),
    },
];

parameters! {
    /// Parameters of `amg` and the data read for them.
    pub struct CycleParameters {
        /// Directory of `odonata amg hierarchy`, a message list (CSV, Parquet), or the name of a hierarchy in the
        /// package.
        pub hierarchy: String, Kind::KnownOrPath(HIERARCHIES);
        /// Number of cycles.
        pub iterations: u32 = 1, Kind::COUNT;
        /// Time of a floating-point operation on levels 0, 1, ..., in ns. The last value holds for all coarser levels.
        /// Without values nothing is computed. Each rank computes the mean work of all ranks.
        pub flop_ns: Vec<f64> = Vec::new(), Kind::List(&FLOP_NS);
        /// The program that was read.
        program: Option<Arc<CycleProgram>> = None, no key;
    }
}

/// At most a millisecond per operation. Nothing is slower, so a larger value is a mistake in the unit.
const FLOP_NS: Kind = Kind::Number { min: 0.0, max: 1e6 };

const KEY: &str = "hierarchy";

impl ProgramRule for CycleParameters {
    fn read(&mut self, ranks: u32, files: &mut dyn Reader) -> Result<(), ParameterMistake> {
        let wrong = |reason: String| (KEY, format!("'{KEY}': {reason}"));
        let whole = import::read_cycle(&self.hierarchy, ranks, files).map_err(wrong)?;
        if !self.flop_ns.is_empty() && whole.levels.is_none() {
            let reason = format!("'flop_ns' needs a level table, and '{}' has only messages", self.hierarchy);
            return Err(("flop_ns", reason));
        }
        if let Some(levels) = whole.levels.as_ref().filter(|levels| levels.levels().len() < whole.exchanges.len()) {
            let (table, lists) = (levels.levels().len(), whole.exchanges.len());
            return Err(wrong(format!("its table has {table} levels, but its messages have {lists}")));
        }
        self.program = Some(Arc::new(CycleProgram::new(ranks, whole, &self.flop_ns, self.iterations)));
        Ok(())
    }

    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let wrong = |reason: String| Err((KEY, reason));
        match &self.program {
            Some(program) if program.ranks == context.ranks => Ok(program.clone()),
            Some(program) => {
                wrong(format!("'{}' has {} ranks, but the job has {}", self.hierarchy, program.ranks, context.ranks))
            }
            None if self.hierarchy.is_empty() => wrong("missing; write the path of a hierarchy's directory".into()),
            None => wrong(format!("no hierarchy was read from '{}'", self.hierarchy)),
        }
    }
}

/// One exchange with the following work.
#[derive(Debug, Clone)]
struct Step {
    /// Number of its phase.
    phase: u32,
    /// `None` on levels with one rank.
    exchange: Option<Arc<PatternProgram>>,
    compute: Time,
}

#[derive(Debug)]
struct CycleProgram {
    ranks: u32,
    iterations: u32,
    steps: Vec<Step>,
    phases: Vec<String>,
}

impl CycleProgram {
    fn new(ranks: u32, whole: WholeCycle, flop_ns: &[f64], iterations: u32) -> Self {
        let count = whole.levels.as_ref().map_or(0, |levels| levels.levels().len()).max(whole.exchanges.len());
        let mut exchanges = whole.exchanges.into_iter();
        let mut phases = Vec::new();
        // A product, a restriction and an interpolation for each level.
        let levels: Vec<[Step; 3]> = (0..count)
            .map(|level| {
                let LevelExchanges { product, restrict, interpolate } = exchanges.next().unwrap_or_default();
                let work = whole.levels.as_ref().map_or([Time::ZERO; 3], |levels| computed(levels, level, flop_ns));
                let there = [("smooth", true), ("restrict", level + 1 < count), ("interpolate", level > 0)];
                let mut of = work.into_iter().zip(there).zip([product, restrict, interpolate]);
                std::array::from_fn(|_| {
                    let ((compute, (phase, is_there)), graph) = of.next().expect("three phases");
                    let number = phases.len() as u32;
                    if is_there {
                        phases.push(format!("level {level} {phase}"));
                    }
                    let once = |graph: CommunicationGraph| Arc::new(PatternProgram::new(Arc::new(graph), 1));
                    Step { phase: number, exchange: graph.map(once), compute }
                })
            })
            .collect();
        let mut steps = Vec::new();
        for (number, [product, restrict, _]) in levels.iter().enumerate() {
            steps.extend([product.clone(), product.clone()]);
            steps.push(if number + 1 < count { restrict.clone() } else { product.clone() });
        }
        for pair in levels.windows(2).rev() {
            steps.extend([pair[1][2].clone(), pair[0][0].clone()]);
        }
        Self { ranks, iterations, steps, phases }
    }
}

/// Computing time of a rank in a product, a restriction and an interpolation of a level.
fn computed(levels: &Hierarchy, level: usize, flop_ns: &[f64]) -> [Time; 3] {
    let Some(last) = flop_ns.len().checked_sub(1) else { return [Time::ZERO; 3] };
    let work = Work::of(levels.levels(), level);
    let ps = flop_ns[level.min(last)] * 1e3 / f64::from(levels.ranks());
    [work.product, work.restrict, work.interpolate].map(|operations| Time((operations * ps).round() as u64))
}

impl RankProgram for CycleProgram {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn blocks(&self, _: u32) -> u64 {
        self.steps.len() as u64 * u64::from(self.iterations)
    }

    fn block(&self, rank: u32, index: u64, code: &mut Code) {
        let step = &self.steps[(index % self.steps.len() as u64) as usize];
        code.mark(step.phase);
        if let Some(exchange) = &step.exchange {
            exchange.exchange(rank, code);
        }
        code.compute_if_any(step.compute);
    }

    fn phases(&self) -> Vec<String> {
        self.phases.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_help::Directory;
    use odonata_declare::Value;
    use odonata_programs::{Call, Cursor, ProgramSpec};
    use odonata_units::Bytes;

    /// Two levels on two ranks: 10 values in a product of the finest level, 3 in each transfer, none on the coarsest
    /// level.
    const LISTS: &str = "level,operator,source,destination,values\n0,0,0,1,10\n0,1,1,0,3\n";
    const TABLE: &str =
        "unknowns,nonzeros_per_row,sends,values_sent,interpolation_nonzeros_per_row,interpolation_sends,\
                         interpolation_values_sent,active_ranks,messages,interpolation_messages\n\
                         8,3,1,10,2,1,3,2,1,1\n2,1,0,0,0,0,0,1,0,0\n";
    const MESSAGES: &[(&str, &str)] = &[("messages.csv", LISTS)];

    fn built(given: &[(&str, Value)], ranks: u32) -> Result<Arc<dyn RankProgram>, String> {
        let mut spec = ProgramSpec::of(&PROGRAMS[0]);
        for (key, value) in given {
            spec.set(key, value.clone()).map_err(|error| error.to_string())?;
        }
        spec.rule_mut().read(2, &mut Directory(MESSAGES)).map_err(|(key, reason)| format!("{key}: {reason}"))?;
        spec.set("final_barrier", Value::Flag(false)).map_err(|error| error.to_string())?;
        odonata_programs::build(&spec, &ProgramContext { job: "a", ranks, seed: 1 }).map_err(|error| error.to_string())
    }

    fn calls(program: &dyn RankProgram, rank: u32) -> Vec<Call> {
        let mut cursor = Cursor::default();
        std::iter::from_fn(|| cursor.next(program, rank)).collect()
    }

    /// Bytes that a rank sends, in order, and its phases.
    fn walked(program: &dyn RankProgram, rank: u32) -> (Vec<Bytes>, Vec<u32>) {
        let calls = calls(program, rank);
        let sends = calls.iter().filter_map(|call| match call {
            Call::Isend { bytes, .. } => Some(*bytes),
            _ => None,
        });
        let marks = calls.iter().filter_map(|call| match call {
            Call::Mark { phase } => Some(*phase),
            _ => None,
        });
        (sends.collect(), marks.collect())
    }

    /// Two products and the restriction (the transpose: rank 0 sends), three products without messages, the
    /// interpolation (rank 1 sends) and the last product. This happens twice.
    #[test]
    fn a_cycle_by_hand() {
        let given = [("hierarchy", Value::text("messages.csv")), ("iterations", Value::Integer(2))];
        let program = built(&given, 2).unwrap();
        assert_eq!(program.phases(), ["level 0 smooth", "level 0 restrict", "level 1 smooth", "level 1 interpolate"]);
        let (sends, phases) = walked(&*program, 0);
        assert_eq!(sends, [80, 80, 24, 80].repeat(2).into_iter().map(Bytes).collect::<Vec<_>>());
        assert_eq!(phases, [0, 0, 1, 2, 2, 2, 3, 0].repeat(2));
        assert_eq!(walked(&*program, 1).0, [24, 24].map(Bytes));
    }

    /// A rank computes half of the operations:
    ///
    /// | step | operations | time each |
    /// |---|---|---|
    /// | product | 2 x 8 x 3 | 2 ns |
    /// | restriction | 2 x 2 x 2 | 2 ns |
    /// | interpolation | 2 x 8 x 2 | 5 ns |
    /// | coarsest product | 2 x 2 x 1 | 5 ns |
    #[test]
    fn work_matches_the_formulas() {
        let levels = import::levels::from_csv("t", TABLE.as_bytes(), 2).unwrap();
        let exchanges = import::messages::all_levels("m", LISTS.as_bytes(), 2).unwrap();
        let program = CycleProgram::new(2, WholeCycle { levels: Some(levels), exchanges }, &[2.0, 5.0], 1);
        let computed: Vec<u64> = calls(&program, 0)
            .iter()
            .filter_map(|call| match call {
                Call::Compute { time } => Some(time.ps() / 1000),
                _ => None,
            })
            .collect();
        assert_eq!(computed, [48, 48, 8, 10, 10, 10, 80, 48]);
    }

    #[test]
    fn mistakes_have_a_reason() {
        let hierarchy = ("hierarchy", Value::text("messages.csv"));
        let flops = ("flop_ns", Value::List(vec![Value::Number(1.0)]));
        let error = built(&[hierarchy.clone(), flops], 2).unwrap_err();
        assert_eq!(error, "flop_ns: 'flop_ns' needs a level table, and 'messages.csv' has only messages");
        assert!(built(&[hierarchy], 3).unwrap_err().ends_with("'messages.csv' has 2 ranks, but the job has 3"));
    }
}
