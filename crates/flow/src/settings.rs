//! What a user may choose about the flow engine.

use odonata_declare::{parameter, words, Choice, Field, Kind, Parameter, Parameters};
use odonata_units::Rate;

/// How messages choose among paths.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FlowRouting {
    /// Shortest paths, drawn evenly ([`odonata_routing::algorithm::min`]), without adaptation.
    Minimal,
    /// SD: equal split over the direct paths.
    StaticDirect,
    /// SI: every packet its own random indirect path.
    StaticIndirect,
    /// AD: iterative over direct paths.
    AdaptiveDirect,
    /// AI: iterative over indirect paths.
    AdaptiveIndirect,
    /// AH: iterative over both, without preference.
    AdaptiveHybrid,
    /// Direct paths unless they are congested; see [`Ugal`].
    Ugal(Ugal),
}

/// When [`FlowRouting::Ugal`] leaves the direct paths.
///
/// The load of a link is what messages would send over it if only their network interfaces held them back, over the
/// capacity of the link; its queue is the load above 1, for only then does a queue grow. With q the longest queue of a
/// path and H its hops, a message takes its indirect paths in one iteration iff
/// `H_direct q_direct > threshold H_indirect q_indirect + bias_load_hops`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ugal {
    /// Factor on the indirect side.
    pub threshold: f64,
    /// Added to the indirect side, in queue (load above 1) times hops.
    pub bias_load_hops: f64,
}

impl Default for Ugal {
    fn default() -> Self {
        Self { threshold: 1.0, bias_load_hops: 0.0 }
    }
}

impl FlowRouting {
    /// The names and what they mean, in the order of the reference; the first is the default.
    pub const CHOICES: &'static [Choice] = &[
        Choice { name: "adaptive-hybrid", doc: "iterative over direct and indirect paths, without preference (AH)" },
        Choice { name: "adaptive-direct", doc: "iterative over direct paths (AD)" },
        Choice { name: "adaptive-indirect", doc: "iterative over indirect paths (AI)" },
        Choice { name: "static-direct", doc: "equal split over the direct paths (SD)" },
        Choice { name: "static-indirect", doc: "every packet its own random indirect path (SI)" },
        Choice { name: "ugal", doc: "direct paths unless they are congested" },
        Choice { name: "min", doc: odonata_routing::algorithm::min::MEANING },
    ];

    /// Names in files and on the command line.
    pub const NAMES: [&'static str; 7] =
        ["min", "static-direct", "static-indirect", "adaptive-direct", "adaptive-indirect", "adaptive-hybrid", "ugal"];

    /// The routing called `name`; `ugal` gets default parameters.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "min" => Self::Minimal,
            "static-direct" => Self::StaticDirect,
            "static-indirect" => Self::StaticIndirect,
            "adaptive-direct" => Self::AdaptiveDirect,
            "adaptive-indirect" => Self::AdaptiveIndirect,
            "adaptive-hybrid" => Self::AdaptiveHybrid,
            "ugal" => Self::Ugal(Ugal::default()),
            _ => return None,
        })
    }

    /// Its name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Minimal => "min",
            Self::StaticDirect => "static-direct",
            Self::StaticIndirect => "static-indirect",
            Self::AdaptiveDirect => "adaptive-direct",
            Self::AdaptiveIndirect => "adaptive-indirect",
            Self::AdaptiveHybrid => "adaptive-hybrid",
            Self::Ugal(_) => "ugal",
        }
    }
}

impl Parameters for Ugal {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(
            threshold,
            Kind::Number { min: 0.0, max: f64::INFINITY },
            "Factor on the indirect side of the comparison of queue times hops."
        ),
        parameter!(
            bias_load_hops,
            Kind::Number { min: f64::NEG_INFINITY, max: f64::INFINITY },
            "Added to the indirect side of the comparison, in queue times hops."
        ),
    ];
}

words! {
    /// What a message asks of the links that it shares with others.
    pub enum Demand {
        Bytes = "bytes": "in proportion to its bytes, so that messages that share a link end at the same time",
        Messages = "messages": "one unit each, so that messages that share a link get the same bandwidth",
    }
}

