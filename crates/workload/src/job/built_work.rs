//! The work of a job whose ranks run programs.

use crate::program_messages::{GraphMessages, ProgramMessages};
use crate::{Execution, Pattern, PatternRule, TrafficKind, WorkloadError};
use odonata_programs::collective::Collectives;
use odonata_programs::expansion::JobProgram;
use odonata_programs::mistakes::{self, Examination, ExaminationCache, Mistake};
use odonata_programs::{ProgramContext, ProgramSpec, Rounds, Sequence};
use odonata_trace::TaskGraph;
use std::sync::Arc;

/// The work of a job after it was built.
pub(super) struct BuiltWork {
    pub(super) pattern: Arc<dyn Pattern>,
    pub(super) rule: Option<Arc<dyn PatternRule>>,
    pub(super) iterations: u32,
    pub(super) traffic: TrafficKind,
    pub(super) program: Option<JobProgram>,
    pub(super) graph: Option<Arc<TaskGraph>>,
    pub(super) examined: Examination,
    pub(super) name: String,
}

/// How programs are checked.
pub(super) struct Checks<'a> {
    /// Results of earlier checks.
    pub(super) known: &'a mut ExaminationCache,
    /// Limit on checked calls of a job.
    pub(super) calls_max: u64,
}

/// Builds the programs of a job.
pub(super) fn ranks_work(
    specs: &[ProgramSpec],
    collectives: &Arc<Collectives>,
    execution: &Execution,
    context: &ProgramContext<'_>,
    checks: &mut Checks<'_>,
) -> Result<BuiltWork, WorkloadError> {
    for spec in specs {
        let graph = spec.rule().graph(collectives).map_err(|mistake| spec.error(context.job, mistake))?;
        if let Some(graph) = graph {
            return graph_work(graph, specs, *execution, context);
        }
    }
    let Execution { repeat, background, .. } = *execution;
    let mut programs =
        specs.iter().map(|spec| odonata_programs::build(spec, context)).collect::<Result<Vec<_>, _>>()?;
    let name = specs.iter().map(ProgramSpec::name).collect::<Vec<_>>().join("+");
    let once = if programs.len() == 1 { programs.remove(0) } else { Arc::new(Sequence::new(programs)) };
    let once = JobProgram::new(once, Arc::clone(collectives));
    let several = background || repeat > 1;
    let Checks { known, calls_max } = checks;
    let ProgramContext { ranks, seed, .. } = context;
    let words = format!("{specs:?} {collectives:?} {ranks} ranks, seed {seed}, {several}, {calls_max} calls");
    let examined = known.get_or_examine(words, || mistakes::examine(&once, several, *calls_max));
    let examined = examined.map_err(|Mistake(reason)| WorkloadError::Impossible {
        job: context.job.into(),
        program: name.clone(),
        reason,
    })?;
    if once.program.streams() > 0 {
        return streams_work(&once, *execution, context, examined, name);
    }
    let rounds = if background { Rounds::Endless } else { Rounds::Times(repeat) };
    Ok(BuiltWork {
        program: Some(if several { once.repeated(rounds) } else { once.clone() }),
        graph: None,
        pattern: Arc::new(ProgramMessages { program: once, counts: examined.sent.clone() }),
        examined,
        rule: None,
        iterations: if background { 1 } else { repeat },
        traffic: TrafficKind::Program(*execution),
        name,
    })
}

/// The work of a job whose program has streams: its task graph.
fn streams_work(
    once: &JobProgram,
    execution: Execution,
    context: &ProgramContext<'_>,
    examined: Examination,
    name: String,
) -> Result<BuiltWork, WorkloadError> {
    if execution.background {
        return Err(WorkloadError::job(
            context.job,
            "background",
            "true; a program with streams runs a number of times",
        ));
    }
    let all = once.repeated(Rounds::Times(execution.repeat));
    let tasks = (0..context.ranks).map(|rank| odonata_programs::tasks_of(&all, rank));
    let ranks = tasks.collect::<Result<_, _>>().map_err(|reason| WorkloadError::Impossible {
        job: context.job.into(),
        program: name.clone(),
        reason: format!("{reason}, and a program with streams runs as a task graph"),
    })?;
    let graph = Arc::new(TaskGraph { ranks, place_word: all.program.place_word() });
    // The graph has the messages of all rounds.
    let counts = mistakes::examine_graph(&graph).sent;
    Ok(BuiltWork {
        examined: Examination { sent: counts.clone(), ..examined },
        program: None,
        pattern: Arc::new(GraphMessages { graph: Arc::clone(&graph), counts }),
        graph: Some(graph),
        rule: None,
        iterations: 1,
        traffic: TrafficKind::Program(execution),
        name,
    })
}

/// The work of a job whose only program is a task graph.
fn graph_work(
    graph: Arc<TaskGraph>,
    specs: &[ProgramSpec],
    execution: Execution,
    context: &ProgramContext<'_>,
) -> Result<BuiltWork, WorkloadError> {
    let wrong = |key, reason: &str| Err(WorkloadError::job(context.job, key, reason));
    if specs.len() > 1 {
        return wrong("program", "a list with a task graph; a task graph is the only program of its job");
    }
    if execution.background {
        return wrong("background", "true; a task graph runs once");
    }
    if execution.repeat > 1 {
        return wrong("repeat", &format!("{}; a task graph runs once", execution.repeat));
    }
    let examined = mistakes::examine_graph(&graph);
    Ok(BuiltWork {
        program: None,
        pattern: Arc::new(GraphMessages { graph: Arc::clone(&graph), counts: examined.sent.clone() }),
        examined,
        graph: Some(graph),
        rule: None,
        iterations: 1,
        traffic: TrafficKind::Program(execution),
        name: specs[0].name().into(),
    })
}
