//! The reader of parameter sets on damaged input: a result or an error, and what is accepted can be priced.

use odonata_amg::import::levels;
use odonata_amg::{alternatives, cycle_costs, decide, Charges};
use odonata_declare::Word;
use odonata_engines::parameters;
use odonata_model::{Constants, Mix};
use proptest::prelude::*;

const LEVELS: &str = "unknowns,nonzeros_per_row,sends,values_sent,interpolation_nonzeros_per_row,interpolation_sends,\
                      interpolation_values_sent,active_ranks,messages,interpolation_messages\n\
                      8000,7,6,500,2,6,50,8,40,40\n800,20,7,90,0,0,0,8,50,0\n";
const PARAMETERS: &str = "alpha_us = 0.238\nbeta_ns_per_value = 0.858\ngamma_us = 0.416\nflop_ns = [1.59, 0.8]\n\
    node_bandwidth_gb_per_s = 16.0\ncores_per_node = 16\ncache_mb_per_node = 40.0\n[thread_bandwidth_mb_per_s]\n\
    1 = 11106.0\n16 = 678.56\n[network]\nkind = \"torus\"\nshape = [4, 4, 2]\nwraps = true\n\
    [ends]\ncompute_factor = 1.25\noverhead_us = 0.5\ngap_ns = 10.0\nmatching_ns = 100.0\n";

/// A good text with a stretch replaced.
fn damaged(text: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop_oneof![
        Just("-1".to_owned()),
        Just("1e308".to_owned()),
        Just("0".to_owned()),
        Just("nan".to_owned()),
        Just("4294967296".to_owned()),
        Just("[]".to_owned()),
        Just("\"".to_owned()),
        Just("\n".to_owned()),
        "[ -~]{0,8}",
    ];
    (0..text.len(), 0..24usize, pieces).prop_map(move |(at, length, piece)| {
        let end = (at + length).min(text.len());
        [&text.as_bytes()[..at], piece.as_bytes(), &text.as_bytes()[end..]].concat()
    })
}

fn price(constants: &Constants) {
    let levels = levels::from_csv("levels.csv", LEVELS.as_bytes(), 8).unwrap();
    let mix = Mix { tasks_per_node: 1, threads: 1 };
    for &charges in Charges::ALL {
        if let Ok(costs) = cycle_costs(&levels, constants, mix, charges) {
            assert!(!costs.total_s().is_nan());
        }
        drop(decide(&levels, constants, mix, charges));
        drop(alternatives(&levels, constants, mix, charges));
    }
}

#[test]
fn the_undamaged_are_read() {
    let set = parameters::read(PARAMETERS, "x").unwrap();
    price(&set.constants);
    let ends = set.ends.unwrap();
    assert_eq!(ends.compute_factor, 1.25);
    let near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 1e-12;
    assert!(near(ends.overhead_s, 0.5e-6) && near(ends.gap_s, 10e-9) && near(ends.matching_s, 100e-9));
    // All of [ends] or none of it.
    let without = PARAMETERS.split("[ends]").next().unwrap();
    assert_eq!(parameters::read(without, "x").unwrap().ends, None);
    let error = parameters::read(&PARAMETERS.replace("gap_ns", "gap_us"), "x").unwrap_err().to_string();
    assert!(error.contains("gap_ns"), "{error}");
}

proptest! {
    #[test]
    fn parameter_sets(text in damaged(PARAMETERS)) {
        if let Ok(set) = parameters::read(&String::from_utf8_lossy(&text), "x") {
            price(&set.constants);
        }
    }
}
