//! The formats by name, with the parameters that a file's content does not contain.

use super::{
    booksim, codes_conf, codes_yaml, cray_links, damselfly, damselfly_config, edge_list_csv, htsim, ibnetdiscover,
    simgrid, slurm_topology, sst_macro, DamselflyParameters, EdgeListOptions, IntraLayout, Listing, SlurmTreeOptions,
};
use crate::{MachineBuilder, MachineError};
use odonata_declare::{parameter, Kind, Parameter, ParameterStruct, Parameters, Reader, Variant};
use odonata_units::Time;
use std::path::Path;

/// A format: its parameters, and its reader.
pub trait Format: ParameterStruct {
    /// The machine in the file called `label`; `files` opens the files that belong to it.
    ///
    /// # Errors
    /// Another file that can't be opened, or an error of the reader.
    fn read(&self, bytes: &[u8], label: &str, files: &mut dyn Reader) -> Result<MachineBuilder, FormatError>;
}

/// A file that gives no machine.
#[derive(Debug)]
pub enum FormatError {
    /// A file that can't be opened: its key, and the reason.
    Unreadable(&'static str, String),
    /// An error of the reader.
    Machine(MachineError),
}

impl From<MachineError> for FormatError {
    fn from(error: MachineError) -> Self {
        Self::Machine(error)
    }
}

/// The formats, in the order of the reference.
pub const FORMATS: &[Variant<dyn Format>] = &[
    Variant {
        name: "cray-links",
        doc: "Cable list of a Cray XC system: a line for every tile.",
        default: || Box::new(CrayLinks),
    },
    Variant {
        name: "damselfly",
        doc: "Configuration text of Damselfly, which names the intra-group and the inter-group file; its jobs are \
            not read.",
        default: || Box::new(DamselflyText),
    },
    Variant {
        name: "codes",
        doc: "Intra-group file of Damselfly or CODES; `inter_file` is the other file.",
        default: || Box::new(Codes::default()),
    },
    Variant {
        name: "ibnetdiscover",
        doc: "Output of `ibnetdiscover` for an InfiniBand network: switches, adapters, cables with their speeds.",
        default: || Box::new(InfiniBand::default()),
    },
    Variant {
        name: "codes-conf",
        doc: "Configuration of CODES (`PARAMS { ... }`): dragonflies, fat tree, Slim Fly, torus.",
        default: || Box::new(CodesConf),
    },
    Variant {
        name: "codes-yaml",
        doc: "YAML description of newer CODES (`topology: { format: parametric }`), for the same models.",
        default: || Box::new(CodesYaml),
    },
    Variant {
        name: "booksim",
        doc: "Listing of BookSim's `anynet`: `router 0 node 0 router 1 15`.",
        default: || Box::new(BookSim::default()),
    },
    Variant { name: "htsim", doc: "Fat tree of htsim (`.topo`).", default: || Box::new(Htsim) },
    Variant {
        name: "simgrid",
        doc: "Cluster of a SimGrid platform (XML): dragonfly, fat tree or torus.",
        default: || Box::new(SimGrid),
    },
    Variant {
        name: "sst-macro",
        doc: "File topology of SST/macro (JSON): nodes, switches, links.",
        default: || Box::new(SstMacro::default()),
    },
    Variant {
        name: "slurm",
        doc: "Switch tree of Slurm (`topology.conf`), with its node names.",
        default: || Box::new(SlurmTreeOptions::default()),
    },
    Variant {
        name: "edge-list",
        doc: "Table `src, dst, class, count, bandwidth, latency` as CSV or Parquet; all but the first two are \
            optional.",
        default: || Box::new(EdgeListOptions::default()),
    },
];

/// Detects the format of a file by its content.
///
/// # Errors
/// No format or several formats match; the message names them and the key that decides.
pub fn detect(bytes: &[u8]) -> Result<&'static str, String> {
    let head = &bytes[..bytes.len().min(4096)];
    let cut = std::str::from_utf8(head).err();
    // The last character may be incomplete.
    let binary = head.contains(&0) || cut.is_some_and(|error| error.error_len().is_some());
    if binary {
        return Err("binary data; wiring files of Damselfly and CODES have format = \"codes\", which also needs \
             'inter_file', 'groups', 'rows' and 'columns'"
            .into());
    }
    let start = String::from_utf8_lossy(head);
    let lowercase = start.to_ascii_lowercase();
    let mut lines = start.trim_start_matches('\u{feff}').lines().map(str::trim).filter(|line| !line.is_empty());
    let (first, second) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""));
    let begins = |words: &str| start.lines().any(|line| line.starts_with(words));
    let numbers =
        |line: &str| line.split([' ', '\t', ',', ';']).all(|word| word.parse::<f64>().is_ok() || word.is_empty());
    Ok(if start.contains("# Topology file:") || begins("Switch\t") {
        "ibnetdiscover"
    } else if first.starts_with('<') {
        "simgrid"
    } else if lowercase.contains("\"switch_to_switch_links\"")
        || lowercase.contains("\"node_to_switch_links\"")
        || (first.starts_with('{') && (lowercase.contains("\"avg_num_hops\"") || lowercase.contains("\"outports\"")))
    {
        "sst-macro"
    } else if begins("schema_version:") || begins("topology:") {
        "codes-yaml"
    } else if first.starts_with('{') {
        return Err("JSON of an unknown kind in its first 4096 bytes; a file topology of SST/macro has format = \
            \"sst-macro\""
            .into());
    } else if begins("---") && begins("key:") {
        return Err(
            "a table of Boxfish, which has counters and no wiring: `odonata counters` reads it; set 'format' if it \
             is another file"
                .into(),
        );
    } else if first.starts_with("LPGROUPS") || begins("PARAMS") {
        "codes-conf"
    } else if first.starts_with("router ") || first.starts_with("node ") {
        "booksim"
    } else if start.lines().any(|line| line.to_ascii_lowercase().starts_with("podsize ")) {
        "htsim"
    } else if lowercase
        .lines()
        .any(|line| line.trim_start().starts_with("switchname=") || line.trim_start().starts_with("blockname="))
    {
        "slurm"
    } else if first.contains("->") {
        "cray-links"
    } else if first.parse::<u32>().is_ok() && second.split_whitespace().count() == 5 && numbers(second) {
        "damselfly"
    } else if !first.is_empty() && numbers(first) {
        return Err(
            "a file of numbers: a configuration of Damselfly has one in its first line and five in the second, an \
             edge list starts with its column names (src, dst, ...), and a list of nodes is a placement (placement \
             = { name = \"file\", ... }); set 'format' if it is another file"
                .into(),
        );
    } else {
        "edge-list"
    })
}