words! {
    /// Where the values of settings come from that are not given.
    pub enum FlowPreset {
        Default = "default": "the machine's own bandwidths; done when an iteration grants less than 0.1 %",
        Damselfly = "damselfly": "the original program: links of 5,120 MiB/s, interfaces of 16,384 MiB/s that messages on one router do not load, done when no message can grow",
    }
}

/// Everything that a steady state depends on besides machine and workload.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowSettings {
    /// Where the values that are not given come from.
    pub preset: FlowPreset,
    /// How messages choose among paths.
    pub routing: FlowRouting,
    /// What a message asks of the links that it shares with others.
    pub demand: Demand,
    /// Capacity of every link instead of its own bandwidth.
    pub link_capacity: Option<Rate>,
    /// Capacity of every network interface, each direction, instead of the terminal bandwidth.
    pub nic_capacity: Option<Rate>,
    /// Equal slices in which capacity is released, one per iteration.
    pub slices: u32,
    /// Direct paths that a message draws per iteration, for routings that use them.
    pub direct_paths: u32,
    /// Indirect paths that a message draws per iteration, for routings that use them.
    pub indirect_paths: u32,
    /// Sets of such paths that a job draws per iteration. Its messages from one router to another share at least one set;
    /// while a job has more sets than pairs of routers, each pair gets several, at most one per message.
    pub path_sets: u32,
    /// A path or network interface with less residual than this is switched off.
    pub cutoff: Rate,
    /// Iterations after which an unfinished solution is given up as not converged.
    pub max_iterations: u32,
    /// After all slices are out: converged when one iteration grants less than this share of all that was granted. 0:
    /// only when no message can grow.
    pub tolerance: f64,
    /// Whether messages between nodes of one router compete for the network interfaces.
    pub on_router_messages_load_nics: bool,
    /// Whether every job is also solved alone, for its slowdown.
    pub alone: bool,
    /// Whether the bound on the best possible maximum load is computed, and to which relative gap.
    pub bound_gap: Option<f64>,
}

impl Default for FlowSettings {
    /// The machine's own bandwidths; half of the original's slices, which moves loads less than other dice do; converged at
    /// 0.1 % growth per iteration.
    fn default() -> Self {
        Self {
            preset: FlowPreset::Default,
            routing: FlowRouting::AdaptiveHybrid,
            demand: Demand::Bytes,
            link_capacity: None,
            nic_capacity: None,
            slices: 25,
            direct_paths: 2,
            indirect_paths: 2,
            path_sets: 16_384,
            cutoff: Rate::from_bytes_per_s(10_486),
            max_iterations: 200,
            tolerance: 1e-3,
            on_router_messages_load_nics: true,
            alone: false,
            bound_gap: None,
        }
    }
}

const MACHINE: &Choice = &Choice { name: "machine", doc: "the machine's own bandwidth" };
const OFF: &Choice = &Choice { name: "off", doc: "no bound" };

