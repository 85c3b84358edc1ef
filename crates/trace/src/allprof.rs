//! Calls of MPI in the text files of liballprof, one file per rank.
//!
//! ```text
//! NAME:start:argument: .. :end
//! ```
//! Times are in microseconds, `-` before `MPI_Init` and after `MPI_Finalize`. An argument is a number or an address; of a
//! data type `id,size,extent`, of a communicator `handle,rank,size`. An array is an address; a list of counts may follow.

use crate::input::Lines;
use std::io::BufRead;

/// Whether a file begins like these traces.
pub fn is_allprof(start: &[u8]) -> bool {
    let start = &start[..start.len().min(4096)];
    let mut lines = start.split(|&byte| byte == b'\n');
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"#")).unwrap_or_default();
    first.starts_with(b"MPI_Init:-:") || first.starts_with(b"MPI_Init_thread:-:")
}

/// A call of MPI.
#[derive(Clone, PartialEq, Debug)]
pub struct AllprofCall<'a> {
    /// Its line.
    pub line: u64,
    /// Its name, without `MPI_`.
    pub name: &'a str,
    /// Start and end in us, where they are known.
    pub start_us: Option<f64>,
    /// The end.
    pub end_us: Option<f64>,
    arguments: Vec<&'a str>,
}

/// A communicator as an argument shows it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AllprofCommunicator {
    /// Its handle, local to the rank.
    pub handle: u64,
    /// The rank in it.
    pub rank: u32,
    /// Its number of ranks.
    pub ranks: u32,
}

/// The calls of a file.
pub struct AllprofCalls<'a> {
    lines: Lines<'a>,
}

impl<'a> AllprofCalls<'a> {
    /// The calls of a text. `label` is its name for messages.
    pub fn new(label: &'a str, input: &'a mut dyn BufRead) -> Self {
        Self { lines: Lines::new(label, input) }
    }

    /// Follows each call.
    ///
    /// # Errors
    /// A line that is no call, or a mistake of `follow`, with its place.
    pub fn each(&mut self, mut follow: impl FnMut(&AllprofCall<'_>) -> Result<(), String>) -> Result<(), String> {
        loop {
            let number = self.lines.number + 1;
            let Some(text) = self.lines.next()? else { return Ok(()) };
            if text.trim().is_empty() || text.starts_with('#') {
                continue;
            }
            let followed = AllprofCall::parse(text, number).and_then(|call| follow(&call));
            followed.map_err(|reason| self.lines.mistake(&reason))?;
        }
    }
}

impl<'a> AllprofCall<'a> {
    fn parse(text: &'a str, line: u64) -> Result<Self, String> {
        let mut parts: Vec<&str> = text.trim_end().split(':').collect();
        let name = parts[0].strip_prefix("MPI_").filter(|_| parts.len() >= 3);
        let name = name.ok_or("no call; expected MPI_NAME:START: .. :END")?;
        let time = |word: &str| match word {
            "-" => Ok(None),
            word => match word.parse::<f64>() {
                // A float is exact to 1/256 us up to there: 1,100 years.
                Ok(time) if (0.0..=3.5e16).contains(&time) => Ok(Some(time)),
                _ => Err(format!("time '{word}'; expected microseconds, or '-'")),
            },
        };
        let (start_us, end_us) = (time(parts[1])?, time(parts.pop().unwrap_or_default())?);
        Ok(Self { line, name, start_us, end_us, arguments: parts.split_off(2) })
    }

    /// Number of arguments, with lists as arguments of their own.
    pub fn len(&self) -> usize {
        self.arguments.len()
    }

    /// Whether it has no arguments.
    pub fn is_empty(&self) -> bool {
        self.arguments.is_empty()
    }

    fn word(&self, at: usize) -> Result<&'a str, String> {
        let count = self.arguments.len();
        self.arguments
            .get(at)
            .copied()
            .ok_or_else(|| format!("MPI_{} has {count} arguments; expected more than {at}", self.name))
    }

    /// Argument `at`, a whole number.
    ///
    /// # Errors
    /// It is missing or no number.
    pub fn number(&self, at: usize) -> Result<i64, String> {
        let word = self.word(at)?;
        word.parse().map_err(|_| format!("argument {} is '{word}'; expected a whole number", at + 1))
    }

    /// Argument `at`, an address.
    ///
    /// # Errors
    /// As of [`Self::number`].
    pub fn address(&self, at: usize) -> Result<u64, String> {
        // The authors' sample has negative ones.
        let word = self.word(at)?;
        let signed = || word.parse::<i64>().map(|number| number as u64);
        word.parse().or_else(|_| signed()).map_err(|_| format!("argument {} is '{word}'; expected an address", at + 1))
    }

    /// Numbers of argument `at`, with commas between them.
    ///
    /// # Errors
    /// As of [`Self::number`].
    pub fn list(&self, at: usize) -> Result<Vec<i64>, String> {
        let word = self.word(at)?;
        let parsed = word.split(',').map(str::parse).collect::<Result<_, _>>();
        parsed.map_err(|_| format!("argument {} is '{word}'; expected numbers and commas", at + 1))
    }

    /// Size in bytes of the data type in argument `at`.
    ///
    /// # Errors
    /// It is no data type.
    pub fn type_size(&self, at: usize) -> Result<u64, String> {
        let word = self.word(at)?;
        let size = word.split(',').nth(1).and_then(|size| size.parse().ok());
        size.ok_or_else(|| format!("argument {} is '{word}'; expected a data type ID,SIZE,EXTENT", at + 1))
    }

    /// The communicator in argument `at`.
    ///
    /// # Errors
    /// It is no communicator.
    pub fn communicator(&self, at: usize) -> Result<AllprofCommunicator, String> {
        let word = self.word(at)?;
        let parsed = || {
            let (handle, rest) = word.split_once(',')?;
            let (rank, ranks) = rest.split_once(',')?;
            let handle = handle.parse::<u64>().ok().or_else(|| handle.parse::<i64>().ok().map(|of| of as u64))?;
            Some(AllprofCommunicator { handle, rank: rank.parse().ok()?, ranks: ranks.parse().ok()? })
        };
        let found = parsed().filter(|found| found.rank < found.ranks);
        found.ok_or_else(|| format!("argument {} is '{word}'; expected a communicator HANDLE,RANK,SIZE", at + 1))
    }
}
