//! One line of a trace: `rank action arguments`, and an optional `on` communicator.

use crate::call::ANY;
use odonata_declare::hint;

/// Wildcard for a rank.
const ANY_SOURCE: i64 = -333;
/// Wildcard for a tag.
const ANY_TAG: i64 = -444;
/// Limit on bytes of a message and on operations between two calls. Larger values are errors in the file.
const MAX_AMOUNT: f64 = (1u64 << 50) as f64;

/// Sizes of data types by their number in a trace, in bytes, on a 64-bit Linux machine.
const TYPES: [u64; 51] = [
    8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8, 8, 16, 16, 8, 8, 8,
    16, 16, 4, 4, 8, 16, 8, 16, 16, 1, 2, 4, 8, 16, 0,
];
/// `MPI_PACKED`.
const PACKED: usize = 57;

/// The words of a line.
pub(super) struct Line<'a> {
    words: Vec<&'a str>,
    /// Its communicator, if given.
    on: Option<&'a str>,
    /// Its number in the file.
    pub(super) number: u32,
}

impl<'a> Line<'a> {
    pub(super) fn new(line: &'a str, number: u32) -> Self {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let on = match words[..] {
            [_, _, .., "on", communicator] => Some(communicator),
            _ => None,
        };
        if on.is_some() {
            words.truncate(words.len() - 2);
        }
        Self { words, on, number }
    }

    /// Its communicator. 0 is the world communicator.
    pub(super) fn communicator(&self) -> Result<u32, String> {
        let Some(word) = self.on else { return Ok(0) };
        word.parse().map_err(|_| format!("communicator '{word}'; expected a whole number"))
    }

    /// A number of a counted thing, from 0.
    pub(super) fn count(&self, at: usize, what: &str) -> Result<u32, String> {
        let count = self.integer(at, what)?;
        u32::try_from(count).map_err(|_| format!("{what} {count}; expected 0 to {}", u32::MAX))
    }

    /// Its rank.
    pub(super) fn rank(&self) -> Result<u32, String> {
        let word = self.words.first().copied().unwrap_or_default();
        word.parse().map_err(|_| format!("'{word}' is not a rank; expected 'RANK ACTION ARGUMENTS'"))
    }

    /// Its action, in lower case.
    pub(super) fn action(&self) -> Result<String, String> {
        self.words
            .get(1)
            .map(|word| word.to_ascii_lowercase())
            .ok_or_else(|| "no action; expected one after the rank".into())
    }

    /// Number of arguments.
    pub(super) fn len(&self) -> usize {
        self.words.len().saturating_sub(2)
    }

    pub(super) fn has_arguments(&self) -> bool {
        self.len() > 0
    }

    /// Checks that there are `least` to `most` arguments.
    pub(super) fn expect(&self, least: usize, most: usize) -> Result<(), String> {
        let (count, action) = (self.len(), self.words[1]);
        if (least..=most).contains(&count) {
            return Ok(());
        }
        let wanted = if least == most { least.to_string() } else { format!("{least} to {most}") };
        Err(format!("'{action}' has {count} arguments; expected {wanted}"))
    }

    /// Argument `at`.
    fn word(&self, at: usize) -> Result<&'a str, String> {
        self.words
            .get(at + 2)
            .copied()
            .ok_or_else(|| format!("'{}' ends after {} arguments", self.words[1], self.len()))
    }

    fn integer(&self, at: usize, what: &str) -> Result<i64, String> {
        let word = self.word(at)?;
        word.parse().map_err(|_| format!("{what} '{word}'; expected a whole number"))
    }

    /// A number of elements or of operations, not negative.
    pub(super) fn amount(&self, at: usize, what: &str) -> Result<f64, String> {
        let word = self.word(at)?;
        match word.parse::<f64>() {
            Ok(amount) if (0.0..=MAX_AMOUNT).contains(&amount) => Ok(amount),
            Ok(_) => Err(format!("{what} {word}; expected 0 to 2^50")),
            Err(_) => Err(format!("{what} '{word}'; expected a number")),
        }
    }

    /// A rank, one of `ranks`.
    pub(super) fn peer(&self, at: usize, ranks: u32) -> Result<u32, String> {
        let peer = self.integer(at, "rank")?;
        let known = u32::try_from(peer).ok().filter(|&peer| peer < ranks);
        known.ok_or_else(|| {
            let whole = if self.on.is_some() { "communicator" } else { "job" };
            format!("rank {peer}, but the {whole} has {ranks} ranks, which count from 0")
        })
    }

    /// A rank or `ANY`.
    pub(super) fn sender(&self, at: usize, ranks: u32) -> Result<u32, String> {
        if self.integer(at, "rank")? == ANY_SOURCE {
            return Ok(ANY);
        }
        self.peer(at, ranks)
    }

    /// A tag or `ANY`.
    pub(super) fn tag(&self, at: usize) -> Result<u32, String> {
        let tag = self.integer(at, "tag")?;
        if tag == ANY_TAG {
            return Ok(ANY);
        }
        let known = u32::try_from(tag).ok().filter(|&tag| tag < ANY);
        known.ok_or_else(|| format!("tag {tag}; expected 0 to {}, or {ANY_TAG} for any", ANY - 1))
    }

    /// Whether argument `at`, a tag, belongs to a nonblocking collective of the library.
    pub(super) fn is_internal(&self, at: usize) -> Result<bool, String> {
        let tag = self.integer(at, "tag")?;
        Ok(tag < 0 && tag != ANY_TAG)
    }

    /// Element size of the data type with the number in argument `at`, or the `default`.
    pub(super) fn element(&self, at: usize, default: u64) -> Result<u64, String> {
        if at >= self.len() {
            return Ok(default);
        }
        let number = self.integer(at, "data type")?;
        let size = usize::try_from(number).ok().and_then(|number| match number {
            PACKED => Some(1),
            _ => TYPES.get(number).copied().filter(|&size| size > 0),
        });
        size.ok_or_else(|| match number {
            -1 => "a user-defined data type (-1), whose size is not in the trace".to_owned(),
            _ => format!("unknown data type {number}; expected 0 to 49, or {PACKED}"),
        })
    }

    /// Bytes of the number of elements in argument `at`.
    pub(super) fn bytes(&self, at: usize, element: u64) -> Result<u64, String> {
        let bytes = self.amount(at, "size")? * element as f64;
        if bytes > MAX_AMOUNT {
            return Err(format!("{bytes} bytes; expected at most 2^50"));
        }
        Ok(bytes.round() as u64)
    }

    /// Bytes of the blocks of `count` ranks from argument `at`.
    pub(super) fn blocks(&self, at: usize, count: u32, element: u64) -> Result<Vec<u64>, String> {
        (at..at + count as usize).map(|at| self.bytes(at, element)).collect()
    }

    /// Error for an unknown action.
    pub(super) fn unknown(&self, known: &[&str]) -> String {
        let action = self.words[1];
        format!("unknown action '{action}'{}", hint(action, known.iter().copied()))
    }
}