#[derive(Clone, Debug)]
struct CrayLinks;

impl Parameters for CrayLinks {
    const PARAMETERS: &'static [Parameter<Self>] = &[];
}

impl Format for CrayLinks {
    fn read(&self, bytes: &[u8], label: &str, _: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
        Ok(cray_links(bytes, label)?)
    }
}

#[derive(Clone, Debug)]
struct DamselflyText;

impl Parameters for DamselflyText {
    const PARAMETERS: &'static [Parameter<Self>] = &[];
}

impl Format for DamselflyText {
    fn read(&self, bytes: &[u8], label: &str, files: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
        let config = damselfly_config(bytes, label)?;
        // File names are relative to the configuration.
        let directory = Path::new(label).parent().unwrap_or_else(|| Path::new(""));
        let mut open = |name: &str| {
            let path = directory.join(name).to_string_lossy().into_owned();
            files.read(&path).map(|bytes| (bytes, path)).map_err(|reason| FormatError::Unreadable("file", reason))
        };
        let (intra, inter) = (open(&config.intra_file)?, open(&config.inter_file)?);
        Ok(damselfly((&intra.0, &intra.1), (&inter.0, &inter.1), &config.parameters)?)
    }
}

/// The two files of Damselfly or CODES without a configuration.
#[derive(Clone, Debug)]
struct Codes {
    inter_file: String,
    sizes: DamselflyParameters,
}

impl Default for Codes {
    fn default() -> Self {
        let (groups, rows, columns) = (0, 0, 0);
        let intra_layout = IntraLayout::Triples;
        let sizes =
            DamselflyParameters { groups, rows, columns, nodes_per_router: 4, cores_per_node: 24, intra_layout };
        Self { inter_file: String::new(), sizes }
    }
}

