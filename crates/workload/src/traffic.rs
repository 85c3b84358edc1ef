//! Traffic of a job: all messages as soon as possible, or an offered load.

use odonata_declare::{parameters, words, Kind, ParameterMistake, ParameterStruct, RuleFamily, RuleSpec, Variant};
use odonata_units::Time;

/// Traffic of a job.
#[derive(Clone, PartialEq, Debug)]
pub enum TrafficKind {
    /// Closed traffic: every rank sends the messages of its pattern as fast as possible.
    Closed(ClosedParameters),
    /// Open traffic: every node creates packets at a load. The pattern draws their destinations.
    Open(OpenParameters),
    /// Every rank runs its program.
    Program(Execution),
}

parameters! {
    /// Keys of a job with a program.
    #[derive(Copy, PartialEq, Eq)]
    pub struct Execution {
        /// Start of the ranks of a program. For a pattern, `traffic` has the start.
        pub start: Time = Time::ZERO;
        /// Executions of the program, or of the whole list of programs. A rank starts the next one when it ends.
        pub repeat: u32 = 1, Kind::COUNT;
        /// Whether the program repeats until all other jobs have ended. The flow and model engines count it once.
        pub background: bool = false;
    }
}

parameters! {
    /// Parameters of `closed`.
    #[derive(Copy, PartialEq, Eq)]
    pub struct ClosedParameters {
        /// Start time of sending.
        pub start: Time = Time::ZERO;
    }
}

parameters! {
    /// Parameters of `open`.
    #[derive(PartialEq)]
    pub struct OpenParameters {
        /// Offered load as a share of the node's link bandwidth.
        pub load: f64 = 0.5, Kind::SHARE;
        /// Start time of sending.
        pub start: Time = Time::ZERO;
        /// Times at which the load changes, ascending.
        pub step_times: Vec<Time> = Vec::new();
        /// Load from each of `step_times`.
        pub step_loads: Vec<f64> = Vec::new(), Kind::List(&Kind::SHARE);
        /// Process that creates packets.
        pub injection: Injection = Injection::default();
        /// Packets created at a time, to one destination. The load stays the same.
        pub burst: u32 = 1, Kind::Integer { min: 1, max: 1_000_000 };
        /// Buffer of the NIC, in packets.
        pub buffer: Option<u32> = None, Kind::Integer { min: 1, max: 1_000_000 }, else "20 with `injection = \"paced\"`; otherwise unlimited";
        /// Packets of each node, after which it stops.
        pub packets: Option<u64> = None, Kind::Integer { min: 1, max: 1 << 40 }, else "no end";
    }
}

words! {
    /// Process that creates packets.
    #[derive(Default)]
    pub enum Injection {
        #[default]
        Bernoulli = "bernoulli": "one trial with a fixed probability per packet time",
        Poisson = "poisson": "exponential gaps",
        Interval = "interval": "constant gaps",
        Paced = "paced": "a constant gap after the previous packet entered the NIC, which buffers `buffer` packets",
    }
}

/// A load from a time on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LoadStep {
    /// Start time.
    pub from: Time,
    /// Share of the node's link bandwidth, 0 to 1.
    pub load: f64,
}

impl Default for TrafficKind {
    fn default() -> Self {
        Self::Closed(ClosedParameters::default())
    }
}

impl OpenParameters {
    /// Default buffer of a paced source's NIC, in packets, as in the interference study.
    pub const BUFFER: u32 = 20;

    /// Buffer of the NIC in packets. `None` if it is unlimited.
    pub fn buffer_packets(&self) -> Option<u32> {
        (self.injection == Injection::Paced).then(|| self.buffer.unwrap_or(Self::BUFFER))
    }

    /// Loads by start time. There is no load before the first. Steps before the start are omitted.
    pub fn schedule(&self) -> Vec<LoadStep> {
        let steps = self.step_times.iter().zip(&self.step_loads).map(|(&from, &load)| LoadStep { from, load });
        let first = LoadStep { from: self.start, load: self.load };
        std::iter::once(first).chain(steps.filter(|step| step.from > self.start)).collect()
    }

    /// Mean load of the schedule over an interval.
    pub fn mean_load(&self, from: Time, until: Time) -> f64 {
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

    /// Highest load before a time.
    pub fn max_load(&self, until: Time) -> f64 {
        self.schedule().iter().filter(|step| step.from < until).map(|step| step.load).fold(0.0, f64::max)
    }
}

/// Parameters of a kind of traffic.
pub trait TrafficRule: ParameterStruct {
    /// Converts to the form for engines.
    ///
    /// # Errors
    /// Parameters that contradict each other: the key and the reason.
    fn traffic(&self) -> Result<TrafficKind, ParameterMistake>;
}

impl TrafficRule for ClosedParameters {
    fn traffic(&self) -> Result<TrafficKind, ParameterMistake> {
        Ok(TrafficKind::Closed(*self))
    }
}

impl TrafficRule for OpenParameters {
    fn traffic(&self) -> Result<TrafficKind, ParameterMistake> {
        let (times, loads) = (self.step_times.len(), self.step_loads.len());
        if times != loads {
            let reason = format!("has {times} values, but 'step_loads' has {loads}; give a load for each time");
            return Err(("step_times", reason));
        }
        if self.step_times.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(("step_times", "must ascend".into()));
        }
        if self.buffer.is_some() && self.injection != Injection::Paced {
            let reason =
                format!("requires injection = \"paced\"; with \"{}\" the buffer is unlimited", self.injection.word());
            return Err(("buffer", reason));
        }
        Ok(TrafficKind::Open(self.clone()))
    }
}

/// The kinds of traffic, in the order of the reference; the first is the default.
pub const TRAFFIC: &[Variant<dyn TrafficRule>] = &[
    Variant {
        name: "closed",
        doc: "every rank sends the messages of its pattern as fast as possible",
        default: || Box::new(ClosedParameters::default()),
    },
    Variant {
        name: "open",
        doc: "every node creates packets at `load`; the pattern draws their destinations",
        default: || Box::new(OpenParameters::default()),
    },
];

impl RuleFamily for dyn TrafficRule {
    const NOUN: &'static str = "traffic";
    const RULES: &'static [Variant<Self>] = TRAFFIC;
    type Common = ();
}

/// Specification of a job's traffic.
pub type TrafficSpec = RuleSpec<dyn TrafficRule>;

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Time {
        Time::from_us(n)
    }

    /// Load 0.2 from 10 us, 0.6 from 20 us, 0 from 30 us. A step at 5 us is before the start. From 0 to 40 us the mean
    /// is (10 us * 0.2 + 10 us * 0.6) / 40 us = 0.2, from 15 to 25 us (5 * 0.2 + 5 * 0.6) / 10 = 0.4.
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
        assert!((open.mean_load(us(0), us(40)) - 0.2).abs() < 1e-12);
        assert!((open.mean_load(us(15), us(25)) - 0.4).abs() < 1e-12);
        assert_eq!(open.mean_load(us(0), us(10)), 0.0);
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
        assert_eq!(wrong(&[1], &[]).1, "has 1 values, but 'step_loads' has 0; give a load for each time");
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
