//! Small texts with their tasks, mistakes with their places, and the binary form of the same.

use odonata_trace::goal::{is_goal, read};
use odonata_trace::{Dependency, Event, RankTasks, Task, TaskGraph, Work, ANY};
use odonata_units::{Bytes, Time};

fn of(text: &str) -> Result<TaskGraph, String> {
    read("a.goal", &mut text.as_bytes())
}

fn mistake(text: &str) -> String {
    of(text).unwrap_err()
}

/// The mistake of a line of rank 0 of 2, line 4 of the text.
fn wrong(line: &str) -> String {
    mistake(&format!("num_ranks 2\n\nrank 0 {{\n{line}\n}}\nrank 1 {{\n}}\n"))
}

const TEXT: &str = "// a comment
num_ranks   3
/* another
 */ rank 0 {
l1: calc 7 cpu 2
a_2 : send 10b to 1
l3: recv 20 b from -1 tag -1 cpu 1 nic 2
  // inside
l3 requires l1
l3 irequires a_2

send 5b to 2 tag -1
l1: calc 9
l1 requires a_2
}
rank 1 {
recv 10b from 0\r
}
rank 2 {
}";

#[test]
fn every_form_of_a_line() {
    assert!(is_goal(TEXT.as_bytes()) && is_goal(b"\n/**/ num_ranks 1") && !is_goal(b"0 init\n") && !is_goal(b"// a"));
    let after = |on, event| Dependency { on, event };
    let work = |work, lane, nic| Task { work, lane, nic };
    let send = |to, bytes, tag| Work::Send { to, bytes: Bytes(bytes), tag, communicator: 0 };
    let receive = |from, bytes, tag| Work::Receive { from, bytes: Bytes(bytes), tag, communicator: 0 };
    let compute = |ns| Work::Compute { time: Time::from_ns(ns) };
    let tasks = vec![
        work(compute(7), 2, 0),
        work(send(1, 10, 0), 0, 0),
        work(receive(ANY, 20, ANY), 1, 2),
        work(send(2, 5, ANY), 0, 0),
        work(compute(9), 0, 0),
    ];
    // Of the two l1, the first counts.
    let waits = [(2, after(0, Event::End)), (2, after(1, Event::Start)), (0, after(1, Event::End))];
    let expected = vec![
        RankTasks::new(tasks, &waits),
        RankTasks::new(vec![work(receive(0, 10, 0), 0, 0)], &[]),
        RankTasks::new(Vec::new(), &[]),
    ];
    let places: [&[u64]; 3] = [&[5, 6, 7, 12, 13], &[17], &[]];
    let with_places =
        |(tasks, places): (RankTasks, &[u64])| tasks.with_places(places.iter().copied().map(Some).collect());
    let expected: Vec<_> = expected.into_iter().zip(places).map(with_places).collect();
    assert_eq!(of(TEXT).unwrap().place_word, "line");
    assert_eq!(of(TEXT).unwrap().ranks, expected);
    assert_eq!(of(TEXT).unwrap().sends(0).collect::<Vec<_>>(), [(1, Bytes(10)), (2, Bytes(5))]);
}

#[test]
fn mistakes_name_line_and_expectation() {
    assert_eq!(mistake(""), "a.goal: line 1: the file ends; expected 'num_ranks'");
    assert_eq!(mistake("ranks 2\n"), "a.goal: line 1: 'ranks'; expected 'num_ranks'");
    assert_eq!(mistake("num_ranks x\n"), "a.goal: line 1: 'x'; expected the number of ranks");
    assert_eq!(mistake("num_ranks 1 2\n"), "a.goal: line 1: '2'; expected the end of the line");
    assert_eq!(mistake("num_ranks 2\nrank 1 {\n"), "a.goal: line 2: rank 1; expected rank 0: 2 ranks, in order");
    assert_eq!(mistake("num_ranks 1\nrank 0\n"), "a.goal: line 2: the line ends; expected '{'");
    assert_eq!(mistake("num_ranks 1\nrank 0 {\ncalc 1\n"), "a.goal: line 4: the file ends in rank 0; expected '}'");
    assert_eq!(mistake("num_ranks 2\nrank 0 {\n}\n"), "a.goal: line 4: the file ends; expected rank 1 of 2");
    let more = mistake("num_ranks 1\nrank 0 {\n}\nrank 1 {\n}\n");
    assert_eq!(more, "a.goal: line 4: rank 1; expected the end of the file: 1 ranks, in order");
    assert_eq!(mistake("num_ranks 1\n/* rank 0 {\n"), "a.goal: line 3: the file ends in a comment; expected '*/'");
    assert!(wrong("send 1b to 2").ends_with("line 4: rank 2; expected one of the 2 ranks, which count from 0"));
    assert!(wrong("send 1 to 1").ends_with("line 4: 'to'; expected 'b'"));
    assert!(wrong("send 1kb to 1").ends_with("'kb'; expected 'b'"));
    assert!(wrong("send 1b to -1").ends_with("'-'; expected a rank"));
    assert!(wrong("send 9999999999999999b to 1").ends_with("9999999999999999 bytes; expected at most 2^50"));
    assert!(wrong("recv 1b from -2").ends_with("-2; expected a rank, or -1 for any"));
    assert!(wrong("recv 1b from 1 tag 4294967295").ends_with("4294967295; expected a tag, or -1 for any"));
    assert!(wrong("recv 1b from 1 nic 0 cpu 0").ends_with("'cpu'; expected the end of the line"));
    assert!(wrong("calc 1 cpu 256").ends_with("'256'; expected a processor, 0 to 255"));
    assert!(wrong("calc 1 nic 0").ends_with("'nic'; expected the end of the line"));
    assert!(wrong("calc 18446744073709552").contains("18446744073709552 ns; expected at most 18446744073709551"));
    assert!(wrong("calc 1 // now").ends_with("'/'; expected the end of the line: a comment has a line of its own"));
    assert!(wrong("l1: wait 3").ends_with("'wait'; expected 'send', 'recv' or 'calc'"));
    assert!(wrong("l1 needs l2").ends_with("'needs'; expected ':', 'requires' or 'irequires' after a label"));
    assert!(
        wrong("l1: calc 1\nl1 requires l2").contains("line 5: label 'l2'; expected the label of an operation above")
    );
    assert!(wrong(&"x".repeat(1_100_000)).contains("line 4: more than 1048576 bytes"));
    assert_eq!(read("a", &mut &b"num_ranks 1\n\xff\n"[..]).unwrap_err(), "a: line 2: not UTF-8 text");
}

