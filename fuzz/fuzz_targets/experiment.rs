//! The reader of experiment files and overrides, on any text: problems that can be shown, or a specification.

#![no_main]

use libfuzzer_sys::fuzz_target;
use odonata_experiment::Experiment;

fuzz_target!(|data: &str| {
    let (text, change) = data.split_once('\u{0}').unwrap_or((data, ""));
    let overrides = (!change.is_empty()).then_some(change);
    if let Err(problems) = Experiment::new(text, "x.toml").with_overrides(overrides).sweep() {
        assert!(!problems.to_string().is_empty());
    }
});
