//! The formats by name, and what is read of each.

use super::damselfly::{read_damselfly, Codes};
use super::format::{Complete, Format};
use super::{
    astra_sim, codes_conf, codes_yaml, cray_links, hpcc, htsim, simgrid, BookSim, EdgeListOptions, GraphFile,
    InfiniBand, SlurmTree, SstMacro,
};
use odonata_declare::Variant;

/// The formats, in the order of the reference.
pub const FORMATS: &[Variant<dyn Format>] = &[
    Variant::new("cray-links", "Cable list of a Cray XC system: a line for every tile.", || {
        Box::new(Complete(|bytes, label, _| Ok(cray_links(bytes, label)?)))
    }),
    Variant::new(
        "damselfly",
        "Configuration text of Damselfly, which names the intra-group and the inter-group file; its jobs are not read.",
        || Box::new(Complete(read_damselfly)),
    ),
    Variant::new("codes", "Intra-group file of Damselfly or CODES; `inter_file` is the other file.", || {
        Box::<Codes>::default()
    }),
    Variant::new(
        "ibnetdiscover",
        "Output of `ibnetdiscover` for an InfiniBand network: switches, adapters, cables with their speeds.",
        || Box::<InfiniBand>::default(),
    ),
    Variant::new(
        "codes-conf",
        "Configuration of CODES (`PARAMS { ... }`): dragonflies, express mesh, fat tree, Slim Fly, torus.",
        || Box::new(Complete(codes_conf)),
    ),
    Variant::new(
        "codes-yaml",
        "YAML description of newer CODES (`topology: { format: parametric }`), for the same models.",
        || Box::new(Complete(codes_yaml)),
    ),
    Variant::new("booksim", "Listing of BookSim's `anynet`: `router 0 node 0 router 1 15`.", || {
        Box::<BookSim>::default()
    }),
    Variant::new("htsim", "Fat tree of htsim (`.topo`).", || {
        Box::new(Complete(|bytes, label, _| Ok(htsim(bytes, label)?)))
    }),
    Variant::new(
        "hpcc",
        "Topology of HPCC, SimAI or ASTRA-sim's ns-3 network: counts, switches, cables with rates.",
        || Box::new(Complete(|bytes, label, _| Ok(hpcc(bytes, label)?))),
    ),
    Variant::new(
        "astra-sim",
        "Network of ASTRA-sim's analytical model (YAML): rings, switches, fully connected.",
        || Box::new(Complete(|bytes, label, _| Ok(astra_sim(bytes, label)?))),
    ),
    Variant::new("simgrid", "Cluster of a SimGrid platform (XML): dragonfly, fat tree, torus or one switch.", || {
        Box::new(Complete(|bytes, label, _| Ok(simgrid(bytes, label)?)))
    }),
    Variant::new("sst-macro", "File topology of SST/macro (JSON): nodes, switches, links.", || {
        Box::<SstMacro>::default()
    }),
    Variant::new(
        "slurm",
        "Switch tree of Slurm (`topology.conf`, `topology.yaml`, `scontrol show topology`), with its node names.",
        || Box::<SlurmTree>::default(),
    ),
    Variant::new("graph", "Graph in GraphML, GraphViz (dot) or node-link JSON: its vertices are routers.", || {
        Box::<GraphFile>::default()
    }),
    Variant::new(
        "edge-list",
        "Table `src, dst, class, count, bandwidth, latency` as CSV or Parquet; all but the first two are optional.",
        || Box::<EdgeListOptions>::default(),
    ),
];

/// What a format's reader takes from a file.
#[derive(Clone, Copy, Debug)]
pub struct FormatNotes {
    /// Name of the format.
    pub format: &'static str,
    /// What is read.
    pub read: &'static str,
    /// What is not read, or refused.
    pub not_read: &'static str,
    /// The files of the tests.
    pub tested: &'static str,
}

const fn notes(format: &'static str, read: &'static str, not_read: &'static str, tested: &'static str) -> FormatNotes {
    FormatNotes { format, read, not_read, tested }
}

