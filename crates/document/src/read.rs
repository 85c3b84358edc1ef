//! From what was written to what a key may be.

use crate::format::new_name;
use crate::problem::{suggestion, ProblemKind};
use crate::report::Mismatch;
use crate::tree::{Node, Place, Raw};
use odonata_declare::{nearest, Choice, Key, KeyDefault, Kind, Value};
use odonata_units::{Quantity, QuantityError};

/// A value with its place.
#[derive(Clone, PartialEq, Debug)]
pub struct PlacedValue<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub place: Place,
}

/// Reads what was written at the key `key` as a value of a kind.
pub fn read(kind: &Kind, key: &str, node: &Node) -> Result<Value, Mismatch> {
    ValueReader { kind, key, node }.read()
}

/// What was written, and what it should be.
#[derive(Clone, Copy)]
struct ValueReader<'a> {
    kind: &'a Kind,
    key: &'a str,
    node: &'a Node,
}

impl<'a> ValueReader<'a> {
    fn read(self) -> Result<Value, Mismatch> {
        match self.kind {
            Kind::Text | Kind::Path | Kind::KnownOrPath(_) => self.text().map(Value::text),
            Kind::Color => self.color(),
            Kind::Flag => match self.node.raw {
                Raw::Flag(flag) => Ok(Value::Flag(flag)),
                _ => Err(self.wrong_type()),
            },
            Kind::Bytes => self.quantity(|text| Quantity::bytes(text).map(Value::Bytes)),
            Kind::Time => self.quantity(|text| Quantity::time(text).map(Value::Time)),
            Kind::Rate => self.quantity(|text| Quantity::rate(text).map(Value::Rate)),
            Kind::Seed => self.integer(0, i64::MAX),
            Kind::Integer { min, max } => self.integer(*min, *max),
            Kind::Number { min, max } => self.number(*min, *max),
            Kind::Choice(choices) => self.choice(choices),
            Kind::List(of) => match &self.node.raw {
                Raw::List(items) => {
                    items.iter().map(|item| read(of, self.key, item)).collect::<Result<_, _>>().map(Value::List)
                }
                _ => Err(self.wrong_type()),
            },
            Kind::Line(keys) => self.line(keys),
            Kind::WordOr(..) | Kind::Any(_) => self.any(&self.kind.alternatives()),
            // Code of their own reads these.
            Kind::Variant(_) | Kind::Table(_) | Kind::TableOfTables(_) => Err(self.wrong_type()),
        }
    }

    fn expected(self) -> String {
        format!("'{}' must be {}", self.key, self.kind.expected())
    }

    fn wrong(self, kind: ProblemKind, message: String, help: Option<String>) -> Mismatch {
        Mismatch::new(kind, self.node.place, message, help)
    }

    fn wrong_type(self) -> Mismatch {
        let message = format!("{}, found {}", self.expected(), self.node.raw.noun());
        self.wrong(ProblemKind::Type, message, Some(format!("write `{} = {}`", self.key, self.kind.example())))
    }

    fn out_of_range(self, found: impl std::fmt::Display) -> Mismatch {
        let message = format!("{}, found {found}", self.expected());
        self.wrong(ProblemKind::Value, message, None)
    }

