//! An OTF2 archive as calls: the events of each rank, in the order of its file.
//!
//! ```text
//! NAME.otf2 ──► definitions ──► first pass: completions of requests, communicators in use (otf2/completions.rs)
//!                          └──► second pass: calls (otf2/rank.rs), collectives (otf2/collective.rs)
//! ```
//! Only one file of events is in memory at a time. A receive that starts and a nonblocking collective say what they are
//! only when they complete, so the first pass finds that. The archive does not say when communicators are made: all that
//! are used are made when the job starts.

mod collective;
mod communicators;
mod completions;
mod rank;
#[cfg(test)]
mod tests;

use super::compute_times::ComputeTimes;
use super::Trace;
use communicators::NewCommunicators;
use completions::Completions;
use odonata_declare::Reader;
use odonata_trace::otf2::{event_name, is_anchor, is_part, Anchor, Definitions, Event, Events, LocalNumbers};
use odonata_trace::Survey;
use rank::RankEvents;

/// Whether a file belongs to an archive.
pub(crate) fn is_archive(start: &[u8]) -> bool {
    is_anchor(start) || is_part(start)
}

/// Files of an archive.
struct Archive {
    stem: String,
    anchor: Anchor,
    definitions: Definitions,
}

impl Archive {
    fn open(path: &str, ranks: Option<u32>, files: &mut dyn Reader) -> Result<Self, String> {
        let anchor = Anchor::read(path, &files.read_filled(path)?)?;
        let stem = path.strip_suffix(".otf2").ok_or_else(|| format!("{path}: expected a name like traces.otf2"))?;
        let label = format!("{stem}.def");
        let definitions = Definitions::read(&label, &files.read_filled(&label)?, anchor.definition_chunk)?;
        let of = definitions.ranks.len();
        if let Some(ranks) = ranks.filter(|&ranks| ranks as usize != of) {
            return Err(format!("{path}: a trace of {of} ranks, but the job has {ranks}"));
        }
        Ok(Self { stem: stem.to_owned(), anchor, definitions })
    }

    fn events_file(&self, location: u64) -> String {
        format!("{}/{location}.evt", self.stem)
    }

    /// The numbers of a location. It may use the numbers of the definitions, without a file.
    fn numbers(&self, location: u64, files: &mut dyn Reader) -> Result<LocalNumbers, String> {
        let label = format!("{}/{location}.def", self.stem);
        match files.read(&label) {
            Ok(bytes) if !bytes.is_empty() => LocalNumbers::read(&label, &bytes, self.anchor.definition_chunk),
            _ => Ok(LocalNumbers::default()),
        }
    }

    /// Follows the events of a location. Returns a note if its file is cut.
    fn each_event(
        &self,
        location: u64,
        files: &mut dyn Reader,
        mut follow: impl FnMut(u64, u8, u64, Event) -> Result<(), String>,
    ) -> Result<Option<String>, String> {
        let numbers = self.numbers(location, files)?;
        let name = self.events_file(location);
        let bytes = files.read_filled(&name)?;
        let mut events = Events::new(&name, &bytes, self.anchor.event_chunk, &numbers)?;
        while let Some((kind, ticks, event)) = events.next_event()? {
            follow(events.number, kind, ticks, event)
                .map_err(|reason| format!("{name}: event {} ({}): {reason}", events.number, event_name(kind)))?;
        }
        Ok((!events.is_whole()).then(|| format!("{name}: the file is cut after event {}", events.number)))
    }
}

/// Reads the archive of an anchor file. `ranks` is the number of ranks of the job, if it is given.
pub(super) fn read(
    path: &str,
    ranks: Option<u32>,
    times: ComputeTimes,
    files: &mut dyn Reader,
) -> Result<Trace, String> {
    let archive = Archive::open(path, ranks, files)?;
    let definitions = &archive.definitions;
    let mut survey = Survey::default();
    let mut completions = Vec::new();
    for &location in &definitions.ranks {
        let mut of_rank = Completions::default();
        let cut = archive.each_event(location, files, |_, _, _, event| {
            of_rank.add(event);
            Ok(())
        })?;
        survey.notes.extend(cut);
        completions.push(of_rank);
    }
    let used = completions.iter().flat_map(|of_rank| of_rank.communicators.iter().copied()).collect();
    let created = NewCommunicators::new(definitions, &used).map_err(|reason| format!("{path}: {reason}"))?;
    let mut traced = Vec::new();
    for ((rank, &location), completions) in (0..).zip(&definitions.ranks).zip(completions) {
        let mut calls = RankEvents::new(rank, definitions, &created, times, completions);
        archive.each_event(location, files, |number, kind, ticks, event| {
            calls.follow(number, kind, ticks, event, &mut survey)
        })?;
        traced.push(calls.end(&mut survey));
    }
    count_others(&archive, files, &mut survey)?;
    collective::share_sizes_of_scatters(&mut traced, &created);
    let traced = traced.into_iter().map(|rank| rank.trace).collect();
    Trace::of(path, traced, "event", "both on MPI_COMM_WORLD; events may be missing", survey)
}

/// Counts the messages and collectives of threads that are no rank, which are not replayed.
fn count_others(archive: &Archive, files: &mut dyn Reader, survey: &mut Survey) -> Result<(), String> {
    for &location in &archive.definitions.others {
        if files.read(&archive.events_file(location)).is_err() {
            continue;
        }
        archive.each_event(location, files, |_, kind, _, event| {
            if !matches!(event, Event::Enter(_) | Event::Leave(_) | Event::Other) {
                survey.count(
                    &format!("{} of other threads", event_name(kind)),
                    false,
                    "only first threads are replayed",
                );
            }
            Ok(())
        })?;
    }
    Ok(())
}
