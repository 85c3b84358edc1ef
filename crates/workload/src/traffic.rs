//! When a job sends: all that its pattern says as soon as it can, or at an offered load.

use odonata_declare::{parameter, words, Kind, Parameter, ParameterStruct, Parameters, Value, Variant};
use odonata_units::Time;
use std::sync::Arc;

/// What a job offers to the network, and when.
#[derive(Clone, PartialEq, Debug)]
pub enum TrafficKind {
    /// Every rank sends the messages of its pattern as fast as the network takes them.
    Closed(ClosedParameters),
    /// Every node makes packets at a load, to destinations that its ranks' pattern draws.
    Open(OpenParameters),
    /// Every rank runs its program.
    Program(ProgramStart),
}

/// When the ranks of a program start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ProgramStart {
    /// At this time.
    pub start: Time,
    /// Whether they run over and over, until nobody waits for anything else.
    pub background: bool,
}

/// Parameters of `closed`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClosedParameters {
    /// When its messages are made.
    pub start: Time,
}

/// Parameters of `open`.
#[derive(Clone, PartialEq, Debug)]
pub struct OpenParameters {
    /// Share of the node's link bandwidth, 0 to 1, from the start on.
    pub load: f64,
    /// When sending starts.
    pub start: Time,
    /// Times at which the load changes, ascending.
    pub step_times: Vec<Time>,
    /// The load from each of these times on.
    pub step_loads: Vec<f64>,
    /// When packets are made.
    pub injection: Injection,
    /// Packets made at a time, to one destination.
    pub burst: u32,
    /// Packets for which a paced source's interface has room; see [`OpenParameters::room`].
    pub buffer: Option<u32>,
    /// Packets that each node makes before it stops, if it ever does.
    pub packets: Option<u64>,
}

words! {
    /// When packets are made.
    #[derive(Default)]
    pub enum Injection {
        #[default]
        Bernoulli = "bernoulli": "each packet time with a probability",
        Poisson = "poisson": "exponential gaps",
        Interval = "interval": "constant gaps",
        Paced = "paced": "a constant gap after the packet before has entered the interface, which has room for `buffer` packets",
    }
}

/// A load that holds from a time on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LoadStep {
    /// From when on.
    pub from: Time,
    /// Share of the node's link bandwidth, 0 to 1.
    pub load: f64,
}

impl Default for TrafficKind {
    fn default() -> Self {
        Self::Closed(ClosedParameters::default())
    }
}

impl Default for OpenParameters {
    fn default() -> Self {
        Self {
            load: 0.5,
            start: Time::ZERO,
            step_times: Vec::new(),
            step_loads: Vec::new(),
            injection: Injection::default(),
            burst: 1,
            buffer: None,
            packets: None,
        }
    }
}

impl OpenParameters {
    /// Packets for which the interface of a paced source has room if nothing else is said, as in the interference study.
    pub const BUFFER: u32 = 20;

    /// Packets for which the interface has room, if that is all it has.
    pub fn buffer_packets(&self) -> Option<u32> {
        (self.injection == Injection::Paced).then(|| self.buffer.unwrap_or(Self::BUFFER))
    }

    /// The load from each time on, by time; none before the first. Steps before the start have passed by then.
    pub fn schedule(&self) -> Vec<LoadStep> {
        let steps = self.step_times.iter().zip(&self.step_loads).map(|(&from, &load)| LoadStep { from, load });
        let first = LoadStep { from: self.start, load: self.load };
        std::iter::once(first).chain(steps.filter(|step| step.from > self.start)).collect()
    }

    /// The mean load of its schedule from one time to another.
    pub fn mean_load(&self, (from, until): (Time, Time)) -> f64 {
        let steps = self.schedule();
        let mut offered = 0.0;
        for (i, step) in steps.iter().enumerate() {
            let end = steps.get(i + 1).map_or(Time::MAX, |next| next.from).min(until);
            let begin = step.from.max(from);
            if end > begin {
                offered += step.load * (end - begin).as_s_f64();
            }
        }
        offered / (until - from).as_s_f64()
    }

    /// The highest load before a time.
    pub fn max_load(&self, until: Time) -> f64 {
        self.schedule().iter().filter(|step| step.from < until).map(|step| step.load).fold(0.0, f64::max)
    }
}

impl Parameters for ClosedParameters {
    const PARAMETERS: &'static [Parameter<Self>] = &[parameter!(start, Kind::Time, "When sending starts.")];
}

impl Parameters for OpenParameters {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(load, Kind::SHARE, "Offered load as a share of the node's link bandwidth."),
        parameter!(start, Kind::Time, "When sending starts."),
        parameter!(step_times, Kind::List(&Kind::Time), "Times at which the load changes, ascending."),
        parameter!(step_loads, Kind::List(&Kind::SHARE), "The load from each of `step_times` on."),
        parameter!(injection, Injection::KIND, "When packets are made."),
        parameter!(
            burst,
            Kind::Integer { min: 1, max: 1_000_000 },
            "Packets made at a time, to one destination; the load stays the same."
        ),
        parameter!(
            buffer,
            Kind::Integer { min: 1, max: 1_000_000 },
            "Packets for which the interface has room.",
            else "20 with `injection = \"paced\"`; others have room for all",
        ),
        parameter!(
            packets,
            Kind::Integer { min: 1, max: 1 << 40 },
            "Packets that each node makes; then it stops.",
            else "no end",
        ),
    ];
}