    fn text(self) -> Result<&'a str, Mismatch> {
        match &self.node.raw {
            Raw::Text(text) if text.trim().is_empty() => {
                let message = format!("{}, found an empty text", self.expected());
                Err(self.wrong(ProblemKind::Value, message, None))
            }
            Raw::Text(text) => Ok(text),
            _ => Err(self.wrong_type()),
        }
    }

    fn color(self) -> Result<Value, Mismatch> {
        let text = self.text()?;
        match text.strip_prefix('#') {
            Some(digits) if digits.len() == 6 && digits.chars().all(|c| c.is_ascii_hexdigit()) => {
                Ok(Value::Text(text.to_lowercase()))
            }
            _ => {
                let message = format!("{}, found \"{text}\"", self.expected());
                let help = "write # and six hexadecimal digits: red, green, blue".to_owned();
                Err(self.wrong(ProblemKind::Value, message, Some(help)))
            }
        }
    }

    fn integer(self, min: i64, max: i64) -> Result<Value, Mismatch> {
        match &self.node.raw {
            Raw::Integer(n) if (min..=max).contains(n) => Ok(Value::Integer(*n)),
            Raw::Integer(n) if *n > max => {
                let message = format!("'{}' must be at most {max}, found {n}", self.key);
                Err(self.wrong(ProblemKind::Value, message, None))
            }
            Raw::Integer(n) => Err(self.out_of_range(n)),
            Raw::Huge(text) => {
                let message = format!("'{}' must be at most {max}, found {text}", self.key);
                Err(self.wrong(ProblemKind::Value, message, None))
            }
            _ => Err(self.wrong_type()),
        }
    }

    fn number(self, min: f64, max: f64) -> Result<Value, Mismatch> {
        let number = match self.node.raw {
            Raw::Integer(n) => n as f64,
            Raw::Float(x) => x,
            _ => return Err(self.wrong_type()),
        };
        if number.is_finite() && (min..=max).contains(&number) {
            Ok(Value::Number(number))
        } else {
            Err(self.out_of_range(number))
        }
    }

    fn choice(self, choices: &[Choice]) -> Result<Value, Mismatch> {
        let Raw::Text(text) = &self.node.raw else { return Err(self.wrong_type()) };
        let names = choices.iter().map(|choice| choice.name);
        if names.clone().any(|name| name == text) {
            return Ok(Value::text(text));
        }
        let message = format!("unknown {} '{text}'", self.key);
        Err(self.wrong(ProblemKind::Name, message, Some(suggestion(text, names))))
    }

    /// A table whose keys are all known, and all there that must be.
    fn line(self, keys: &'static [Key]) -> Result<Value, Mismatch> {
        let Raw::Table(table) = &self.node.raw else { return Err(self.wrong_type()) };
        let known = || keys.iter().map(|key| key.name);
        if let Some(unknown) = table.entries.iter().find(|entry| known().all(|name| name != entry.key)) {
            let message = format!("a line of '{}' has no key '{}'", self.key, unknown.key);
            let names: Vec<&str> = known().collect();
            let help = new_name(&unknown.key, &names).unwrap_or_else(|| suggestion(&unknown.key, known()));
            return Err(Mismatch::new(ProblemKind::UnknownKey, unknown.place, message, Some(help)));
        }
        let mut given = Vec::new();
        for key in keys {
            match table.get(key.name) {
                Some(entry) => given.push((key.name, read(&key.kind, key.name, &entry.node)?)),
                None if key.default == KeyDefault::Required => {
                    let message = format!("a line of '{}' lacks the key '{}': {}", self.key, key.name, key.brief());
                    let help = format!("add `{} = {}`", key.name, key.kind.example());
                    return Err(self.wrong(ProblemKind::MissingKey, message, Some(help)));
                }
                None => {}
            }
        }
        Ok(Value::Table(given))
    }

    fn quantity(self, parse: impl Fn(&str) -> Result<Value, QuantityError>) -> Result<Value, Mismatch> {
        let (number, size) = match &self.node.raw {
            Raw::Text(text) => {
                return parse(text).map_err(|error| {
                    let message = format!("'{}': {error}", self.key);
                    self.wrong(ProblemKind::Unit, message, self.unit_help(text))
                });
            }
            Raw::Integer(n) => (n.to_string(), *n as f64),
            Raw::Float(x) => (x.to_string(), *x),
            _ => return Err(self.wrong_type()),
        };
        let units = likely_units(self.kind, size);
        let written: Vec<String> = units.iter().map(|unit| format!("`{} = \"{number} {unit}\"`", self.key)).collect();
        let message = format!("{}, found a number without a unit", self.expected());
        let help = format!("write it as a text with its unit, like {}", written.join(" or "));
        Err(self.wrong(ProblemKind::Unit, message, Some(help)))
    }

    /// What is easily mixed up in units: bits and bytes, decimal and binary prefixes, capital letters.
    fn unit_help(self, text: &str) -> Option<String> {
        const DATA: [&str; 18] = [
            "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "b", "kb", "Mb", "Gb", "Tb", "Kib", "Mib", "Gib",
            "Tib",
        ];
        const BIT_BYTE: &str = "b is a bit and B a byte of 8 bits; MB is 1,000,000 bytes and MiB 1,048,576";
        let unit = text.trim().trim_start_matches(|c: char| c.is_ascii_digit() || "+-._ ".contains(c));
        match self.kind {
            Kind::Bytes | Kind::Rate => {
                let per_second = matches!(self.kind, Kind::Rate);
                let data = unit.strip_suffix("/s").or_else(|| unit.strip_suffix("ps")).unwrap_or(unit);
                let meant = DATA.iter().filter(|known| known.eq_ignore_ascii_case(data) && !data.is_empty());
                let meant: Vec<String> =
                    meant.map(|known| format!("'{known}{}'", if per_second { "/s" } else { "" })).collect();
                Some(match meant.is_empty() {
                    true => BIT_BYTE.to_owned(),
                    false => format!("did you mean {}? {BIT_BYTE}", meant.join(" or ")),
                })
            }
            _ => None,
        }
    }

    /// The first kind that takes what was written. If none does: a misspelt word, else the last complaint that is not of
    /// the type.
    fn any(self, kinds: &[Kind]) -> Result<Value, Mismatch> {
        let mut complaint = None;
        let mut misspelt = None;
        for kind in kinds {
            match read(kind, self.key, self.node) {
                Ok(value) => return Ok(value),
                // A value inside of the wrong type: the value itself had the right one.
                Err(mismatch) if mismatch.is(ProblemKind::Type) && !mismatch.is_inside(self.node.place) => {}
                Err(mismatch) if mismatch.is(ProblemKind::Name) && self.is_near(kind) => misspelt = Some(mismatch),
                Err(mismatch) => complaint = Some(mismatch),
            }
        }
        let expected = self.kind.expected();
        Err(misspelt.or(complaint).map_or_else(|| self.wrong_type(), |m| m.expecting(self.key, &expected)))
    }

    /// Whether the text is a slip of one of the names of a choice.
    fn is_near(self, kind: &Kind) -> bool {
        match (kind, &self.node.raw) {
            (Kind::Choice(choices), Raw::Text(text)) => nearest(text, choices.iter().map(|c| c.name)).is_some(),
            _ => false,
        }
    }
}

