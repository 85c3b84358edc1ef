//! What can be wrong with a description of hardware.

/// A description that is no machine: what is wrong, where, and what to do.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MachineError {
    /// A parameter of a family or an edit is out of range.
    #[error("{parameter}: {reason}")]
    Parameter {
        /// Name of the parameter as the user writes it (`a`, `groups`, `edit`).
        parameter: String,
        /// What is wrong and what was expected.
        reason: String,
    },
    /// A router has more cables than ports.
    #[error("router {router} needs {needed} {class} ports but has {budget}; remove cables there or raise ports_per_router of class {class}")]
    Ports {
        /// Name of the router.
        router: String,
        /// Name of the link class, or `network` for all classes together.
        class: String,
        /// Ports that the cabling asks for.
        needed: usize,
        /// Ports there are.
        budget: usize,
    },
    /// A name that is none, with the nearest known ones.
    #[error("unknown {kind} '{name}'{hint}")]
    Unknown {
        /// What it should have been (`preset`, `link class`, `router`).
        kind: &'static str,
        /// As written.
        name: String,
        /// `; did you mean …?` or `; known: …`, or nothing.
        hint: String,
    },
    /// A file that can't be read as what it should be.
    #[error("{file}:{place}: {reason}")]
    File {
        /// Path as given.
        file: String,
        /// `line 12` or `byte 144`.
        place: String,
        /// What is wrong and what was expected.
        reason: String,
    },
}
