//! Words of other programs: SST, CODES, BookSim, CAMINOS, SimGrid, htsim, NCCL, MPI libraries and batch systems.
//!
//! The only table of such words. Every error about an unknown name reads it through [`nearest`](crate::nearest) and
//! [`foreign_note`].

/// Words with one meaning, and what they are called here.
struct Foreign {
    /// In lower case, without hyphens, underscores and blanks.
    words: &'static [&'static str],
    /// Our names, the best one first. Without names, the note is the whole hint.
    names: &'static [&'static str],
    /// More than the name says. May be empty.
    note: &'static str,
}

const fn word(words: &'static [&'static str], names: &'static [&'static str], note: &'static str) -> Foreign {
    Foreign { words, names, note }
}

const A_PROGRAM: &str = "patterns have no calls: write it as a program, `program = { name = … }` instead of `pattern`";
const CLASS_KEY: &str =
    "links have settings by class: write `class.NAME.bandwidth` or `class.NAME.latency` in [machine]";
const LOAD: &str = "a load belongs to the traffic of a job: `traffic = { name = \"open\", load = 0.5 }`";
const VCS: &str = "the routing decides how many virtual channels it needs; `odonata check` prints the number";

const TOPOLOGIES: &[Foreign] = &[
    word(
        &[
            "fattree3",
            "fattree2",
            "3levelfattree",
            "2levelfattree",
            "clos",
            "foldedclos",
            "leafspine",
            "spineleaf",
            "karyntree",
            "tree4",
            "qtree",
            "infiniband",
            "omnipath",
            "railoptimized",
        ],
        &["fat-tree"],
        "with `levels = 2` or `3`, routers of `k` ports, and `oversubscription`",
    ),
    word(
        &["mesh", "kncube", "cube", "ring", "hypercube", "tofu"],
        &["torus"],
        "a mesh has `wrap = false`, a ring one dimension, a hypercube dimensions of 2",
    ),
    word(
        &[
            "hamming",
            "hammingtopology",
            "flattenedbutterfly",
            "flatfly",
            "fbfly",
            "fullmesh",
            "fullyconnected",
            "completegraph",
        ],
        &["hyperx"],
        "a full mesh has one dimension",
    ),
    word(&["dragonfly+", "megafly"], &["dragonfly-plus"], ""),
    word(&["canonicdragonfly", "dragonflynew", "dfly", "dragonflydally"], &["dragonfly"], ""),
    word(&["aries", "xc30", "xc40", "dragonflycustom", "crayxc"], &["cascade"], ""),
    word(
        &["rosetta", "frontier", "aurora", "lumi"],
        &["slingshot", "frontier-like"],
        "the presets `frontier-like` and `aurora-like` are such machines",
    ),
    word(&["randomregulargraph", "rrg"], &["jellyfish"], ""),
    word(&["slimflymms", "mms"], &["slim-fly"], ""),
    word(
        &["switch", "singleswitch", "crossbar", "singlerouter", "star"],
        &[],
        "one switch is a fat tree's edge router: `topology = \"xgft\"`, `children = [NODES]`, `parents = [1]`",
    ),
];

