//! Lines of a program: indentation and tokens.

use super::mistake::Mistake;
use crate::call::Operation;

/// A token and its column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub(super) column: u32,
    pub(super) word: Word,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Word {
    Name(String),
    /// Digits with optional decimals.
    Number(String),
    Sign(&'static str),
}

impl std::fmt::Display for Word {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(text) | Self::Number(text) => write!(f, "'{text}'"),
            Self::Sign(sign) => write!(f, "'{sign}'"),
        }
    }
}

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

/// Longer ones first.
const SIGNS: [&str; 19] =
    ["..", "==", "!=", "<=", ">=", "(", ")", "[", "]", ",", ":", "+", "-", "*", "/", "%", "<", ">", "="];

/// All lines with words. Comments go to the end of the line.
pub(super) fn lines(text: &str) -> Result<Vec<Line>, Mistake> {
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim_end();
        let indent = line.chars().take_while(|&c| c == ' ').count();
        let mistake = |column: usize, reason: String| Err(Mistake::new(number, column as u32, reason));
        if line.chars().nth(indent) == Some('\t') {
            return mistake(indent + 1, "a tab; expected spaces for indentation".into());
        }
        let tokens = tokens(number, line)?;
        if let Some(first) = tokens.first() {
            let length = if let Word::Name(name) = &first.word { name.chars().count() } else { 0 };
            let rest: String = line.chars().skip(indent + length).collect();
            let end = line.chars().count() as u32 + 1;
            lines.push(Line { number, indent: indent as u32, tokens, rest: rest.trim().to_owned(), end });
        }
    }
    Ok(lines)
}

fn tokens(number: u32, line: &str) -> Result<Vec<Token>, Mistake> {
    let characters: Vec<char> = line.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < characters.len() {
        let start = at;
        let rest = &characters[start..];
        let run =
            |from: usize, belongs: fn(&char) -> bool| from + rest[from..].iter().take_while(|c| belongs(c)).count();
        let letter = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
        let word = match characters[at] {
            c if c.is_whitespace() => {
                at += 1;
                continue;
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let mut length = run(0, letter);
                // The only names with a hyphen, which is a minus elsewhere.
                for name in [Operation::ReduceScatter.name(), Operation::ReduceScatter.nonblocking_name()] {
                    if rest.iter().take(name.len()).copied().eq(name.chars()) {
                        length = run(name.len(), letter);
                    }
                }
                at += length;
                Word::Name(rest[..length].iter().collect())
            }
            c if c.is_ascii_digit() => {
                let digit = |c: &char| c.is_ascii_digit() || *c == '_';
                let mut length = run(0, digit);
                if rest.get(length) == Some(&'.') && rest.get(length + 1).is_some_and(char::is_ascii_digit) {
                    length = run(length + 1, digit);
                }
                at += length;
                Word::Number(rest[..length].iter().filter(|&&c| c != '_').collect())
            }
            c => {
                let starts = |sign: &&&str| sign.chars().enumerate().all(|(i, s)| rest.get(i) == Some(&s));
                let Some(sign) = SIGNS.iter().find(starts) else {
                    let reason = format!("unexpected character {c:?}");
                    return Err(Mistake::new(number, start as u32 + 1, reason));
                };
                at += sign.len();
                Word::Sign(sign)
            }
        };
        tokens.push(Token { column: start as u32 + 1, word });
    }
    Ok(tokens)
}
