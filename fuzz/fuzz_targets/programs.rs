//! Rank programs as text, on any bytes: what is read runs, at its beginning and at its end.

#![no_main]

use libfuzzer_sys::fuzz_target;
use odonata_workload::program::{text, Code, RankProgram};

fuzz_target!(|data: &[u8]| {
    let Ok(program) = text::parse("my.program", data, 5) else { return };
    for rank in 0..5 {
        let blocks = program.blocks(rank);
        for index in (0..blocks.min(3)).chain(blocks.checked_sub(1)) {
            let mut code = Code::default();
            program.block(rank, index, &mut code);
            let calls = code.calls().len();
            assert_eq!(program.line(rank, index, calls), None);
            assert!(calls == 0 || program.line(rank, index, calls - 1).is_some());
        }
    }
});