const ROUTINGS: &[Foreign] = &[
    word(
        &["adaptive", "adaptiverouting", "fullyadaptive"],
        &["ugal-g", "adaptive-hybrid"],
        "on a fat tree 'up-down-adaptive', on a torus 'torus-adaptive', with a second decision on the path 'par'",
    ),
    word(&["minimal", "shortest", "shortestpath", "minpath"], &["min"], ""),
    word(&["nonminimal", "vlb", "val"], &["valiant-g", "static-indirect"], "on machines without groups 'valiant'"),
    word(&["valiant"], &["valiant", "static-indirect"], ""),
    word(&["adaptivelocal", "progadaptive", "progressiveadaptive", "progressiveadaptiverouting"], &["par"], ""),
    word(&["pb", "ugalpb"], &["piggyback"], ""),
    word(&["qrouting", "qlearning", "qadp"], &["q-adaptive"], ""),
    word(&["dor", "dimorder", "dimensionordered", "xy", "xyz", "ecube"], &["dimension-order"], ""),
    word(&["minadapt", "minimaladaptive"], &["torus-adaptive", "up-down-adaptive"], "on a fat tree 'up-down-adaptive'"),
    word(&["nca", "updown*", "upstardownstar"], &["up-down"], ""),
    word(&["anca", "ar", "ecmpar", "sprayar"], &["up-down-adaptive"], ""),
    word(&["spray", "packetspray", "oblivious", "rps"], &["up-down", "min"], "each packet draws its path"),
    word(&["ecmphost", "ecmpclassic", "flowhash"], &["ecmp"], ""),
    word(&["ftree", "dmodk", "deterministic"], &["d-mod-k"], "on a torus 'dimension-order'"),
    word(&["updn", "downup", "dnup"], &["up-down-static"], ""),
    word(
        &["dfsssp", "sssp", "lash", "nue", "lft", "lfts"],
        &["forwarding-tables"],
        "it reads the tables of the subnet manager from a file",
    ),
    word(
        &["romm", "chaos", "omnidimensional", "omniwar", "dal", "polarized"],
        &["ugal-l"],
        "the nearest one: minimal or Valiant, by queue lengths",
    ),
];

const WORKLOADS: &[Foreign] = &[
    word(
        &["uniformrandom", "random", "randomuniform", "randomtraffic"],
        &["uniform", "uniform-random", "random-nodes"],
        "",
    ),
    word(&["bitcomp", "bitcomplement", "complement"], &["bit-complement"], ""),
    word(&["bitrev"], &["bit-reverse"], ""),
    word(
        &["shuffle", "diagonal", "asymmetric", "taper64"],
        &[],
        "no pattern is like it: list its pairs in a CSV file, `pattern = \"file\"`",
    ),
    word(
        &["neighbor", "neighbour", "nearestneighbor", "nearestneighbour", "nn"],
        &["stencil-3d", "halo-3d"],
        "to the next rank only: 'shift'",
    ),
    word(&["randperm", "permutation", "perm", "fixedrandom"], &["random-permutation", "uniform-random"], ""),
    word(
        &["worstcase", "adv", "adv+1", "adv1", "groupshift", "groupshiftdestination", "baddragon", "badpermdflynew"],
        &["adversarial"],
        "",
    ),
    word(&["all2all", "alltoall", "alltoallv", "a2a", "bisection"], &["all-to-all", "alltoall"], ""),
    word(&["manytoone", "hotspots", "outcast"], &["hotspot", "incast"], ""),
    word(&["incast"], &["incast", "hotspot"], "as a program with calls: `program = { name = \"incast\" }`"),
    word(
        &["stencil", "halo", "halo3d", "halo3d26", "3dstencil", "stencil3d", "jacobi", "nearestneighbor3d"],
        &["stencil-3d", "halo-3d"],
        "with calls and computation: `program = { name = \"halo-3d\" }`",
    ),
    word(
        &["halo2d", "halo2d26", "2dstencil", "stencil2d"],
        &["stencil-2d", "halo-2d"],
        "with calls and computation: `program = { name = \"halo-2d\" }`",
    ),
    word(
        &["fft", "fft3d", "transpose2d"],
        &["fft-3d", "many-to-many"],
        "with calls and computation: `program = { name = \"fft-3d\" }`",
    ),
    word(&["allreduce", "ringallreduce", "dataparallel", "ddp"], &["allreduce"], ""),
    word(&["wavefront"], &["sweep-3d"], ""),
    word(&["milc"], &["lqcd"], ""),
    word(
        &[
            "allreduce",
            "ringallreduce",
            "dataparallel",
            "ddp",
            "sweep3d",
            "wavefront",
            "lu",
            "lqcd",
            "milc",
            "lulesh",
            "pf3d",
            "checkpoint",
            "congestor",
        ],
        &[],
        A_PROGRAM,
    ),
    word(
        &["ring", "pingpong", "sendrecv", "randomring"],
        &["ring", "ping-pong", "shift"],
        "with calls: `program = { name = \"ring\" }`",
    ),
    word(
        &["bcast", "broadcast", "reduce", "allgather", "reducescatter", "gather", "scatter", "barrier", "scan"],
        &[],
        "collectives stand in a program file, such as `bcast 1 MiB`: `program = { name = \"file\", path = … }`",
    ),
    word(
        &["dumpi", "goal", "chakra", "otf2", "tracereplay", "replay", "tracer", "astrasim"],
        &["trace"],
        "`program = { name = \"trace\", path = … }`",
    ),
    word(
        &["tm", "trafficmatrix", "matrix", "graph"],
        &["file"],
        "a matrix or a list of pairs: `pattern = { name = \"file\", path = … }`",
    ),
];

