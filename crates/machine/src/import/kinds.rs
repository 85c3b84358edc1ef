//! What kind of file this is: the formats that are read, and other files that people have, which are refused by name.

use super::hpcc;
use super::slurm_topology;

/// A kind of file.
#[derive(Clone, Copy, Debug)]
pub struct FileKind {
    /// Its name, with an article.
    pub name: &'static str,
    /// The format that reads it, or what to do instead.
    pub read: Result<&'static str, &'static str>,
    matches: fn(&Start<'_>) -> bool,
}

/// The start of a file of text.
struct Start<'a> {
    text: &'a str,
    lowercase: String,
    /// The first two lines that are not blank, without the space around them.
    first: &'a str,
    second: &'a str,
    /// The first line that is neither blank nor a comment.
    content: &'a str,
}

impl<'a> Start<'a> {
    fn of(text: &'a str) -> Self {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let (first, second) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""));
        let is_content = |line: &&str| !line.is_empty() && !["#", "//", "/*"].iter().any(|mark| line.starts_with(mark));
        let content = text.lines().map(str::trim).find(is_content).unwrap_or("");
        Self { text, lowercase: text.to_ascii_lowercase(), first, second, content }
    }

    /// Whether a line starts with these words.
    fn begins(&self, words: &str) -> bool {
        self.text.lines().any(|line| line.starts_with(words))
    }

    fn has(&self, words: &str) -> bool {
        self.text.contains(words)
    }

    /// Whether an entry of JSON has this name.
    fn has_name(&self, name: &str) -> bool {
        self.lowercase.contains(&format!("\"{name}\""))
    }

    fn is_json(&self) -> bool {
        self.first.starts_with('{')
    }

    /// Whether a line starts with one of these words in any case, after blanks.
    fn has_key(&self, keys: &[&str]) -> bool {
        self.lowercase.lines().any(|line| keys.iter().any(|key| line.trim_start().starts_with(key)))
    }
}

