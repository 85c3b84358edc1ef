//! Named rules as users write them: a name, its parameters, and the parameters of its family.

use crate::{try_set, ParameterError, ParameterStruct, Parameters, Value, Variant};
use std::sync::Arc;

/// Specification of a rule. `C` has the parameters of the family.
#[derive(Debug)]
pub struct RuleSpec<R: ?Sized, C> {
    /// Name of the family in messages.
    noun: &'static str,
    name: &'static str,
    rule: Arc<R>,
    common: C,
}

// Explicit, because a rule behind a pointer may not be `Clone`.
impl<R: ?Sized, C: Clone> Clone for RuleSpec<R, C> {
    fn clone(&self) -> Self {
        Self { noun: self.noun, name: self.name, rule: Arc::clone(&self.rule), common: self.common.clone() }
    }
}

impl<R: ParameterStruct + ?Sized + 'static, C: Parameters + Default> RuleSpec<R, C> {
    /// A rule with its default parameters.
    pub fn of(noun: &'static str, variant: &'static Variant<R>) -> Self {
        Self { noun, name: variant.name, rule: Arc::from((variant.default)()), common: C::default() }
    }

    /// Sets one parameter.
    ///
    /// # Errors
    /// An unknown parameter, with the nearest known one, or a value of the wrong kind.
    ///
    /// # Panics
    /// If the rule is shared.
    pub fn set(&mut self, parameter: &str, value: &Value) -> Result<(), ParameterError> {
        let owner = format!("{} '{}'", self.noun, self.name);
        let set = match self.common.keys().iter().any(|key| key.name == parameter) {
            true => try_set(&mut self.common, parameter, value),
            false => try_set(self.rule_mut(), parameter, value),
        };
        set.map_err(|reason| ParameterError::new(owner, parameter, reason))
    }

    /// All parameters and their values, including defaults.
    pub fn values(&self) -> Vec<(&'static str, Value)> {
        let mut values = self.rule.values();
        values.extend(self.common.values());
        values
    }

    /// The rule with its parameters.
    pub fn rule(&self) -> &Arc<R> {
        &self.rule
    }

    /// The rule, for changes.
    ///
    /// # Panics
    /// If the rule is shared.
    pub fn rule_mut(&mut self) -> &mut R {
        let noun = self.noun;
        Arc::get_mut(&mut self.rule).unwrap_or_else(|| panic!("a {noun} is set before it is shared"))
    }

    /// The parameters of the family.
    pub fn common(&self) -> &C {
        &self.common
    }

    /// Name of the rule.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Owner for errors: the rule of this job.
    pub fn owner(&self, job: &str) -> String {
        format!("job '{job}': {} '{}'", self.noun, self.name)
    }
}
