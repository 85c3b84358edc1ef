//! Settings of routers in the packet engine, in addition to the links of the machine.

use crate::control::{ControlName, ControlSettings};
use crate::injection::InjectionFifos;
use crate::settings_error::SettingsError;
use crate::traffic_class::TrafficClasses;
use odonata_declare::{parameters, words, Choice, Kind};
use odonata_routing::algorithm::Routing;
use odonata_units::{Bytes, Time};

words! {
    /// Rule by which a crossbar output selects one of the waiting input channels.
    #[derive(Default)]
    pub enum Arbitration {
        #[default]
        LeastRecentlyUsed = "least-recently-used": "the input VC that no output of the router has served for the longest time",
        TransitFirst = "transit-first": "as `least-recently-used`, but packets from other routers go before packets from the router's own nodes, up to `transit_limit`",
        RoundRobin = "round-robin": "the next VC of the output in turn, and for it the next waiting input VC in turn",
    }
}

words! {
    /// Bytes that an adaptive algorithm counts as queued for a port.
    #[derive(Default)]
    pub enum QueueEstimate {
        Output = "output": "bytes in the local output buffer",
        #[default]
        Downstream = "downstream": "also all credits in use: packets on the link and in the next buffer, and returning credits",
        DownstreamArrived = "downstream-arrived": "as `downstream`, without packets on the link",
    }
}

words! {
    /// Source of the router settings that are not given.
    pub enum PacketPreset {
        Study = "study": "512 B packets of 4 flits, 30 packets per virtual channel, crossbar 4 times a link",
        Predecessor = "predecessor": "128 B packets of 1 flit, 20 packets per virtual channel, crossbar 10 times a link",
        IdealCycle = "ideal-cycle": "4-flit packets of 1 B flits, 256-flit buffers: for links of 1 GB/s, a flit per ns",
        Bgl = "bgl": "Blue Gene/L: 256 B packets in chunks of 32 B, of which 16 B are the header; 16 B more on the wire; 1 KiB buffers",
        Bgp = "bgp": "Blue Gene/P: the same as `bgl`",
        Bgq = "bgq": "Blue Gene/Q: 512 B of payload, a header of 32 B, 24 B more on the wire, 8 KiB buffers",
        Slingshot = "slingshot": "512 B packets, 64 KiB buffers, `control.name = \"pair\"`; the machine's links contain the latency of a switch. Buffers and thresholds are not published, so they are assumed",
    }
}

const UNLIMITED: &Choice = &Choice { name: "unlimited", doc: "packets from nodes wait as long as others come" };

/// Maximum NICs per node.
const NICS_PER_NODE_MAX: u32 = 64;

/// Maximum bytes of a header and a flit together: a packet has 7 bits for its header and padding.
const HEADER_AND_FLIT_MAX: u64 = 128;

parameters! {
    /// Parameters of routers and packets. Bandwidths and latencies of links come from the machine.
    #[derive(PartialEq)]
    pub struct PacketSettings {
        /// Source of the router keys below that are not given. The defaults in this table are the values of `study`.
        #[decides(result)]
        pub preset: PacketPreset = PacketPreset::Study => Self::of;
        /// Size of a full packet.
        #[decides(result)]
        pub packet: Bytes = Bytes(512);
        /// Size of a flit.
        pub flit: Bytes = Bytes(128);
        /// Bytes of every packet that do not belong to the message. With a header, a packet is a whole number of flits.
        pub header: Bytes = Bytes(0);
        /// Bytes of a packet that occupy links but no buffers.
        pub wire_overhead: Bytes = Bytes(0);
        /// Input buffer of each port and virtual channel.
        #[decides(result)]
        pub input_buffer: Bytes = Bytes(15_360);
        /// Output buffer of each port and virtual channel.
        #[decides(result)]
        pub output_buffer: Bytes = Bytes(15_360);
        /// Bandwidth of the crossbar as a multiple of the router's fastest link.
        #[decides(result)]
        pub crossbar_speedup: f64 = 4.0, Kind::Number { min: 1.0, max: 1e6 };
        /// Pipeline latency from the arrival at a router to its input queue.
        #[decides(result)]
        pub input_latency: Time = Time::from_ns(10);
        /// Pipeline latency from the output queue to the link.
        #[decides(result)]
        pub output_latency: Time = Time::from_ns(10);
        /// Rule by which a crossbar output selects one of the waiting input VCs.
        pub arbitration: Arbitration = Arbitration::LeastRecentlyUsed;
        /// With `transit-first`: packets from other routers that an output may serve while a packet from a node waits for
        /// it. Then the packet's VC takes turns with the others. Without a limit, open traffic may starve other jobs.
        pub transit_limit: Option<u32> = Some(64), Kind::WordOr(UNLIMITED, &Kind::COUNT);
        /// Bytes that `ugal-g`, `ugal-n` and `par` count as queued for a port.
        pub estimate: QueueEstimate = QueueEstimate::Downstream;
        /// NICs of every node, each with a link of its own to the node's router. For programs, whose packets
        /// name them; the packets of other jobs use the first one.
        pub nics_per_node: u32 = 1, no key;
        /// Injection FIFOs of every node. Without them a NIC takes the next packet of any message.
        pub injection: Option<InjectionFifos> = None, no key;
        /// Congestion control at NICs.
        pub control: ControlSettings = ControlSettings::default(), no key;
        /// Traffic classes.
        pub classes: TrafficClasses = TrafficClasses::default(), no key;
    }
}

