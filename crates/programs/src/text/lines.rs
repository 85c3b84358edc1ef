//! Lines of a program: indentation and tokens.

use crate::call::Operation;
use odonata_expression::{tokens, Mistake, Token, TokenCursor, Word};

/// A line that is not empty.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) number: u32,
    pub(super) indent: u32,
    pub(super) tokens: Vec<Token>,
    /// Text after the first word.
    pub(super) rest: String,
    /// The column after the last character.
    pub(super) end: u32,
}

impl Line {
    /// A cursor at the first word.
    pub(super) fn all_words(&self) -> TokenCursor<'_> {
        TokenCursor::new(self.number, &self.tokens, self.end)
    }

    /// A cursor after the first word.
    pub(super) fn words(&self) -> TokenCursor<'_> {
        self.all_words().after_first()
    }
}

/// All lines with words. Comments go to the end of the line.
pub(super) fn lines(text: &str) -> Result<Vec<Line>, Mistake> {
    let hyphenated = [Operation::ReduceScatter.name(), Operation::ReduceScatter.nonblocking_name()];
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim_end();
        let indent = line.chars().take_while(|&c| c == ' ').count();
        let mistake = |column: usize, reason: String| Err(Mistake::new(number, column as u32, reason));
        if line.chars().nth(indent) == Some('\t') {
            return mistake(indent + 1, "a tab; expected spaces for indentation".into());
        }
        let tokens = tokens(number, line, &hyphenated)?;
        if let Some(first) = tokens.first() {
            let length = if let Word::Name(name) = &first.word { name.chars().count() } else { 0 };
            let rest: String = line.chars().skip(indent + length).collect();
            let end = line.chars().count() as u32 + 1;
            lines.push(Line { number, indent: indent as u32, tokens, rest: rest.trim().to_owned(), end });
        }
    }
    Ok(lines)
}
