//! Places of a box as numbers, in row-major order.

/// Number of a place of a box in row-major order.
pub(super) fn cell(sizes: &[u32], place: &[u32]) -> u32 {
    place.iter().zip(sizes).fold(0, |cell, (&value, &size)| cell * size + value)
}

/// All places of a box in row-major order.
pub(super) fn places(sizes: &[u32]) -> impl Iterator<Item = Vec<u32>> + '_ {
    (0..sizes.iter().product()).map(|cell| place(sizes, cell))
}

/// The place with a number.
pub(super) fn place(sizes: &[u32], cell: u32) -> Vec<u32> {
    let (mut place, mut left) = (vec![0; sizes.len()], cell);
    for axis in (0..sizes.len()).rev() {
        place[axis] = left % sizes[axis];
        left /= sizes[axis];
    }
    place
}
