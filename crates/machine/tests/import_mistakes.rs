//! Mistakes in files: place, reason and expected form; and no input makes a reader panic.

use odonata_machine::import::{self, DamselflyParameters, EdgeListColumns, EdgeListOptions, IntraLayout, WiringFile};
use proptest::prelude::*;

fn csv(text: &str) -> String {
    import::edge_list_csv(text.as_bytes(), "e.csv", &EdgeListOptions::default()).unwrap_err().to_string()
}

fn cray(text: &str) -> String {
    import::cray_links(text.as_bytes(), "links.txt").unwrap_err().to_string()
}

#[test]
fn csv_mistakes() {
    for (text, message) in [
        ("", "e.csv:line 1: the file is empty; expected a header"),
        ("dst\n", "e.csv:line 1: column 'src' is missing; the columns are dst"),
        ("src,dts\n", "e.csv:line 1: unknown column 'dts'; did you mean 'dst'?"),
        ("src,dst\n", "e.csv:line 1: the list has a header, but no edges"),
        ("src,dst\n0,1\n1\n", "e.csv:line 3: 1 values, but the header has 2"),
        ("src,dst\n0,0\n", "e.csv:line 2: router 0 is joined to itself; a cable joins two routers"),
        ("src,dst,count\n0,1,0\n", "e.csv:line 2: 0 parallel cables; expected 1 to 65535"),
        ("src,dst,count\n0,1,many\n", "e.csv:line 2: count: expected a whole number, found 'many'"),
        ("src,dst,bandwidth\n0,1,25\n", "e.csv:line 2: bandwidth: '25' has no unit; write it like"),
        ("src,dst,bandwidth\n0,1,25 ns\n", "e.csv:line 2: bandwidth: '25 ns' is a duration; expected a data rate"),
        ("# a comment\nsrc,dts\n", "e.csv:line 2: unknown column 'dts'"),
        ("src,dst\n\n0,1\n#\n1,2,3\n", "e.csv:line 5: 3 values, but the header has 2"),
        ("src,dst\n0,1\n1,0\n1,2\n", "e.csv:line 4: 1 parallel links from 1 to 2, but 0 back"),
        ("src,dst,src_group\n0,1,0\n", "e.csv:line 1: 'group' is given for one end only"),
        ("src,dst,src_group,dst_group\n0,1,0,0\n1,2,1,1\n", "e.csv:line 3: router 1 has another position here"),
        ("src,dst,class\n0,1,a:b\n", "e.csv:line 2: 'a:b' can't be the name of a link class"),
        ("src,dst\na b,c\n", "e.csv:line 2: 'a b' can't be the name of a router"),
        ("src,dst,bandwidth,capacity_bytes_per_s\n", "e.csv:line 1: there are two columns of bandwidth"),
        ("src,source,dst\n", "e.csv:line 1: column 'source' repeats another column"),
        ("src,port,src_port,dst\n", "e.csv:line 1: column 'src_port' repeats another column"),
        (
            "src,dst,src_port,dst_port\na,b,p1,p1\na,c,p2,p1\nd,c,p1,p1\n",
            "e.csv:line 4: two cables on port 'p1' of router c; line 3 has the first",
        ),
        (
            "source,source_port,target\na,xe-0/0/1,b\na,xe-0/0/1,b\n",
            "e.csv:line 3: two cables on port 'xe-0/0/1' of router a; line 2 has the first",
        ),
        (
            "src,dst,port,count\na,b,7,2\n",
            "e.csv:line 2: 2 parallel cables on port '7' of router a; give each its own row",
        ),
        (
            "src,dst,src_port,dst_port\na,b,1,2\nb,a,2,1\nb,a,2,1\n",
            "e.csv:line 4: two cables on port '2' of router b; line 2 has the first",
        ),
    ] {
        let found = csv(text);
        assert!(found.starts_with(message), "{text:?}: {found}");
    }
    let both = csv("src,dst\n0,1\n1,2\n2,1\n");
    assert!(both.ends_with("every link (listing = \"cables\" reads each row as a cable)"), "{both}");
    assert!(import::edge_list_csv(&[0x1f, 0x8b, 8], "e.csv", &EdgeListOptions::default())
        .unwrap_err()
        .to_string()
        .contains("byte 0: the file is compressed with gzip"));
}

