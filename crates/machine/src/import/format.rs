//! A format of machine files.

use crate::{MachineBuilder, MachineError};
use odonata_declare::{Parameter, ParameterStruct, Parameters, Reader};

/// A format: its parameters, and its reader.
pub trait Format: ParameterStruct {
    /// The machine in the file called `label`; `files` opens the files that belong to it.
    ///
    /// # Errors
    /// Another file that can't be opened, or an error of the reader.
    fn read(&self, bytes: &[u8], label: &str, files: &mut dyn Reader) -> Result<MachineBuilder, FormatError>;
}

/// A file that gives no machine.
#[derive(Debug)]
pub enum FormatError {
    /// A file that can't be opened: its key, and the reason.
    Unreadable(&'static str, String),
    /// An error of the reader.
    Machine(MachineError),
}

impl From<MachineError> for FormatError {
    fn from(error: MachineError) -> Self {
        Self::Machine(error)
    }
}

/// A format whose files contain everything.
#[derive(Clone, Debug)]
pub(super) struct Complete(pub(super) fn(&[u8], &str, &mut dyn Reader) -> Result<MachineBuilder, FormatError>);

impl Parameters for Complete {
    const PARAMETERS: &'static [Parameter<Self>] = &[];
}

impl Format for Complete {
    fn read(&self, bytes: &[u8], label: &str, files: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
        self.0(bytes, label, files)
    }
}
