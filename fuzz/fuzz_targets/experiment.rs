//! The reader of experiment files and overrides, on any text: problems that can be shown, or a specification.

#![no_main]

use libfuzzer_sys::fuzz_target;
use odonata_experiment::sweep;

fuzz_target!(|data: &str| {
    let (text, change) = data.split_once('\u{0}').unwrap_or((data, ""));
    let overrides: Vec<String> = (!change.is_empty()).then(|| change.to_owned()).into_iter().collect();
    if let Err(problems) = sweep(text, "x.toml", &overrides) {
        assert!(!problems.to_string().is_empty());
    }
});