/// Ports have no other effect: by any names, at one end or both, missing, or in rows of both directions.
#[test]
fn ports_are_only_checked() {
    let read = |text: &str| import::edge_list_csv(text.as_bytes(), "e.csv", &EdgeListOptions::default()).unwrap();
    for (plain, with_ports) in [
        ("src,dst\na,b\na,b\n", "src,dst,src_port,dst_port\na,b,Eth1/1,swp1\na,b,Eth1/2,swp2\n"),
        ("src,dst\na,b\na,b\n", "src,dst,port\na,b,\na,b,\n"),
        ("src,dst\na,b\nb,a\n", "src,dst,source_port,target_port\na,b,1,2\nb,a,2,1\n"),
        ("src,dst\na,b\nb,a\n", "src,dst,port\na,b,1\nb,a,1\n"),
    ] {
        assert_eq!(read(plain).build().unwrap(), read(with_ports).build().unwrap(), "{with_ports:?}");
    }
}

/// Rows that alternate their ends are read as links, which the reader says with the key that decides.
#[test]
fn the_meaning_of_a_row_is_said() {
    let ends = ["leaf0,spine0", "spine0,leaf0", "leaf1,spine0", "spine0,leaf1"];
    let text = format!("src,dst\n{}\n", ends.join("\n"));
    let read = |listing| {
        let options = EdgeListOptions { listing, ..EdgeListOptions::default() };
        let builder = import::edge_list_csv(text.as_bytes(), "e.csv", &options).unwrap();
        (builder.cables.len(), builder.reading)
    };
    let (cables, reading) = read(import::Listing::Detect);
    let key = "(listing = \"cables\" reads each row as a cable)";
    assert_eq!((cables, reading[1].clone()), (2, format!("a row is one direction, 4 rows are 2 cables {key}")));
    let (cables, reading) = read(import::Listing::Cables);
    assert_eq!((cables, reading[0].as_str()), (4, "4 cables between 2 pairs of routers"));
}

/// A number is a name: no router appears that the list does not have.
#[test]
fn numbers_are_names() {
    for (text, names, phrase) in [
        ("src,dst\n1,2\n2,3\n3,1\n", ["1", "2", "3"], "routers are called by their numbers, 1 to 3"),
        ("src,dst\n20,10\n10,4294967295\n", ["10", "20", "4294967295"], "; 4294967283 numbers between are not used"),
        ("src,dst,src_group,dst_group\n7,8,1,0\n9,8,1,0\n", ["8", "7", "9"], "numbers, 7 to 9"),
    ] {
        let read = import::edge_list_csv(text.as_bytes(), "e.csv", &EdgeListOptions::default()).unwrap();
        assert!(read.reading.iter().any(|found| found.ends_with(phrase)), "{:?}", read.reading);
        let machine = read.build().unwrap();
        let working: Vec<_> = machine.routers().filter(|&router| machine.router_up(router)).collect();
        assert_eq!(working.iter().map(|&router| machine.router_name(router)).collect::<Vec<_>>(), names);
        // An id is no name here: 0 is no router, and 1 is the router called 1.
        assert!(machine.router_named("0").is_err());
        assert_eq!(machine.router_named(names[1]).unwrap(), working[1]);
    }
    let machine = import::edge_list_csv(b"src,dst\n0,1\n2,1\n", "e.csv", &EdgeListOptions::default()).unwrap();
    assert!(machine.coordinates.names.is_empty() && machine.reading.iter().all(|phrase| !phrase.contains("numbers")));
}

