//! Every reader of multigrid hierarchies, their messages and machine parameter sets, on any bytes. The first byte chooses.
//! What is read is priced: no accepted set of numbers may bring the model down.

#![no_main]

use libfuzzer_sys::fuzz_target;
use odonata_amg::import::{levels, messages};
use odonata_amg::{alternatives, cycle_costs, decide, Charges, Phase};
use odonata_declare::Word;
use odonata_experiment::parameters;
use odonata_model::Mix;

fuzz_target!(|data: &[u8]| {
    let Some((&which, rest)) = data.split_first() else { return };
    let phase = Phase::ALL[usize::from(which / 8) % Phase::ALL.len()];
    match which % 4 {
        0 => {
            let Ok(text) = std::str::from_utf8(rest) else { return };
            drop(levels::from_json("levels.json", text));
            drop(levels::from_csv("levels.csv", rest, 8));
        }
        1 if phase.in_setup() => drop(messages::recorded("record.csv", rest, 8, 1, phase)),
        1 => {
            drop(messages::cycle("messages.csv", rest, 8, 1, phase));
            drop(messages::all_levels("messages.csv", rest, 8));
        }
        _ => {
            let Ok(text) = std::str::from_utf8(rest) else { return };
            let Ok(set) = parameters::read(text, "machine.toml") else { return };
            let Ok(levels) = levels::from_csv("levels.csv", LEVELS, 8) else { return };
            let mix = Mix { tasks_per_node: 1, threads: 1 };
            for &charges in Charges::ALL {
                drop(cycle_costs(&levels, &set.constants, mix, charges));
                drop(decide(&levels, &set.constants, mix, charges));
                drop(alternatives(&levels, &set.constants, mix, charges));
            }
        }
    }
});

const LEVELS: &[u8] = b"unknowns,nonzeros_per_row,sends,values_sent,interpolation_nonzeros_per_row,interpolation_sends,\
interpolation_values_sent,active_ranks,messages,interpolation_messages\n8000,7,6,500,2,6,50,8,40,40\n800,20,7,90,0,0,0,8,50,0\n";
