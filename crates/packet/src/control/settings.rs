//! Keys of `[engine.control]`.

use crate::settings_error::SettingsError;
use odonata_declare::{parameters, words, Kind, ParameterStruct, Value};
use odonata_units::{Bytes, Time};

words! {
    /// A congestion control.
    #[derive(Default)]
    pub enum ControlName {
        #[default]
        None = "none": "NICs send as fast as their routers accept packets",
        Pair = "pair": "as in Slingshot: the last router holds the sources of a congested ejection port, and gives them credits as the port drains",
        Window = "window": "a window or rate limits each pair of NICs, and acknowledgements adjust it",
    }
}

words! {
    /// A rule of a congestion control.
    pub enum ControlRule {
        Credit = "credit": "`pair`: held sources send with credits of the port",
        Merlin = "merlin": "`pair`: as `hr_router` of SST Merlin; n sources of a congested port wait n + 1 packet times after each packet",
        Fixed = "fixed": "`window`: the window does not change",
        Dctcp = "dctcp": "`window`: the window shrinks by half of the smoothed share of marked bytes, and grows by a packet per window without marks",
        Nscc = "nscc": "`window`: Ultra Ethernet's rule for windows, from marks and delays",
        Dcqcn = "dcqcn": "`window`: the rate shrinks with notices of marks, and recovers with time and bytes",
        Cct = "cct": "`window`: InfiniBand's table: each mark lengthens the gaps between packets, and a timer shortens them",
    }
}

use ControlRule::{Cct, Credit, Dcqcn, Dctcp, Fixed, Merlin, Nscc};

parameters! {
    /// Congestion control at NICs.
    #[derive(PartialEq)]
    pub struct ControlSettings {
        /// The control.
        #[decides(result)]
        pub name: ControlName = ControlName::None;
        /// Rule of the control.
        pub rule: Option<ControlRule> = None, else "`credit` with `pair`, `dctcp` with `window`";
        /// Size of acknowledgements and notices as packets, which the destination's NIC sends before its other packets.
        pub control_bytes: Option<Bytes> = None, else "they take no bandwidth, and the idle latency of the return path";
        /// `pair`: bytes in the last router for one ejection port above which the router holds their sources. With
        /// `merlin`, bytes at which it slows them; SST's default is twice the output buffer.
        pub q_hi: Bytes = Bytes::kib(8);
        /// `credit`: bytes below which the router releases a source with every packet that departs.
        pub q_lo: Bytes = Bytes::kib(2);
        /// `credit`: full packets per credit.
        pub credit: u32 = 1, Kind::COUNT;
        /// `merlin`: least number of sources that it slows.
        pub sources_min: u32 = 6, Kind::COUNT;
        /// `credit`, `dctcp`, `nscc`: window of a pair of NICs at its first packet, and after a round trip with nothing in
        /// flight. The window doubles in a round trip until it is full or the first mark arrives (`nscc`: as its rule says).
        #[decides(result)]
        pub first_window: Option<Bytes> = None, else "4 KiB; `nscc`: the maximum window";
        /// Maximum window of a pair of NICs.
        pub window: Option<Bytes> = None, else "bandwidth of the NIC times the idle round-trip time of the pair; with `credit` twice that, so that a shared port gets congested; with `nscc` 1.5 times that; with `merlin`, `dcqcn` and `cct` unlimited";
        /// `dctcp`, `nscc`: minimum window. Below a packet, the NIC spreads packets over time: one packet per (packet / window)
        /// idle round trips.
        pub min_window: Bytes = Bytes(32);
        /// `window`: bytes in a queue above which its router marks a departing packet. At an ejection port all bytes in
        /// the router for the port count, at other ports the output buffer.
        #[decides(result)]
        pub mark_above: Bytes = Bytes::kib(16);
        /// `window`: bytes in a queue at which every departing packet is marked. From `mark_above` on, the probability grows
        /// from 0 to 1.
        pub mark_full: Option<Bytes> = None, else "`mark_above`: no packet below, all above";
        /// `dctcp`: weight of the newest share of marked bytes. `dcqcn`: weight of a notice in the decrease.
        #[decides(result)]
        pub gain: Option<f64> = None, Kind::Number { min: 1e-6, max: 1.0 }, else "0.0625; `dcqcn`: 0.00390625";
        /// `nscc`: target of the queueing delay. A multiple of the network's longest idle round trip, usually 1.
        pub target_delay: Time = Time::from_us(1);
        /// `dcqcn`: marks within this time after a decrease count as one.
        pub notice_interval: Time = Time::from_us(50);
        /// `dcqcn`: time without a mark after which the decrease gets smaller by `gain`.
        pub alpha_timer: Time = Time::from_us(55);
        /// `dcqcn`: time between two increases.
        pub rate_timer: Time = Time::from_us(55);
        /// `dcqcn`: bytes between two increases.
        pub byte_counter: Bytes = Bytes(10_000_000);
        /// `dcqcn`: increase of the target rate, as a part of the NIC's rate. Ten times as much after several increases of
        /// both kinds.
        pub rate_increase: f64 = 0.001, Kind::Number { min: 1e-6, max: 1.0 };
        /// `dcqcn`: minimum rate, as a part of the NIC's rate.
        pub min_rate: f64 = 0.001, Kind::Number { min: 1e-6, max: 1.0 };
        /// `cct`: steps in the table per mark. At step i, a packet takes 1 + i packet times.
        pub cct_increase: u32 = 1, Kind::COUNT;
        /// `cct`: time after which the NIC goes back by one step.
        pub cct_timer: Time = Time::from_us(150);
        /// `cct`: last step of the table.
        pub cct_limit: u32 = 127, Kind::COUNT;
    }
}

