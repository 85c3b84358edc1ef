//! Acceptance: the generated Edison equals the real one, link by link.
//!
//! The real cable list is not in this repository: it is read from `$ODONATA_SHARED/data`, else from `../shared/data`
//! next to the repository.

use flate2::read::GzDecoder;
use odonata_machine::{import, presets, topology::Cascade, Machine};
use std::io::{Read, Write};
use std::path::PathBuf;

/// The cable list, or `None` with a message on standard error (which the test harness does not capture).
fn cable_list() -> Option<Vec<u8>> {
    let sibling = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared"));
    let shared = std::env::var_os("ODONATA_SHARED").map_or_else(sibling, PathBuf::from);
    let path = shared.join("data/edison-links.txt.gz");
    let Ok(compressed) = std::fs::read(&path) else {
        writeln!(std::io::stderr(), "SKIPPED: {} is not there", path.display()).expect("standard error is open");
        return None;
    };
    let mut bytes = Vec::new();
    GzDecoder::new(&compressed[..]).read_to_end(&mut bytes).expect("the cable list is gzip");
    Some(bytes)
}

#[test]
fn generated_edison_is_the_real_one() {
    let Some(bytes) = cable_list() else { return };
    let mut real = import::cray_links(&bytes, "edison-links.txt").unwrap();
    (real.name, real.reading) = ("edison".into(), Vec::new());
    let mut generated = Cascade::aries().builder().unwrap();
    generated.name = "edison".into();
    // The list has both names of every router, and the preset knows the same.
    assert_eq!(real.coordinates.floor, presets::builder("edison").unwrap().coordinates.floor);
    generated.coordinates.floor.clone_from(&real.coordinates.floor);
    let (real, generated) = (real.build().unwrap(), generated.build().unwrap());
    assert_eq!(real.link_count(), 48_240);
    for link in real.links() {
        assert_eq!(real.link_name(link), generated.link_name(link));
    }
    // Names contain the wiring; equality includes shape, ports, nodes and figures.
    assert!(real == generated, "same links, but another machine");
    // The preset differs in its service nodes only.
    let preset = presets::builder("edison").unwrap().build().unwrap();
    assert!(preset.links().all(|link| preset.link_name(link) == real.link_name(link)));
}

/// 69,120 tiles of 48; 12 is absent among the group numbers 0 to 15, so the last group is 14.
#[test]
fn gaps_in_the_group_numbers_are_closed() {
    let Some(bytes) = cable_list() else { return };
    let real: Machine = import::cray_links(&bytes, "edison-links.txt").unwrap().build().unwrap();
    assert_eq!((real.group_count(), real.router_count(), real.node_count()), (15, 1440, 5760));
    assert!(real.routers().all(|router| real.router_up(router)));
}

#[test]
fn a_cable_with_one_end_is_an_error_with_its_line() {
    let Some(bytes) = cable_list() else { return };
    let text = String::from_utf8(bytes).unwrap();
    let cut: String = text.lines().take(48).map(|line| format!("{line}\n")).collect();
    let message = import::cray_links(cut.as_bytes(), "cut.txt").unwrap_err().to_string();
    assert!(message.starts_with("cut.txt:line 1: the other end, tile c0-0c0s6a0l10, is not listed"), "{message}");
}
