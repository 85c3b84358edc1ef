//! From keys to settings: which closed form, and its parameters.

use crate::parameters::MACHINES;
use odonata_declare::{Family, Key, Kind, Value, Variant, VariantInfo};
use odonata_document::{Fields, ProblemKind, Report};
use odonata_model::pricing::Pricing;
use odonata_model::Constants;

/// The closed forms of all crates.
pub(super) fn forms() -> impl Iterator<Item = &'static Variant<dyn Pricing>> {
    odonata_model::FORMS.iter().chain(odonata_amg::FORMS)
}

static FORM: Family = Family::new("form", || forms().map(VariantInfo::of).collect());

/// The keys of the engine: which form, what was measured, and the parameters of all forms. Forms that have a parameter of
/// the same name mean the same by it.
pub(super) fn keys() -> Vec<Key> {
    let mut keys = vec![
        Key::with_default(
            "form",
            Kind::Choice(FORM.choices()),
            Value::text(FORM.variants()[0].name),
            "Closed form that gives the time of the jobs.",
        )
        .deciding(),
        Key::with_default(
            "parameters",
            Kind::KnownOrPath(MACHINES),
            Value::text("eos"),
            "The machine's measured constants: the name of a set that comes with the package, or a TOML file with the same keys.",
        )
        .deciding(),
    ];
    for key in FORM.variants().iter().flat_map(|form| &form.keys) {
        if keys.iter().all(|known| known.name != key.name) {
            keys.push(key.clone());
        }
    }
    keys
}

/// The model engine with its settings; the form is complete once the files were read.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) form: &'static str,
    pub(super) pricing: Box<dyn Pricing>,
    pub(super) parameters: String,
}

pub(super) fn read(fields: &Fields, report: &mut Report<'_>) -> Model {
    let known = fields.text("form").and_then(|name| forms().find(|form| form.name == name));
    let form = known.unwrap_or(&odonata_model::FORMS[0]);
    let named = FORM.variant(form.name).expect("every form is a variant");
    let mut pricing = (form.default)();
    for (key, given) in fields.all_given().filter(|(key, _)| !["form", "parameters"].contains(key)) {
        if named.keys.iter().any(|own| own.name == key) {
            pricing.set(key, &given.value);
        } else if known.is_some() {
            // A form that there is not was reported; what it would mean to other keys is not known.
            let owners = FORM.variants().iter().filter(|form| form.keys.iter().any(|own| own.name == key));
            let owners: Vec<String> = owners.map(|form| format!("\"{}\"", form.name)).collect();
            let message =
                format!("'{key}' means something only with form = {}, not \"{}\"", owners.join(" or "), form.name);
            report.add(ProblemKind::Conflict, given.place, message, None);
        }
    }
    for (key, message) in pricing.mistakes() {
        report.add(ProblemKind::Value, fields.place_of(key), message, None);
    }
    Model { form: form.name, pricing, parameters: fields.text("parameters").unwrap_or_default().to_owned() }
}

impl Model {
    /// Takes the constants for what the keys leave open. What a key can say is rounded as the key would be, so that the
    /// resolved file gives the same run. `parameters` is how the set is called elsewhere.
    pub(super) fn complete(&mut self, constants: &Constants, parameters: String) {
        self.pricing.complete(constants);
        self.parameters = parameters;
    }

    /// Every key with its value.
    pub(super) fn all_keys(&self) -> Vec<(&'static str, Value)> {
        let mut all = vec![("form", Value::text(self.form)), ("parameters", Value::text(&self.parameters))];
        all.extend(self.pricing.values());
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What one key of the file says is read alike by every form that has it.
    #[test]
    fn forms_agree_on_the_keys_that_they_share() {
        let keys = keys();
        for form in FORM.variants() {
            for own in &form.keys {
                let shown = keys.iter().find(|key| key.name == own.name).unwrap();
                assert_eq!((shown, shown.doc), (own, own.doc), "{}", form.name);
            }
        }
    }
}
