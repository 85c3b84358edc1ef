//! Keys of traffic classes.

use crate::control::ControlSettings;
use crate::settings_error::SettingsError;
use odonata_declare::{parameters, words, Choice, Kind, Word};
use odonata_routing::algorithm::{Routing, RoutingChoice};
use odonata_units::{Bytes, Time};

words! {
    /// Traffic classes by name.
    #[derive(Default)]
    pub enum ClassPreset {
        #[default]
        BestEffort = "best-effort": "priority 0 and a part of what the other classes leave",
        BulkData = "bulk-data": "priority 0 and at least half of each link",
        LowLatency = "low-latency": "priority 1, at most a quarter of each link, and one path per flow",
        DedicatedAccess = "dedicated-access": "priority 2 and at most half of each link",
    }
}

/// Maximum number of classes. Sets of classes are bits of a byte.
pub const CLASSES_MAX: usize = 8;
/// Smallest share. A smaller one would give the other classes turns of more than a thousand packets.
const SHARE_MIN: f64 = 0.001;
const REST: &Choice = &Choice { name: "rest", doc: "an equal part of what the other classes leave" };
const SHARE: Kind = Kind::Number { min: SHARE_MIN, max: 1.0 };

parameters! {
    /// A traffic class.
    #[derive(PartialEq)]
    pub struct ClassSettings {
        /// Source of the other keys that are not given: classes with the names of Slingshot's. HPE does not publish
        /// their priorities and shares, so these values are assumed. The defaults in this table are the values
        /// of `best-effort`.
        #[decides(result)]
        pub preset: ClassPreset = ClassPreset::BestEffort => Self::of;
        /// Each link serves the class of the highest priority first.
        pub priority: u32 = 0, Kind::count(0);
        /// Share of each link that classes of the same priority leave to this class while it has packets.
        pub minimum_share: Option<f64> = None, Kind::WordOr(REST, &SHARE);
        /// Maximum share of each link.
        pub maximum_share: f64 = 1.0, SHARE;
        /// With a maximum share below 1: bytes that the class may send in excess of its share at once.
        pub burst: Bytes = Bytes::kib(4);
        /// Whether packets between two nodes follow each other on one path, so that they stay in order. Routing then decides
        /// per flow instead of per packet.
        pub ordered: bool = false;
        /// `ordered`: time without a packet after which the next one may take another path. Slingshot's is a few
        /// microseconds.
        pub flow_gap: Time = Time::from_us(4);
        /// Congestion control of its packets; the control of the engine if there is none.
        pub control: Option<ControlSettings> = None, no key;
    }
}

impl ClassSettings {
    /// The settings of a preset.
    pub fn of(preset: ClassPreset) -> Self {
        let default = Self { preset, ..Self::default() };
        match preset {
            ClassPreset::BestEffort => default,
            ClassPreset::BulkData => Self { minimum_share: Some(0.5), ..default },
            ClassPreset::LowLatency => Self { priority: 1, maximum_share: 0.25, ordered: true, ..default },
            ClassPreset::DedicatedAccess => Self { priority: 2, maximum_share: 0.5, ..default },
        }
    }
}

/// A named traffic class.
#[derive(Clone, PartialEq, Debug)]
pub struct TrafficClass {
    /// Unique name.
    pub name: String,
    /// Its share of links.
    pub settings: ClassSettings,
}

impl TrafficClass {
    /// The presets as classes with their names.
    pub fn presets() -> Vec<Self> {
        let class =
            |preset: &ClassPreset| Self { name: preset.word().to_owned(), settings: ClassSettings::of(*preset) };
        ClassPreset::ALL.iter().map(class).collect()
    }
}

/// Classes of the messages of a job, by number.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct JobClass {
    /// Its class.
    pub class: u8,
    /// Size from which messages are in another class, and that class.
    pub large: Option<(Bytes, u8)>,
}

impl JobClass {
    /// Class of a message of `bytes`.
    pub fn of_message(&self, bytes: u64) -> u8 {
        self.large.filter(|(from, _)| bytes >= from.0).map_or(self.class, |(_, class)| class)
    }
}

/// All traffic classes; none if the network does not distinguish any.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct TrafficClasses {
    /// The classes.
    pub list: Vec<TrafficClass>,
    /// Classes of each job; class 0 for jobs beyond its end.
    pub of_job: Vec<JobClass>,
}

impl TrafficClasses {
    /// Whether the network distinguishes classes, or the only one limits or orders its packets.
    pub(crate) fn has_effect(&self) -> bool {
        let has_rule = |class: &TrafficClass| class.settings.maximum_share < 1.0 || class.settings.ordered;
        self.list.len() > 1 || self.list.iter().any(has_rule)
    }

    /// Number of classes, at least one.
    pub fn count(&self) -> usize {
        self.list.len().max(1)
    }

    /// Classes of a job.
    pub fn of_job(&self, job: u16) -> JobClass {
        self.of_job.get(usize::from(job)).copied().unwrap_or_default()
    }

    /// Weights of the classes, of sum 1 or less: minimum shares, and equal parts of the rest for the others.
    pub(crate) fn weights(&self) -> Vec<f64> {
        let given = |class: &TrafficClass| class.settings.minimum_share;
        let sum: f64 = self.list.iter().filter_map(given).sum();
        let others = self.list.iter().filter(|class| given(class).is_none()).count();
        let rest = ((1.0 - sum) / others.max(1) as f64).max(SHARE_MIN);
        self.list.iter().map(|class| given(class).unwrap_or(rest)).collect()
    }

