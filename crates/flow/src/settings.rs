//! Settings of the flow engine.

use odonata_declare::{parameters, words, Choice, Kind};
use odonata_routing::algorithm::PathChoice;
use odonata_routing::paths::{Intermediate, Oblivious, PathSet};
use odonata_units::Rate;

words! {
    /// Demand of a message on links that it shares with others.
    pub enum DemandUnit {
        Bytes = "bytes": "in proportion to its bytes, so that messages that share a link end at the same time",
        Messages = "messages": "one unit each, so that messages that share a link get the same bandwidth",
    }
}

words! {
    /// Source of the settings that are not given.
    pub enum FlowPreset {
        Default = "default": "the machine's own bandwidths; converged when an iteration grants less than 0.1 %",
        Damselfly = "damselfly": "the original program: links of 5,120 MiB/s; NICs of 16,384 MiB/s, not loaded by messages within a router; indirect paths through any group; converged when no message can grow; no completion times",
    }
}

parameters! {
    /// Everything that a steady state depends on, in addition to machine and workload. The default is the machine's own
    /// bandwidths and half the slices of the original, which changes loads less than another seed does.
    #[derive(PartialEq)]
    pub struct FlowSettings {
        /// Source of the keys below that are not given. The defaults in this table are the values of `default`.
        #[decides(result)]
        pub preset: FlowPreset = FlowPreset::Default => Self::of;
        /// Demand of a message on links that it shares with others.
        #[decides(result)]
        pub demand: DemandUnit = DemandUnit::Bytes;
        /// Capacity of every link in each direction.
        pub link_capacity: Option<Rate> = None, Kind::WordOr(MACHINE, &Kind::Rate);
        /// Capacity of every NIC in each direction.
        pub nic_capacity: Option<Rate> = None, Kind::WordOr(MACHINE, &Kind::Rate);
        /// Equal slices in which capacity is released, one per iteration.
        pub slices: u32 = 25, Kind::COUNT;
        /// Direct paths that a message draws in every iteration.
        pub direct_paths: u32 = 2, Kind::COUNT;
        /// Indirect paths that a message draws in every iteration.
        pub indirect_paths: u32 = 2, Kind::COUNT;
        /// Intermediate groups or routers of indirect paths.
        pub intermediate: Intermediate = Intermediate::Third;
        /// Sets of such paths that a job draws in every iteration. Its messages between two routers share at least one
        /// set. If a job has more sets than pairs of routers, each pair gets several sets, at most one per message.
        pub path_sets: u32 = 16_384, Kind::COUNT;
        /// Relative error of the mean bytes of each job on the links of each class, against 262,144 path sets. Trials
        /// choose `path_sets` by it, so the two exclude each other.
        pub path_error: Option<f64> = None, Kind::WordOr(UNSTATED, &Kind::Number { min: 1e-4, max: 0.999 });
        /// Minimum residual capacity: a path or NIC with less is not used.
        pub cutoff: Rate = Rate::from_bytes_per_s(10_486);
        /// Maximum number of iterations. The result then says that it has not converged.
        pub max_iterations: u32 = 200, Kind::COUNT;
        /// Share of all grants. The solver stops when all slices are released and an iteration grants less than this.
        /// 0: only when no message can grow.
        pub tolerance: f64 = 1e-3, Kind::SHARE;
        /// Whether messages between nodes of one router compete for NICs.
        pub on_router_messages_load_nics: bool = true;
        /// Whether to compute when each job has sent everything: messages share bandwidth equally, and what has ended
        /// gives its share back.
        pub completion_times: bool = true;
        /// Whether to solve every job alone on its nodes, too, for its slowdown.
        pub alone: bool = false;
        /// Relative gap of the bound: how low the maximum link load could be under any routing. 0.05 for `routing =
        /// "optimal"`, which uses the best flow.
        pub bound_gap: Option<f64> = None, Kind::WordOr(OFF, &Kind::Number { min: 1e-6, max: 0.999 });
        /// Choice of paths by messages. The engine sets it from the key `routing` or the default of the machine.
        pub routing: PathChoice = PathChoice::AdaptiveHybrid, no key;
        /// The paths that they choose among.
        pub allowed_paths: PathSet = PathSet::All, no key;
    }
}

/// Relative gap of [`PathChoice::Optimal`] without `bound_gap`. A smaller gap takes more passes.
const OPTIMAL_GAP: f64 = 0.05;

const MACHINE: &Choice = &Choice { name: "machine", doc: "the machine's own bandwidth" };
const UNSTATED: &Choice = &Choice { name: "off", doc: "`path_sets` is as given" };
const OFF: &Choice = &Choice { name: "off", doc: "no bound" };

impl FlowSettings {
    /// Relative gap of the bound, if it is computed; always for the routing that reaches it.
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
            PathChoice::OnePath(_) => [1, 0],
            PathChoice::Optimal => [0, 0],
        }
    }

    /// Whether messages between different pairs of nodes have different paths.
    pub(crate) const fn has_one_path(&self) -> bool {
        matches!(self.routing, PathChoice::OnePath(_))
    }

    /// Whether paths do not depend on load.
    pub(crate) const fn is_static(&self) -> bool {
        matches!(self.routing, PathChoice::Fixed(_) | PathChoice::OnePath(_))
    }

    /// Settings of a trial with a number of path sets. It computes loads only.
    pub(crate) fn trial(&self, path_sets: u32, slices: u32, max_iterations: u32) -> Self {
        Self {
            path_sets,
            slices,
            max_iterations,
            completion_times: false,
            alone: false,
            bound_gap: None,
            ..self.clone()
        }
    }

    /// The stated error, if the routing draws paths for its loads.
    pub(crate) fn error_of_paths(&self) -> Option<f64> {
        self.path_error.filter(|_| !self.is_static() && self.routing != PathChoice::Optimal)
    }

    /// The settings of a preset.
    pub fn of(preset: FlowPreset) -> Self {
        match preset {
            FlowPreset::Default => Self::default(),
            FlowPreset::Damselfly => Self::damselfly(),
        }
    }

    /// Settings of Damselfly in the papers: 5,120 MiB/s links, 16,384 MiB/s NICs, 0.01 MiB/s cutoff, 50 slices, indirect
    /// paths through any group, until no message can grow. Every message has its own paths, hence many path sets. The
    /// original has no completion times.
    pub fn damselfly() -> Self {
        Self {
            preset: FlowPreset::Damselfly,
            link_capacity: Some(Rate::from_bytes_per_s(5_120 << 20)),
            nic_capacity: Some(Rate::from_bytes_per_s(16_384 << 20)),
            slices: 50,
            intermediate: Intermediate::Any,
            path_sets: 65_536,
            tolerance: 0.0,
            completion_times: false,
            on_router_messages_load_nics: false,
            ..Self::default()
        }
    }

    /// Checks the ranges of all numbers.
    ///
    /// # Errors
    /// Name of the setting and its allowed values.
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
        if self.path_error.is_some_and(|error| !(error > 0.0 && error < 1.0)) {
            return Err(("path_error", "must be above 0 and below 1".into()));
        }
        match self.routing {
            PathChoice::Ugal(ugal) => ugal.check(),
            _ => Ok(()),
        }
    }
}
