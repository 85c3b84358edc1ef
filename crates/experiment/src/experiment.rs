//! An experiment as it was given.

use crate::spec::{self, ExperimentSpec, SweepAxis};
use odonata_document::{format, Document, Files, Problems};
use serde_json::Value;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The text of an experiment, the path that problems name, and overrides. It never changes, and is parsed once.
#[derive(Clone, Debug)]
pub struct Experiment {
    text: Arc<str>,
    path: Arc<str>,
    overrides: Vec<String>,
    files: Files<'static>,
    /// The tree of the text without overrides, once it was needed.
    tree: Arc<OnceLock<Result<Document, Problems>>>,
}

impl Experiment {
    /// An experiment without overrides. File names in it start from the directory of `path`, which need not exist.
    pub fn new(text: impl AsRef<str>, path: impl AsRef<str>) -> Self {
        let (text, path) = (text.as_ref().into(), path.as_ref());
        let files = Files::next_to(Path::new(path));
        Self { text, path: path.into(), overrides: Vec::new(), files, tree: Arc::default() }
    }

    /// The same with other files.
    #[must_use]
    pub fn with_files(self, files: Files<'static>) -> Self {
        Self { files, ..self }
    }

    /// The same with further overrides `KEY=VALUE`.
    #[must_use]
    pub fn with_overrides(mut self, more: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.overrides.extend(more.into_iter().map(Into::into));
        self
    }

    /// The experiment in the present format; see [`format::upgrade`].
    ///
    /// # Errors
    /// No TOML, or a sweep of version 1 that has no equal now.
    pub fn upgraded(&self) -> Result<Self, Problems> {
        let text = format::upgrade(&self.text, &self.path)?.into();
        Ok(Self { text, tree: Arc::default(), ..self.clone() })
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The path that problems name.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Its overrides, in order.
    pub fn overrides(&self) -> &[String] {
        &self.overrides
    }

    /// The files that it names.
    pub(crate) fn files(&self) -> Files<'static> {
        self.files.clone()
    }

    /// What was written, overrides applied.
    pub(crate) fn document(&self) -> Result<Document, Problems> {
        let tree = self.tree.get_or_init(|| Document::parse(&self.text, &self.path));
        spec::overridden(tree.clone()?, &self.overrides)
    }

    /// The words: sections with checked values.
    ///
    /// # Errors
    /// All mistakes that were found: in the overrides, or else in the TOML, or else in keys and values.
    pub fn spec(&self) -> Result<ExperimentSpec, Problems> {
        ExperimentSpec::read(self.document()?)
    }

    /// The axes of `[interference]` and `[sweep]`, with each value tried alone as an override.
    ///
    /// # Errors
    /// All mistakes in the file, or else all keys and values of the sweep that it does not take.
    pub fn sweep(&self) -> Result<Vec<SweepAxis>, Problems> {
        let spec = self.spec()?;
        self.check_sweep(&spec)?;
        Ok(spec.into_sweep())
    }

    pub(crate) fn check_sweep(&self, spec: &ExperimentSpec) -> Result<(), Problems> {
        spec.check_sweep(|changes| self.clone().with_overrides(changes).spec().map(drop))
    }

    /// Every job alone, as an axis: the others idle or absent, as `[interference]` says.
    ///
    /// # Errors
    /// All mistakes in the file.
    pub fn alone(&self) -> Result<SweepAxis, Problems> {
        Ok(self.spec()?.alone())
    }

    /// The values of `[optimize]`, given or by default. None without the section.
    ///
    /// # Errors
    /// All mistakes in the file.
    pub fn optimize(&self) -> Result<Vec<(&'static str, Value)>, Problems> {
        Ok(self.spec()?.optimize)
    }

    /// The values of `[cluster]`, given or by default: memory in bytes. None without the section.
    ///
    /// # Errors
    /// All mistakes in the file.
    pub fn cluster(&self) -> Result<Vec<(&'static str, Value)>, Problems> {
        Ok(self.spec()?.cluster)
    }
}

impl PartialEq for Experiment {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, &self.path, &self.overrides) == (&other.text, &other.path, &other.overrides)
    }
}

impl Eq for Experiment {}

impl Hash for Experiment {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // A text may have megabytes, and differing ones mostly differ in length.
        (self.text.len(), &self.path, &self.overrides).hash(state);
    }
}