    /// Refuses ordered classes with an algorithm whose packets cannot follow each other: it learns from each decision, or
    /// a decision depends on space that is reserved for one packet.
    pub(crate) fn check_ordered(&self, choice: &RoutingChoice, routing: &dyn Routing) -> Result<(), SettingsError> {
        let Some(number) = self.list.iter().position(|class| class.settings.ordered) else { return Ok(()) };
        let has_reserved = routing.reserved_from() < routing.virtual_channels() || routing.rings().is_some();
        let reason = match (choice.algorithm.needs.reports, has_reserved) {
            (true, _) => "learns from the decision of each packet",
            (_, true) => "decides by space that it reserves for one packet",
            (false, false) => return Ok(()),
        };
        let (setting, name) = (format!("traffic_class.{number}.ordered"), choice.algorithm.name);
        Err(SettingsError { setting, reason: format!("routing '{name}' {reason}; expected `ordered = false`") })
    }

    /// Checks names, numbers and shares.
    ///
    /// # Errors
    /// The wrong setting of `traffic_class`, with the number of the class.
    pub fn check(&self) -> Result<(), SettingsError> {
        let wrong = |class: usize, key: &str, reason: String| {
            Err(SettingsError { setting: format!("traffic_class.{class}.{key}"), reason })
        };
        if self.list.len() > CLASSES_MAX {
            return wrong(
                CLASSES_MAX,
                "name",
                format!("{} traffic classes; expected at most {CLASSES_MAX}", self.list.len()),
            );
        }
        let mut sum = 0.0;
        for (number, TrafficClass { name, settings }) in self.list.iter().enumerate() {
            if self.list[..number].iter().any(|other| other.name == *name) {
                return wrong(number, "name", format!("another traffic class is called '{name}'; names are unique"));
            }
            let minimum = settings.minimum_share.unwrap_or(0.0);
            if minimum > settings.maximum_share {
                let reason = format!("{minimum} is above maximum_share, {}", settings.maximum_share);
                return wrong(number, "minimum_share", reason);
            }
            sum += minimum;
            if sum > 1.0 + 1e-9 {
                return wrong(
                    number,
                    "minimum_share",
                    format!("the minimum shares up to this class have a sum of {sum}; expected at most 1"),
                );
            }
            if let Some(Err(error)) = settings.control.as_ref().map(|control| control.check(None)) {
                return Err(error.under(&format!("traffic_class.{number}.control")));
            }
            if settings.burst.0 > 1 << 30 {
                return wrong(number, "burst", format!("{} is more than 1 GiB", settings.burst));
            }
        }
        let without = self.list.iter().position(|class| class.settings.minimum_share.is_none());
        match without {
            Some(number) if sum > 1.0 - SHARE_MIN => wrong(
                number,
                "minimum_share",
                format!(
                    "the minimum shares of the other classes have a sum of {sum} and leave nothing to '{}'",
                    self.list[number].name
                ),
            ),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(shares: &[(Option<f64>, f64)]) -> TrafficClasses {
        let class = |(number, &(minimum_share, maximum_share))| TrafficClass {
            name: format!("class{number}"),
            settings: ClassSettings { minimum_share, maximum_share, ..ClassSettings::default() },
        };
        TrafficClasses { list: shares.iter().enumerate().map(class).collect(), of_job: Vec::new() }
    }

    /// Jobs without a class of their own are in the first one; large messages may be in another.
    #[test]
    fn messages_have_a_class() {
        let large = JobClass { class: 1, large: Some((Bytes(8_192), 2)) };
        let classes = TrafficClasses { of_job: vec![JobClass::default(), large], ..classes(&[(None, 1.0); 3]) };
        let of = |job, bytes| classes.of_job(job).of_message(bytes);
        assert_eq!([of(0, 9_000), of(1, 8_191), of(1, 8_192), of(7, 1)], [0, 1, 2, 0]);
    }

    #[test]
    fn classes_without_a_minimum_share_the_rest() {
        assert_eq!(classes(&[(Some(0.5), 1.0), (None, 1.0), (None, 1.0)]).weights(), [0.5, 0.25, 0.25]);
        assert_eq!(classes(&[(Some(0.3), 1.0), (Some(0.7), 1.0)]).weights(), [0.3, 0.7]);
    }

    #[test]
    fn presets_can_be_combined() {
        TrafficClasses { list: TrafficClass::presets(), of_job: Vec::new() }.check().unwrap();
    }

    #[test]
    fn mistakes_name_the_class() {
        let message = |shares: &[(Option<f64>, f64)]| classes(shares).check().unwrap_err().to_string();
        assert_eq!(
            message(&[(Some(0.4), 1.0), (Some(0.5), 0.3)]),
            "traffic_class.1.minimum_share: 0.5 is above maximum_share, 0.3"
        );
        assert!(message(&[(Some(0.6), 1.0), (Some(0.5), 1.0)]).contains("have a sum of 1.1; expected at most 1"));
        assert!(message(&[(Some(1.0), 1.0), (None, 1.0)]).ends_with("and leave nothing to 'class1'"));
        assert!(message(&[(None, 1.0); 9]).contains("9 traffic classes; expected at most 8"));
        let mut twice = classes(&[(None, 1.0); 2]);
        twice.list[1].name = "class0".into();
        assert!(twice.check().unwrap_err().to_string().contains("names are unique"));
    }
}