const fn format(name: &'static str, format: &'static str, matches: fn(&Start<'_>) -> bool) -> FileKind {
    FileKind { name, read: Ok(format), matches }
}

const fn other(name: &'static str, instead: &'static str, matches: fn(&Start<'_>) -> bool) -> FileKind {
    FileKind { name, read: Err(instead), matches }
}

/// The kinds of text, in the order in which they are tried.
pub const KINDS: &[FileKind] = &[
    format("the output of ibnetdiscover", "ibnetdiscover", |s| {
        s.has("# Topology file:") || s.begins("Switch\t") && (s.has("\"S-") || s.has("\"H-"))
    }),
    other("a net file of ibsim", "run ibnetdiscover on the simulated fabric; its output is read", |s| {
        s.begins("Switch\t") || s.begins("Switch ") && s.has("\"") || s.begins("Hca\t") || s.begins("Hca ")
    }),
    other("a link file of ibdiagnet (.lst)", "run ibnetdiscover; its output is read", |s| {
        s.has("{ SW Ports:") || s.has("{ CA Ports:")
    }),
    other("the output of iblinkinfo", "run ibnetdiscover; its output is read", |s| {
        s.begins("Switch: 0x") || s.begins("CA: ")
    }),
    format("a platform of SimGrid", "simgrid", |s| {
        s.first.starts_with('<') && (s.has("<platform") || s.has("<cluster"))
    }),
    format("a graph in GraphML", "graph", |s| s.first.starts_with('<') && s.has("<graphml")),
    other("a graph in GEXF", "write it as GraphML, or as rows src,dst", |s| s.has("<gexf")),
    other("XML of an unknown kind", "platforms of SimGrid and GraphML are read", |s| s.first.starts_with('<')),
    format("a graph of GraphViz", "graph", |s| {
        let words: Vec<&str> = s.content.split(|c: char| c.is_whitespace() || c == '{').collect();
        s.has("{") && matches!(words[..], ["graph" | "digraph" | "strict", ..])
    }),
    other("a graph in GML", "write it as GraphML, or as rows src,dst", |s| {
        s.has_key(&["graph ["]) || s.content == "graph"
    }),
    format("a file topology of SST/macro", "sst-macro", |s| {
        s.has_name("switch_to_switch_links")
            || s.has_name("node_to_switch_links")
            || s.is_json() && (s.has_name("avg_num_hops") || s.has_name("outports"))
    }),
    format("a node-link graph in JSON", "graph", |s| {
        s.is_json() && s.has_name("source") && s.has_name("target") && (s.has_name("links") || s.has_name("edges"))
    }),
    format("a description of CODES", "codes-yaml", |s| {
        s.is_json() && s.has_name("schema_version") && s.has_name("topology")
    }),
    other("an InfraGraph", "write its edges as rows src,dst", |s| {
        s.has_name("instances") && (s.has_name("devices") || s.has_name("edges"))
            || s.begins("instances:") && (s.begins("devices:") || s.begins("edges:"))
    }),
    other(
        "logical dimensions of ASTRA-sim",
        "the file with its physical topology (nodes, switches, links) is read",
        |s| s.has_name("logical-dims"),
    ),
    other("a system file of ASTRA-sim", "it has no network; write the machine as a family", |s| {
        s.has_name("scheduling-policy") || s.has_name("all-reduce-implementation") || s.has_name("memory-type")
    }),
    other("a workload of SWM or Union", "it has no network", |s| {
        s.is_json() && (s.has_name("jobs") || s.has_name("argv"))
    }),
    other(
        "JSON of an unknown kind in its first 4096 bytes",
        "a file topology of SST/macro has format = \"sst-macro\", a node-link graph format = \"graph\"",
        |s| s.is_json(),
    ),
    format("a network of ASTRA-sim's analytical model", "astra-sim", |s| {
        s.begins("npus_count:") || s.begins("topology: [")
    }),
    format("a topology.yaml of Slurm", "slurm", |s| slurm_topology::is_yaml(s.text)),
    format("a YAML description of CODES", "codes-yaml", |s| s.begins("schema_version:") || s.begins("topology:")),
    other("a table of Boxfish, which has counters and no wiring", "`odonata counters` reads it", |s| {
        s.begins("---") && s.begins("key:")
    }),
    other("bus bandwidths of SimAI", "its topology (nodes, switches, links) is read", |s| {
        s.has_key(&["busbw:", "allreduce,:"])
    }),
    other("YAML of an unknown kind", "descriptions of CODES and Slurm's topology.yaml are read", |s| {
        s.first == "---" || s.first.starts_with("- ")
    }),
    format("a configuration of CODES", "codes-conf", |s| s.first.starts_with("LPGROUPS") || s.begins("PARAMS")),
    other("a workload of Ember", "it has jobs and no network", |s| s.begins("[JOB_ID]")),
    other("an experiment of Odonata", "it names its machine itself; use it in place of a machine file", |s| {
        s.begins("[machine]") || s.begins("[[job]]")
    }),
    other("parameters of SST/macro", "write the machine as a family, or as its file topology in JSON", |s| {
        let blocks = ["topology", "interconnect", "switch", "node", "nic", "app1"];
        let opens =
            |line: &str| blocks.iter().any(|block| line.strip_prefix(block).is_some_and(|rest| rest.trim() == "{"));
        s.text.lines().any(|line| opens(line.trim()))
    }),
    other("a configuration of SST in Python", "write the machine as a family", |s| s.has_key(&["import sst"])),
    format("a listing of BookSim", "booksim", |s| s.content.starts_with("router ") || s.content.starts_with("node ")),
    format("a fat tree of htsim", "htsim", |s| s.has_key(&["podsize "])),
    format("a switch tree of Slurm", "slurm", |s| s.has_key(&["switchname=", "blockname="])),
    other("a list of nodes of Slurm", "topology.conf has the switches", |s| s.has_key(&["nodename="])),
    format("a cable list of a Cray XC system", "cray-links", |s| s.content.contains("->")),
    other("neighbours of lldpctl", "write its cables as rows src,dst", |s| s.has_key(&["lldp neighbors:"])),
    other("a matrix of nvidia-smi topo", "write its NVLinks as rows src,dst", |s| {
        s.has("CPU Affinity") || s.first.starts_with("GPU0")
    }),
    other("jobs of a batch system", "`odonata import slurm` reads the output of squeue and sacct", |s| {
        let head = s.first.to_ascii_lowercase();
        head.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "jobid") || head.starts_with("job id")
    }),
    format("a topology of HPCC or SimAI", "hpcc", |s| hpcc::matches_format(s.text)),
    format("a configuration of Damselfly", "damselfly", |s| {
        s.first.parse::<u32>().is_ok() && s.second.split_whitespace().count() == 5 && is_numbers(s.second)
    }),
    other(
        "a file of numbers",
        "a configuration of Damselfly has one in its first line and five in the second, an edge list starts with its \
         column names (src, dst, ...), and a list of nodes is a placement (placement = { name = \"file\", ... })",
        |s| !s.first.is_empty() && is_numbers(s.first),
    ),
    other("a list of jobs of another simulator", "it has no network", |s| {
        let words: Vec<&str> = s.content.split_whitespace().collect();
        let counts = words.iter().filter(|word| word.parse::<u64>().is_ok()).count();
        words.len() == 4 && counts == 3 || words.len() == 1 && words[0].ends_with(".bin")
    }),
    other("settings of SimAI", "its topology (nodes, switches, links) is read", |s| s.has_key(&["enable_qcn "])),
    format("an edge list", "edge-list", |s| {
        let ends = ["src", "dst", "source", "target"];
        let columns = ["class", "count", "bandwidth", "latency"];
        let words = || s.content.split(|c: char| !c.is_alphanumeric() && c != '_');
        let is =
            |word: &str, names: &[&str]| names.iter().any(|name| word.trim_end_matches('s').eq_ignore_ascii_case(name));
        s.content.is_empty() || words().any(|word| is(word, &ends)) || words().any(|word| is(word, &columns))
    }),
];

fn is_numbers(line: &str) -> bool {
    line.split([' ', '\t', ',', ';']).all(|word| word.parse::<f64>().is_ok() || word.is_empty())
}

/// Detects the format of a file by its content.
///
/// # Errors
/// It is no file of a known format; the message names its kind and what to do instead.
pub fn detect(bytes: &[u8]) -> Result<&'static str, String> {
    let head = &bytes[..bytes.len().min(4096)];
    if head.starts_with(&[0x1f, 0x8b]) {
        return Err("compressed with gzip; decompress it first".into());
    }
    let cut = std::str::from_utf8(head).err();
    // The last character may be incomplete.
    let binary = head.contains(&0) || cut.is_some_and(|error| error.error_len().is_some());
    if binary {
        return Err("binary data; wiring files of Damselfly and CODES have format = \"codes\", which also needs \
             'inter_file', 'groups', 'rows' and 'columns'"
            .into());
    }
    let text = String::from_utf8_lossy(head);
    let start = Start::of(text.trim_start_matches('\u{feff}'));
    match KINDS.iter().find(|kind| (kind.matches)(&start)) {
        Some(FileKind { read: Ok(format), .. }) => Ok(format),
        Some(FileKind { name, read: Err(instead), .. }) => Err(format!("{name}, which is not read; {instead}")),
        None => Err("a file of an unknown kind; an edge list starts with its column names: src,dst".into()),
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
        assert_eq!(detect(b"# cables\nsource,targets,bw\na,b,1\n"), "edge-list");
        assert_eq!(detect(b"LPGROUPS\n{\n"), "codes-conf");
        assert_eq!(detect(b"<?xml version='1.0'?>\n<platform version='4'>"), "simgrid");
        assert_eq!(detect(b"\xef\xbb\xbf<?xml version='1.0'?>\n<graphml>"), "graph");
        assert_eq!(detect(b"// cables\n# of a room\ngraph \"fabric\" {\n a -- b\n}\n"), "graph");
        assert_eq!(detect(b"digraph{a->b}"), "graph");
        assert_eq!(detect(b"{\"nodes\": [{\"id\": 0}], \"links\": [{\"source\": 0, \"target\": 1}]}"), "graph");
        assert_eq!(detect(b"router 0 node 0 router 1\n"), "booksim");
        assert_eq!(detect(b"# a tree\nNodes 1024\nTiers 3\nPodsize 64\n"), "htsim");
        assert_eq!(detect(b"#\n# Topology file: generated on Sat\n"), "ibnetdiscover");
        assert_eq!(detect(b"# leaf\nswitchname=s0 nodes=n[0-3]\n"), "slurm");
        assert_eq!(detect(b"---\n- topology: default\n  tree:\n"), "slurm");
        assert_eq!(detect(b"schema_version: 1\n\ntopology:\n"), "codes-yaml");
        assert_eq!(detect(b"{ \"avg_num_hops\": 2,\n \"nodes\": {\n"), "sst-macro");
        assert_eq!(detect(b"{\"switch_to_switch_links\": [\n"), "sst-macro");
        assert_eq!(detect(b"3 1 2\n2\n0 2 100Gbps 0.001ms 0\n1 2 100Gbps 0.001ms 0\n"), "hpcc");
        assert_eq!(detect(b"# a ring\ntopology: [ Ring ]\nnpus_count: [ 8 ]\n"), "astra-sim");
        assert_eq!(detect(b""), "edge-list");
    }

    #[test]
    fn other_files_are_refused_by_their_name() {
        for (bytes, why) in [
            (&b"\x00\x00\x00\x00\x01\x00\x00\x00"[..], "format = \"codes\""),
            (&b"\xff\xfe\x01"[..], "binary data"),
            (&b"\x1f\x8b\x08"[..], "compressed with gzip"),
            (&b"0 1 2 3 4 5\n6 7 8\n"[..], "a list of nodes is a placement"),
            (&b"17\n18\n19\n"[..], "one in its first line and five in the second"),
            (&b"{\"nodes\": {}\n"[..], "format = \"sst-macro\""),
            (&b"---\nkey: NODES\n---\n- [id, int32]\n...\n"[..], "table of Boxfish"),
            (&b"0,1,2\n1,2,1\n"[..], "starts with its column names"),
            (&b"Switch\t24 \"Switch1\"\n[1]\t\"Hca1\"[1]\n\nHca\t2 \"Hca1\"\n"[..], "a net file of ibsim"),
            (&b"{ SW Ports:24 SystemGUID:1 } { CA Ports:02 } PHY=4x\n"[..], "link file of ibdiagnet"),
            (&b"LLDP neighbors:\n"[..], "neighbours of lldpctl"),
            (&b"\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV12\t0-31\n"[..], "nvidia-smi topo"),
            (&b"{\n \"logical-dims\": [\"8\"]\n}\n"[..], "logical dimensions of ASTRA-sim"),
            (&b"node {\n app1 {\n"[..], "parameters of SST/macro"),
            (&b"graph [\n node [\n id 1\n"[..], "a graph in GML"),
            (&b"JOBID|NAME|NODES\n1|a|2\n"[..], "`odonata import slurm` reads"),
            (&b"[machine]\ntopology = \"dragonfly\"\n"[..], "an experiment of Odonata"),
            (&b"[JOB_ID] 10\n[NID_LIST] 0-13\n"[..], "a workload of Ember"),
            (&b"hello\nworld\n"[..], "a file of an unknown kind; an edge list starts"),
        ] {
            let reason = detect(bytes).unwrap_err();
            assert!(reason.contains(why), "{reason}");
        }
        // An incomplete character at the end of the inspected bytes is not binary data.
        let long = format!("src,dst\n{}", "ä".repeat(4000));
        assert_eq!(detect(long.as_bytes()), Ok("edge-list"));
    }
}
