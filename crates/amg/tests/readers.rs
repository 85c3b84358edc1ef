//! Readers of multigrid files on damaged and random input: they return a result or an error.

use odonata_amg::import::{levels, messages};
use odonata_amg::Phase;
use odonata_declare::Word;
use proptest::prelude::*;

const LEVELS: &str = "unknowns,nonzeros_per_row,sends,values_sent,interpolation_nonzeros_per_row,interpolation_sends,\
                      interpolation_values_sent,active_ranks,messages,interpolation_messages\n\
                      8000,7,6,500,2,6,50,8,40,40\n800,20,7,90,0,0,0,8,50,0\n";
const JSON: &str = "{\"ranks\": 8, \"columns\": [\"unknowns\", \"nonzeros_per_row\", \"sends\", \"values_sent\", \
    \"interpolation_nonzeros_per_row\", \"interpolation_sends\", \"interpolation_values_sent\", \"active_ranks\", \
    \"messages\", \"interpolation_messages\"], \"levels\": [[8000, 7, 6, 500, 2, 6, 50, 8, 40, 40]]}";
const MESSAGES: &str = "level,operator,source,destination,values\n0,0,0,1,10\n0,1,1,0,5\n1,0,7,6,3\n";
const RECORD: &str = "phase,level,source,destination,messages,bytes\ncoarsen,0,0,1,3,10\ngalerkin,1,2,1,1,7\n";

/// A valid text with one part replaced.
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

#[test]
fn undamaged_files_are_read() {
    assert!(levels::from_csv("x", LEVELS.as_bytes(), 8).is_ok());
    assert!(levels::from_json("x", JSON).is_ok());
    assert!(messages::cycle("x", MESSAGES.as_bytes(), 8, 1, Phase::Smooth).is_ok());
    assert!(messages::recorded("x", RECORD.as_bytes(), 8, 0, Phase::Coarsen).is_ok());
}

proptest! {
    #[test]
    fn level_tables(csv in damaged(LEVELS), json in damaged(JSON), any in proptest::collection::vec(any::<u8>(), 0..200)) {
        drop(levels::from_csv("x", &csv, 8));
        drop(levels::from_csv("x", &any, 8));
        if let Ok(text) = std::str::from_utf8(&json) {
            drop(levels::from_json("x", text));
        }
    }

    #[test]
    fn message_lists(list in damaged(MESSAGES), record in damaged(RECORD), level in 0u32..3, phase in 0usize..5) {
        let phase = <Phase as Word>::ALL[phase];
        for bytes in [&list, &record] {
            drop(messages::all_levels("x", bytes, 8));
            if phase.in_setup() {
                drop(messages::recorded("x", bytes, 8, level, phase));
            } else {
                drop(messages::cycle("x", bytes, 8, level, phase));
            }
        }
    }
}
