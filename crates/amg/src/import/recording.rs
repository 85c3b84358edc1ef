//! A recorded set-up: the tables `recorded_messages` and `recorded_collectives` of a hierarchy's directory.

use super::HIERARCHIES;
use crate::Phase;
use odonata_declare::{FileError, Reader};
use odonata_import::csv::each_record;
use odonata_programs::Operation;
use odonata_units::{Bytes, RankId};
use std::collections::BTreeMap;

/// Limit of messages between two ranks in one exchange, and of calls of a collective. No set-up has more, so a larger
/// number is an error in the file.
const MOST_EQUAL: u64 = 1_000_000;

/// A collective that all ranks call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Collective {
    pub(crate) operation: Operation,
    /// Of each rank.
    pub(crate) bytes: Bytes,
    pub(crate) calls: u64,
}

/// One exchange, and the collectives that follow it.
#[derive(Debug, Default)]
pub(crate) struct RecordedExchange {
    pub(crate) messages: Vec<(RankId, RankId, Bytes)>,
    pub(crate) collectives: Vec<Collective>,
}

/// Exchanges by level, step and kernel.
pub(crate) type Recording = BTreeMap<(u32, u32, Phase), RecordedExchange>;

/// Reads the recorded set-up of the directory `hierarchy` for a job of `ranks` ranks.
pub(crate) fn read(hierarchy: &str, ranks: u32, files: &mut dyn Reader) -> Result<Recording, String> {
    let path = files.locate(HIERARCHIES, hierarchy)?;
    let mut of = |table: &str| {
        let name = path.join(table).to_string_lossy().into_owned();
        let missing = |error| format!("{error}; make the directory with `odonata amg hierarchy --record`");
        files.read(&name).map(|bytes| (name, bytes)).map_err(missing)
    };
    let (messages, collectives) = (of("recorded_messages.parquet")?, of("recorded_collectives.parquet")?);
    let mut recording = Recording::new();
    add_messages(&mut recording, &messages.0, &messages.1, ranks).map_err(|error| error.to_string())?;
    add_collectives(&mut recording, &collectives.0, &collectives.1, ranks).map_err(|error| error.to_string())?;
    if recording.values().all(|exchange| exchange.messages.is_empty()) {
        return Err(format!("{} has no messages of a set-up", messages.0));
    }
    Ok(recording)
}

fn add_messages(recording: &mut Recording, label: &str, bytes: &[u8], ranks: u32) -> Result<(), FileError> {
    each_record(
        label,
        bytes,
        |header| header.require_all(["phase", "level", "step", "source", "destination", "messages", "bytes"]),
        |record, [of, level, step, source, destination, count, size]| {
            let Some(kernel) = Phase::of_setup(record.field(of)) else { return Ok(()) };
            let key = (record.number(level, "level")?, record.number(step, "step")?, kernel);
            let rank = |column, name: &str| {
                let rank = record.number::<u32>(column, name)?;
                let reason = || format!("rank {rank} in a job with ranks 0 to {}", ranks - 1);
                if rank < ranks {
                    Ok(RankId(rank))
                } else {
                    Err(record.error(reason()))
                }
            };
            let (source, destination) = (rank(source, "source")?, rank(destination, "destination")?);
            let count = record.number::<u64>(count, "messages")?;
            if count > MOST_EQUAL {
                return Err(record.error(format!("{count} messages, expected at most {MOST_EQUAL}")));
            }
            let total = record.number::<u64>(size, "bytes")?;
            // Sizes are whole numbers; the first messages get the remainder.
            let (each, more) = (total / count.max(1), total % count.max(1));
            let sizes = (0..count).map(|i| (source, destination, Bytes(each + u64::from(i < more))));
            recording.entry(key).or_default().messages.extend(sizes);
            Ok(())
        },
    )
}

/// Collectives of fewer ranks are left out: the ranks of their communicators are not recorded.
fn add_collectives(recording: &mut Recording, label: &str, bytes: &[u8], ranks: u32) -> Result<(), FileError> {
    each_record(
        label,
        bytes,
        |header| header.require_all(["phase", "level", "step", "call", "ranks", "calls", "bytes"]),
        |record, [of, level, step, call, members, calls, size]| {
            let Some(kernel) = Phase::of_setup(record.field(of)) else { return Ok(()) };
            let all = u64::from(ranks);
            let count = record.number::<u64>(calls, "calls")?;
            if record.number::<u64>(members, "ranks")? != all || count < all {
                return Ok(());
            }
            if count / all > MOST_EQUAL {
                return Err(record.error(format!("{count} calls, expected at most {MOST_EQUAL} of a rank")));
            }
            let bytes = Bytes(record.number::<u64>(size, "bytes")? / count);
            let key = (record.number(level, "level")?, record.number(step, "step")?, kernel);
            let one = Collective { operation: operation(record.field(call)), bytes, calls: count / all };
            recording.entry(key).or_default().collectives.push(one);
            Ok(())
        },
    )
}

/// The operation of an MPI call. All others, such as the creation of a communicator, make all ranks wait.
fn operation(call: &str) -> Operation {
    match call {
        "MPI_Bcast" => Operation::Broadcast,
        "MPI_Reduce" => Operation::Reduce,
        "MPI_Allreduce" => Operation::Allreduce,
        "MPI_Scan" | "MPI_Exscan" => Operation::Scan,
        "MPI_Gather" | "MPI_Gatherv" => Operation::Gather,
        "MPI_Allgather" | "MPI_Allgatherv" => Operation::Allgather,
        "MPI_Alltoall" | "MPI_Alltoallv" => Operation::Alltoall,
        _ => Operation::Barrier,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 B in three messages: the first two get the remainder.
    #[test]
    fn messages_of_a_row_add_up_to_its_bytes() {
        let rows = "phase,level,step,source,destination,messages,bytes\ncoarsen,0,1,0,1,3,8\n";
        let mut recording = Recording::default();
        add_messages(&mut recording, "rows", rows.as_bytes(), 2).unwrap();
        let sizes = recording.values().flat_map(|exchange| &exchange.messages).map(|message| message.2 .0);
        assert_eq!(sizes.collect::<Vec<_>>(), [3, 3, 2]);
    }

    /// Calls with counts per rank send as those without; other calls move no data.
    #[test]
    fn each_call_has_its_operation() {
        for (calls, found) in [
            (vec!["MPI_Bcast"], Operation::Broadcast),
            (vec!["MPI_Reduce"], Operation::Reduce),
            (vec!["MPI_Allreduce"], Operation::Allreduce),
            (vec!["MPI_Scan", "MPI_Exscan"], Operation::Scan),
            (vec!["MPI_Gather", "MPI_Gatherv"], Operation::Gather),
            (vec!["MPI_Allgather", "MPI_Allgatherv"], Operation::Allgather),
            (vec!["MPI_Alltoall", "MPI_Alltoallv"], Operation::Alltoall),
            (vec!["MPI_Barrier", "MPI_Comm_dup"], Operation::Barrier),
        ] {
            calls.into_iter().for_each(|call| assert_eq!(operation(call), found, "{call}"));
        }
    }
}
