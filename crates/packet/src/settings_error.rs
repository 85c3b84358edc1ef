//! Errors of settings.

/// An invalid setting.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{setting}: {reason}")]
pub struct SettingsError {
    /// Name of the setting as the user writes it.
    pub setting: String,
    /// Reason and expected value.
    pub reason: String,
}

impl SettingsError {
    /// The same for a setting of `section`.
    pub(crate) fn under(self, section: &str) -> Self {
        Self { setting: format!("{section}.{}", self.setting), ..self }
    }
}
