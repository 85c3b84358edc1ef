//! The known name that was meant.

/// The known name nearest to `name`, if one is near enough to have been meant: up to a third of the letters, four at
/// most, may be wrong, and a swap of neighbours is one mistake.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let limit = (name.chars().count().max(3) / 3).min(4);
    known
        .into_iter()
        .map(|k| (strsim::damerau_levenshtein(&name, &k.to_lowercase()), k))
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, k)| k)
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
        assert_eq!(hint("colour", known), "; known: pattern, placement, ranks");
        assert_eq!(hint("colour", []), "");
    }
}