const COLLECTIVES: &[Foreign] = &[
    word(&["broadcast"], &["bcast"], ""),
    word(&["tree", "doublebinarytree", "nvlstree", "binarytree", "intree"], &["binary-tree"], ""),
    word(&["lr", "ompiring", "segmentedring", "ringsegmented"], &["ring"], ""),
    word(&["rdb", "recursivedoubling", "recexch"], &["recursive-doubling"], ""),
    word(&["rab", "rab1", "rab2", "rsag", "reducescatterallgather", "redscatallgather"], &["rabenseifner"], ""),
    word(&["basiclinear", "flattree", "flat"], &["linear"], ""),
    word(&["bmtree", "binomialtree"], &["binomial"], ""),
    word(&["pipeline", "pipelined"], &["chain"], ""),
    word(&["knomial", "knomialtree"], &["k-nomial"], ""),
    word(
        &["nvls", "collnet", "collnetdirect", "collnetchain", "sharp"],
        &["ring", "binary-tree"],
        "reduction inside switches is not modelled",
    ),
    word(&["pat", "bruckallgather"], &["bruck"], ""),
    word(&["nccl", "rccl", "gloo"], &["openmpi"], "NCCL's rings: `allreduce = \"ring\"`, its trees: `\"binary-tree\"`"),
    word(&["spectrum", "hpcx"], &["openmpi"], ""),
    word(&["intelmpi", "craympich", "mvapich", "mvapich2"], &["mpich"], ""),
];

const PLACEMENTS: &[Foreign] = &[
    word(
        &["linear", "contiguous", "consecutive", "cont", "block", "packed", "sequential"],
        &["compact", "linear", "row-major"],
        "",
    ),
    word(&["random", "rand", "randnode", "randomlinear"], &["random-nodes"], ""),
    word(&["randrotr", "randrouter", "randrouters"], &["random-routers"], ""),
    word(&["randgroup", "randgrps", "randgroups"], &["random-groups"], ""),
    word(&["randchassis", "randcab", "randcabinet"], &["random-chassis"], ""),
    word(&["cyclic", "roundrobin", "interval", "scatter", "spread"], &["round-robin-nodes"], ""),
    word(&["indexed", "explicit", "nodelist", "hostlist"], &["list"], ""),
    word(&["hostfile", "rankfile", "machinefile"], &["file"], ""),
];