/// The binary form of a graph, as txt2bin writes it.
fn binary(graph: &TaskGraph) -> Vec<u8> {
    let mut ranks = Vec::new();
    for tasks in &graph.ranks {
        let numbers = 0..tasks.tasks().len() as u32;
        let roots: Vec<u32> = numbers.clone().filter(|&task| tasks.dependencies(task).is_empty()).collect();
        let mut bytes = Vec::new();
        bytes.extend((numbers.end).to_le_bytes());
        bytes.extend((roots.len() as u32).to_le_bytes());
        roots.iter().for_each(|root| bytes.extend(root.to_le_bytes()));
        let mut appendix: Vec<u32> = Vec::new();
        for (task, number) in tasks.tasks().iter().zip(numbers.clone()) {
            let (kind, partner, size, tag) = match task.work {
                Work::Send { to, bytes, tag, .. } => (1u8, to, bytes.0, tag),
                Work::Receive { from, bytes, tag, .. } => (2, from, bytes.0, tag),
                Work::Compute { time } => (3, 0, time.ps() / 1_000, 0),
            };
            bytes.extend((tasks.dependencies(number).len() as u32).to_le_bytes());
            bytes.push(kind);
            bytes.extend(partner.to_le_bytes());
            bytes.extend(size.to_le_bytes());
            bytes.extend(tag.to_le_bytes());
            bytes.extend([task.lane, task.nic]);
            for event in [Event::End, Event::Start] {
                let first = appendix.len();
                let wanted = Dependency { on: number, event };
                appendix.extend(numbers.clone().filter(|&other| tasks.dependencies(other).contains(&wanted)));
                bytes.extend(((appendix.len() - first) as u32).to_le_bytes());
                bytes.extend((first as u32).to_le_bytes());
            }
        }
        appendix.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        ranks.push(bytes);
    }
    let mut file = 4223u64.to_le_bytes().to_vec();
    file.extend((ranks.len() as u32).to_le_bytes());
    file.extend([2, 2]);
    let mut start = 6 + 16 * ranks.len() as u64;
    for rank in &ranks {
        let end = start + rank.len() as u64;
        file.extend(start.to_le_bytes());
        file.extend(end.to_le_bytes());
        start = end;
    }
    ranks.iter().for_each(|rank| file.extend(rank));
    file
}

#[test]
fn the_binary_form_equals_the_text() {
    let graph = of(TEXT).unwrap();
    let bytes = binary(&graph);
    assert!(is_goal(&bytes));
    let found = read("a.bin", &mut &bytes[..]).unwrap();
    // A binary form has no lines.
    assert_eq!((found.place_word, found.ranks[0].place(0)), ("", None));
    let no_places = |ranks: Vec<RankTasks>| -> Vec<RankTasks> {
        ranks
            .into_iter()
            .map(|tasks| {
                let count = tasks.tasks().len();
                tasks.with_places(vec![None; count])
            })
            .collect()
    };
    assert_eq!(found.ranks, no_places(graph.ranks));
}

#[test]
fn mistakes_of_the_binary_form_name_the_byte() {
    let bytes = binary(&of(TEXT).unwrap());
    let changed = |at: usize, to: u8| {
        let mut changed = bytes.clone();
        changed[at] = to;
        read("a.bin", &mut &changed[..]).unwrap_err()
    };
    for cut in 8..bytes.len() {
        let error = read("a.bin", &mut &bytes[..cut]).unwrap_err();
        assert!(error.starts_with("a.bin: byte ") && error.contains("the file ends; expected "), "{cut}: {error}");
    }
    let mut spent = bytes.clone();
    spent[..8].copy_from_slice(&2342u64.to_le_bytes());
    assert!(read("a.bin", &mut &spent[..]).unwrap_err().contains("--save-mem"));
    // Three ranks from byte 62: 5 nodes, 3 roots, then the nodes.
    let roots = 8 + 6 + 48 + 8;
    let node = roots + 4 * 3;
    assert_eq!(changed(14, 9), "a.bin: byte 62: rank 0 starts at 9 + 8; expected 54 + 8");
    assert!(changed(node + 4, 4).contains("rank 0: node 0 is of kind 4; expected 1, 2 or 3"));
    assert!(changed(node + 39 + 5, 3).contains("rank 0: node 1: rank 3; expected one of the 3 ranks"));
    assert!(changed(node, 2).contains("rank 0: node 0 has 1 more dependencies than nodes that it waits for"));
    assert!(changed(node, 0).contains("node 0 waits for node 1, which its number of dependencies excludes"));
    assert!(changed(node + 23, 200).contains("node 0 names places beyond its 3 dependent nodes"));
    assert!(changed(22, bytes.len() as u8).contains("expected"));
}