/// The notes of all formats, in the order of [`FORMATS`].
pub const NOTES: &[FormatNotes] = &[
    notes(
        "cray-links",
        "tiles, cables (both ends agree), free ports, nodes (two processor tiles each), the names of routers (cnames)",
        "bandwidths (as on Aries)",
        "Edison's list of 69,120 tiles",
    ),
    notes(
        "damselfly",
        "sizes, both wiring files",
        "jobs",
        "the wiring of a Cascade family",
    ),
    notes(
        "codes",
        "the intra-group file (triples with type, or pairs) and the inter-group file; repeated entries are parallel links",
        "the sizes are keys; bandwidths (as on Aries)",
        "the wirings of families",
    ),
    notes(
        "ibnetdiscover",
        "switches with their ports, hosts with all their adapters (rails), cables (both ends agree), widths and speeds",
        "latencies; aggregation nodes, routers, `service` hosts and hosts with fewer adapters are counted, not nodes",
        "random fabrics; files of one switch, two rails, SHARP",
    ),
    notes(
        "codes-conf",
        "`dragonfly`, `dragonfly_custom`, `dragonfly_dally`, `dragonfly_plus` (nodes at leaves), `express_mesh`, `fattree` \
         (types 0 and 1; `num_rails` are planes), `slimfly`, `torus`; failed links; wiring files next to the configuration",
        "buffers, routing, packet sizes, delays; other models with several rails or planes, and tapered trees, are refused",
        "families and formulas; configurations of CODES and TraceR",
    ),
    notes(
        "codes-yaml",
        "the same models; `format: parametric` and `format: groups`; a topology in an `include`",
        "components, hosts, jobs, sections; the fluid model and names with `@` are refused",
        "each model against its configuration",
    ),
    notes(
        "booksim",
        "routers, nodes, latencies in cycles (`cycle`); numbers are names",
        "bandwidths; two latencies of one cable are refused",
        "BookSim's example; random listings",
    ),
    notes(
        "htsim",
        "two or three tiers with radices, bundles, speeds and latencies",
        "queues, `Switch_Latency_ns`, `Oversubscribed`",
        "a tree of three tiers; ASTRA-sim's `8nodes.topo`",
    ),
    notes(
        "hpcc",
        "hosts, switches, rates and delays of HPCC, SimAI and ASTRA-sim's ns-3 network; numbers are names",
        "error rates, type of GPU, which GPUs share a server",
        "random topologies; servers with NVSwitches",
    ),
    notes(
        "astra-sim",
        "`Ring`, `FullyConnected`, `Switch` in any number of dimensions; every NPU is a router with one node",
        "collective algorithms and system files",
        "counts of each form; ASTRA-sim's own inputs",
    ),
    notes(
        "simgrid",
        "one `<cluster>`: `DRAGONFLY`, `FAT_TREE`, `TORUS`, `FLAT`; names of hosts",
        "host speeds, loopbacks, limiters, backbones, sharing; platforms of links and routes are refused",
        "formulas of each topology",
    ),
    notes(
        "sst-macro",
        "both JSON forms: names and ports, or numbers",
        "`avg_num_hops`, port numbers; the file has no bandwidths",
        "families, written and read back",
    ),
    notes(
        "slurm",
        "switches and nodes of `topology.conf`, `scontrol show topology` and `topology.yaml` (its default tree); `uplinks` \
         is the number of cables",
        "`LinkSpeed`, which has no unit; blocks are refused",
        "one tree in every form; random trees",
    ),
    notes(
        "graph",
        "vertices with edges as routers, edges as cables, `LinkSpeedRaw` of GraphML if all edges have it",
        "labels, ports, other attributes; edges from or to groups of vertices are refused",
        "random graphs in each syntax",
    ),
    notes(
        "edge-list",
        "the columns of the list above; numbers are names",
        "a column that is not known is refused",
        "families with links or cables, names or coordinates; random lists",
    ),
];

#[cfg(test)]
mod tests {
    use super::super::KINDS;
    use super::*;

    #[test]
    fn every_format_has_notes_and_is_detected() {
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        assert_eq!(NOTES.iter().map(|notes| notes.format).collect::<Vec<_>>(), names);
        let detected: Vec<&str> = KINDS.iter().filter_map(|kind| kind.read.ok()).collect();
        // Two binary files do not say their sizes, so nothing detects them.
        let missing: Vec<&&str> = names.iter().filter(|name| !detected.contains(name)).collect();
        assert_eq!(missing, [&"codes"]);
        assert!(detected.iter().all(|name| names.contains(name)));
    }
}