impl PacketSettings {
    /// The settings of a preset.
    pub fn of(preset: PacketPreset) -> Self {
        match preset {
            PacketPreset::Study => Self::study(),
            PacketPreset::Predecessor => Self::predecessor(),
            PacketPreset::IdealCycle => Self::ideal_cycle(4),
            PacketPreset::Bgl => Self::bgl(),
            PacketPreset::Bgp => Self::bgp(),
            PacketPreset::Bgq => Self::bgq(),
            PacketPreset::Slingshot => Self::slingshot(),
        }
    }

    /// The interference study's routers: 512-byte packets of 4 flits, 30 packets per virtual channel at inputs and
    /// at outputs, crossbar with 4 times the rate of a link, 10 ns in and 10 ns out.
    pub fn study() -> Self {
        Self::default()
    }

    /// The predecessor's routers: 128-byte packets of one flit, 20 packets per virtual channel, crossbar with 10 times
    /// the rate of a link.
    pub fn predecessor() -> Self {
        Self {
            preset: PacketPreset::Predecessor,
            packet: Bytes(128),
            flit: Bytes(128),
            input_buffer: Bytes(2_560),
            output_buffer: Bytes(2_560),
            crossbar_speedup: 10.0,
            ..Self::study()
        }
    }

    /// Routers as in cycle-accurate simulators, for a machine whose links carry one flit per nanosecond: flits
    /// of one byte, packets of `flits`, buffers of 256 flits, one cycle in and one cycle out.
    pub fn ideal_cycle(flits: u64) -> Self {
        Self {
            preset: PacketPreset::IdealCycle,
            packet: Bytes(flits),
            flit: Bytes(1),
            input_buffer: Bytes(256),
            output_buffer: Bytes(256),
            crossbar_speedup: 4.0,
            input_latency: Time::from_ns(1),
            output_latency: Time::from_ns(1),
            ..Self::study()
        }
    }

    /// Routers of Blue Gene/P for its machines, whose links contain the whole latency of a hop. Packets of 8 chunks of
    /// 32 B contain 240 B of a message and take 272 B on the wire: 640 ns at 425 MB/s, or 375 MB/s of message. Each
    /// link and channel has a buffer of 1 KiB at its end. At its start it has as much as bubbles need.
    pub fn bgp() -> Self {
        Self {
            preset: PacketPreset::Bgp,
            packet: Bytes(256),
            flit: Bytes(32),
            header: Bytes(16),
            wire_overhead: Bytes(16),
            input_buffer: Bytes(1_024),
            output_buffer: Bytes(512),
            input_latency: Time::ZERO,
            output_latency: Time::ZERO,
            arbitration: Arbitration::TransitFirst,
            // The hardware has no limit.
            transit_limit: None,
            ..Self::study()
        }
    }

    /// Routers of Blue Gene/L, equal to Blue Gene/P.
    pub fn bgl() -> Self {
        Self { preset: PacketPreset::Bgl, ..Self::bgp() }
    }