const KEYS: &[Foreign] = &[
    word(
        &[
            "linkbw",
            "linkbandwidth",
            "localbandwidth",
            "globalbandwidth",
            "bw",
            "linklat",
            "linklatency",
            "linkspeed",
            "channelwidth",
            "bandwidth",
            "latency",
        ],
        &[],
        CLASS_KEY,
    ),
    word(
        &["cnbandwidth", "hostbandwidth", "nicbandwidth"],
        &[],
        "the node's link has the class `terminal`: write `class.terminal.bandwidth` in [machine]",
    ),
    word(&["numvcs", "vcs", "virtualchannels", "numvirtualchannels", "vnetremap"], &[], VCS),
    word(
        &["vcbufsize", "inputbufsize", "buffersize", "cnvcsize", "localvcsize", "globalvcsize", "inputbuffersize"],
        &["input_buffer"],
        "",
    ),
    word(&["outputbufsize", "outputbuffersize"], &["output_buffer"], ""),
    word(&["xbarbw", "internalspeedup", "speedup", "xbarspeedup"], &["crossbar_speedup"], ""),
    word(&["flitsize"], &["flit"], ""),
    word(&["packetsize", "mtu", "chunksize", "maxpacket"], &["packet"], ""),
    word(
        &["routerdelay", "routerlatency", "routingdelay", "hoplatency", "pipelinedelay"],
        &["input_latency", "hop"],
        "",
    ),
    word(&["algorithm", "routingfunction", "routingalgorithm", "routingalgo"], &["routing"], ""),
    word(&["warmupperiods", "warmupcycles", "warmuptime"], &["warm_up"], ""),
    word(&["sampleperiod", "measured", "measurement", "measurecycles"], &["measure"], ""),
    word(&["simtime", "endtime", "maxtime", "duration", "simulationtime", "stopat"], &["time_limit"], ""),
    word(&["randomseed", "rngseed"], &["seed"], ""),
    word(&["arbiter", "arb", "xbararb", "allocator"], &["arbitration"], ""),
    word(&["cc", "congestioncontrol", "sendercc", "sendercca", "sendercalgo"], &["control"], ""),
    word(&["simtype", "simulator", "networkmodel"], &["kind"], ""),
    word(&["injectionrate", "offeredload", "intensity", "arrivaltime", "rate"], &[], LOAD),
    word(&["numranks", "nprocs", "np", "ntasks", "numtasks", "processes", "tasks", "nranks", "size"], &["ranks"], ""),
    word(
        &["ppn", "taskspernode", "ntaskspernode", "processespernode", "corespernode", "rankspernic"],
        &["ranks_per_node", "cores_per_node"],
        "",
    ),
    word(&["messagesize", "msgsize", "payloadsize", "msgbytes", "sizebytes"], &["bytes"], ""),
    word(&["nummessages", "loops", "iters", "count", "repetitions"], &["iterations", "messages"], ""),
    word(&["trafficpattern", "traffictype"], &["pattern"], ""),
    word(&["motif", "workload", "app", "application", "workloadtype"], &["program", "pattern"], ""),
    word(&["allocation", "alloc"], &["placement"], ""),
    word(&["shape", "dimensions"], &["dims"], ""),
    word(&["type", "family", "networktopology"], &["topology", "kind"], ""),
    word(
        &["hostsperrouter", "localports", "concentration", "terminalsperrouter", "nodesperswitch", "serversperrouter"],
        &["nodes_per_router", "p"],
        "in a dragonfly `p`",
    ),
    word(&["routerspergroup", "numrouters"], &["a", "routers"], ""),
    word(&["numgroups"], &["g"], ""),
    word(&["intergrouplinks", "globallinks", "globalchannels"], &["global_cables", "h"], ""),
    word(&["radix", "switchports", "portsperrouter"], &["k", "ports", "degree"], ""),
    word(&["oversub", "taper", "tapering", "bisectionratio"], &["oversubscription"], ""),
    word(&["nics", "nicspernode", "numnics", "hcas"], &["rails"], ""),
];

const METRICS: &[Foreign] = &[
    word(
        &["makespan", "runtime", "executiontime", "completiontime", "time", "fct", "jct", "maxtime"],
        &["slowest job"],
        "of one job: `time of NAME`",
    ),
    word(&["maxlinkload", "congestion", "linkutilization", "maxload", "hotspotload"], &["hottest link"], ""),
    word(&["cost", "capex", "money", "budget"], &["price"], ""),
    word(&["acceptedload", "acceptedthroughput", "throughput"], &["accepted_load"], ""),
    word(&["plat", "nlat", "packetlatency", "averagemessagedelay", "averagelatency"], &["latency_mean_ns"], ""),
    word(&["sendbitcount"], &["bytes"], ""),
    word(&["outputportstalls", "xbarstalls", "stalls", "xmitwait", "portxmitwait"], &["stall_ps"], ""),
];

