//! What refuses a setting.

/// A setting that can't be.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{setting}: {reason}")]
pub struct SettingsError {
    /// Name of the setting as the user writes it.
    pub setting: String,
    /// What is wrong and what was expected.
    pub reason: String,
}
