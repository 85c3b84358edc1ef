//! A block of code, written call by call.

use super::{Call, Operation, EQUAL, WORLD};
use odonata_units::{Bytes, Time};

/// The instructions of a block. Its calls are those of the communicator that was chosen last, at first the one of all
/// ranks; requests are numbered from 0 in each block.
#[derive(Clone, PartialEq, Eq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Code {
    calls: Vec<Call>,
    communicator: u16,
    requests: u32,
}

impl Code {
    /// What was written.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    pub(super) fn calls_mut(&mut self) -> &mut [Call] {
        &mut self.calls
    }

    /// Begins again.
    pub fn clear(&mut self) {
        self.calls.clear();
        (self.communicator, self.requests) = (WORLD, 0);
    }

    /// Memory beyond the struct itself.
    pub fn memory_bytes(&self) -> usize {
        self.calls.capacity() * size_of::<Call>()
    }

    /// Appends any call.
    pub fn push(&mut self, call: Call) {
        self.calls.push(call);
    }

    /// What follows is of a communicator.
    pub fn within(&mut self, communicator: u16) {
        self.communicator = communicator;
    }

    /// Sends, blocking.
    pub fn send(&mut self, to: u32, bytes: Bytes, tag: u32) {
        self.calls.push(Call::Send { to, bytes, tag, communicator: self.communicator });
    }

    /// Receives, blocking.
    pub fn recv(&mut self, from: u32, bytes: Bytes, tag: u32) {
        self.calls.push(Call::Recv { from, bytes, tag, communicator: self.communicator });
    }

    /// Begins to send; the request.
    pub fn isend(&mut self, to: u32, bytes: Bytes, tag: u32) -> u32 {
        let request = self.request();
        self.calls.push(Call::Isend { to, bytes, tag, communicator: self.communicator, request });
        request
    }

    /// Begins to receive; the request.
    pub fn irecv(&mut self, from: u32, bytes: Bytes, tag: u32) -> u32 {
        let request = self.request();
        self.calls.push(Call::Irecv { from, bytes, tag, communicator: self.communicator, request });
        request
    }

    /// Waits for one request.
    pub fn wait(&mut self, request: u32) {
        self.calls.push(Call::Wait { request });
    }

    /// Waits for all requests of this block.
    pub fn wait_all(&mut self) {
        self.wait_for(0, self.requests);
    }

    /// Waits for `count` requests from `first` on.
    pub fn wait_for(&mut self, first: u32, count: u32) {
        self.calls.push(Call::WaitAll { first, count });
    }

    /// How many requests the block has numbered: the next one has this number.
    pub fn requests(&self) -> u32 {
        self.requests
    }

    /// Computes.
    pub fn compute(&mut self, time: Time) {
        self.calls.push(Call::Compute { time });
    }

    /// A phase begins.
    pub fn mark(&mut self, phase: u32) {
        self.calls.push(Call::Mark { phase });
    }

    /// A collective of blocks of one size.
    pub fn collective(&mut self, operation: Operation, root: u32, bytes: Bytes) {
        let communicator = self.communicator;
        self.calls.push(Call::Collective { operation, root, bytes, sizes: EQUAL, communicator });
    }

    /// A collective whose blocks have the [sizes](super::RankProgram::size) of that number.
    pub fn collective_of(&mut self, operation: Operation, root: u32, sizes: u32) {
        let communicator = self.communicator;
        self.calls.push(Call::Collective { operation, root, bytes: Bytes(0), sizes, communicator });
    }

    fn request(&mut self) -> u32 {
        self.requests += 1;
        self.requests - 1
    }
}
