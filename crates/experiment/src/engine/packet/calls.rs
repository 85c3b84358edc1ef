//! The tables of calls, waits and phases in time of rank programs.

use super::programs::{phase_names, Ran};
use odonata_declare::Type::{Coded, U32, U64};
use odonata_declare::Unit::{Plain, Ps};
use odonata_declare::{Column, FilledTable, Values, Word};
use odonata_transport::{CallRecord, PhaseTime, RankWait, WaitEvent};

fn of<T>(ran: &Ran, get: impl Fn(&CallRecord) -> T) -> Values
where
    Values: FromIterator<T>,
{
    ran.recorded.calls.iter().map(get).collect()
}

fn waited<T>(ran: &Ran, get: impl Fn(&RankWait) -> T) -> Values
where
    Values: FromIterator<T>,
{
    ran.recorded.waits.iter().map(get).collect()
}

fn passed<T>(ran: &Ran, get: impl Fn(&PhaseTime) -> T) -> Values
where
    Values: FromIterator<T>,
{
    ran.recorded.phases.iter().map(get).collect()
}

const UNDER: Option<&str> = Some("record_calls = true");

pub(super) const CALLS: FilledTable<'_, Ran> = FilledTable {
    name: "calls",
    row: "call that a rank of a job with a program made and left",
    sorted_by: &["job", "rank", "call"],
    under: UNDER,
    doc: "Between its calls a rank computes, or sleeps. Times are those of the rank's own clock.",
    columns: &[
        Column::key("job", U32, Plain, "Job", "Number of the job.").of("jobs").by(|ran| of(ran, |c| u32::from(c.job))),
        Column::key("rank", U32, Plain, "Rank", "Number of the rank in its job.").by(|ran| of(ran, |c| c.rank)),
        Column::key("call", U64, Plain, "Call", "Number of the call among those of the rank, from 1 on.")
            .by(|ran| of(ran, |c| c.call)),
        Column::attribute("name", Coded, Plain, "Name", "What it is, as programs of one's own write it.").by(names),
        Column::attribute("start_ps", U64, Ps, "Entered", "When it began.").by(|ran| of(ran, |c| c.start.ps())),
        Column::attribute("end_ps", U64, Ps, "Left", "When it was over.").by(|ran| of(ran, |c| c.end.ps())),
        Column::sum(
            "blocked_ps",
            U64,
            Ps,
            "Blocked",
            "Of that, from where the rank could not go on to where it could.",
        )
        .by(|ran| of(ran, |c| c.blocked.ps())),
    ],
};

fn names(ran: &Ran) -> Values {
    let mut texts: Vec<String> = Vec::new();
    let code = |call: &CallRecord| {
        let known = texts.iter().position(|text| text == call.name);
        known.unwrap_or_else(|| {
            texts.push(call.name.into());
            texts.len() - 1
        }) as i32
    };
    let codes = ran.recorded.calls.iter().map(code).collect();
    Values::Text { codes, texts }
}

pub(super) const WAITS: FilledTable<'_, Ran> = FilledTable {
    name: "rank_waits",
    row: "time in which a rank of a job with a program waited until its host was told of something",
    sorted_by: &["job", "rank", "number"],
    under: UNDER,
    doc: "Each wait is explained by what another rank, or the same one, did before: its critical path goes on there.",
    columns: &[
        Column::key("job", U32, Plain, "Job", "Number of the job.")
            .of("jobs")
            .by(|ran| waited(ran, |w| u32::from(w.job))),
        Column::key("rank", U32, Plain, "Rank", "Number of the rank in its job.").by(|ran| waited(ran, |w| w.rank)),
        Column::key("number", U32, Plain, "Number", "How many waits of the rank were before.")
            .by(|ran| waited(ran, |w| w.number)),
        Column::attribute("call", U64, Plain, "Call", "Number of the call that it was in.")
            .by(|ran| waited(ran, |w| w.call)),
        Column::attribute("start_ps", U64, Ps, "From", "From when on it waited, on its clock.")
            .by(|ran| waited(ran, |w| w.start.ps())),
        Column::attribute("end_ps", U64, Ps, "Until", "When its host was told of something, and it went on.")
            .by(|ran| waited(ran, |w| w.end.ps())),
        Column::attribute(
            "event",
            Coded,
            Plain,
            "Event",
            "`message`, that one has come, with its data, announced, or of the node; `data`, that those it had asked for have come; \
             `receipt`, that a message of its own was received.",
        )
        .by(|ran| Values::Text {
            codes: ran.recorded.waits.iter().map(|w| w.event as i32).collect(),
            texts: WaitEvent::ALL.iter().map(|told| told.word().to_owned()).collect(),
        }),
        Column::attribute("peer", U32, Plain, "Peer", "The rank that this came from.").by(|ran| waited(ran, |w| w.peer)),
        Column::attribute(
            "cause",
            U32,
            Plain,
            "Cause",
            "The rank whose doing it was: the peer, or, of data, the one that waits, since it asked for them.",
        )
        .by(|ran| waited(ran, |w| w.caused_by)),
        Column::attribute(
            "cause_ps",
            U64,
            Ps,
            "Cause, time",
            "When that rank had handed to its interface what brought it about, on its clock.",
        )
        .by(|ran| waited(ran, |w| w.caused_at.ps())),
    ],
};

pub(super) const PHASE_TIMES: FilledTable<'_, Ran> = FilledTable {
    name: "phase_times",
    row: "time in which a rank of a job with a program was in a phase of it",
    sorted_by: &["job", "rank", "number"],
    under: UNDER,
    doc: "What `phases` adds up. A phase that is not over at the end of the run has no row.",
    columns: &[
        Column::key("job", U32, Plain, "Job", "Number of the job.")
            .of("jobs")
            .by(|ran| passed(ran, |p| u32::from(p.job))),
        Column::key("rank", U32, Plain, "Rank", "Number of the rank in its job.").by(|ran| passed(ran, |p| p.rank)),
        Column::key("number", U32, Plain, "Number", "How many phases of the rank were before.").by(numbers),
        Column::attribute("phase_number", U32, Plain, "Phase number", "Number of the phase in its program.")
            .by(|ran| passed(ran, |p| p.phase)),
        Column::attribute("phase", Coded, Plain, "Phase", "Name of the phase.")
            .by(|ran| phase_names(ran, ran.recorded.phases.iter().map(|p| (p.job, p.phase as usize)))),
        Column::attribute("start_ps", U64, Ps, "Began", "When it began, on the rank's clock.")
            .by(|ran| passed(ran, |p| p.start.ps())),
        Column::attribute("end_ps", U64, Ps, "Ended", "When it was over.").by(|ran| passed(ran, |p| p.end.ps())),
    ],
};

fn numbers(ran: &Ran) -> Values {
    let mut last = (None, 0u32);
    let number = |phase: &PhaseTime| {
        let rank = Some((phase.job, phase.rank));
        last = (rank, if last.0 == rank { last.1 + 1 } else { 0 });
        last.1
    };
    ran.recorded.phases.iter().map(number).collect()
}
