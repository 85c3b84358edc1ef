//! Files that are no traces of a known format, by the name of their kind.

use super::astra::POLICIES;
use super::chakra;

/// Names of layers that SimAI's generator writes.
const SIMAI_LAYERS: [&str; 8] = [
    "norm",
    "grad_norm",
    "grad_gather",
    "grad_param",
    "embedding_layer",
    "micro_test",
    "Llama_layer1",
    "moe_grad_norm",
];

/// The words of the first two lines that are no comments.
fn first_lines(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.take(2).map(|line| line.split_whitespace().collect())
}

/// `p0 send p1 1e6`.
fn is_for_s4u(words: &[&str]) -> bool {
    let is_actor = |word: &str| word.strip_prefix('p').is_some_and(|number| number.parse::<u32>().is_ok());
    matches!(words, [actor, "send" | "recv" | "compute" | "sleep", ..] if is_actor(actor))
}

/// `NAME FILE RANKS DELAY`, then nodes.
fn is_job(words: &[&str]) -> bool {
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    matches!(words, [_, file, ranks, delay, ..] if file.contains('.') && !is_number(file) && is_number(ranks) && is_number(delay))
}

/// `RANKS NAME QOS INTERVAL`.
fn is_job_of_codes(words: &[&str]) -> bool {
    let is_number = |word: &str| word.parse::<u64>().is_ok();
    matches!(words, [ranks, name, class, interval] if is_number(ranks) && is_number(class) && is_number(interval)
        && !is_number(name) && !super::actions::ACTIONS.contains(&&*name.to_ascii_lowercase()))
}

/// Why a file with this start is not read, if its kind is known.
pub(crate) fn refusal(start: &[u8]) -> Option<String> {
    let start = &start[..start.len().min(16 * 1024)];
    let text = match std::str::from_utf8(start) {
        Ok(text) => text,
        // A character may be cut at the end.
        Err(error) if start.len() - error.valid_up_to() < 4 => {
            std::str::from_utf8(&start[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    let has = |part: &str| text.contains(part);
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    if first.split_whitespace().next().is_some_and(|word| POLICIES.contains(&word)) {
        let has_pairs = ["ep:", "pp:", "vpp:", "ga:", "all_gpus:", "pp_comm"]
            .iter()
            .any(|pair| first.split_whitespace().any(|word| word == *pair));
        let is_layer = |line: &str| line.split_whitespace().next().is_some_and(|word| SIMAI_LAYERS.contains(&word));
        if has_pairs || has("_EP") || lines.skip(1).any(is_layer) {
            return Some("a workload of SimAI, which is not read".into());
        }
        return None;
    }
    let is_json = text.trim_start().starts_with('{') || text.trim_start().starts_with("[{");
    Some(match () {
        () if first.starts_with("[rank") || has("comm_type,comm_group,") => "a workload of aicb in CSV, which is not read",
        () if has("Parameter_size") && has("Hidden_size") => "a list of models of aicb, which is not read",
        () if first.trim_end() == "test" && has("TP:") || has("allreduce,:") => "bus bandwidths of SimAI, which are no trace",
        () if is_json && (has("\"dll_path\"") || (has("\"jobs\"") && has("\"cfg\""))) => {
            "a workload of SWM or Union, which is not read: its messages are in a program"
        }
        () if is_json && has("\"argv\"") && has("\"argc\"") => "arguments of programs of Union, which are not read",
        () if is_json && has("\"schema\"") && has("chakra") && has("\"nodes\"") => {
            "an execution trace of PyTorch: a tree of calls without durations; convert it with chakra_trace_link and \
             chakra_converter"
        }
        // A message of 123 bytes at the start of a binary file begins with '{', too.
        () if is_json && !chakra::is_trace(start) => {
            "JSON of no known trace; expected Chakra's \"workload_graph\""
        }
        () if text.trim_start().starts_with('<') => "XML of no known trace",
        () if first.trim_end() == "LPGROUPS" => "a network of CODES, which is a machine",
        () if has("topology:") && has("npus_count:") => "a network of ASTRA-sim, which is a machine",
        () if text.trim_start().starts_with("[JOB_ID]") || has("\n[NID_LIST]") => {
            "a load file of Ember with several jobs; use 'odonata import ember'"
        }
        () if first_lines(text).any(|words| is_for_s4u(&words)) => {
            "actions of SimGrid's S4U, whose actors are no MPI ranks; expected 'RANK ACTION ARGUMENTS'"
        }
        () if first_lines(text).any(|words| is_job(&words)) => {
            "a list of jobs of SimGrid's replay_multiple, which is not read; give each job its own trace and 'start'"
        }
        () if first_lines(text).next().is_some_and(|words| is_job_of_codes(&words)) => {
            "a workload file of CODES with several jobs; use 'odonata import codes'"
        }
        () => return None,
    }
    .to_owned())
}
