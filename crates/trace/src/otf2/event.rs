//! Events of a location.

use super::definitions::LocalNumbers;
use super::records::{Cursor, Records};

/// Kinds of events.
mod kind {
    pub(super) const ENTER: u8 = 12;
    pub(super) const LEAVE: u8 = 13;
    pub(super) const SEND: u8 = 14;
    pub(super) const ISEND: u8 = 15;
    pub(super) const ISEND_COMPLETE: u8 = 16;
    pub(super) const IRECV_REQUEST: u8 = 17;
    pub(super) const RECV: u8 = 18;
    pub(super) const IRECV: u8 = 19;
    pub(super) const CANCELLED: u8 = 21;
    pub(super) const COLLECTIVE_END: u8 = 23;
    pub(super) const COLLECTIVE_REQUEST: u8 = 85;
    pub(super) const COLLECTIVE_COMPLETE: u8 = 86;
}

/// Names of the kinds from 10 on.
const NAMES: [&str; 83] = [
    "BUFFER_FLUSH",
    "MEASUREMENT_ON_OFF",
    "ENTER",
    "LEAVE",
    "MPI_SEND",
    "MPI_ISEND",
    "MPI_ISEND_COMPLETE",
    "MPI_IRECV_REQUEST",
    "MPI_RECV",
    "MPI_IRECV",
    "MPI_REQUEST_TEST",
    "MPI_REQUEST_CANCELLED",
    "MPI_COLLECTIVE_BEGIN",
    "MPI_COLLECTIVE_END",
    "OMP_FORK",
    "OMP_JOIN",
    "OMP_ACQUIRE_LOCK",
    "OMP_RELEASE_LOCK",
    "OMP_TASK_CREATE",
    "OMP_TASK_SWITCH",
    "OMP_TASK_COMPLETE",
    "METRIC",
    "PARAMETER_STRING",
    "PARAMETER_INT",
    "PARAMETER_UNSIGNED_INT",
    "RMA_WIN_CREATE",
    "RMA_WIN_DESTROY",
    "RMA_COLLECTIVE_BEGIN",
    "RMA_COLLECTIVE_END",
    "RMA_GROUP_SYNC",
    "RMA_REQUEST_LOCK",
    "RMA_ACQUIRE_LOCK",
    "RMA_TRY_LOCK",
    "RMA_RELEASE_LOCK",
    "RMA_SYNC",
    "RMA_WAIT_CHANGE",
    "RMA_PUT",
    "RMA_GET",
    "RMA_ATOMIC",
    "RMA_OP_COMPLETE_BLOCKING",
    "RMA_OP_COMPLETE_NON_BLOCKING",
    "RMA_OP_TEST",
    "RMA_OP_COMPLETE_REMOTE",
    "THREAD_FORK",
    "THREAD_JOIN",
    "THREAD_TEAM_BEGIN",
    "THREAD_TEAM_END",
    "THREAD_ACQUIRE_LOCK",
    "THREAD_RELEASE_LOCK",
    "THREAD_TASK_CREATE",
    "THREAD_TASK_SWITCH",
    "THREAD_TASK_COMPLETE",
    "THREAD_CREATE",
    "THREAD_BEGIN",
    "THREAD_WAIT",
    "THREAD_END",
    "CALLING_CONTEXT_ENTER",
    "CALLING_CONTEXT_LEAVE",
    "CALLING_CONTEXT_SAMPLE",
    "IO_CREATE_HANDLE",
    "IO_DESTROY_HANDLE",
    "IO_DUPLICATE_HANDLE",
    "IO_SEEK",
    "IO_CHANGE_STATUS_FLAGS",
    "IO_DELETE_FILE",
    "IO_OPERATION_BEGIN",
    "IO_OPERATION_TEST",
    "IO_OPERATION_ISSUED",
    "IO_OPERATION_COMPLETE",
    "IO_OPERATION_CANCELLED",
    "IO_ACQUIRE_LOCK",
    "IO_RELEASE_LOCK",
    "IO_TRY_LOCK",
    "PROGRAM_BEGIN",
    "PROGRAM_END",
    "NON_BLOCKING_COLLECTIVE_REQUEST",
    "NON_BLOCKING_COLLECTIVE_COMPLETE",
    "COMM_CREATE",
    "COMM_DESTROY",
    "MPI_PROBE",
    "MPI_MRECV",
    "MPI_IMRECV_REQUEST",
    "MPI_IMRECV",
];

/// Name of a kind of event.
pub fn event_name(kind: u8) -> String {
    let name = kind.checked_sub(10).and_then(|place| NAMES.get(usize::from(place)));
    name.map_or_else(|| format!("event {kind}"), |name| (*name).to_owned())
}

/// A message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageRecord {
    /// The other rank, in the communicator.
    pub peer: u64,
    /// Number of the communicator in the definitions.
    pub communicator: u64,
    /// Tag.
    pub tag: u64,
    /// Bytes.
    pub bytes: u64,
}

