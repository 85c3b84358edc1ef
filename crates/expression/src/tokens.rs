//! Names, numbers and signs of a line.

use crate::mistake::Mistake;

/// A token and its column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    /// Column, from 1.
    pub column: u32,
    /// The token.
    pub word: Word,
}

/// A token without its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Word {
    /// A letter or `_`, then also digits.
    Name(String),
    /// Digits with optional decimals.
    Number(String),
    /// An operator, a parenthesis or another sign.
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

/// Longer ones first.
const SIGNS: [&str; 19] =
    ["..", "==", "!=", "<=", ">=", "(", ")", "[", "]", ",", ":", "+", "-", "*", "/", "%", "<", ">", "="];

/// The tokens of line `number`. The names in `hyphenated` contain a hyphen, which is a minus elsewhere.
///
/// # Errors
/// A character that starts no token.
pub fn tokens(number: u32, line: &str, hyphenated: &[&str]) -> Result<Vec<Token>, Mistake> {
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
                for name in hyphenated {
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
