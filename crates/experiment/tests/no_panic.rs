//! No text, no override and no damage to a good file makes the reader panic; whatever it refuses it can show.

use odonata_experiment::Experiment;
use proptest::prelude::*;

const GOOD: &str = r##"
[machine]
topology = "dragonfly"
p = 1
a = 2
h = 1
g = 3
edit = ["+1 global", { class = "local", remove = 1 }, "fail 10% routers"]
class.global.bandwidth = "4.7 GB/s"
[[job]]
name = "fft"
pattern = { name = "many-to-many", bytes = "64 KiB" }
ranks = 4
placement = "list"
nodes = [0, "g1r0n0", 2, 3]
color = "#00ff00"
[engine]
kind = "flow"
routing = "ugal"
bias = 1e3
[output]
placement = false
[sweep]
"engine.seed" = [1, 2]
"##;

/// Pieces that mean something somewhere.
const PIECES: &[&str] = &[
    "[",
    "]",
    "[[job]]",
    "{",
    "}",
    "=",
    "\"",
    "'",
    "\n",
    "#",
    ".",
    "-1",
    "1e999",
    "nan",
    "0x",
    "99999999999999999999",
    "true",
    "1979-05-27",
    "\"64 KiB\"",
    "\"4 mb\"",
    "job",
    "machine",
    "engine",
    "sweep",
    "pattern",
    "class",
    "\u{0}",
    "é",
    "\"\"\"",
    "edit",
    "preset",
    "file",
    "name",
    "*",
    "[machine.class.é]",
    "ranks = 18446744073709551616",
    "-K",
];

fn try_all(text: &str, overrides: &[String]) {
    let experiment = Experiment::new(text, "x.toml").with_overrides(overrides);
    if let Err(problems) = experiment.sweep() {
        assert!(!problems.0.is_empty());
        let shown = problems.to_string();
        for problem in &problems.0 {
            assert!(shown.contains(&problem.message));
            let Some(location) = &problem.location else { continue };
            let start: String = location.source.chars().skip(location.column - 1).collect();
            assert!(start.starts_with(&location.span), "{problem:?}");
        }
    }
}

proptest! {
    #[test]
    fn any_text(text in "\\PC*", change in "\\PC*") {
        try_all(&text, &[change]);
    }

    #[test]
    fn any_pieces(pieces in proptest::collection::vec(0..PIECES.len(), 0..40)) {
        let text: String = pieces.iter().map(|&i| format!("{} ", PIECES[i])).collect();
        try_all(&text, &[]);
        try_all(GOOD, &[text]);
    }

    /// A good file with pieces cut out and put in.
    #[test]
    fn any_damage(cuts in proptest::collection::vec((0..GOOD.len(), 0usize..12, 0..PIECES.len(), any::<bool>()), 1..4)) {
        let mut text = GOOD.to_owned();
        for (at, length, piece, insert) in cuts {
            let end = (at + length).min(text.len());
            if at <= end && text.is_char_boundary(at) && text.is_char_boundary(end) {
                text.replace_range(at..end, if insert { PIECES[piece] } else { "" });
            }
        }
        try_all(&text, &[]);
    }

    /// Values that the words allow but that may make no machine or no workload.
    #[test]
    fn any_numbers(p in 0u32..5, a in 0u32..5, h in 0u32..5, g in 0u32..30, ranks in 0u32..200, per_node in 0u32..4, edit in "[-+][0-9]{0,2}(local|global|K)") {
        let overrides = [
            format!("machine.p={p}"), format!("machine.a={a}"), format!("machine.h={h}"), format!("machine.g={g}"),
            format!("job.0.ranks={ranks}"), format!("job.0.ranks_per_node={per_node}"), format!("machine.edit={edit}"),
            "job.0.placement=random-nodes".to_owned(),
        ];
        let text = GOOD.replace("nodes = [0, \"g1r0n0\", 2, 3]", "");
        let _ = Experiment::new(text, "x.toml").with_overrides(overrides).check();
    }
}

#[test]
fn deep_nesting_is_refused() {
    for depth in [100, 10_000, 200_000] {
        for text in [
            format!("{}a = 1", "a.".repeat(depth)),
            format!("[{}a]", "a.".repeat(depth)),
            format!("a = {}{}", "[".repeat(depth), "]".repeat(depth)),
            format!("a = {}", "{a=".repeat(depth)),
        ] {
            assert!(Experiment::new(text, "x.toml").spec().is_err());
        }
        // An override of a path that deep makes tables as deep.
        let path = format!("machine{}=1", ".a".repeat(depth));
        assert!(Experiment::new(GOOD, "x.toml").with_overrides([path]).spec().is_err());
    }
}
