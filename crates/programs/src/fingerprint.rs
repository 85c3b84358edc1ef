//! Hash functions for fingerprints.

/// Mixes a number with two others: the finaliser of splitmix64 (Steele, Lea and Flood 2014).
pub(crate) const fn mixed(number: u64, a: u32, b: u32) -> u64 {
    let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ ((a as u64) << 32 | b as u64);
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
