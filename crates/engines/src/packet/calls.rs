//! The tables of calls, waits and phases in time of rank programs.

use super::program_records::{phase_names, ProgramRecords};
use crate::record::ids::{JOB, RANK};
use odonata_declare::Type::{Coded, U32, U64};
use odonata_declare::Unit::{Plain, Ps};
use odonata_declare::{Column, FilledTable, Values, Word};
use odonata_transport::{CallRecord, PhaseTime, RankWait, WaitEvent};

fn of<T>(ran: &ProgramRecords, get: impl Fn(&CallRecord) -> T) -> Values
where
    Values: FromIterator<T>,
{
    ran.recorded.calls.iter().map(get).collect()
}

fn waited<T>(ran: &ProgramRecords, get: impl Fn(&RankWait) -> T) -> Values
where
    Values: FromIterator<T>,
{
    ran.recorded.waits.iter().map(get).collect()
}

fn passed<T>(ran: &ProgramRecords, get: impl Fn(&PhaseTime) -> T) -> Values
where
    Values: FromIterator<T>,
{
    ran.recorded.phases.iter().map(get).collect()
}

const UNDER: Option<&str> = Some("record_calls = true");

pub(super) const CALLS: FilledTable<'_, ProgramRecords> = FilledTable {
    name: "calls",
    row: "completed call of a rank of a job with a program, or completed task",
    sorted_by: &["job", "rank", "call"],
    under: UNDER,
    doc: "Between calls, a rank computes or sleeps. Times are on the clock of the rank.",
    columns: &[
        JOB.by(|ran| of(ran, |c| u32::from(c.job))),
        RANK.by(|ran| of(ran, |c| c.rank)),
        Column::key("call", U64, Plain, "Call", "Number of the call or task of this rank, from 1.")
            .by(|ran| of(ran, |c| c.call)),
        Column::attribute("name", Coded, Plain, "Name", "Name of the call, as in the text of a program; of a task `send`, `recv` or `compute`.").by(names),
        Column::attribute("start_ps", U64, Ps, "Start", "Start of the call.").by(|ran| of(ran, |c| c.start.ps())),
        Column::attribute("end_ps", U64, Ps, "End", "End of the call.").by(|ran| of(ran, |c| c.end.ps())),
        Column::sum("blocked_ps", U64, Ps, "Blocked", "Part of the call in which the rank was blocked.")
            .by(|ran| of(ran, |c| c.blocked.ps())),
        Column::attribute(
            "after",
            U64,
            Plain,
            "After",
            "Task graphs: the task after which this one started, because it waited for it or for its lane; its own number if it waited for none. 0 for calls, which follow each other.",
        )
        .by(|ran| of(ran, after)),
        Column::attribute(
            "place_kind",
            Coded,
            Plain,
            "Place in",
            "Unit of `place` in the file of the program or trace: `line`, `record`, `event` or `node`. `none` for what is in no file.",
        )
        .by(place_kinds),
        Column::attribute("place", U64, Plain, "Place", "Place of the call or task in that file. 0 for `none`.")
            .by(|ran| of(ran, |c| c.place.unwrap_or(0))),
        Column::attribute(
            "program",
            U32,
            Plain,
            "Program",
            "Number of its program within the job, from 0.",
        )
        .by(|ran| of(ran, |c| c.program.unwrap_or(0))),
    ],
};

/// See the column.
fn after(call: &CallRecord) -> u64 {
    match call.after {
        Some(0) => call.call,
        Some(task) => task,
        None => 0,
    }
}

