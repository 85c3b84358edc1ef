//! The readers of multigrid files on damaged and random input: a result or an error, and what is accepted can be priced.

use odonata_declare::Word;
use odonata_experiment::amg::{hierarchy, parameters};
use odonata_model::amg::{alternatives, cycle_costs, decide, Machine, Mix, Scenario};
use odonata_workload::import::amg;
use odonata_workload::AmgPhase;
use proptest::prelude::*;

const LEVELS: &str = "unknowns,nonzeros_per_row,sends,values_sent,interpolation_nonzeros_per_row,interpolation_sends,\
                      interpolation_values_sent,active_ranks,messages,interpolation_messages\n\
                      8000,7,6,500,2,6,50,8,40,40\n800,20,7,90,0,0,0,8,50,0\n";
const JSON: &str = "{\"ranks\": 8, \"columns\": [\"unknowns\", \"nonzeros_per_row\", \"sends\", \"values_sent\", \
    \"interpolation_nonzeros_per_row\", \"interpolation_sends\", \"interpolation_values_sent\", \"active_ranks\", \
    \"messages\", \"interpolation_messages\"], \"levels\": [[8000, 7, 6, 500, 2, 6, 50, 8, 40, 40]]}";
const MESSAGES: &str = "level,operator,source,destination,values\n0,0,0,1,10\n0,1,1,0,5\n1,0,7,6,3\n";
const RECORD: &str = "phase,level,source,destination,messages,bytes\ncoarsen,0,0,1,3,10\ngalerkin,1,2,1,1,7\n";
const PARAMETERS: &str = "alpha_us = 0.238\nbeta_ns_per_value = 0.858\ngamma_us = 0.416\nflop_ns = [1.59, 0.8]\n\
    node_bandwidth_gb_per_s = 16.0\ncores_per_node = 16\ncache_mb_per_node = 40.0\n[thread_bandwidth_mb_per_s]\n\
    1 = 11106.0\n16 = 678.56\n[network]\nkind = \"torus\"\nshape = [4, 4, 2]\nwraps = true\n";

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

fn price(machine: &Machine) {
    let levels = hierarchy::from_csv("levels.csv", LEVELS.as_bytes(), 8).unwrap();
    let mix = Mix { tasks_per_node: 1, threads: 1 };
    for scenario in Scenario::ALL {
        if let Ok(costs) = cycle_costs(&levels, machine, mix, scenario) {
            assert!(!costs.total_s().is_nan());
        }
        drop(decide(&levels, machine, mix, scenario));
        drop(alternatives(&levels, machine, mix, scenario));
    }
}

#[test]
fn the_undamaged_are_read() {
    assert!(hierarchy::from_json("x", JSON).is_ok());
    assert!(amg::cycle("x", MESSAGES.as_bytes(), 8, 1, AmgPhase::Smooth).is_ok());
    assert!(amg::recorded("x", RECORD.as_bytes(), 8, 0, AmgPhase::Coarsen).is_ok());
    price(&parameters::read(PARAMETERS, "x").unwrap().machine);
}

proptest! {
    #[test]
    fn level_tables(csv in damaged(LEVELS), json in damaged(JSON), any in proptest::collection::vec(any::<u8>(), 0..200)) {
        drop(hierarchy::from_csv("x", &csv, 8));
        drop(hierarchy::from_csv("x", &any, 8));
        if let Ok(text) = std::str::from_utf8(&json) {
            drop(hierarchy::from_json("x", text));
        }
    }

    #[test]
    fn message_lists(list in damaged(MESSAGES), record in damaged(RECORD), level in 0u32..3, phase in 0usize..5) {
        let phase = <AmgPhase as Word>::ALL[phase];
        for bytes in [&list, &record] {
            if phase.in_setup() {
                drop(amg::recorded("x", bytes, 8, level, phase));
            } else {
                drop(amg::cycle("x", bytes, 8, level, phase));
            }
        }
    }

    #[test]
    fn parameter_sets(text in damaged(PARAMETERS)) {
        if let Ok(set) = parameters::read(&String::from_utf8_lossy(&text), "x") {
            price(&set.machine);
        }
    }
}