impl Parameters for FlowSettings {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        Parameter::new(
            "preset",
            FlowPreset::KIND,
            "Where the values of the keys below come from when they are not given; their defaults here are those of `default`.",
            |settings| settings.preset.get(),
            |settings, preset| {
                *settings = match FlowPreset::of(preset) {
                    FlowPreset::Default => Self::default(),
                    FlowPreset::Damselfly => Self::damselfly(),
                }
            },
        ),
        parameter!(demand, Demand::KIND, "What a message asks of the links that it shares with others."),
        parameter!(
            link_capacity,
            Kind::WordOr(MACHINE, &Kind::Rate),
            "Capacity of every link in each direction."
        ),
        parameter!(
            nic_capacity,
            Kind::WordOr(MACHINE, &Kind::Rate),
            "Capacity of every network interface in each direction."
        ),
        parameter!(slices, Kind::count(1), "Equal slices in which capacity is released, one per iteration."),
        parameter!(direct_paths, Kind::count(1), "Direct paths that a message draws in every iteration."),
        parameter!(indirect_paths, Kind::count(1), "Indirect paths that a message draws in every iteration."),
        parameter!(
            path_sets,
            Kind::count(1),
            "Sets of such paths that a job draws in every iteration. Its messages from one router to another share at least one set; \
             while a job has more sets than pairs of routers, each pair gets several, at most one per message.",
        ),
        parameter!(
            cutoff,
            Kind::Rate,
            "A path or network interface with less residual capacity than this is switched off."
        ),
        parameter!(
            max_iterations,
            Kind::count(1),
            "Iterations after which an unfinished solution is given up."
        ),
        parameter!(
            tolerance,
            Kind::SHARE,
            "When all slices are out: done when one iteration grants less than this share of all that was granted. 0: only \
             when no message can grow.",
        ),
        parameter!(
            on_router_messages_load_nics,
            Kind::Flag,
            "Whether messages between nodes of one router compete for the network interfaces."
        ),
        parameter!(alone, Kind::Flag, "Whether every job is also solved alone on its nodes, for its slowdown."),
        parameter!(
            bound_gap,
            Kind::WordOr(OFF, &Kind::Number { min: 1e-6, max: 0.999 }),
            "Compute how low the largest link load could be under any routing, to this relative gap.",
        ),
    ];
}

impl FlowSettings {
    /// The settings of the papers' Damselfly: 5,120 MiB/s links, 16,384 MiB/s interfaces, 0.01 MiB/s cutoff, 50 slices,
    /// until no message can grow; many sets of paths, since there every message has its own.
    pub fn damselfly() -> Self {
        Self {
            preset: FlowPreset::Damselfly,
            link_capacity: Some(Rate::from_bytes_per_s(5_120 << 20)),
            nic_capacity: Some(Rate::from_bytes_per_s(16_384 << 20)),
            slices: 50,
            path_sets: 65_536,
            tolerance: 0.0,
            on_router_messages_load_nics: false,
            ..Self::default()
        }
    }

    /// Checks the ranges of all numbers.
    ///
    /// # Errors
    /// The name of the setting and what it may be.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        let at_least_one = [
            ("slices", self.slices),
            ("direct_paths", self.direct_paths),
            ("indirect_paths", self.indirect_paths),
            ("path_sets", self.path_sets),
            ("max_iterations", self.max_iterations),
        ];
        for (name, value) in at_least_one {
            if value == 0 {
                return Err((name, "must be at least 1".into()));
            }
        }
        if self.direct_paths.saturating_add(self.indirect_paths) > 64 {
            return Err(("direct_paths", "direct_paths + indirect_paths must not exceed 64".into()));
        }
        if self.path_sets > 1 << 24 {
            return Err(("path_sets", "must not exceed 16777216".into()));
        }
        if self.max_iterations <= self.slices {
            let reason = format!("must exceed slices = {}, or capacity is never all released", self.slices);
            return Err(("max_iterations", reason));
        }
        if self.slices > 10_000 || self.max_iterations > 100_000 {
            return Err(("slices", "slices must not exceed 10000, max_iterations 100000".into()));
        }
        for (name, rate) in [("link_capacity", self.link_capacity), ("nic_capacity", self.nic_capacity)] {
            if rate.is_some_and(|r| r.bits_per_s() == 0) {
                return Err((name, "must be above zero".into()));
            }
        }
        if !(0.0..1.0).contains(&self.tolerance) {
            return Err(("tolerance", "must be from 0 to below 1".into()));
        }
        if self.bound_gap.is_some_and(|gap| !(gap > 0.0 && gap < 1.0)) {
            return Err(("bound_gap", "must be above 0 and below 1".into()));
        }
        if let FlowRouting::Ugal(ugal) = self.routing {
            if !(ugal.threshold.is_finite() && ugal.threshold >= 0.0) {
                return Err(("threshold", "must be a finite number from 0 up".into()));
            }
            if !ugal.bias_load_hops.is_finite() {
                return Err(("bias_load_hops", "must be a finite number".into()));
            }
        }
        Ok(())
    }
}