    /// Routers of Blue Gene/Q: 512 B of a message in 544 B, 568 B on the wire: 284 ns at 2 GB/s, 1.8 GB/s of message.
    pub fn bgq() -> Self {
        Self {
            preset: PacketPreset::Bgq,
            packet: Bytes(544),
            header: Bytes(32),
            wire_overhead: Bytes(24),
            input_buffer: Bytes(8_192),
            output_buffer: Bytes(1_088),
            ..Self::bgp()
        }
    }

    /// Routers of Slingshot for machines whose links contain the latency of a switch (350 ns; De Sensi et al. 2020).
    ///
    /// A buffer covers the round trip of a link of 450 ns at 25 GB/s, 23 kB, with room for sources at two speeds:
    /// smaller ones lower the rate of global links. Its real size is not published.
    pub fn slingshot() -> Self {
        Self {
            preset: PacketPreset::Slingshot,
            input_buffer: Bytes::kib(64),
            output_buffer: Bytes::kib(64),
            input_latency: Time::ZERO,
            output_latency: Time::ZERO,
            control: ControlSettings { name: ControlName::Pair, ..ControlSettings::default() },
            ..Self::study()
        }
    }

    /// Congestion control of a traffic class.
    pub fn control_of(&self, class: usize) -> &ControlSettings {
        let own = self.classes.list.get(class).and_then(|class| class.settings.control.as_ref());
        own.unwrap_or(&self.control)
    }

    /// Whether any traffic class has a congestion control.
    pub fn has_control(&self) -> bool {
        (0..self.classes.count()).any(|class| self.control_of(class).is_on())
    }

    /// Whether the acknowledgements and notices of any traffic class are packets.
    pub fn has_control_packets(&self) -> bool {
        let mut controls = (0..self.classes.count()).map(|class| self.control_of(class));
        controls.any(|control| control.is_on() && control.control_bytes.is_some())
    }

    /// Bytes of a message in a full packet.
    pub fn payload(&self) -> Bytes {
        Bytes(self.packet.0 - self.header.0)
    }

    /// Checks that the settings describe a router.
    ///
    /// # Errors
    /// A size of zero, a packet that is not a whole number of flits, a buffer smaller than a packet, or a speed-up
    /// below 1.
    pub fn check(&self) -> Result<(), SettingsError> {
        let wrong = |setting: &str, reason: String| Err(SettingsError { setting: setting.to_owned(), reason });
        if self.packet.0 == 0 || self.packet.0 > 1 << 20 {
            return wrong("engine.packet", format!("{} is not between 1 B and 1 MiB", self.packet));
        }
        if self.flit.0 == 0 || self.packet.0 % self.flit.0 != 0 {
            return wrong(
                "engine.flit",
                format!("a packet of {} is not a whole number of flits of {}", self.packet, self.flit),
            );
        }
        if self.flit.0 > HEADER_AND_FLIT_MAX {
            return wrong("engine.flit", format!("{} is more than {HEADER_AND_FLIT_MAX} B", self.flit));
        }
        if self.header >= self.packet || self.header.0 > 0 && self.header.0 + self.flit.0 > HEADER_AND_FLIT_MAX {
            let (header, packet, flit) = (self.header, self.packet, self.flit);
            return wrong(
                "engine.header",
                format!(
                    "{header} of a packet of {packet} in flits of {flit}; expected less than the packet and, with a flit, at most \
                     {HEADER_AND_FLIT_MAX} B"
                ),
            );
        }
        if self.wire_overhead.0 > 1 << 20 {
            return wrong("engine.wire_overhead", format!("{} is more than 1 MiB", self.wire_overhead));
        }
        for (setting, size) in
            [("engine.input_buffer", self.input_buffer), ("engine.output_buffer", self.output_buffer)]
        {
            if size < self.packet {
                return wrong(
                    setting,
                    format!(
                        "{size} does not hold one packet of {}; virtual cut-through needs space for a whole packet",
                        self.packet
                    ),
                );
            }
            if size.0 > 1 << 30 {
                return wrong(setting, format!("{size} is more than 1 GiB for one virtual channel"));
            }
        }
        self.control.check(Some(self.packet)).map_err(|error| error.under("engine.control"))?;
        self.classes.check()?;
        for (number, class) in self.classes.list.iter().enumerate() {
            let of_class = |error: SettingsError| error.under(&format!("traffic_class.{number}.control"));
            class.settings.control.iter().try_for_each(|control| control.check(Some(self.packet)).map_err(of_class))?;
        }
        if self.has_control() && (self.injection.is_some() || self.nics_per_node != 1) {
            let reason = "with injection FIFOs or several NICs at one router; expected 'none'".into();
            return wrong("engine.control.name", reason);
        }
        if self.classes.has_effect() && self.injection.is_some() {
            return wrong("engine.injection", "with traffic classes; expected none".into());
        }
        if let Some(injection) = &self.injection {
            injection.check()?;
            if self.nics_per_node != 1 {
                return wrong(
                    "engine.nics_per_node",
                    format!("{} with injection FIFOs; expected 1", self.nics_per_node),
                );
            }
        }
        if !(1..=NICS_PER_NODE_MAX).contains(&self.nics_per_node) {
            return wrong(
                "engine.nics_per_node",
                format!("{} is not between 1 and {NICS_PER_NODE_MAX} NICs per node", self.nics_per_node),
            );
        }
        if !(self.crossbar_speedup.is_finite() && self.crossbar_speedup >= 1.0) {
            return wrong(
                "engine.crossbar_speedup",
                format!("{} is below 1: the crossbar would be slower than the links", self.crossbar_speedup),
            );
        }
        Ok(())
    }
}

