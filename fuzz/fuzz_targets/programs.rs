//! Rank programs as text and traces, on any bytes: what is read runs, at its beginning and at its end.

#![no_main]

use libfuzzer_sys::fuzz_target;
use odonata_declare::{Reader, Value};
use odonata_programs::{
    text, Call, Code, Communicators, Cursor, ProgramContext, ProgramSpec, RankProgram, Splits,
};
use std::path::PathBuf;

const RANKS: u32 = 5;
/// Of a trace that are followed: one of its lines is one call, or two.
const MOST_CALLS: usize = 10_000;

/// One file, whatever it is called.
struct Bytes<'a>(&'a [u8]);

impl Reader for Bytes<'_> {
    fn read(&mut self, _: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.to_vec())
    }

    fn locate(&self, _: &str, name: &str) -> Result<PathBuf, String> {
        Err(format!("{name}: not there"))
    }
}

/// The communicators that a rank makes, as a run makes them; that they can't be made, a run says.
fn divide(program: &dyn RankProgram) {
    let splits = Splits::of(program);
    for rank in 0..RANKS {
        let (mut communicators, mut cursor) = (Communicators::new(RANKS, rank), Cursor::default());
        for _ in 0..MOST_CALLS {
            let Some(call) = cursor.next(program, rank) else { break };
            if matches!(call, Call::CommSplit { .. } | Call::CommCreate { .. } | Call::CommFree { .. })
                && communicators.apply(&call, &splits).is_err()
            {
                break;
            }
        }
    }
}

fn walk(program: &dyn RankProgram) {
    for rank in 0..RANKS {
        let blocks = program.blocks(rank);
        for index in (0..blocks.min(3)).chain(blocks.checked_sub(1)) {
            let mut code = Code::default();
            program.block(rank, index, &mut code);
            let calls = code.calls().len();
            assert_eq!(program.line(rank, index, calls), None);
            assert!(calls == 0 || program.line(rank, index, calls - 1).is_some());
        }
    }
}

fuzz_target!(|data: &[u8]| {
    if let Ok(program) = text::parse("my.program", data, RANKS) {
        walk(&program);
    }
    let mut trace = ProgramSpec::parse("trace").expect("a program of that name");
    trace.set("path", Value::Text("my.trace".into())).expect("a parameter of it");
    trace.set("final_barrier", Value::Flag(false)).expect("a parameter of it");
    if trace.rule_mut().read(RANKS, &mut Bytes(data)).is_ok() {
        let built = odonata_programs::build(&trace, &ProgramContext { job: "fuzz", ranks: RANKS, seed: 1 }).expect("it was read");
        walk(&*built);
        divide(&*built);
    }
});
