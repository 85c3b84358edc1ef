//! Control packets: what leaves NICs without being a packet of a job.

use super::recorder::Recorder;
use crate::packet::Packet;

impl Recorder {
    /// Records that a control packet left its NIC.
    pub(crate) fn record_control_injection(&mut self, nic: usize, packet: &Packet) {
        if self.measured(packet.injected) {
            self.nic_bytes[nic] += u64::from(packet.size());
            self.control_packets.packets += 1;
            self.control_packets.bytes += u64::from(packet.size());
        }
    }
}
