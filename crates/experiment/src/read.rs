//! From what was written to what a key may be.

use crate::document::{Node, Raw};
use crate::fields::Mismatch;
use crate::key::{Choice, Kind};
use crate::problem::{nearest, suggestion, ProblemKind};
use odonata_declare::Value;
use odonata_units::{Quantity, QuantityError};

impl Kind {
    /// Reads the value of the key `key`.
    pub(crate) fn read(&self, key: &str, node: &Node) -> Result<Value, Mismatch> {
        match self {
            Self::Text | Self::Path => self.read_text(key, node).map(Value::text),
            Self::Color => self.read_color(key, node),
            Self::Flag => match node.raw {
                Raw::Flag(flag) => Ok(Value::Flag(flag)),
                _ => Err(self.wrong_type(key, node)),
            },
            Self::Bytes => self.read_quantity(key, node, |text| Quantity::bytes(text).map(Value::Bytes)),
            Self::Time => self.read_quantity(key, node, |text| Quantity::time(text).map(Value::Time)),
            Self::Rate => self.read_quantity(key, node, |text| Quantity::rate(text).map(Value::Rate)),
            Self::Integer { min, max } => self.read_integer(key, node, *min, *max),
            Self::Number { min, max } => self.read_number(key, node, *min, *max),
            Self::Choice(choices) => self.read_choice(key, node, choices),
            Self::List(of) => match &node.raw {
                Raw::List(items) => {
                    items.iter().map(|item| of.read(key, item)).collect::<Result<_, _>>().map(Value::List)
                }
                _ => Err(self.wrong_type(key, node)),
            },
            Self::Any(kinds) => self.read_any(key, node, kinds),
            Self::Table(_) | Self::TableOfTables(_) => Err(self.wrong_type(key, node)),
        }
    }

    fn wrong_type(&self, key: &str, node: &Node) -> Mismatch {
        let message = format!("'{key}' must be {}, found {}", self.expected(), node.raw.noun());
        Mismatch::new(ProblemKind::Type, node.place, message, Some(format!("write `{key} = {}`", self.example())))
    }

    fn out_of_range(&self, key: &str, node: &Node, found: impl std::fmt::Display) -> Mismatch {
        let message = format!("'{key}' must be {}, found {found}", self.expected());
        Mismatch::new(ProblemKind::Value, node.place, message, None)
    }