#[test]
fn column_mistakes() {
    let columns = EdgeListColumns { src: vec!["0".into()], ..EdgeListColumns::default() };
    let message = |columns: &EdgeListColumns| {
        import::edge_list_columns(columns, "t", &EdgeListOptions::default()).unwrap_err().to_string()
    };
    assert_eq!(message(&columns), "t:row 0: 1 values of src, but 0 of dst");
    let columns = EdgeListColumns { dst: vec!["1".into()], count: vec![1, 1], ..columns };
    assert_eq!(message(&columns), "t:row 0: 1 values of src, but 2 of count");
}

#[test]
fn cray_mistakes() {
    let a = "c0-0c0s0a0l00(0:0:0)";
    let b = "c0-0c0s1a0l00(0:0:1)";
    for (text, message) in [
        (String::new(), "links.txt:line 1: no tile is listed"),
        (format!("{a} green {b}"), "links.txt:line 1: expected 'TILE(g:r:c) CLASS -> TILE(g:r:c)'"),
        (format!("{a} gren -> {b}"), "links.txt:line 1: unknown class 'gren'; did you mean 'green'?"),
        (format!("{a} green -> c0(0:0)"), "links.txt:line 1: expected a tile like"),
        (
            format!("{a} green -> {b}\n{b} green -> unused"),
            "links.txt:line 1: the other end, tile c0-0c0s1a0l00 in line 2, does",
        ),
        (format!("{a} green -> {b}\n{b} black -> {a}"), "links.txt:line 1: the other end"),
        (
            format!("{a} green -> unused\n\n{a} green -> unused"),
            "links.txt:line 3: tile c0-0c0s0a0l00 was listed in line 1",
        ),
        (format!("{a} ptile -> {b}"), "links.txt:line 1: a ptile leads to 'processor'"),
        (
            format!("{a} green -> c0-0c0s1a0l00(0:0:2)\n{b} green -> {a}"),
            "links.txt:line 1: tile c0-0c0s1a0l00 is at [0, 0, 2] here, but at [0, 0, 1] in line 2",
        ),
        (
            "x(0:0:0) green -> y(0:9999:9999)\ny(0:9999:9999) green -> x(0:0:0)".into(),
            "links.txt:line 1: 2 routers are spread over 100000000 places",
        ),
    ] {
        let found = cray(&text);
        assert!(found.starts_with(message), "{text:?}: {found}");
    }
}

/// 64 places for each of two routers, and 4,096 more: 4,224.
#[test]
fn two_routers_may_have_4224_places() {
    let far = |row: u32, column: u32| {
        let (x, y) = ("x(0:0:0)", format!("y(0:{row}:{column})"));
        import::cray_links(format!("{x} green -> {y}\n{y} green -> {x}").as_bytes(), "links.txt")
    };
    assert_eq!(64 * 66, 64 * 2 + 4096);
    assert!(far(63, 65).is_ok());
    let message = far(64, 64).unwrap_err().to_string();
    assert!(message.contains("2 routers are spread over 4225 places ([1, 65, 65])"), "{message}");
}

fn wiring<'a>(bytes: &'a [u8], label: &'a str) -> WiringFile<'a> {
    WiringFile { bytes, label }
}

const SMALL: DamselflyParameters = DamselflyParameters {
    groups: 2,
    rows: 1,
    columns: 2,
    nodes_per_router: 1,
    cores_per_node: 1,
    intra_layout: IntraLayout::Triples,
};

