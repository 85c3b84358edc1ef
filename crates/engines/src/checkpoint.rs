//! Checkpoints of a run: their origin, and how to resume from one.

use odonata_checkpoint::{CheckpointError, CheckpointReader, DecodeError};
use odonata_document::InputFile;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::BufReader;
use std::path::Path;

/// What a checkpoint is of; its header.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// The version that wrote it.
    pub odonata_version: String,
    /// The experiment as it was given.
    pub experiment: String,
    /// Its file.
    pub path: String,
    /// Its overrides.
    pub overrides: Vec<String>,
    /// Every key with the value that was used.
    pub resolved: String,
    /// Files that it read: path and SHA-256.
    pub inputs: Vec<(String, String)>,
    /// How many checkpoints of the run there were before.
    pub before: u32,
    /// Simulated time at which it was taken.
    pub now_ps: u64,
}

impl Origin {
    /// Of a text, its file and overrides, that came to `resolved` and have read `inputs`.
    pub fn of(text: &str, path: &str, overrides: &[String], resolved: &str, inputs: &[InputFile]) -> Self {
        // Who goes on may be in another directory.
        let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string();
        let input = |file: &InputFile| (whole(&file.path), file.sha256.clone());
        Self {
            odonata_version: env!("CARGO_PKG_VERSION").into(),
            experiment: text.into(),
            path: if Path::new(path).is_file() { whole(Path::new(path)) } else { path.into() },
            overrides: overrides.into(),
            resolved: resolved.into(),
            inputs: inputs.iter().map(input).collect(),
            before: 0,
            now_ps: 0,
        }
    }

    /// As a header holds it.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("texts and numbers")
    }

    /// Reason why a run of `self` cannot resume from a checkpoint of `other`.
    fn differs_from(&self, other: &Self) -> Option<String> {
        let (ours, theirs) = (&self.odonata_version, &other.odonata_version);
        if ours != theirs {
            return Some(format!("was written by Odonata {theirs}, and this is {ours}: start the run again"));
        }
        if self.resolved != other.resolved {
            let differing = self.resolved.lines().zip(other.resolved.lines()).find(|(a, b)| a != b);
            let lines = differing.map_or(String::new(), |(a, b)| format!(": `{b}` there, `{a}` now"));
            return Some(format!("is of another experiment{lines}"));
        }
        let changed = self.inputs.iter().find(|input| !other.inputs.contains(input));
        changed.map(|(path, _)| format!("was taken when {path} had other content"))
    }
}

/// A time as people write it, in ps.
///
/// # Errors
/// It is none: what was expected.
pub fn time_ps(text: &str) -> Result<u64, String> {
    odonata_units::Quantity::time(text).map(odonata_units::Time::ps).map_err(|error| error.to_string())
}

/// A checkpoint that can be read.
pub struct Checkpoint {
    file: CheckpointReader<BufReader<std::fs::File>>,
    origin: Origin,
}

impl Checkpoint {
    /// Opens a file.
    ///
    /// # Errors
    /// It is no checkpoint that this version reads: why, as what follows its name.
    pub fn open(path: &Path) -> Result<Self, String> {
        let open = || -> Result<Self, CheckpointError> {
            let file = CheckpointReader::open(path)?;
            let origin = Origin::deserialize(file.header());
            let origin =
                origin.map_err(|error| CheckpointError::Damaged(DecodeError(format!("its header: {error}"))))?;
            Ok(Self { file, origin })
        };
        open().map_err(|error| format!("{} {error}", path.display()))
    }

    /// What it is of.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Whether a run may resume from it.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn check(&self, run: &Origin) -> Result<(), String> {
        run.differs_from(&self.origin).map_or(Ok(()), |why| Err(format!("the checkpoint {why}")))
    }

    pub(crate) fn part(&mut self, number: u32) -> Result<Vec<u8>, DecodeError> {
        self.file.part(number).map_err(|error| DecodeError(error.to_string()))
    }
}

impl std::fmt::Debug for Checkpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checkpoint").field("now_ps", &self.origin.now_ps).finish_non_exhaustive()
    }
}

/// The checkpoints of a run: the one to resume from, and the origin of new ones.
#[derive(Debug)]
pub struct Checkpoints {
    /// The one to resume from.
    pub from: Option<Checkpoint>,
    /// The origin of new ones.
    pub origin: Origin,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn origin(experiment: &str, inputs: &[(&str, &str)]) -> Origin {
        let input = |&(path, sha256): &(&str, &str)| InputFile {
            path: PathBuf::from(path),
            size_bytes: 1,
            sha256: sha256.into(),
        };
        let inputs: Vec<InputFile> = inputs.iter().map(input).collect();
        Origin::of(experiment, "x.toml", &[], experiment, &inputs)
    }

    /// A run resumes only if experiment, version and the content of every input file are the same.
    #[test]
    fn a_run_resumes_from_its_own_checkpoints_only() {
        let taken = origin("seed = 1\n", &[("/a", "1"), ("/b", "2")]);
        assert_eq!(taken.differs_from(&taken), None);
        let later = Origin { before: 3, now_ps: 9, ..taken.clone() };
        assert_eq!(later.differs_from(&taken), None);
        let reason = |run: &Origin| run.differs_from(&taken).unwrap();
        assert_eq!(reason(&origin("seed = 1\n", &[("/a", "1"), ("/b", "3")])), "was taken when /b had other content");
        assert_eq!(reason(&origin("seed = 1\n", &[("/a", "2"), ("/b", "2")])), "was taken when /a had other content");
        assert_eq!(reason(&origin("seed = 2\n", &[])), "is of another experiment: `seed = 1` there, `seed = 2` now");
        let older = Origin { odonata_version: "0.0.1".into(), ..taken.clone() };
        assert!(older.differs_from(&taken).unwrap().contains("start the run again"));
    }
}