impl Parameters for Codes {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(inter_file, Kind::Path, "The inter-group file.", required),
        parameter!(groups = sizes.groups, Kind::count(1), "Groups.", required),
        parameter!(rows = sizes.rows, Kind::count(1), "Rows of a group.", required),
        parameter!(columns = sizes.columns, Kind::count(1), "Columns of a group.", required),
        parameter!(intra_layout = sizes.intra_layout, IntraLayout::KIND, "Layout of an entry in the intra-group file."),
        parameter!(nodes_per_router = sizes.nodes_per_router, Kind::count(1), "Nodes of each router."),
        parameter!(cores_per_node = sizes.cores_per_node, Kind::count(1), "Cores of each node."),
    ];
}

impl Format for Codes {
    fn read(&self, bytes: &[u8], label: &str, files: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
        let inter = files.read(&self.inter_file).map_err(|reason| FormatError::Unreadable("inter_file", reason))?;
        Ok(damselfly((bytes, label), (&inter, &self.inter_file), &self.sizes)?)
    }
}

/// Data that `ibnetdiscover` does not print.
#[derive(Clone, Debug, Default)]
struct InfiniBand {
    options: EdgeListOptions,
}

impl Parameters for InfiniBand {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(latency = options.figures.latency, Kind::Time, "Latency of every cable between switches."),
        parameter!(cores_per_node = options.cores_per_node, Kind::count(1), "Cores of each node."),
    ];
}

impl Format for InfiniBand {
    fn read(&self, bytes: &[u8], label: &str, _: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
        Ok(ibnetdiscover(bytes, label, &self.options)?)
    }
}

#[derive(Clone, Debug)]
struct CodesConf;

impl Parameters for CodesConf {
    const PARAMETERS: &'static [Parameter<Self>] = &[];
}

impl Format for CodesConf {
    fn read(&self, bytes: &[u8], label: &str, files: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
        codes_conf(bytes, label, files)
    }
}

#[derive(Clone, Debug)]
struct CodesYaml;

impl Parameters for CodesYaml {
    const PARAMETERS: &'static [Parameter<Self>] = &[];
}

impl Format for CodesYaml {
    fn read(&self, bytes: &[u8], label: &str, files: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
        codes_yaml(bytes, label, files)
    }
}

/// Data that a file topology of SST/macro does not contain.
#[derive(Clone, Debug, Default)]
struct SstMacro {
    options: EdgeListOptions,
}

impl Parameters for SstMacro {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(bandwidth = options.figures.bandwidth, Kind::Rate, "Bandwidth of every cable between switches."),
        parameter!(latency = options.figures.latency, Kind::Time, "Latency of every cable between switches."),
        parameter!(cores_per_node = options.cores_per_node, Kind::count(1), "Cores of each node."),
    ];
}

impl Format for SstMacro {
    fn read(&self, bytes: &[u8], label: &str, _: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
        Ok(sst_macro(bytes, label, &self.options)?)
    }
}

#[derive(Clone, Debug)]
struct Htsim;

impl Parameters for Htsim {
    const PARAMETERS: &'static [Parameter<Self>] = &[];
}

impl Format for Htsim {
    fn read(&self, bytes: &[u8], label: &str, _: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
        Ok(htsim(bytes, label)?)
    }
}

#[derive(Clone, Debug)]
struct SimGrid;

impl Parameters for SimGrid {
    const PARAMETERS: &'static [Parameter<Self>] = &[];
}

impl Format for SimGrid {
    fn read(&self, bytes: &[u8], label: &str, _: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
        Ok(simgrid(bytes, label)?)
    }
}

/// Data that a listing of BookSim does not contain.
#[derive(Clone, Debug)]
struct BookSim {
    cycle: Time,
    options: EdgeListOptions,
}

impl Default for BookSim {
    fn default() -> Self {
        Self { cycle: Time::from_ns(1), options: EdgeListOptions::default() }
    }
}

impl Parameters for BookSim {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(cycle, Kind::Time, "Duration of a cycle."),
        parameter!(bandwidth = options.figures.bandwidth, Kind::Rate, "Bandwidth of every cable."),
        parameter!(cores_per_node = options.cores_per_node, Kind::count(1), "Cores of each node."),
    ];
}

