//! Converts the edges of a file to cables.

use crate::Cable;
use odonata_declare::words;
use odonata_units::{LinkClassId, Rate, RouterId, Time};

words! {
    /// Meaning of an edge in a list.
    #[derive(Default)]
    pub enum Listing {
        #[default]
        Detect = "detect": "links if every edge is listed in both directions, cables if none is",
        Cables = "cables": "every row is a cable, both directions",
        Links = "links": "every row is one direction; the other direction is listed, too",
    }
}

/// An edge of a list; stands for `count` parallel ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) source: u32,
    pub(super) target: u32,
    pub(super) class: u32,
    pub(super) count: u32,
    pub(super) bandwidth: Rate,
    pub(super) latency: Time,
    /// Place in the file: a line, a byte offset or a row.
    pub(super) place: usize,
}

/// A wrong edge and the reason; routers have their numbers in the file.
#[derive(Debug)]
pub(super) struct WrongEdge {
    pub(super) place: usize,
    pub(super) reason: String,
    /// Whether a row as a cable would be right.
    pub(super) of_directions: bool,
}

fn wrong<T>(edge: &Edge, reason: String) -> Result<T, WrongEdge> {
    Err(WrongEdge { place: edge.place, reason, of_directions: false })
}

fn of_directions(wrong: WrongEdge) -> WrongEdge {
    WrongEdge { of_directions: true, ..wrong }
}

/// Converts `edges` to cables. `name` gives the name of a router. Also returns whether an edge was one direction.
pub(super) fn cables(
    mut edges: Vec<Edge>,
    listing: Listing,
    name: &dyn Fn(u32) -> String,
) -> Result<(Vec<Cable>, bool), WrongEdge> {
    let mut total = 0u64;
    for edge in &edges {
        if edge.source == edge.target {
            return wrong(edge, format!("router {} is joined to itself; a cable joins two routers", name(edge.source)));
        }
        total += u64::from(edge.count);
        if total > u64::from(super::LIMIT) {
            return wrong(edge, format!("more than {} cables", super::LIMIT));
        }
    }
    let pair = |e: &Edge| (e.source.min(e.target), e.source.max(e.target), e.class);
    edges.sort_by_key(|e| (pair(e), e.source, std::cmp::Reverse(e.bandwidth), e.latency, e.place));
    let runs = || edges.chunk_by(|x, y| pair(x) == pair(y));
    let directed = match listing {
        Listing::Cables => false,
        Listing::Links => true,
        Listing::Detect => edges.first().is_some_and(|first| {
            let run = runs().next().expect("there is an edge");
            run.iter().any(|edge| edge.source != first.source)
        }),
    };
    let mut cables = Vec::new();
    for run in runs() {
        let split = run.partition_point(|edge| edge.source == run[0].source);
        let (there, back) = run.split_at(split);
        if directed {
            check_both_directions(there, back, name).map_err(of_directions)?;
        } else if listing == Listing::Detect && !back.is_empty() {
            let reason = format!(
                "{} and {} are listed in both directions, other pairs in one; list every cable once, or every link",
                name(run[0].source),
                name(run[0].target)
            );
            return wrong(&back[0], reason).map_err(of_directions);
        }
        for edge in if directed { there } else { run } {
            let cable = Cable {
                a: RouterId(edge.source),
                b: RouterId(edge.target),
                class: LinkClassId(edge.class),
                bandwidth: edge.bandwidth,
                latency: edge.latency,
            };
            cables.extend(std::iter::repeat_n(cable, edge.count as usize));
        }
    }
    Ok((cables, directed))
}

/// A cable has the same figures in both directions, so both lists must have the same counts of each.
fn check_both_directions(there: &[Edge], back: &[Edge], name: &dyn Fn(u32) -> String) -> Result<(), WrongEdge> {
    let count = |edges: &[Edge]| edges.iter().map(|edge| edge.count).sum::<u32>();
    if count(there) != count(back) {
        let edge = &there[0];
        return wrong(
            edge,
            format!(
                "{} parallel links from {} to {}, but {} back; every cable has two directions",
                count(there),
                name(edge.source),
                name(edge.target),
                count(back)
            ),
        );
    }
    let figures = |edges: &[Edge]| {
        let mut figures: Vec<(Rate, Time, u32)> = Vec::new();
        for edge in edges {
            match figures.last_mut() {
                Some(last) if (last.0, last.1) == (edge.bandwidth, edge.latency) => last.2 += edge.count,
                _ => figures.push((edge.bandwidth, edge.latency, edge.count)),
            }
        }
        figures
    };
    if figures(there) != figures(back) {
        let edge = &there[0];
        return wrong(
            edge,
            format!(
                "the links from {} to {} differ from those back in bandwidth or latency",
                name(edge.source),
                name(edge.target)
            ),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(source: u32, target: u32, count: u32) -> Edge {
        let bandwidth = Rate::from_bytes_per_s(1);
        Edge { source, target, class: 0, count, bandwidth, latency: Time::ZERO, place: source as usize + 1 }
    }

    fn read(edges: &[(u32, u32, u32)], listing: Listing) -> Result<usize, String> {
        let edges = edges.iter().map(|&(a, b, n)| edge(a, b, n)).collect();
        cables(edges, listing, &|r| r.to_string())
            .map(|(cables, _)| cables.len())
            .map_err(|e| format!("{}: {}", e.place, e.reason))
    }

    #[test]
    fn links_are_paired_and_cables_are_not() {
        assert_eq!(read(&[(0, 1, 2), (1, 0, 1), (1, 0, 1), (2, 1, 1), (1, 2, 1)], Listing::Detect), Ok(3));
        assert_eq!(read(&[(0, 1, 2), (2, 1, 1)], Listing::Detect), Ok(3));
        assert_eq!(read(&[(0, 1, 2), (1, 0, 1)], Listing::Cables), Ok(3));
    }

    #[test]
    fn a_missing_direction_is_found() {
        let error = read(&[(0, 1, 2), (1, 0, 1)], Listing::Links).unwrap_err();
        assert_eq!(error, "1: 2 parallel links from 0 to 1, but 1 back; every cable has two directions");
        let error = read(&[(0, 1, 1), (1, 0, 1), (1, 2, 1)], Listing::Detect).unwrap_err();
        assert!(error.starts_with("2: 1 parallel links from 1 to 2, but 0 back"), "{error}");
        let error = read(&[(0, 1, 1), (1, 2, 1), (2, 1, 1)], Listing::Detect).unwrap_err();
        assert!(error.starts_with("3: 1 and 2 are listed in both directions"), "{error}");
        assert!(read(&[(1, 1, 1)], Listing::Detect).unwrap_err().contains("joined to itself"));
    }
}
