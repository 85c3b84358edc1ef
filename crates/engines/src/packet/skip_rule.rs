//! The key `fast_forward`.

use odonata_declare::{Choice, Field, Key, Kind, Value};
use odonata_packet::FastForward;

/// The key.
pub(super) const KEY: &str = "fast_forward";

pub(super) const EXACT: &str = "exact";
pub(super) const ERROR: &str = "error";

static ERROR_KEYS: [Key; 1] = [Key::required(
    ERROR,
    // Below, most runs end before their mean is known so well. Above, the interval says little.
    Kind::Number { min: 1e-4, max: 0.2 },
    "Half width of the 95 % interval of the mean iteration time, relative to the mean, at which sampling stops.",
)];
static KINDS: [Kind; 2] = [
    Kind::Choice(&[Choice { name: EXACT, doc: "skip iterations after which the state is the same as before" }]),
    Kind::Line(&ERROR_KEYS),
];
static RULE: Kind = Kind::Any(&KINDS);
const FULL: &Choice = &Choice { name: "off", doc: "run every iteration" };

/// The value of the key.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum SkipRule {
    Exact,
    Error(f64),
}

impl SkipRule {
    pub(super) const KIND: Kind = Kind::WordOr(FULL, &RULE);

    /// As the engine has it.
    pub(super) fn of_engine(self) -> FastForward {
        match self {
            Self::Exact => FastForward::Exact,
            Self::Error(error) => FastForward::Mean { error_ppm: (1e6 * error).round() as u32 },
        }
    }

    /// What the run will skip.
    pub(super) fn text(self) -> String {
        match self {
            Self::Exact => "iterations are skipped after which the state is the same as before".into(),
            Self::Error(error) => {
                format!("iterations are skipped once their mean time is known to {} % (95 % interval)", 100.0 * error)
            }
        }
    }
}

impl Field for SkipRule {
    fn get(&self) -> Option<Value> {
        Some(match self {
            Self::Exact => Value::text(EXACT),
            Self::Error(error) => Value::Table(vec![(ERROR, Value::Number(*error))]),
        })
    }

    fn of(value: Option<&Value>) -> Self {
        match value {
            Some(Value::Table(keys)) => match keys.first() {
                Some((_, Value::Number(error))) => Self::Error(*error),
                other => unreachable!("a table with an error, not {other:?}"),
            },
            _ => Self::Exact,
        }
    }
}