fn names(ran: &ProgramRecords) -> Values {
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

/// See the column.
fn place_kinds(ran: &ProgramRecords) -> Values {
    let mut texts = vec!["none".to_owned()];
    texts.extend(ran.place_words.iter().filter(|word| !word.is_empty()).map(|word| (*word).to_owned()));
    texts.sort_unstable();
    texts.dedup();
    let code = |call: &CallRecord| {
        let word = call.place.map_or("none", |_| ran.place_words[usize::from(call.job)]);
        texts.iter().position(|text| text == word).expect("a word of a job") as i32
    };
    let codes = ran.recorded.calls.iter().map(code).collect();
    Values::Text { codes, texts }
}

pub(super) const WAITS: FilledTable<'_, ProgramRecords> = FilledTable {
    name: "rank_waits",
    row: "wait of a rank of a job with a program for an event",
    sorted_by: &["job", "rank", "number"],
    under: UNDER,
    doc: "An earlier action of a rank ended each wait. The critical path continues at that rank.",
    columns: &[
        JOB
            .by(|ran| waited(ran, |w| u32::from(w.job))),
        RANK.by(|ran| waited(ran, |w| w.rank)),
        Column::key("number", U32, Plain, "Number", "Number of the wait of this rank, from 0.")
            .by(|ran| waited(ran, |w| w.number)),
        Column::attribute("call", U64, Plain, "Call", "Number of the call with the wait.")
            .by(|ran| waited(ran, |w| w.call)),
        Column::attribute("start_ps", U64, Ps, "Start", "Start of the wait, on the clock of the rank.")
            .by(|ran| waited(ran, |w| w.start.ps())),
        Column::attribute("end_ps", U64, Ps, "End", "Time of the event that ended the wait.")
            .by(|ran| waited(ran, |w| w.end.ps())),
        Column::attribute(
            "event",
            Coded,
            Plain,
            "Event",
            "`message`: a message, or the header of a rendezvous message, was delivered. `data`: the requested data were delivered. `receipt`: the peer received a message of this rank.",
        )
        .by(|ran| Values::Text {
            codes: ran.recorded.waits.iter().map(|w| w.event as i32).collect(),
            texts: WaitEvent::ALL.iter().map(|event| event.word().to_owned()).collect(),
        }),
        Column::attribute("peer", U32, Plain, "Peer", "Rank that the event came from.").by(|ran| waited(ran, |w| w.peer)),
        Column::attribute(
            "cause",
            U32,
            Plain,
            "Cause",
            "Rank whose action led to the event: the peer, or for `data` the waiting rank, which had requested them.",
        )
        .by(|ran| waited(ran, |w| w.caused_by)),
        Column::attribute(
            "cause_ps",
            U64,
            Ps,
            "Time of the cause",
            "Time at which that rank gave the causing command to its NIC, on its clock.",
        )
        .by(|ran| waited(ran, |w| w.caused_at.ps())),
    ],
};

pub(super) const PHASE_TIMES: FilledTable<'_, ProgramRecords> = FilledTable {
    name: "phase_times",
    row: "occurrence of a phase of a rank of a job with a program",
    sorted_by: &["job", "rank", "number"],
    under: UNDER,
    doc: "`phases` has the sums. A phase that has not ended by the end of the run has no row.",
    columns: &[
        JOB.by(|ran| passed(ran, |p| u32::from(p.job))),
        RANK.by(|ran| passed(ran, |p| p.rank)),
        Column::key("number", U32, Plain, "Number", "Number of the occurrence of this rank, from 0.").by(numbers),
        Column::attribute("phase_number", U32, Plain, "Phase number", "Number of the phase in its program.")
            .by(|ran| passed(ran, |p| p.phase)),
        Column::attribute("phase", Coded, Plain, "Phase", "Name of the phase.")
            .by(|ran| phase_names(ran, ran.recorded.phases.iter().map(|p| (p.job, p.phase as usize)))),
        Column::attribute("start_ps", U64, Ps, "Start", "Start of the occurrence, on the clock of the rank.")
            .by(|ran| passed(ran, |p| p.start.ps())),
        Column::attribute("end_ps", U64, Ps, "End", "End of the occurrence.").by(|ran| passed(ran, |p| p.end.ps())),
    ],
};

fn numbers(ran: &ProgramRecords) -> Values {
    let mut last = (None, 0u32);
    let number = |phase: &PhaseTime| {
        let rank = Some((phase.job, phase.rank));
        last = (rank, if last.0 == rank { last.1 + 1 } else { 0 });
        last.1
    };
    ran.recorded.phases.iter().map(number).collect()
}