/// The parameters of a kind of traffic.
pub trait TrafficRule: ParameterStruct {
    /// As engines take it.
    ///
    /// # Errors
    /// Parameters that do not fit each other: which, and why.
    fn traffic(&self) -> Result<TrafficKind, (&'static str, String)>;
}

impl TrafficRule for ClosedParameters {
    fn traffic(&self) -> Result<TrafficKind, (&'static str, String)> {
        Ok(TrafficKind::Closed(*self))
    }
}

impl TrafficRule for OpenParameters {
    fn traffic(&self) -> Result<TrafficKind, (&'static str, String)> {
        let (times, loads) = (self.step_times.len(), self.step_loads.len());
        if times != loads {
            let reason = format!("has {times} values and 'step_loads' {loads}; give a load for each time");
            return Err(("step_times", reason));
        }
        if self.step_times.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(("step_times", "must ascend".into()));
        }
        if self.buffer.is_some() && self.injection != Injection::Paced {
            let reason =
                format!("is of injection = \"paced\"; with \"{}\" there is room for all", self.injection.word());
            return Err(("buffer", reason));
        }
        Ok(TrafficKind::Open(self.clone()))
    }
}

/// The kinds of traffic, in the order of the reference; the first is the default.
pub const TRAFFIC: &[Variant<dyn TrafficRule>] = &[
    Variant {
        name: "closed",
        doc: "every rank sends the messages of its pattern as fast as the network takes them",
        default: || Box::new(ClosedParameters::default()),
    },
    Variant {
        name: "open",
        doc: "every node makes packets at `load`, to destinations that its ranks' pattern draws",
        default: || Box::new(OpenParameters::default()),
    },
];

/// The user's words for a job's traffic.
#[derive(Clone, Debug)]
pub struct TrafficSpec {
    name: &'static str,
    rule: Arc<dyn TrafficRule>,
}

impl Default for TrafficSpec {
    fn default() -> Self {
        Self::of(&TRAFFIC[0])
    }
}

impl TrafficSpec {
    /// A kind of traffic with its default parameters.
    pub fn of(traffic: &'static Variant<dyn TrafficRule>) -> Self {
        Self { name: traffic.name, rule: Arc::from((traffic.default)()) }
    }

    /// Open traffic, from a program.
    pub fn open(open: OpenParameters) -> Self {
        Self { name: "open", rule: Arc::new(open) }
    }

    /// Sets a parameter to a value of its kind, which the parser has checked.
    ///
    /// # Panics
    /// If there is no such parameter, or the traffic is already that of a job.
    pub fn set(&mut self, parameter: &str, value: &Value) {
        Arc::get_mut(&mut self.rule).expect("traffic is set before it is shared").set(parameter, value);
    }

    /// As engines take it.
    ///
    /// # Errors
    /// As [`TrafficRule::traffic`].
    pub fn traffic(&self) -> Result<TrafficKind, (&'static str, String)> {
        self.rule.traffic()
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// All parameters and their values.
    pub fn values(&self) -> Vec<(&'static str, Value)> {
        self.rule.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Time {
        Time::from_us(n)
    }

    /// Load 0.2 from 10 us, 0.6 from 20 us, nothing from 30 us on; a step at 5 us has passed when sending starts. From
    /// 0 to 40 us that is (10 us * 0.2 + 10 us * 0.6) / 40 us = 0.2; from 15 to 25 us (5 * 0.2 + 5 * 0.6) / 10 = 0.4.
    #[test]
    fn the_mean_load_follows_the_steps() {
        let open = OpenParameters {
            load: 0.2,
            start: us(10),
            step_times: vec![us(5), us(20), us(30)],
            step_loads: vec![1.0, 0.6, 0.0],
            ..OpenParameters::default()
        };
        assert_eq!(open.schedule().iter().map(|step| step.from).collect::<Vec<_>>(), [us(10), us(20), us(30)]);
        assert!((open.mean_load((us(0), us(40))) - 0.2).abs() < 1e-12);
        assert!((open.mean_load((us(15), us(25))) - 0.4).abs() < 1e-12);
        assert_eq!(open.mean_load((us(0), us(10))), 0.0);
        assert_eq!([5, 11, 21, 40].map(|until| open.max_load(us(until))), [0.0, 0.2, 0.6, 0.6]);
    }

    #[test]
    fn steps_that_do_not_fit_are_named() {
        let wrong = |times: &[u64], loads: &[f64]| {
            let open = OpenParameters {
                step_times: times.iter().map(|&t| us(t)).collect(),
                step_loads: loads.to_vec(),
                ..OpenParameters::default()
            };
            open.traffic().unwrap_err()
        };
        assert_eq!(wrong(&[1], &[]).1, "has 1 values and 'step_loads' 0; give a load for each time");
        assert_eq!(wrong(&[2, 1], &[0.1, 0.2]), ("step_times", "must ascend".into()));
    }

    #[test]
    fn only_a_paced_source_has_limited_room() {
        let open = |injection, buffer| OpenParameters { injection, buffer, ..OpenParameters::default() };
        assert_eq!(open(Injection::Paced, None).buffer_packets(), Some(20));
        assert_eq!(open(Injection::Paced, Some(3)).buffer_packets(), Some(3));
        assert_eq!(open(Injection::Bernoulli, None).buffer_packets(), None);
        let (key, reason) = open(Injection::Poisson, Some(3)).traffic().unwrap_err();
        assert!(key == "buffer" && reason.contains("\"poisson\""), "{key} {reason}");
    }
}
