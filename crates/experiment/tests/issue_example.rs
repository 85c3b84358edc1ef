//! The example of the reference page, word for word, from text to tables.

use odonata_experiment::{run, Column, Files, RunResult};
use std::path::Path;

const EXAMPLE: &str = r#"
[machine]
preset = "edison"
edit = ["-K"]                 # optional
[[job]]
name = "fft"
pattern = "many-to-many"
ranks = 32768
placement = "non-uniform"
[engine]
kind = "flow"
routing = "adaptive-hybrid"
seed = 1
"#;

fn run_it(text: &str, threads: usize) -> RunResult {
    run::<&str>(text, "wd.toml", &[], Files::beside(Path::new("wd.toml")), threads, &mut |_, _| true).unwrap()
}

#[test]
fn it_runs() {
    let result = run_it(EXAMPLE, 2);
    let Some(Column::F64(bytes)) = result.tables.get("links").unwrap().get("bytes") else { panic!() };
    assert!(bytes.iter().sum::<f64>() > 0.0);
    let again = run_it(&result.resolved, 1);
    assert!(again.tables == result.tables);
    assert_eq!(again.resolved, result.resolved);
}
