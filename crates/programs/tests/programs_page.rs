//! `docs/models/programs.md` names every program, every key, every algorithm with its operations; its
//! example is a program.

use odonata_programs::collective::ALGORITHMS;
use odonata_programs::{text, Operation, ProgramSpec, RankProgram, PROGRAMS};

const PAGE: &str = include_str!("../../../docs/models/programs.md");

/// The row that begins with the name, of a table whose head has the column.
fn row(page: &'static str, column: &str, name: &str) -> &'static str {
    let start = format!("| `{name}` |");
    let tables = page.split("\n\n").filter(|part| part.lines().next().is_some_and(|head| head.contains(column)));
    let mut rows = tables.flat_map(str::lines);
    rows.find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("no row of {name}"))
}

#[test]
fn programs_and_their_keys() {
    for program in PROGRAMS {
        let row = row(PAGE, "keys", program.name);
        for key in ProgramSpec::named(program).keys {
            // Keys that all programs have, and keys that a program shares with another, are listed elsewhere.
            let elsewhere = key.name == "final_barrier"
                || (program.name == "sweep-3d" && row.contains("keys of `lu`"))
                || (program.name == "allreduce" && PAGE.contains(key.name));
            assert!(elsewhere || row.contains(&format!("`{}`", key.name)), "{} of {}", key.name, program.name);
        }
    }
}

#[test]
fn algorithms_and_their_operations() {
    let (_, collectives) = PAGE.split_once("## Collectives").expect("their section");
    for known in ALGORITHMS {
        let operations = known.algorithm.operations();
        let row = row(collectives, "", known.name);
        // "the same" as the row before, or "all".
        let all = operations == Operation::ALL && row.contains("| all |");
        let same = known.name == "binomial" && row.contains("| the same |");
        let named = || operations.iter().all(|operation| row.contains(operation.name()));
        assert!(all || same || named(), "{}", known.name);
    }
}

#[test]
fn the_examples_are_programs() {
    let examples = PAGE.split("```program\n").skip(1).map(|rest| rest.split("```").next().expect("its end"));
    let read: Vec<_> = examples.map(|example| text::parse("page", example.as_bytes(), 8).unwrap()).collect();
    assert_eq!(
        read.iter().map(|program| (program.blocks(3), program.streams())).collect::<Vec<_>>(),
        [(11, 0), (3, 1)]
    );
}
