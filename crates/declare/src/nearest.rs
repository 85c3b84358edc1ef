//! Suggestions for unknown names.

use crate::foreign::{foreign_note, translate};

/// The known name nearest to `name`, if it is near enough to suggest. Up to a third of the letters may be wrong, at
/// most four. A swap of neighbours is one mistake. Whole words may be missing or added at the end. A word of another
/// program leads to the name for it, whatever its letters.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    if let Some(ours) = translate(name, &known) {
        return Some(ours);
    }
    if foreign_note(name, &known).is_some() {
        return None;
    }
    let name = name.to_lowercase();
    known
        .into_iter()
        .filter_map(|known| Some((distance_rank(&name, &known.to_lowercase())?, known)))
        .min()
        .map(|near| near.1)
}

/// Rank of a known name: typing mistakes first, then added or missing words (`uniform-random` and `uniform`), then
/// several letters. `None` if the name is too far away.
fn distance_rank(name: &str, known: &str) -> Option<(u8, usize)> {
    let limit = (name.chars().count().max(3) / 3).min(4);
    let distance = strsim::damerau_levenshtein(name, known);
    match distance {
        ..=2 if distance <= limit => Some((0, distance)),
        _ if has_extra_words(name, known) || has_extra_words(known, name) => Some((1, distance)),
        _ => (distance <= limit).then_some((2, distance)),
    }
}

/// Whether a name is `start` with more words after it.
fn has_extra_words(name: &str, start: &str) -> bool {
    start.len() > 3 && name.strip_prefix(start).is_some_and(|rest| rest.starts_with(['-', '_', ' ']))
}

/// `; did you mean 'x'?`, or a short list of all names, or nothing.
pub fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let note = foreign_note(name, &known);
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("; did you mean '{near}'?{}", note.map_or(String::new(), |note| format!(" ({note})"))),
        None if note.is_some() => format!("; {}", note.unwrap_or_default()),
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
        assert_eq!(nearest("uniform-random", patterns), Some("uniform"), "added or missing words");
        assert_eq!(nearest("Stencil", patterns), Some("stencil-3d"));
        assert_eq!(nearest("uniform-nodes", patterns), Some("uniform-node"), "letters before words");
        assert_eq!(nearest("all", patterns), None, "too short");
        assert_eq!(hint("colour", known), "; known: pattern, placement, ranks");
        assert_eq!(hint("colour", []), "");
    }
}
