//! The known name that was meant.

/// The known name nearest to `name`, if one is near enough to have been meant: up to a third of the letters, four at
/// most, may be wrong, a swap of neighbours is one mistake, and whole words may be missing at the end or be too many there.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    known
        .into_iter()
        .filter_map(|known| Some((distance_rank(&name, &known.to_lowercase())?, known)))
        .min()
        .map(|near| near.1)
}

/// How far a known name is: a slip of the pen first, then words more or less, as of `uniform-random` and `uniform`, then
/// several letters. `None` if it is too far to have been meant.
fn distance_rank(name: &str, known: &str) -> Option<(u8, usize)> {
    let limit = (name.chars().count().max(3) / 3).min(4);
    let distance = strsim::damerau_levenshtein(name, known);
    match distance {
        ..=2 if distance <= limit => Some((0, distance)),
        _ if has_extra_words(name, known) || has_extra_words(known, name) => Some((1, distance)),
        _ => (distance <= limit).then_some((2, distance)),
    }
}

/// Whether a name is another one and words behind it.
fn has_extra_words(name: &str, start: &str) -> bool {
    start.len() > 3 && name.strip_prefix(start).is_some_and(|rest| rest.starts_with(['-', '_', ' ']))
}

/// `; did you mean 'x'?`, or all names if none is near and they are few, or nothing.
pub fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("; did you mean '{near}'?"),
        None if known.is_empty() || known.len() > 40 => String::new(),
        None => format!("; known: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearness_forgives_a_third_of_the_letters() {
        let known = ["pattern", "placement", "ranks"];
        assert_eq!(nearest("patern", known), Some("pattern"));
        assert_eq!(nearest("Ranks", known), Some("ranks"));
        assert_eq!(nearest("rnaks", known), Some("ranks"), "a swap of neighbours is one mistake");
        assert_eq!(nearest("colour", known), None);
        let patterns = ["uniform-node", "uniform", "stencil-3d", "all-to-all"];
        assert_eq!(nearest("uniform-random", patterns), Some("uniform"), "words more or less");
        assert_eq!(nearest("Stencil", patterns), Some("stencil-3d"));
        assert_eq!(nearest("uniform-nodes", patterns), Some("uniform-node"), "letters before words");
        assert_eq!(nearest("all", patterns), None, "too short to tell");
        assert_eq!(hint("colour", known), "; known: pattern, placement, ranks");
        assert_eq!(hint("colour", []), "");
    }
}
