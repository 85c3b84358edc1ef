//! Lists of host names in the form of batch systems: `nid[00001-00064,00070],login1`.
//!
//! Commas outside brackets separate names. A bracket holds numbers and ranges, each as wide as its first number is
//! written (`[001-003]` is 001, 002, 003). A name with several brackets stands for all combinations, the last bracket
//! fastest.

use crate::builder::LIMIT;

/// Expands a list into names, in order.
///
/// # Errors
/// An empty name, brackets that do not match, an invalid range, or more names than a machine can have nodes.
pub fn expand(text: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for item in items(text)? {
        let item = item.trim();
        if item.is_empty() {
            return Err(format!("'{text}' has an empty name"));
        }
        let mut found = vec![String::new()];
        let mut rest = item;
        while let Some((before, after)) = rest.split_once('[') {
            let (inside, after) = after.split_once(']').expect("brackets were counted");
            found.iter_mut().for_each(|name| name.push_str(before));
            let numbers = numbers(inside)?;
            if found.len().saturating_mul(numbers.len()).saturating_add(names.len()) > LIMIT as usize {
                return Err(format!("'{item}' stands for more than {LIMIT} names"));
            }
            found = found.iter().flat_map(|name| numbers.iter().map(move |number| format!("{name}{number}"))).collect();
            rest = after;
        }
        found.iter_mut().for_each(|name| name.push_str(rest));
        names.append(&mut found);
    }
    Ok(names)
}

/// The parts between commas outside brackets.
fn items(text: &str) -> Result<Vec<&str>, String> {
    let (mut items, mut start, mut inside) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '[' if !inside => inside = true,
            ']' if inside => inside = false,
            '[' | ']' => return Err(format!("'{text}' has an unmatched '{c}'")),
            ',' if !inside => {
                items.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if inside {
        return Err(format!("'{text}' lacks a ']'"));
    }
    items.push(&text[start..]);
    Ok(items)
}

/// The numbers of a bracket, each with its leading zeros.
fn numbers(inside: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for range in inside.split(',').map(str::trim) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let digits = |text: &str| !text.is_empty() && text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit());
        let (true, true) = (digits(first), digits(last)) else {
            return Err(format!("'[{inside}]': '{range}' is neither a number nor a range"));
        };
        let (from, to): (u32, u32) = (first.parse().expect("digits"), last.parse().expect("digits"));
        if to < from || to - from >= LIMIT {
            return Err(format!("'[{inside}]': the range '{range}' is reversed or too long"));
        }
        let width = first.len();
        found.extend((from..=to).map(|number| format!("{number:0width$}")));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_slurm() {
        let names = |text: &str| expand(text).unwrap();
        assert_eq!(names("nid[001-003,010],login1"), ["nid001", "nid002", "nid003", "nid010", "login1"]);
        assert_eq!(names("r[1-2]n[0-1]-ib"), ["r1n0-ib", "r1n1-ib", "r2n0-ib", "r2n1-ib"]);
        assert_eq!(names("n[9-11]"), ["n9", "n10", "n11"]);
        assert_eq!(names("g0r1c2n3"), ["g0r1c2n3"]);
        for (text, why) in [
            ("n[1-2", "lacks a ']'"),
            ("n1]", "has an unmatched ']'"),
            ("n[[1]]", "has an unmatched '['"),
            ("a,,b", "has an empty name"),
            ("", "has an empty name"),
            ("n[a-b]", "'a-b' is neither"),
            ("n[3-1]", "is reversed"),
            ("n[0-9999999]m[0-9999999]", "more than"),
            ("n[]", "'' is neither"),
        ] {
            let reason = expand(text).unwrap_err();
            assert!(reason.contains(why), "{text}: {reason}");
        }
    }
}
