//! What a user may choose about the flow engine.

use odonata_declare::{parameter, words, Choice, Field, Kind, Parameter, Parameters};
use odonata_routing::algorithm::PathChoice;
use odonata_routing::paths::{Intermediate, Oblivious};
use odonata_units::Rate;

words! {
    /// What a message asks of the links that it shares with others.
    pub enum DemandUnit {
        Bytes = "bytes": "in proportion to its bytes, so that messages that share a link end at the same time",
        Messages = "messages": "one unit each, so that messages that share a link get the same bandwidth",
    }
}

words! {
    /// Where the values of settings come from that are not given.
    pub enum FlowPreset {
        Default = "default": "the machine's own bandwidths; done when an iteration grants less than 0.1 %",
        Damselfly = "damselfly": "the original program: links of 5,120 MiB/s, interfaces of 16,384 MiB/s that messages on one router do not load, indirect paths through any group, done when no message can grow",
    }
}

/// Everything that a steady state depends on besides machine and workload.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowSettings {
    /// Where the values that are not given come from.
    pub preset: FlowPreset,
    /// How messages choose among paths.
    pub routing: PathChoice,
    /// What a message asks of the links that it shares with others.
    pub demand: DemandUnit,
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
    /// Where an indirect path goes through.
    pub intermediate: Intermediate,
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
            routing: PathChoice::AdaptiveHybrid,
            demand: DemandUnit::Bytes,
            link_capacity: None,
            nic_capacity: None,
            slices: 25,
            direct_paths: 2,
            indirect_paths: 2,
            intermediate: Intermediate::Third,
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

/// How near to the least possible the busiest link is brought by [`PathChoice::Optimal`] unless `bound_gap` says it.
const OPTIMAL_GAP: f64 = 0.05;

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
        parameter!(demand, DemandUnit::KIND, "What a message asks of the links that it shares with others."),
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
        parameter!(intermediate, Intermediate::KIND, "Where an indirect path goes through."),
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
            "Compute how low the largest link load could be under any routing, to this relative gap; 0.05 for `routing = \"optimal\"`, which takes what was \
             found.",
        ),
    ];
}

impl FlowSettings {
    /// The relative gap of the bound, if it is computed: always for the routing that reaches it.
    pub(crate) fn gap(&self) -> Option<f64> {
        self.bound_gap.or((self.routing == PathChoice::Optimal).then_some(OPTIMAL_GAP))
    }

    /// Direct and indirect paths that a message draws in every iteration.
    pub(crate) fn path_counts(&self) -> [usize; 2] {
        let (direct, indirect) = (self.direct_paths as usize, self.indirect_paths as usize);
        match self.routing {
            PathChoice::Fixed(Oblivious::Minimal | Oblivious::Direct) | PathChoice::AdaptiveDirect => [direct, 0],
            PathChoice::Fixed(Oblivious::Indirect) | PathChoice::AdaptiveIndirect => [0, indirect],
            PathChoice::AdaptiveHybrid | PathChoice::Ugal(_) => [direct, indirect],
            PathChoice::Optimal => [0, 0],
        }
    }

    /// The settings of the papers' Damselfly: 5,120 MiB/s links, 16,384 MiB/s interfaces, 0.01 MiB/s cutoff, 50 slices,
    /// indirect paths through any group, until no message can grow; many sets of paths, since there every message has its own.
    pub fn damselfly() -> Self {
        Self {
            preset: FlowPreset::Damselfly,
            link_capacity: Some(Rate::from_bytes_per_s(5_120 << 20)),
            nic_capacity: Some(Rate::from_bytes_per_s(16_384 << 20)),
            slices: 50,
            intermediate: Intermediate::Any,
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
        match self.routing {
            PathChoice::Ugal(ugal) => ugal.check(),
            _ => Ok(()),
        }
    }
}