const TABLES: [&[Foreign]; 7] = [TOPOLOGIES, ROUTINGS, WORKLOADS, COLLECTIVES, PLACEMENTS, KEYS, METRICS];

/// A word without what differs from program to program: capitals, hyphens, underscores and blanks.
fn plain(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric() || "+*".contains(*c)).flat_map(char::to_lowercase).collect()
}

/// The entries of a word. One word may have several meanings.
fn entries(name: &str) -> impl Iterator<Item = &'static Foreign> {
    let name = plain(name);
    TABLES.iter().flat_map(|table| table.iter()).filter(move |entry| entry.words.contains(&name.as_str()))
}

/// The entry and the known name of a foreign word.
fn meaning<'a>(name: &str, known: &[&'a str]) -> Option<(&'static Foreign, &'a str)> {
    entries(name).find_map(|entry| {
        let ours = entry.names.iter().find_map(|ours| known.iter().find(|known| *known == ours));
        ours.map(|ours| (entry, *ours))
    })
}

/// The known name that differs only in capitals and hyphens, or that is meant by a word of another program.
pub(crate) fn translate<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    same(name, known).or_else(|| meaning(name, known).map(|(_, ours)| ours))
}

/// `FFT3D` is `fft-3d`.
fn same<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name = plain(name);
    known.iter().find(|known| !name.is_empty() && plain(known) == name).copied()
}

/// What else to say about a word of another program, besides its name among `known`: nothing if it is no such word.
///
/// ```
/// use odonata_declare::{foreign_note, nearest};
/// let routings = ["min", "ugal-g", "q-adaptive"];
/// assert_eq!(nearest("adaptive", routings), Some("ugal-g"));
/// assert!(foreign_note("adaptive", &routings).unwrap().contains("on a fat tree"));
/// assert_eq!(foreign_note("adaptife", &routings), None);
/// ```
pub fn foreign_note(name: &str, known: &[&str]) -> Option<&'static str> {
    if same(name, known).is_some() {
        return None;
    }
    let entry = match meaning(name, known) {
        Some((entry, _)) => Some(entry),
        None => entries(name).find(|entry| entry.names.is_empty()),
    };
    entry.map(|entry| entry.note).filter(|note| !note.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nearest;

    #[test]
    fn words_are_plain_and_have_a_meaning() {
        for entry in TABLES.iter().flat_map(|table| table.iter()) {
            for word in entry.words {
                assert_eq!(*word, plain(word), "as users' words are compared");
                assert!(!entry.names.is_empty() || !entry.note.is_empty(), "{word} leads nowhere");
            }
        }
    }

    /// The words that five readers tried first.
    #[test]
    fn words_of_others_lead_to_ours() {
        let routings = ["min", "valiant-g", "ugal-g", "ugal-n", "par", "q-adaptive", "up-down-adaptive", "ecmp"];
        for (word, ours) in [
            ("adaptive", "ugal-g"),
            ("minimal", "min"),
            ("ADAPTIVE_LOCAL", "par"),
            ("prog-adaptive", "par"),
            ("non-minimal", "valiant-g"),
            ("ecmp_host", "ecmp"),
        ] {
            assert_eq!(nearest(word, routings), Some(ours), "{word}");
        }
        assert_eq!(nearest("fat-tree-3", ["xgft", "fat-tree"]), Some("fat-tree"));
        assert_eq!(nearest("dragonfly+", ["dragonfly", "dragonfly-plus"]), Some("dragonfly-plus"));
        assert_eq!(nearest("Halo3D26", ["halo-2d", "halo-3d"]), Some("halo-3d"));
        assert_eq!(nearest("flow", ["flow-x", "min"]), Some("flow-x"), "other words are compared by letters");
    }

    #[test]
    fn a_program_as_a_pattern_says_where_it_belongs() {
        let patterns = ["uniform", "all-to-all"];
        assert_eq!(nearest("allreduce", patterns), None);
        assert_eq!(foreign_note("allreduce", &patterns), Some(A_PROGRAM));
        assert_eq!(foreign_note("num_vcs", &["packet"]), Some(VCS));
    }
}
