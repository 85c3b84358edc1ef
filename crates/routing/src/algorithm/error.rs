//! The reasons why an algorithm can't be built.

/// An algorithm that can't run on a machine, or a wrong setting.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RoutingError {
    /// No hop-by-hop algorithm has that name.
    #[error("unknown routing algorithm '{name}'{hint}")]
    Unknown {
        /// Requested name.
        name: String,
        /// Nearest known name, or all of them.
        hint: String,
    },
    /// The machine does not fit the algorithm.
    #[error("routing '{algorithm}': {reason}")]
    Machine {
        /// Name of the algorithm.
        algorithm: String,
        /// What is missing.
        reason: String,
    },
    /// A setting is out of range.
    #[error("{setting}: {reason}")]
    Setting {
        /// Key as the user writes it.
        setting: String,
        /// Expected value.
        reason: String,
    },
}

impl RoutingError {
    /// The error on plane `number`.
    #[must_use]
    pub fn in_plane(self, number: usize) -> Self {
        match self {
            Self::Machine { algorithm, reason } => {
                Self::Machine { algorithm, reason: format!("plane {number}: {reason}") }
            }
            other => other,
        }
    }
}

/// A [`RoutingError`] of an algorithm that does not know its own name.
#[derive(Debug)]
pub enum Refusal {
    /// What the machine lacks.
    Machine(String),
    /// The parameter, and the expected value.
    Setting(&'static str, String),
}

impl Refusal {
    /// The error of the algorithm called `algorithm`.
    pub(crate) fn of(self, algorithm: &str) -> RoutingError {
        match self {
            Self::Machine(reason) => RoutingError::Machine { algorithm: algorithm.to_owned(), reason },
            Self::Setting(name, reason) => RoutingError::Setting { setting: format!("routing.{name}"), reason },
        }
    }
}