impl PacketSettings {
    /// Checks that the output buffer suffices for the rings of a routing algorithm.
    pub(crate) fn check_rings(&self, routing: &dyn Routing) -> Result<(), SettingsError> {
        if routing.rings().is_none() || self.output_buffer.0 >= 2 * self.packet.0 {
            return Ok(());
        }
        let (buffer, packet) = (self.output_buffer, self.packet);
        let reason = format!(
            "{buffer} does not hold two packets of {packet}; with bubbles a packet enters a ring only if it has space for two"
        );
        Err(SettingsError { setting: "engine.output_buffer".into(), reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_routers() {
        PacketSettings::study().check().unwrap();
        PacketSettings::predecessor().check().unwrap();
        PacketSettings::ideal_cycle(4).check().unwrap();
        let hardware =
            [PacketSettings::bgl(), PacketSettings::bgp(), PacketSettings::bgq(), PacketSettings::slingshot()];
        hardware.iter().for_each(|settings| settings.check().unwrap());
    }

    /// Buffers in packets and speed-ups in multiples of a link, as the platforms are described.
    #[test]
    fn presets_have_the_buffers_of_their_platforms() {
        let packets = |s: &PacketSettings| {
            (s.packet.0 / s.flit.0, s.input_buffer.0 / s.packet.0, s.output_buffer.0 / s.packet.0, s.crossbar_speedup)
        };
        assert_eq!(packets(&PacketSettings::study()), (4, 30, 30, 4.0));
        assert_eq!(packets(&PacketSettings::predecessor()), (1, 20, 20, 10.0));
        assert_eq!(packets(&PacketSettings::ideal_cycle(4)), (4, 64, 64, 4.0));
        assert_eq!(packets(&PacketSettings::bgp()), (8, 4, 2, 4.0));
        assert_eq!(packets(&PacketSettings::bgq()), (17, 15, 2, 4.0));
    }

    #[test]
    fn mistakes_name_the_setting() {
        let message = |edit: fn(&mut PacketSettings)| {
            let mut settings = PacketSettings::study();
            edit(&mut settings);
            settings.check().unwrap_err().to_string()
        };
        assert!(message(|s| s.packet = Bytes(0)).starts_with("engine.packet"));
        assert!(message(|s| s.flit = Bytes(100)).contains("not a whole number of flits"));
        assert!(
            message(|s| s.input_buffer = Bytes(511)).contains("engine.input_buffer: 511 B does not hold one packet")
        );
        assert!(message(|s| s.header = Bytes(512)).starts_with("engine.header: 512 B of a packet of 512 B"));
        assert!(message(|s| s.header = Bytes(1)).contains("with a flit, at most 128 B"));
        assert!(message(|s| s.nics_per_node = 0).starts_with("engine.nics_per_node: 0 is not between 1 and 64"));
        assert!(message(|s| s.crossbar_speedup = f64::NAN).starts_with("engine.crossbar_speedup"));
    }
}