/// Units that a number without one may have, the likeliest first. Other programs count sizes in bytes, and large rates and
/// fractions of times in bytes per second and seconds.
fn likely_units(kind: &Kind, number: f64) -> &'static [&'static str] {
    /// No link has so many gigabytes per second, and no link is slower than this in bytes per second.
    const RATE_IN_BYTES: f64 = 1e6;
    /// Shorter times than this in nanoseconds are below the resolution, a picosecond.
    const TIME_IN_SECONDS: f64 = 1e-3;
    match kind {
        Kind::Time if number > 0.0 && number < TIME_IN_SECONDS => &["s"],
        Kind::Time => &["ns", "us"],
        Kind::Rate if number >= RATE_IN_BYTES => &["B/s", "b/s"],
        Kind::Rate => &["GB/s", "Gb/s"],
        // There is no part of a byte.
        _ if number.fract() != 0.0 => &["kB", "MB"],
        _ => &["B"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Document;
    use odonata_units::{Bytes, Rate};

    /// Reads `key = TEXT`; the message and the help of a mismatch in one line.
    fn read(kind: &Kind, text: &str) -> Result<Value, String> {
        let document = Document::parse(&format!("key = {text}"), "x.toml").unwrap();
        super::read(kind, "key", &document.root.entries[0].node).map_err(|mismatch| mismatch.to_line())
    }

    fn mistake(kind: &Kind, text: &str) -> String {
        read(kind, text).unwrap_err()
    }

    #[test]
    fn values_are_read() {
        assert_eq!(read(&Kind::Bytes, "'64 KiB'"), Ok(Value::Bytes(Bytes::kib(64))));
        assert_eq!(read(&Kind::Rate, "'8 Gb/s'"), Ok(Value::Rate(Rate::from_bytes_per_s(1_000_000_000))));
        assert_eq!(read(&Kind::Number { min: 0.0, max: 1.0 }, "1"), Ok(Value::Number(1.0)));
        assert_eq!(read(&Kind::Color, "'#A1b2C3'"), Ok(Value::text("#a1b2c3")));
        const DIMS: Kind = Kind::WordOr(odonata_declare::AUTO, &Kind::List(&Kind::COUNT));
        assert_eq!(read(&DIMS, "'auto'"), Ok(Value::text("auto")));
        assert_eq!(read(&DIMS, "[2, 3]"), Ok(Value::List(vec![Value::Integer(2), Value::Integer(3)])));
    }

    /// The list is of the right type; one of its values is not.
    #[test]
    fn a_wrong_value_inside_is_named() {
        const DIMS: Kind = Kind::WordOr(odonata_declare::AUTO, &Kind::List(&Kind::COUNT));
        let inside = mistake(&DIMS, "[2, 'x']");
        assert!(inside.starts_with("type: 'key' must be a whole number from 1 up, found a text"), "{inside}");
        assert!(mistake(&DIMS, "true").contains("found true or false"), "{}", mistake(&DIMS, "true"));
    }

    /// An example that is suggested is taken.
    #[test]
    fn examples_of_numbers_are_within_their_limits() {
        for (min, max) in [(0.0, 1.0), (1.0, 1e6), (1e-4, 0.2), (1e-6, 0.05), (3.0, 4.0)] {
            let kind = Kind::Number { min, max };
            assert!(read(&kind, &kind.example()).is_ok(), "{} of {min} to {max}", kind.example());
        }
    }

    #[test]
    fn a_number_without_a_unit_is_shown_with_one() {
        assert_eq!(
            mistake(&Kind::Bytes, "65536"),
            "unit: 'key' must be an amount of data like \"64 KiB\", found a number without a unit; write it as a text \
             with its unit, like `key = \"65536 B\"`"
        );
        let units = |kind: &Kind, number: &str| {
            let text = mistake(kind, number);
            let suggested = text.split('`').filter_map(|part| part.strip_prefix("key = \""));
            suggested.map(|part| part.trim_end_matches('"').to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(units(&Kind::Time, "30"), ["30 ns", "30 us"]);
        assert_eq!(units(&Kind::Time, "3e-8"), ["0.00000003 s"]);
        assert_eq!(units(&Kind::Rate, "200"), ["200 GB/s", "200 Gb/s"]);
        assert_eq!(units(&Kind::Rate, "25e9"), ["25000000000 B/s", "25000000000 b/s"]);
        // What is suggested is taken.
        for (kind, number) in [
            (Kind::Bytes, "64"),
            (Kind::Bytes, "1.5"),
            (Kind::Time, "30"),
            (Kind::Time, "0.5"),
            (Kind::Time, "3e-8"),
            (Kind::Rate, "12.5"),
            (Kind::Rate, "25_000_000_000"),
        ] {
            for suggested in units(&kind, number) {
                assert!(read(&kind, &format!("\"{suggested}\"")).is_ok(), "{suggested}");
            }
        }
    }

    #[test]
    fn bits_and_bytes_are_explained() {
        let message = mistake(&Kind::Rate, "'200 gb/s'");
        assert!(message.contains("did you mean 'GB/s' or 'Gb/s'? b is a bit and B a byte"), "{message}");
        let message = mistake(&Kind::Bytes, "'64 Kb/s'");
        assert!(message.contains("is a data rate; expected an amount of data"), "{message}");
        let message = mistake(&Kind::Bytes, "'3 b'");
        assert!(message.contains("whole number of bytes") && message.contains("b is a bit"), "{message}");
    }

    #[test]
    fn ranges_are_named() {
        let percent = Kind::Number { min: 0.0, max: 1.0 };
        assert_eq!(mistake(&percent, "1.5"), "value: 'key' must be a number from 0 to 1, found 1.5");
        assert_eq!(mistake(&percent, "nan"), "value: 'key' must be a number from 0 to 1, found NaN");
        assert_eq!(mistake(&Kind::count(1), "0"), "value: 'key' must be a whole number from 1 up, found 0");
        assert_eq!(mistake(&Kind::count(1), "4294967296"), "value: 'key' must be at most 4294967295, found 4294967296");
        assert_eq!(
            mistake(&Kind::count(1), "99999999999999999999"),
            "value: 'key' must be at most 4294967295, found 99999999999999999999"
        );
        assert_eq!(
            mistake(&Kind::count(1), "2.0"),
            "type: 'key' must be a whole number from 1 up, found a number with a fraction; write `key = 4`"
        );
    }

    #[test]
    fn names_have_a_nearest() {
        let routing = Kind::Choice(&[Choice { name: "min", doc: "" }, Choice { name: "static-direct", doc: "" }]);
        assert_eq!(
            mistake(&routing, "'static-drect'"),
            "name: unknown key 'static-drect'; did you mean 'static-direct'?"
        );
        assert_eq!(mistake(&routing, "'valiant'"), "name: unknown key 'valiant'; known: min, static-direct");
    }

    #[test]
    fn alternatives_are_all_named() {
        let capacity = Kind::WordOr(&Choice { name: "machine", doc: "" }, &Kind::Rate);
        assert!(mistake(&capacity, "'machin'").contains("did you mean 'machine'?"));
        assert!(mistake(&capacity, "'5 GB'").contains("expected \"machine\" or a data rate"));
        assert!(mistake(&capacity, "true").contains("must be \"machine\" or a data rate"));
    }
}
