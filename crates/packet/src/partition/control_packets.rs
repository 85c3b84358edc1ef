//! Acknowledgements and notices as packets (`control_bytes`).
//!
//! They are ordinary packets of their class, from the NIC behind the ejection port back to the source. A NIC sends them
//! before its other packets. They are not controlled, have no acknowledgement, and count as no packet of a job.

use super::state::Partition;
use crate::control::{ControlPacket, Notice};
use crate::packet::Packet;
use odonata_routing::algorithm::{Header, RouteState};

impl Partition {
    /// Size of the control packets of a class; `None` if its notices take no bandwidth.
    pub(super) fn control_packet_size(&self, class: usize) -> Option<u32> {
        let settings = &self.section.fabric.settings;
        let bytes = settings.control_of(class).control_bytes?.0 as u32;
        // Packets with a header consist of whole flits.
        Some(if settings.header.0 == 0 { bytes } else { bytes.next_multiple_of(settings.flit.0 as u32) })
    }

    /// Adds a control packet of a class that NIC `n` sends.
    pub(super) fn add_control_packet(&mut self, n: usize, class: usize, packet: ControlPacket) {
        let place = n * self.section.classes + class;
        self.control.as_mut().expect("there is a control").nics[place].packets.add(packet);
        self.offer_from(n, place, packet.ready);
    }

    /// Takes the control packet of a class that may leave NIC `n` at `leaves`, if there is one.
    pub(super) fn take_control_packet(&mut self, n: usize, class: usize, leaves: u64) -> Option<ControlPacket> {
        let place = n * self.section.classes + class;
        self.control.as_mut()?.nics[place].packets.take(leaves)
    }

    /// Injects a control packet of NIC `n` that leaves at `leaves`. Returns its slot.
    pub(super) fn inject_control_packet(
        &mut self,
        n: usize,
        leaves: u64,
        control: &ControlPacket,
        class: Option<usize>,
    ) -> u32 {
        let size = self.control_packet_size(class.unwrap_or(0)).expect("control packets have a size");
        let (latency, _) = self.occupy_nic(n, size, leaves, class);
        let fabric = &self.section.fabric;
        let (source, destination) = (fabric.node_of(self.section.nics.start + n as u32), fabric.node_of(control.to));
        let mut state = match self.routers.needs.messages {
            true => self.routers.routing().initial_state(source, destination, size.into()),
            false => RouteState::default(),
        };
        state.vc += class.map_or(0, |class| self.section.first_channel(class));
        let header = Header { source, destination, state };
        let mut packet = Packet::new(header, size, Packet::CONTROL, leaves, leaves + latency);
        packet.job = control.job;
        self.recorder.record_control_injection(n, &packet);
        let slot = self.pool.insert(&packet);
        self.pool.set_envelope(slot, control.envelope());
        self.arm_nic(n);
        slot
    }

    /// Applies the control packet of `slot`, whose last byte reaches NIC `n` at `delivered`.
    pub(super) fn deliver_control_packet(&mut self, n: usize, slot: u32, delivered: u64) {
        let packet = self.pool.get(slot);
        let (sent, class) = (packet.injected, self.section.class_of(packet.out_vc()));
        let destination = self.section.fabric.node_nic[packet.header.source.index()];
        let envelope = self.pool.envelope(slot).expect("a control packet has an envelope");
        // The run may end with it.
        self.clock.last_departure = self.clock.last_departure.max(delivered);
        self.pool.take_path(slot);
        self.pool.free(slot);
        let notice = Notice::from_envelope(delivered, destination, class as u8, &envelope);
        let place = n * self.section.classes + class;
        let packets = &mut self.control.as_mut().expect("there is a control").nics[place].packets;
        if packets.counts(destination, notice.kind, sent) {
            self.take_notice(n, notice);
        }
    }
}