    fn read_text<'n>(&self, key: &str, node: &'n Node) -> Result<&'n str, Mismatch> {
        match &node.raw {
            Raw::Text(text) if text.trim().is_empty() => {
                let message = format!("'{key}' must be {}, found an empty text", self.expected());
                Err(Mismatch::new(ProblemKind::Value, node.place, message, None))
            }
            Raw::Text(text) => Ok(text),
            _ => Err(self.wrong_type(key, node)),
        }
    }

    fn read_color(&self, key: &str, node: &Node) -> Result<Value, Mismatch> {
        let text = self.read_text(key, node)?;
        match text.strip_prefix('#') {
            Some(digits) if digits.len() == 6 && digits.chars().all(|c| c.is_ascii_hexdigit()) => {
                Ok(Value::Text(text.to_lowercase()))
            }
            _ => {
                let message = format!("'{key}' must be {}, found \"{text}\"", self.expected());
                let help = "write # and six hexadecimal digits: red, green, blue".to_owned();
                Err(Mismatch::new(ProblemKind::Value, node.place, message, Some(help)))
            }
        }
    }

    fn read_integer(&self, key: &str, node: &Node, min: i64, max: i64) -> Result<Value, Mismatch> {
        match &node.raw {
            Raw::Integer(n) if (min..=max).contains(n) => Ok(Value::Integer(*n)),
            Raw::Integer(n) if *n > max => {
                let message = format!("'{key}' must be at most {max}, found {n}");
                Err(Mismatch::new(ProblemKind::Value, node.place, message, None))
            }
            Raw::Integer(n) => Err(self.out_of_range(key, node, n)),
            Raw::Huge(text) => {
                let message = format!("'{key}' must be at most {max}, found {text}");
                Err(Mismatch::new(ProblemKind::Value, node.place, message, None))
            }
            _ => Err(self.wrong_type(key, node)),
        }
    }

    fn read_number(&self, key: &str, node: &Node, min: f64, max: f64) -> Result<Value, Mismatch> {
        let number = match node.raw {
            Raw::Integer(n) => n as f64,
            Raw::Float(x) => x,
            _ => return Err(self.wrong_type(key, node)),
        };
        if number.is_finite() && (min..=max).contains(&number) {
            Ok(Value::Number(number))
        } else {
            Err(self.out_of_range(key, node, number))
        }
    }

    fn read_choice(&self, key: &str, node: &Node, choices: &[Choice]) -> Result<Value, Mismatch> {
        let Raw::Text(text) = &node.raw else { return Err(self.wrong_type(key, node)) };
        let names = choices.iter().map(|choice| choice.name);
        if names.clone().any(|name| name == text) {
            return Ok(Value::text(text));
        }
        let message = format!("'{key}' has no value '{text}'");
        Err(Mismatch::new(ProblemKind::Name, node.place, message, Some(suggestion(text, names))))
    }

    fn read_quantity(
        &self,
        key: &str,
        node: &Node,
        parse: impl Fn(&str) -> Result<Value, QuantityError>,
    ) -> Result<Value, Mismatch> {
        let number = match &node.raw {
            Raw::Text(text) => {
                return parse(text).map_err(|error| {
                    let message = format!("'{key}': {error}");
                    Mismatch::new(ProblemKind::Unit, node.place, message, self.unit_help(text))
                });
            }
            Raw::Integer(n) => n.to_string(),
            Raw::Float(x) => x.to_string(),
            _ => return Err(self.wrong_type(key, node)),
        };
        let unit = match self {
            Self::Time => "ns",
            Self::Rate => "GB/s",
            _ => "KiB",
        };
        let message = format!("'{key}' must be {}, found a number without a unit", self.expected());
        let help = format!("write it as a text with its unit, like `{key} = \"{number} {unit}\"`");
        Err(Mismatch::new(ProblemKind::Unit, node.place, message, Some(help)))
    }

    /// What is easily mixed up in units: bits and bytes, decimal and binary prefixes, capital letters.
    fn unit_help(&self, text: &str) -> Option<String> {
        const DATA: [&str; 18] = [
            "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "b", "kb", "Mb", "Gb", "Tb", "Kib", "Mib", "Gib",
            "Tib",
        ];
        const BIT_BYTE: &str = "b is a bit and B a byte of 8 bits; MB is 1,000,000 bytes and MiB 1,048,576";
        let unit = text.trim().trim_start_matches(|c: char| c.is_ascii_digit() || "+-._ ".contains(c));
        match self {
            Self::Bytes | Self::Rate => {
                let per_second = matches!(self, Self::Rate);
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
    fn read_any(&self, key: &str, node: &Node, kinds: &[Kind]) -> Result<Value, Mismatch> {
        let mut complaint = None;
        let mut misspelt = None;
        for kind in kinds {
            match kind.read(key, node) {
                Ok(value) => return Ok(value),
                Err(mismatch) if mismatch.is(ProblemKind::Type) => {}
                Err(mismatch) if mismatch.is(ProblemKind::Name) && kind.has_near(node) => misspelt = Some(mismatch),
                Err(mismatch) => complaint = Some(mismatch),
            }
        }
        Err(misspelt.or(complaint).map_or_else(|| self.wrong_type(key, node), |m| m.expecting(key, &self.expected())))
    }

    /// Whether the text is a slip of one of the names of a choice.
    fn has_near(&self, node: &Node) -> bool {
        match (self, &node.raw) {
            (Self::Choice(choices), Raw::Text(text)) => nearest(text, choices.iter().map(|c| c.name)).is_some(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use odonata_units::{Bytes, Rate};

    /// Reads `key = TEXT`; the message and the help of a mismatch in one line.
    fn read(kind: &Kind, text: &str) -> Result<Value, String> {
        let document = Document::parse(&format!("key = {text}"), "x.toml").unwrap();
        kind.read("key", &document.root.entries[0].node).map_err(|mismatch| mismatch.to_line())
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
        let dims = Kind::word_or("auto", "", Kind::List(Box::new(Kind::count(1))));
        assert_eq!(read(&dims, "'auto'"), Ok(Value::text("auto")));
        assert_eq!(read(&dims, "[2, 3]"), Ok(Value::List(vec![Value::Integer(2), Value::Integer(3)])));
    }

    #[test]
    fn a_number_without_a_unit_is_shown_with_one() {
        assert_eq!(
            mistake(&Kind::Bytes, "64"),
            "unit: 'key' must be an amount of data like \"64 KiB\", found a number without a unit; write it as a text \
             with its unit, like `key = \"64 KiB\"`"
        );
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
        let routing = Kind::choice(&[("min", ""), ("static-direct", "")]);
        assert_eq!(
            mistake(&routing, "'static-drect'"),
            "name: 'key' has no value 'static-drect'; did you mean 'static-direct'?"
        );
        assert_eq!(mistake(&routing, "'valiant'"), "name: 'key' has no value 'valiant'; known: min, static-direct");
    }

    #[test]
    fn alternatives_are_all_named() {
        let capacity = Kind::word_or("machine", "", Kind::Rate);
        assert!(mistake(&capacity, "'machin'").contains("did you mean 'machine'?"));
        assert!(mistake(&capacity, "'5 GB'").contains("expected \"machine\" or a data rate"));
        assert!(mistake(&capacity, "true").contains("must be \"machine\" or a data rate"));
    }
}
