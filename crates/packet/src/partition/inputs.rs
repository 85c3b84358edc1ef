//! State of the receiving sides of ports.

use super::outputs::Outputs;
use super::section::{End, FarEnd, Section};
use crate::packet::{Fifo, NONE};
use odonata_checkpoint::state;

/// Receiving sides of the ports of a partition.
pub(super) struct Inputs {
    pub(super) ports: Vec<InPort>,
    /// By [`Section::channel`].
    pub(super) channels: Vec<InChannel>,
}

state!(Inputs { nested: ports, channels });

impl Inputs {
    pub(super) fn new(section: &Section, outputs: &Outputs) -> Self {
        let channels = 0..outputs.ports.len() * section.channels;
        Self {
            ports: section.ports.clone().map(|port| InPort::new(section, port, outputs)).collect(),
            channels: channels.map(|c| InChannel::new((c / section.channels) as u32)).collect(),
        }
    }
}

/// One virtual channel of the receiving side.
pub(super) struct InChannel {
    pub(super) queue: Fifo,
    /// Next input channel that waits for the same output.
    pub(super) next_waiter: u32,
    /// Its port (of the partition).
    pub(super) port: u32,
}

state!(InChannel { value: queue, next_waiter; rebuilt: port });

impl InChannel {
    fn new(port: u32) -> Self {
        Self { queue: Fifo::default(), next_waiter: NONE, port }
    }
}

/// Receiving side of a port; one cache line.
#[repr(align(64))]
pub(super) struct InPort {
    /// Packets on the link to this port, by arrival.
    pub(super) flight: Fifo,
    /// This input of the crossbar is busy until then.
    pub(super) crossbar_free: u64,
    /// Number of its [`Kind`](super::section::Kind).
    pub(super) kind: u32,
    /// Sender, as in [`FarEnd`].
    pub(super) peer: u32,
    /// Router (of the partition), and position of this port among its ports.
    pub(super) router: u32,
    pub(super) place: u16,
    /// Bit vc: packets wait in channel vc.
    pub(super) occupied: u64,
    pub(super) end: End,
    /// The sender, a port of this partition, has deferred departures.
    pub(super) has_deferred: bool,
    pub(super) part: u16,
}

state!(InPort {
    value: flight, crossbar_free, occupied, has_deferred;
    rebuilt: kind, peer, router, place, end, part
});

impl InPort {
    /// The port receives from where it sends to.
    fn new(section: &Section, port: u32, outputs: &Outputs) -> Self {
        let out = &outputs.ports[(port - section.ports.start) as usize];
        let router = section.fabric.port_router[port as usize];
        let FarEnd { peer, end, part } = out.far_end();
        Self {
            flight: Fifo::default(),
            crossbar_free: 0,
            occupied: 0,
            kind: out.kind,
            peer,
            router: router - section.routers.start,
            place: (port - section.fabric.first_port[router as usize]) as u16,
            end,
            has_deferred: false,
            part,
        }
    }
}
