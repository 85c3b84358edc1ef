//! The order in which packets take the dimensions of a torus.
//!
//! A *zone* is a list of masks of dimensions, used in order; inside a mask the choice is free. A mask is done when a
//! packet has no remaining direction along its dimensions, except those in a later mask.

use super::grid::Grid;
use super::Refusal;
use crate::hints::Directions;
use crate::next_hop::NextHops;
use odonata_declare::{hint, words, Field, Kind, Value};

words! {
    /// Order of dimensions in the bubble channel.
    pub enum BubbleOrder {
        FirstToLast = "first-to-last": "the order of the machine's dimensions (Blue Gene/L and /P)",
        LongestFirst = "longest-first": "by the longest path along them: half the size in a torus, the size in a \
            mesh (Blue Gene/Q)",
    }
}

/// Most masks of a zone, as on Blue Gene/Q.
const MAX_MASKS: usize = 5;

/// A zone as the user writes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Zone {
    /// One of the four zones of Blue Gene/Q.
    Numbered(u8),
    /// Masks, each as the letters (or numbers) of its dimensions.
    Masks(Vec<String>),
}

impl Zone {
    /// Kind of the parameter.
    pub(super) const KIND: Kind = Kind::Any(&[Kind::Integer { min: 0, max: 3 }, Kind::List(&Kind::Text)]);
}

impl Field for Zone {
    fn get(&self) -> Option<Value> {
        Some(match self {
            Self::Numbered(n) => Value::Integer((*n).into()),
            Self::Masks(masks) => Value::List(masks.iter().map(|mask| Value::text(mask.as_str())).collect()),
        })
    }

    fn of(value: Option<&Value>) -> Self {
        match value {
            Some(Value::Integer(n)) => Self::Numbered(*n as u8),
            list => Self::Masks(Field::of(list)),
        }
    }
}

/// Length of a dimension for the order: the longest path along it, for tori and meshes.
fn length(grid: &Grid, d: usize) -> u32 {
    grid.dims()[d] / if grid.wraps_along(d) { 2 } else { 1 }
}

/// The dimensions in order. As in the firmware of Blue Gene/Q, each place is exchanged with every later one that is
/// longer, or equally long and of a mesh.
pub(super) fn ordered_dimensions(order: BubbleOrder, grid: &Grid) -> Vec<usize> {
    let mut dimensions: Vec<usize> = (0..grid.dimensions()).collect();
    if order == BubbleOrder::LongestFirst {
        for i in 0..dimensions.len() {
            for j in i + 1..dimensions.len() {
                let (own, other) = (length(grid, dimensions[i]), length(grid, dimensions[j]));
                if other > own || other == own && !grid.wraps_along(dimensions[j]) {
                    dimensions.swap(i, j);
                }
            }
        }
    }
    dimensions
}

/// The masks of a zone.
#[derive(Clone, Debug)]
pub(super) struct Masks {
    /// Each mask, and its dimensions that no later mask has.
    masks: Vec<(u16, u16)>,
}

impl Masks {
    pub(super) fn of(zone: &Zone, grid: &Grid, hops: &NextHops) -> Result<Self, Refusal> {
        let bit = |d: &usize| 1u16 << d;
        let sorted = ordered_dimensions(BubbleOrder::LongestFirst, grid);
        let masks: Vec<u16> = match zone {
            Zone::Numbered(1) => vec![sorted.iter().map(bit).sum()],
            Zone::Numbered(0) => {
                let equal = sorted.chunk_by(|&a, &b| length(grid, a) == length(grid, b));
                equal.map(|dimensions| dimensions.iter().map(bit).sum()).collect()
            }
            Zone::Numbered(n) => {
                let last = if *n == 3 { bit(&(grid.dimensions() - 1)) } else { 0 };
                sorted.iter().map(|d| bit(d) | last).collect()
            }
            Zone::Masks(masks) => parse_masks(masks, grid, &hops.axis_letters())?,
        };
        let last_of = |i: usize| masks[i] & !masks[i + 1..].iter().fold(0, |later, mask| later | mask);
        Ok(Self { masks: (0..masks.len()).map(|i| (masks[i], last_of(i))).collect() })
    }

    /// The mask for these remaining directions.
    #[inline]
    pub(super) fn mask(&self, left: Directions) -> u16 {
        if let [(only, _)] = self.masks[..] {
            return only;
        }
        let wanted = left.dimensions();
        self.masks.iter().find(|(_, last)| last & wanted != 0).map_or(0, |(mask, _)| *mask)
    }
}

/// Parses the masks of a user.
fn parse_masks(masks: &[String], grid: &Grid, letters: &[String]) -> Result<Vec<u16>, Refusal> {
    let wrong = |reason: String| Refusal::Setting("zone", reason);
    if masks.is_empty() || masks.len() > MAX_MASKS {
        return Err(wrong(format!("{} masks; a zone has 1 to {MAX_MASKS}", masks.len())));
    }
    let known = letters.concat();
    let mut bits = Vec::new();
    for mask in masks {
        let mut set = 0;
        for letter in mask.chars() {
            let place = letters.iter().position(|known| *known == letter.to_string());
            let place = place.ok_or_else(|| {
                let hint = hint(&letter.to_string(), letters.iter().map(String::as_str));
                wrong(format!("mask '{mask}': unknown dimension '{letter}'{hint}"))
            })?;
            set |= 1 << place;
        }
        bits.push(set);
    }
    let all = bits.iter().fold(0u16, |all, mask| all | mask);
    match (0..grid.dimensions()).find(|&d| grid.dims()[d] > 1 && all >> d & 1 == 0) {
        None => Ok(bits),
        Some(missing) => {
            Err(wrong(format!("no mask has dimension {}; expected all of {known} in some mask", letters[missing])))
        }
    }
}