fn words(words: &[i32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn damselfly_mistakes() {
    let intra = words(&[0, 1, 0, 1, 0, 0]);
    let inter = words(&[0, 2, 2, 0]);
    let read = |intra: &[u8], inter: &[u8]| import::damselfly(wiring(intra, "intra"), wiring(inter, "inter"), &SMALL);
    assert_eq!(read(&intra, &inter).unwrap().build().unwrap().link_count(), 2 * 2 + 2);
    let message = |intra: &[u8], inter: &[u8]| read(intra, inter).unwrap_err().to_string();
    assert!(
        message(&intra[..20], &inter).starts_with("intra:byte 12: the last entry has 8 bytes; expected entries of 3")
    );
    assert_eq!(message(&words(&[0, 1, 0, 1, 2, 0]), &inter), "intra:byte 16: router 2; expected 0 to 1");
    assert_eq!(message(&words(&[0, 1, 0, 1, 0, 2]), &inter), "intra:byte 20: type 2; expected 0 to 1");
    assert_eq!(message(&intra, &words(&[0, -2])), "inter:byte 4: router -2; expected 0 to 3");
    assert!(message(&intra, &words(&[0, 2, 0, 1])).starts_with("inter:byte 8: routers 0 and 1 are in one group"));
    assert!(
        message(&intra, &words(&[0, 2, 2, 0, 1, 3])).starts_with("inter:byte 16: 1 parallel links from 1 to 3, but 0")
    );
    let none = DamselflyParameters { groups: 0, ..SMALL };
    let error = import::damselfly(wiring(&intra, "intra"), wiring(&inter, "inter"), &none).unwrap_err().to_string();
    assert!(
        error.starts_with("groups, rows, columns: [0, 1, 2] with 1 nodes per router; expected at least 1"),
        "{error}"
    );
}

#[test]
fn damselfly_config_mistakes() {
    let message = |text: &str| import::damselfly_config(text.as_bytes(), "c").unwrap_err().to_string();
    assert_eq!(message(""), "c:line 1: the text ends here; expected the number of routers");
    assert_eq!(message("12x"), "c:line 1: expected the number of routers, found '12x'");
    assert!(message("1440\n15 6 16\n").starts_with("c:line 2: expected five numbers"));
    assert!(message("1441\n15 6 16 4 24\n").starts_with("c:line 2: 15 x 6 x 16 routers are not the 1441"));
    assert!(
        message("1440\n15 6 16 4 24\na\n").starts_with("c:line 4: the text ends here; expected the inter-group file")
    );
    assert!(
        message("1440\n15 6 16 4 24\na\nb\nc d e\n").starts_with("c:line 5: expected 'communication-file ranks edges'")
    );
}

/// Text that looks like an edge list or a cable list, so that random changes get past the first check.
fn plausible() -> impl Strategy<Value = String> {
    let csv = "(src|dst|class|count|latency|src_group|dst_group|[a-z]{1,3}|,){1,9}(\n([0-9]{1,10}|g[0-9]r[0-9]|a|,|\"| ){0,9}){0,6}";
    let cray =
        "((c0-0c0s[0-2]a0l0[0-2]\\([0-9]{1,5}:[0-2]:[0-2]\\)|green|blue|ptile|->|processor|unused| ){0,8}\n){0,6}";
    let config = "([0-9]{1,10}|[a-z.]{1,5}|----| |\n){0,20}";
    prop_oneof![csv, cray, config]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = import::cray_links(&bytes, "f");
        let _ = import::edge_list_csv(&bytes, "f", &EdgeListOptions::default());
        let _ = import::damselfly_config(&bytes, "f");
        for intra_layout in [IntraLayout::Triples, IntraLayout::Pairs] {
            let parameters = DamselflyParameters { intra_layout, ..SMALL };
            let _ = import::damselfly(wiring(&bytes, "f"), wiring(&bytes, "f"), &parameters);
        }
    }

    #[test]
    fn no_plausible_text_panics(text in plausible()) {
        let read = [
            import::cray_links(text.as_bytes(), "f"),
            import::edge_list_csv(text.as_bytes(), "f", &EdgeListOptions::default()),
        ];
        for builder in read.into_iter().flatten() {
            builder.build().unwrap();
        }
        let _ = import::damselfly_config(text.as_bytes(), "f");
    }

    /// Small numbers, so that many entries are right.
    #[test]
    fn no_entries_panic(entries in proptest::collection::vec(-1i32..4, 0..40)) {
        let bytes = words(&entries);
        for intra_layout in [IntraLayout::Triples, IntraLayout::Pairs] {
            let parameters = DamselflyParameters { intra_layout, ..SMALL };
            let intra = wiring(&bytes[..bytes.len() / 24 * 12], "f");
            if let Ok(builder) = import::damselfly(intra, wiring(&bytes, "f"), &parameters) {
                builder.build().unwrap();
            }
        }
    }
}
