//! Markdown of the generated reference pages.

/// Longest line of a page, so that a diff shows a sentence.
const WIDTH: usize = 100;

/// The page with its paragraphs and list items in lines of at most 100 characters. Tables, code blocks and headings
/// stay, and a code span stays in one line.
pub(crate) fn wrap(page: &str) -> String {
    let mut wrapped = String::with_capacity(page.len());
    let mut is_code = false;
    for line in page.lines() {
        is_code ^= line.starts_with("```");
        if is_code || line.chars().count() <= WIDTH || line.starts_with(['|', '#', '`']) {
            wrapped.push_str(line);
        } else {
            wrap_line(line, &mut wrapped);
        }
        wrapped.push('\n');
    }
    wrapped
}

fn wrap_line(line: &str, wrapped: &mut String) {
    let indent = if line.starts_with("- ") { "  " } else { "" };
    let mut length = 0;
    for word in words(line) {
        let count = word.chars().count();
        if length > 0 && length + 1 + count > WIDTH {
            wrapped.push('\n');
            wrapped.push_str(indent);
            length = indent.len();
        } else if length > 0 {
            wrapped.push(' ');
            length += 1;
        }
        wrapped.push_str(word);
        length += count;
    }
}

/// The parts of a line between its spaces, without the spaces inside code spans.
fn words(line: &str) -> Vec<&str> {
    let (mut words, mut start, mut is_span) = (Vec::new(), 0, false);
    for (at, letter) in line.char_indices() {
        is_span ^= letter == '`';
        if letter == ' ' && !is_span {
            words.push(&line[start..at]);
            start = at + 1;
        }
    }
    words.push(&line[start..]);
    words
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn paragraphs_and_items_are_wrapped_and_the_rest_stays() {
        let word = "abcdefghi ".repeat(12);
        let (word, table) = (word.trim_end(), format!("| {word} |\n"));
        let ten = "abcdefghi ".repeat(10);
        assert_eq!(wrap(word), format!("{}\nabcdefghi abcdefghi\n", ten.trim_end()));
        let item = format!("- {word}");
        let nine = "abcdefghi ".repeat(9);
        assert_eq!(wrap(&item), format!("- {}\n  abcdefghi abcdefghi abcdefghi\n", nine.trim_end()));
        assert_eq!(wrap(&table), table);
        let code = format!("```\n{word}\n```\n");
        assert_eq!(wrap(&code), code);
        let span = format!("{}`a b c`", ten);
        assert_eq!(wrap(&span), format!("{}\n`a b c`\n", ten.trim_end()));
    }
}
