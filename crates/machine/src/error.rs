//! Errors in the description of a machine.

/// A description that is not a machine: the mistake, its place, and the expected value.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MachineError {
    /// A parameter of a family or an edit is out of range.
    #[error("{parameter}: {reason}")]
    Parameter {
        /// Name of the parameter as the user writes it (`a`, `groups`, `edit`).
        parameter: String,
        /// The mistake, and the expected value.
        reason: String,
    },
    /// A router has more cables and NICs than ports.
    #[error("router {router} needs {} ports ({cables} of cables, {nics} of nodes) but has {budget}; remove cables or nodes there, or give it more ports", cables + nics)]
    Ports {
        /// Name of the router.
        router: String,
        /// Ports that cables take.
        cables: usize,
        /// Ports that the NICs of nodes take.
        nics: usize,
        /// Ports that the router has.
        budget: usize,
    },
    /// A router has more cables of a class than its budget.
    #[error("router {router} needs {needed} {class} ports but has {budget}; remove cables there or raise ports_per_router of class {class}")]
    ClassPorts {
        /// Name of the router.
        router: String,
        /// Name of the link class.
        class: String,
        /// Ports that the cabling needs.
        needed: usize,
        /// Ports that the router has.
        budget: usize,
    },
    /// An unknown name, with the nearest known ones.
    #[error("unknown {kind} '{name}'{hint}")]
    Unknown {
        /// Kind of the name (`preset`, `link class`, `router`).
        kind: &'static str,
        /// As written.
        name: String,
        /// `; did you mean …?` or `; known: …`, or nothing.
        hint: String,
    },
    /// A file that can't be read in its format.
    #[error("{file}:{place}: {reason}")]
    File {
        /// Path as given.
        file: String,
        /// `line 12` or `byte 144`.
        place: String,
        /// The mistake, and the expected value.
        reason: String,
    },
}

/// A wrong parameter.
pub(crate) fn wrong<T>(parameter: &str, reason: String) -> Result<T, MachineError> {
    Err(MachineError::Parameter { parameter: parameter.into(), reason })
}
