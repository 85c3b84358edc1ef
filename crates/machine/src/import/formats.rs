//! The formats by name, and their detection.

use super::damselfly::{read_damselfly, Codes};
use super::format::{Complete, Format};
use super::{
    codes_conf, codes_yaml, cray_links, htsim, simgrid, BookSim, EdgeListOptions, InfiniBand, SlurmTree, SstMacro,
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
        "Configuration of CODES (`PARAMS { ... }`): dragonflies, fat tree, Slim Fly, torus.",
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
    Variant::new("simgrid", "Cluster of a SimGrid platform (XML): dragonfly, fat tree or torus.", || {
        Box::new(Complete(|bytes, label, _| Ok(simgrid(bytes, label)?)))
    }),
    Variant::new("sst-macro", "File topology of SST/macro (JSON): nodes, switches, links.", || {
        Box::<SstMacro>::default()
    }),
    Variant::new("slurm", "Switch tree of Slurm (`topology.conf`), with its node names.", || {
        Box::<SlurmTree>::default()
    }),
    Variant::new(
        "edge-list",
        "Table `src, dst, class, count, bandwidth, latency` as CSV or Parquet; all but the first two are optional.",
        || Box::<EdgeListOptions>::default(),
    ),
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
