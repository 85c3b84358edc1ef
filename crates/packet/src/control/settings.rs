//! Keys of `[engine.control]`.

use crate::settings_error::SettingsError;
use odonata_declare::{parameters, words, Kind, ParameterStruct, Value};
use odonata_units::Bytes;

words! {
    /// A congestion control.
    #[derive(Default)]
    pub enum ControlName {
        #[default]
        None = "none": "NICs send as fast as their routers accept packets",
        Pair = "pair": "as in Slingshot: the last router holds the sources of a congested ejection port, and gives them credits as the port drains",
        Window = "window": "the bytes in flight of a pair of NICs are limited by a window, which acknowledgements adjust",
    }
}

words! {
    /// A rule of windows.
    #[derive(Default)]
    pub enum WindowRule {
        Fixed = "fixed": "the window does not change",
        #[default]
        Dctcp = "dctcp": "the window shrinks by half of the smoothed share of marked bytes, and grows by a packet per window without marks",
    }
}

parameters! {
    /// Congestion control at NICs.
    #[derive(PartialEq)]
    pub struct ControlSettings {
        /// The control.
        #[decides(result)]
        pub name: ControlName = ControlName::None;
        /// `pair`: bytes in the last router for one ejection port above which the router holds their sources.
        pub q_hi: Bytes = Bytes::kib(8);
        /// `pair`: bytes below which it releases a source with every packet that departs.
        pub q_lo: Bytes = Bytes::kib(2);
        /// `pair`: full packets per credit.
        pub credit: u32 = 1, Kind::COUNT;
        /// Window of a pair of NICs at its first packet, and after a round trip with nothing in flight. The window
        /// doubles in a round trip until it is full or the first mark arrives.
        pub first_window: Bytes = Bytes::kib(4);
        /// Maximum window of a pair of NICs.
        pub window: Option<Bytes> = None, else "bandwidth of the NIC times the idle round-trip time of the pair; twice that with `pair`, so that a shared port gets congested";
        /// `window`: rule that adjusts the window.
        pub rule: WindowRule = WindowRule::Dctcp;
        /// `window`: bytes in a queue above which its router marks a departing packet. At an ejection port all bytes in
        /// the router for the port count, at other ports the output buffer.
        pub mark_above: Bytes = Bytes::kib(16);
        /// `window` with `dctcp`: weight of the newest share of marked bytes.
        pub gain: f64 = 0.0625, Kind::Number { min: 1e-6, max: 1.0 };
    }
}

impl ControlSettings {
    /// Keys that mean something only with one control.
    pub const OF_PAIR: [&'static str; 3] = ["q_hi", "q_lo", "credit"];
    /// See [`Self::OF_PAIR`].
    pub const OF_WINDOW: [&'static str; 3] = ["rule", "mark_above", "gain"];
    /// Keys that both have.
    pub const OF_BOTH: [&'static str; 2] = ["first_window", "window"];

    /// The values of the keys that mean something with this control.
    pub fn used_values(&self) -> Vec<(&'static str, Value)> {
        let unused: &[&str] = match self.name {
            ControlName::None => return self.values().into_iter().filter(|(key, _)| *key == "name").collect(),
            ControlName::Pair => &Self::OF_WINDOW,
            ControlName::Window => &Self::OF_PAIR,
        };
        self.values().into_iter().filter(|(key, _)| !unused.contains(key)).collect()
    }

    /// Whether there is a control.
    pub fn is_on(&self) -> bool {
        self.name != ControlName::None
    }

    /// Bytes in an output buffer above which departing packets are marked.
    pub(crate) fn marks_above(&self) -> u32 {
        if self.name == ControlName::Window {
            self.mark_above.0 as u32
        } else {
            u32::MAX
        }
    }

    /// Checks thresholds and windows.
    ///
    /// # Errors
    /// The wrong setting.
    pub(crate) fn check(&self, packet: Bytes) -> Result<(), SettingsError> {
        let wrong = |key: &str, reason: String| Err(SettingsError { setting: format!("engine.control.{key}"), reason });
        if !self.is_on() {
            return Ok(());
        }
        if self.q_lo >= self.q_hi {
            return wrong("q_lo", format!("{} is not below q_hi, {}", self.q_lo, self.q_hi));
        }
        let sizes = [
            ("q_hi", Some(self.q_hi)),
            ("first_window", Some(self.first_window)),
            ("window", self.window),
            ("mark_above", Some(self.mark_above)),
        ];
        for (key, size) in sizes.into_iter().filter_map(|(key, size)| Some((key, size?))) {
            if size < packet {
                return wrong(key, format!("{size} is less than a packet of {packet}"));
            }
            if size.0 > 1 << 30 {
                return wrong(key, format!("{size} is more than 1 GiB"));
            }
        }
        if self.credit > 1 << 10 {
            return wrong("credit", format!("{} is more than 1024 packets", self.credit));
        }
        Ok(())
    }
}