/// A collective.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CollectiveRecord {
    /// Its number in OTF2: 0 barrier, 1 broadcast, ...
    pub operation: u8,
    /// Number of the communicator in the definitions.
    pub communicator: u64,
    /// Root, if there is one.
    pub root: Option<u64>,
    /// Bytes that the writer counts as sent.
    pub sent: u64,
    /// Bytes that the writer counts as received.
    pub received: u64,
}

/// An event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A region begins.
    Enter(u64),
    /// A region ends.
    Leave(u64),
    /// A blocking send.
    Send(MessageRecord),
    /// A send starts.
    Isend(MessageRecord, u64),
    /// A send of this request completes.
    IsendComplete(u64),
    /// A receive starts; the message is in the record of its completion.
    IrecvRequest(u64),
    /// A blocking receive completes.
    Recv(MessageRecord),
    /// A receive of this request completes.
    Irecv(MessageRecord, u64),
    /// A request is cancelled.
    Cancelled(u64),
    /// A blocking collective ends.
    Collective(CollectiveRecord),
    /// A nonblocking collective starts.
    CollectiveRequest(u64),
    /// A nonblocking collective of this request completes.
    CollectiveComplete(CollectiveRecord, u64),
    /// An event of a kind that has no effect.
    Other,
}

/// The events of a location, in order.
pub struct Events<'a> {
    label: &'a str,
    records: Records<'a>,
    numbers: &'a LocalNumbers,
    /// Number of the last event, from 1.
    pub number: u64,
}

impl<'a> Events<'a> {
    /// Events of `NAME/LOCATION.evt`, whose chunks have so many bytes.
    ///
    /// # Errors
    /// Bytes that are no events.
    pub fn new(label: &'a str, bytes: &'a [u8], chunk: u64, numbers: &'a LocalNumbers) -> Result<Self, String> {
        let records = Records::new(bytes, chunk, true).map_err(|reason| format!("{label}: {reason}"))?;
        Ok(Self { label, records, numbers, number: 0 })
    }

    /// Whether the file ended as a writer ends it, after the last event.
    pub fn is_whole(&self) -> bool {
        self.records.is_whole()
    }

    /// The next event: its kind, its time in ticks, and itself. `None` at the end.
    ///
    /// # Errors
    /// A record that is cut or has other fields; says where.
    pub fn next_event(&mut self) -> Result<Option<(u8, u64, Event)>, String> {
        let mut next = || -> Result<Option<(u8, u64, Event)>, String> {
            let Some(record) = self.records.next_record()? else { return Ok(None) };
            self.number += 1;
            let event = self.numbers.event(record.kind, record.fields)?;
            Ok(Some((record.kind, record.ticks, event)))
        };
        let found = next();
        found.map_err(|reason| format!("{}: event {}: {reason}", self.label, self.number))
    }
}

impl LocalNumbers {
    fn event(&self, kind: u8, mut fields: Cursor<'_>) -> Result<Event, String> {
        Ok(match kind {
            kind::ENTER => Event::Enter(self.region(fields.defined("region")?)),
            kind::LEAVE => Event::Leave(self.region(fields.defined("region")?)),
            kind::SEND => Event::Send(self.message(&mut fields)?),
            kind::ISEND => Event::Isend(self.message(&mut fields)?, fields.defined("request")?),
            kind::ISEND_COMPLETE => Event::IsendComplete(fields.defined("request")?),
            kind::IRECV_REQUEST => Event::IrecvRequest(fields.defined("request")?),
            kind::RECV => Event::Recv(self.message(&mut fields)?),
            kind::IRECV => Event::Irecv(self.message(&mut fields)?, fields.defined("request")?),
            kind::CANCELLED => Event::Cancelled(fields.defined("request")?),
            kind::COLLECTIVE_END => Event::Collective(self.collective(&mut fields)?),
            kind::COLLECTIVE_REQUEST => Event::CollectiveRequest(fields.defined("request")?),
            kind::COLLECTIVE_COMPLETE => {
                Event::CollectiveComplete(self.collective(&mut fields)?, fields.defined("request")?)
            }
            _ => Event::Other,
        })
    }

    fn message(&self, fields: &mut Cursor<'_>) -> Result<MessageRecord, String> {
        Ok(MessageRecord {
            peer: fields.defined("rank")?,
            communicator: self.communicator(fields.defined("communicator")?),
            tag: fields.defined("tag")?,
            bytes: fields.defined("number of bytes")?,
        })
    }

    fn collective(&self, fields: &mut Cursor<'_>) -> Result<CollectiveRecord, String> {
        Ok(CollectiveRecord {
            operation: fields.byte()?,
            communicator: self.communicator(fields.defined("communicator")?),
            root: fields.number()?.filter(|&root| root < u64::from(u32::MAX) - 8),
            sent: fields.defined("number of bytes sent")?,
            received: fields.defined("number of bytes received")?,
        })
    }
}
