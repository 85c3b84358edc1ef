//! A block of code, written call by call.

use crate::call::{Call, Operation, BLOCKING, EQUAL, WORLD};
use odonata_units::{Bytes, Time};

/// The instructions of a block. Calls use the communicator chosen last, at first the world communicator. Requests are
/// numbered from 0 in each block.
#[derive(Clone, PartialEq, Eq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Code {
    calls: Vec<Call>,
    communicator: u16,
    requests: u32,
}

impl Code {
    /// The instructions.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    pub(super) fn calls_mut(&mut self) -> &mut [Call] {
        &mut self.calls
    }

    /// Clears the block.
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

    /// Selects the communicator of the following calls.
    pub fn within(&mut self, communicator: u16) {
        self.communicator = communicator;
    }

    /// Blocking send.
    pub fn send(&mut self, to: u32, bytes: Bytes, tag: u32) {
        self.calls.push(Call::Send { to, bytes, tag, communicator: self.communicator });
    }

    /// Blocking receive.
    pub fn recv(&mut self, from: u32, bytes: Bytes, tag: u32) {
        self.calls.push(Call::Recv { from, bytes, tag, communicator: self.communicator });
    }

    /// Nonblocking send. Returns the request.
    pub fn isend(&mut self, to: u32, bytes: Bytes, tag: u32) -> u32 {
        let request = self.request();
        self.calls.push(Call::Isend { to, bytes, tag, communicator: self.communicator, request });
        request
    }

    /// Nonblocking receive. Returns the request.
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

    /// Waits for `count` requests from `first`.
    pub fn wait_for(&mut self, first: u32, count: u32) {
        self.calls.push(Call::WaitAll { first, count });
    }

    /// Number of requests of the block, and the number of the next one.
    pub fn requests(&self) -> u32 {
        self.requests
    }

    /// Computation.
    pub fn compute(&mut self, time: Time) {
        self.calls.push(Call::Compute { time });
    }

    /// Computes, unless the time is zero.
    pub fn compute_if_any(&mut self, time: Time) {
        if time > Time::ZERO {
            self.compute(time);
        }
    }

    /// A block of a rank that only serves others. It sleeps, because a round of a background job must take time.
    pub fn serve(&mut self) {
        self.calls.push(Call::Sleep { time: Time::from_us(1) });
    }

    /// Start of a phase.
    pub fn mark(&mut self, phase: u32) {
        self.calls.push(Call::Mark { phase });
    }

    /// A collective with blocks of one size.
    pub fn collective(&mut self, operation: Operation, root: u32, bytes: Bytes) {
        let communicator = self.communicator;
        self.calls.push(Call::Collective { operation, root, bytes, sizes: EQUAL, communicator, request: BLOCKING });
    }

    /// The nonblocking form of a collective with blocks of one size. Returns the request.
    pub fn icollective(&mut self, operation: Operation, root: u32, bytes: Bytes) -> u32 {
        let (communicator, request) = (self.communicator, self.request());
        self.calls.push(Call::Collective { operation, root, bytes, sizes: EQUAL, communicator, request });
        request
    }

    /// A collective with blocks of the program's [sizes](super::RankProgram::size) with this number.
    pub fn collective_of(&mut self, operation: Operation, root: u32, sizes: u32) {
        let communicator = self.communicator;
        self.calls.push(Call::Collective { operation, root, bytes: Bytes(0), sizes, communicator, request: BLOCKING });
    }

    fn request(&mut self) -> u32 {
        self.requests += 1;
        self.requests - 1
    }
}