impl Format for BookSim {
    fn read(&self, bytes: &[u8], label: &str, _: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
        Ok(booksim(bytes, label, self.cycle, &self.options)?)
    }
}

impl Parameters for SlurmTreeOptions {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(uplinks, Kind::count(1), "Cables from a switch to each switch above it."),
        parameter!(bandwidth = edges.figures.bandwidth, Kind::Rate, "Bandwidth of every cable between switches."),
        parameter!(latency = edges.figures.latency, Kind::Time, "Latency of every cable between switches."),
        parameter!(cores_per_node = edges.cores_per_node, Kind::count(1), "Cores of each node."),
    ];
}

impl Format for SlurmTreeOptions {
    fn read(&self, bytes: &[u8], label: &str, _: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
        Ok(slurm_topology(bytes, label, self)?)
    }
}

impl Parameters for EdgeListOptions {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(listing, Listing::KIND, "Meaning of a row."),
        parameter!(bandwidth = figures.bandwidth, Kind::Rate, "Bandwidth of cables without their own bandwidth."),
        parameter!(latency = figures.latency, Kind::Time, "Latency of cables without their own latency."),
        parameter!(nodes_per_router, Kind::count(1), "Nodes of routers without their own count."),
    ];
}

impl Format for EdgeListOptions {
    fn read(&self, bytes: &[u8], label: &str, _: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
        Ok(edge_list_csv(bytes, label, self)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_detected_by_their_content() {
        let detect = |bytes| detect(bytes).unwrap();
        assert_eq!(detect(b"c0-0c0s0a0l00(0:0:0) green -> c0-0c0s6a0l10(0:0:6)\n"), "cray-links");
        assert_eq!(detect(b"1440\n15 6 16 4 24\nintra.bin\n"), "damselfly");
        assert_eq!(detect(b"src,dst\n0,1\n"), "edge-list");
        assert_eq!(detect(b"LPGROUPS\n{\n"), "codes-conf");
        assert_eq!(detect(b"<?xml version='1.0'?>\n"), "simgrid");
        assert_eq!(detect(b"router 0 node 0 router 1\n"), "booksim");
        assert_eq!(detect(b"# a tree\nNodes 1024\nTiers 3\nPodsize 64\n"), "htsim");
        assert_eq!(detect(b"#\n# Topology file: generated on Sat\n"), "ibnetdiscover");
        assert_eq!(detect(b"# leaf\nswitchname=s0 nodes=n[0-3]\n"), "slurm");
        assert_eq!(detect(b"schema_version: 1\n\ntopology:\n"), "codes-yaml");
        assert_eq!(detect(b"{ \"avg_num_hops\": 2,\n \"nodes\": {\n"), "sst-macro");
        assert_eq!(detect(b"{\"switch_to_switch_links\": [\n"), "sst-macro");
        assert_eq!(detect(b""), "edge-list");
    }

    #[test]
    fn ambiguous_files_are_refused() {
        // Wiring files, a list of nodes, a placement file, an edge list without its header.
        for (bytes, why) in [
            (&b"\x00\x00\x00\x00\x01\x00\x00\x00"[..], "format = \"codes\""),
            (&b"\xff\xfe\x01"[..], "binary data"),
            (&b"0 1 2 3 4 5\n6 7 8\n"[..], "a list of nodes is a placement"),
            (&b"17\n18\n19\n"[..], "one in its first line and five in the second"),
            (&b"{\"nodes\": {}\n"[..], "format = \"sst-macro\""),
            (&b"---\nkey: NODES\n---\n- [id, int32]\n...\n"[..], "table of Boxfish"),
            (&b"0,1,2\n1,2,1\n"[..], "starts with its column names"),
        ] {
            let reason = detect(bytes).unwrap_err();
            assert!(reason.contains(why), "{reason}");
        }
        // An incomplete character at the end of the inspected bytes is not binary data.
        let long = format!("src,dst\n{}", "ä".repeat(4000));
        assert_eq!(detect(long.as_bytes()), Ok("edge-list"));
    }
}
