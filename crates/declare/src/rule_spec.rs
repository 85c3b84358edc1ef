//! Named rules as users write them: a name, its parameters, and the parameters of its family.

use crate::{try_set, ParameterError, ParameterMistake, ParameterStruct, Parameters, Value, Variant, VariantInfo};
use std::sync::Arc;

/// A family of named rules, implemented by their trait object: patterns, programs, placements.
pub trait RuleFamily: ParameterStruct + 'static {
    /// Name of the family in messages.
    const NOUN: &'static str;
    /// The rules, in the order of the reference; the first is the default.
    const RULES: &'static [Variant<Self>];
    /// Parameters of every rule.
    type Common: Parameters + Default;
}

/// Specification of a rule.
#[derive(Debug)]
pub struct RuleSpec<R: RuleFamily + ?Sized> {
    name: &'static str,
    rule: Arc<R>,
    common: R::Common,
}

// Explicit, because a rule behind a pointer may not be `Clone`.
impl<R: RuleFamily + ?Sized> Clone for RuleSpec<R> {
    fn clone(&self) -> Self {
        Self { name: self.name, rule: Arc::clone(&self.rule), common: self.common.clone() }
    }
}

impl<R: RuleFamily + ?Sized> Default for RuleSpec<R> {
    fn default() -> Self {
        Self::of(&R::RULES[0])
    }
}

impl<R: RuleFamily + ?Sized> RuleSpec<R> {
    /// A rule with its default parameters.
    pub fn of(variant: &Variant<R>) -> Self {
        Self { name: variant.name, rule: Arc::from((variant.default)()), common: R::Common::default() }
    }

    /// The rule of the family's list called `name`, with its default parameters.
    ///
    /// # Errors
    /// An unknown name, with the nearest known one.
    pub fn parse(name: &str) -> Result<Self, String> {
        Variant::find(R::NOUN, R::RULES, name).map(Self::of)
    }

    /// Description for parser and reference: parameters of this rule and of every rule.
    pub fn named(variant: &Variant<R>) -> VariantInfo {
        let mut named = VariantInfo::of(variant);
        named.keys.extend(R::Common::default().keys());
        named
    }

    /// Sets one parameter. The build checks whether it fits the job.
    ///
    /// # Errors
    /// An unknown parameter, with the nearest known one, or a value of the wrong kind.
    ///
    /// # Panics
    /// If the rule is shared.
    pub fn set(&mut self, parameter: &str, value: impl Into<Value>) -> Result<(), ParameterError> {
        let (owner, value) = (format!("{} '{}'", R::NOUN, self.name), value.into());
        let set = match self.common.keys().iter().any(|key| key.name == parameter) {
            true => try_set(&mut self.common, parameter, &value),
            false => try_set(self.rule_mut(), parameter, &value),
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
        Arc::get_mut(&mut self.rule).unwrap_or_else(|| panic!("a {} is set before it is shared", R::NOUN))
    }

    /// The parameters of every rule.
    pub fn common(&self) -> &R::Common {
        &self.common
    }

    /// Name of the rule.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// A mistake in the parameters of this rule for a job.
    pub fn error(&self, job: &str, mistake: ParameterMistake) -> ParameterError {
        let (parameter, reason) = mistake;
        ParameterError::new(format!("job '{job}': {} '{}'", R::NOUN, self.name), parameter, reason)
    }
}