/// Which departing packets are marked, by the bytes in their queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkThresholds {
    above: u32,
    full: u32,
}

impl MarkThresholds {
    /// Whether a packet that was injected at `injected` by `source` and leaves a queue of `queued` bytes gets a mark. The
    /// choice is a hash of these values, so it needs no random stream and is the same in any partition.
    #[inline]
    pub(crate) fn marks(self, queued: u32, injected: u64, source: u32) -> bool {
        queued > self.above && (queued >= self.full || self.chooses(queued, injected, source))
    }

    #[cold]
    fn chooses(self, queued: u32, injected: u64, source: u32) -> bool {
        // The finaliser of SplitMix64.
        let mut hash = injected ^ u64::from(source) << 32 ^ u64::from(queued);
        hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        let share = (hash ^ hash >> 31) % u64::from(self.full - self.above);
        share < u64::from(queued - self.above)
    }
}

/// Default of `first_window`: 211 sources with a window of a round trip would leave 5 MB before the first notice.
const FIRST_WINDOW: Bytes = Bytes::kib(4);

impl ControlSettings {
    /// Rules with which a key means something.
    pub fn rules_of(key: &str) -> &'static [ControlRule] {
        match key {
            "q_hi" => &[Credit, Merlin],
            "q_lo" | "credit" => &[Credit],
            "sources_min" => &[Merlin],
            "first_window" => &[Credit, Dctcp, Nscc],
            "min_window" => &[Dctcp, Nscc],
            "mark_above" | "mark_full" => &[Fixed, Dctcp, Nscc, Dcqcn, Cct],
            "gain" => &[Dctcp, Dcqcn],
            "target_delay" => &[Nscc],
            "notice_interval" | "alpha_timer" | "rate_timer" | "byte_counter" | "rate_increase" | "min_rate" => {
                &[Dcqcn]
            }
            "cct_increase" | "cct_timer" | "cct_limit" => &[Cct],
            _ => &[Credit, Merlin, Fixed, Dctcp, Nscc, Dcqcn, Cct],
        }
    }

    /// The rule in use.
    pub fn rule(&self) -> ControlRule {
        let default = if self.name == ControlName::Pair { Credit } else { Dctcp };
        self.rule.unwrap_or(default)
    }

    /// The values of the keys that mean something with this control.
    pub fn used_values(&self) -> Vec<(&'static str, Value)> {
        let rule = self.rule();
        let is_used = |key: &str| key == "name" || self.is_on() && Self::rules_of(key).contains(&rule);
        self.values().into_iter().filter(|(key, _)| is_used(key)).collect()
    }

    /// Whether there is a control.
    pub fn is_on(&self) -> bool {
        self.name != ControlName::None
    }

    /// Which departing packets are marked.
    pub(crate) fn marking(&self) -> MarkThresholds {
        let above = self.mark_above.0 as u32;
        MarkThresholds { above, full: self.mark_full.map_or(above, |full| full.0 as u32) }
    }

    /// Weight of the newest mark.
    pub(crate) fn gain(&self) -> f64 {
        self.gain.unwrap_or(if self.rule() == Dcqcn { 1.0 / 256.0 } else { 1.0 / 16.0 })
    }

    /// First window of a pair with a maximum window.
    pub(crate) fn first_window(&self, window_max: u64) -> u64 {
        match self.rule() {
            Credit | Dctcp => self.first_window.unwrap_or(FIRST_WINDOW).0.min(window_max),
            Nscc => self.first_window.map_or(window_max, |first| first.0.min(window_max)),
            Merlin | Fixed | Dcqcn | Cct => window_max,
        }
    }

    /// Checks thresholds and windows, and compares them with the packet if its size is known.
    ///
    /// # Errors
    /// The wrong setting, by the name of its key.
    pub(crate) fn check(&self, packet: Option<Bytes>) -> Result<(), SettingsError> {
        let wrong = |key: &str, reason: String| Err(SettingsError { setting: key.to_owned(), reason });
        if !self.is_on() {
            return Ok(());
        }
        let of_pair = matches!(self.rule(), Credit | Merlin);
        if of_pair != (self.name == ControlName::Pair) {
            let name = if of_pair { ControlName::Pair } else { ControlName::Window };
            let reason = format!("'{}' means something only with `name = \"{}\"`", self.rule().word(), name.word());
            return wrong("rule", reason);
        }
        if self.q_lo >= self.q_hi && self.rule() == Credit {
            return wrong("q_lo", format!("{} is not below q_hi, {}", self.q_lo, self.q_hi));
        }
        let sizes = [
            ("q_hi", Some(self.q_hi)),
            ("first_window", self.first_window),
            ("window", self.window),
            ("mark_above", Some(self.mark_above)),
            ("mark_full", self.mark_full),
        ];
        for (key, size) in sizes.into_iter().filter_map(|(key, size)| Some((key, size?))) {
            if let Some(packet) = packet.filter(|packet| size < *packet) {
                return wrong(key, format!("{size} is less than a packet of {packet}"));
            }
            if size.0 > 1 << 30 {
                return wrong(key, format!("{size} is more than 1 GiB"));
            }
        }
        let most = packet.unwrap_or(Bytes(1 << 20));
        if let Some(size) = self.control_bytes.filter(|size| !(Bytes(1)..=most).contains(size)) {
            return wrong("control_bytes", format!("{size} is not from 1 B to a packet of {most}"));
        }
        // The default must not refuse small packets with a rule that has no minimum.
        let limit = self.window.or(packet).filter(|_| Self::rules_of("min_window").contains(&self.rule()));
        if let Some(most) = limit.filter(|most| !(Bytes(1)..=*most).contains(&self.min_window)) {
            return wrong("min_window", format!("{} is not from 1 B to {most}", self.min_window));
        }
        if self.mark_full.is_some_and(|full| full < self.mark_above) {
            return wrong("mark_full", format!("less than mark_above, {}", self.mark_above));
        }
        if self.byte_counter.0 == 0 {
            return wrong("byte_counter", "must be above 0".to_owned());
        }
        let times = [
            ("target_delay", self.target_delay),
            ("notice_interval", self.notice_interval),
            ("alpha_timer", self.alpha_timer),
            ("rate_timer", self.rate_timer),
            ("cct_timer", self.cct_timer),
        ];
        // A timer of less costs time without effect: no packet is shorter.
        if let Some((key, time)) = times.into_iter().find(|(_, time)| *time < Time::from_ns(1)) {
            return wrong(key, format!("{time} is less than 1 ns"));
        }
        if self.credit > 1 << 10 {
            return wrong("credit", format!("{} is more than 1024 packets", self.credit));
        }
        if self.cct_limit > 1 << 14 || self.cct_increase > 1 << 14 {
            return wrong("cct_limit", "a table has at most 16384 steps".to_owned());
        }
        Ok(())
    }
}
