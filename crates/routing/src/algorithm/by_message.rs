//! Routes by message: by size, and by the flexibility of the path.
//!
//! On Blue Gene/Q, software selects for each message whether its packets are routed deterministically or dynamically,
//! and in which zone. Here, the first matching rule of a list decides. `"pami"` is the list of PAMI, the messaging
//! layer of that machine; its bounds depend on the size of the block. The packet's route state holds the decision, as
//! a number above its directions.

use super::grid::Grid;
use super::zones::{Masks, Zone};
use super::Refusal;
use crate::hints::{Compass, Directions};
use crate::next_hop::NextHops;
use odonata_declare::{Field, Key, Kind, Value};
use odonata_units::{Bytes, RouterId};

/// Selection of routes by message.
#[derive(Clone, PartialEq, Debug)]
pub enum Route {
    /// All messages in one zone.
    Zone,
    /// The rules of PAMI.
    Pami,
    /// These rules; messages without a matching rule use the zone.
    Rules(Vec<Rule>),
}

/// A rule.
#[derive(Clone, PartialEq, Debug)]
pub struct Rule {
    /// Applies only to messages up to this size.
    pub up_to: Option<Bytes>,
    /// Applies only if source and destination lie on one line.
    pub line: bool,
    /// Applies only if the flexibility is within these bounds.
    pub flexibility: Option<[f64; 2]>,
    /// Route of matching messages.
    pub route: MessageRoute,
    /// Route of messages that only `flexibility` excludes. Without it, the next rule applies to them.
    pub otherwise: Option<MessageRoute>,
}

/// The route of a message's packets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MessageRoute {
    /// Dimension order in the bubble channel.
    Deterministic,
    /// Dynamic routing in a zone.
    Dynamic(Zone),
}

/// Values of `use` and `else`.
const MESSAGE_ROUTES: Kind = Kind::Any(&[
    Kind::List(&Kind::Text),
    Kind::Choice(&[
        odonata_declare::Choice { name: "deterministic", doc: "dimension order in the bubble channel" },
        odonata_declare::Choice { name: "zone 0", doc: "dynamic routing in zone 0" },
        odonata_declare::Choice { name: "zone 1", doc: "dynamic routing in zone 1" },
        odonata_declare::Choice { name: "zone 2", doc: "dynamic routing in zone 2" },
        odonata_declare::Choice { name: "zone 3", doc: "dynamic routing in zone 3" },
    ]),
]);

const RULE: &[Key] = &[
    Key::optional("up_to", Kind::Bytes, "any size", "Largest message of the rule, in bytes of the wire message."),
    Key::optional(
        "line",
        Kind::Flag,
        "`false`",
        "Whether only messages between nodes that differ along one \
        dimension match.",
    ),
    Key::optional(
        "flexibility",
        Kind::List(&Kind::Number { min: 0.0, max: f64::INFINITY }),
        "any",
        "Lower and upper bound of the sum, over the dimensions, of hops divided by size. Of five dimensions, the \
         last one (E) does not count.",
    ),
    Key::required(
        "use",
        MESSAGE_ROUTES,
        "Route of matching messages: `deterministic`, `zone 0` to `zone 3`, or masks as in `zone`.",
    ),
    Key::optional("else", MESSAGE_ROUTES, "the next rule", "Route of messages that only `flexibility` excludes."),
];

impl Route {
    /// Kind of the parameter.
    pub(super) const KIND: Kind = Kind::Any(&[
        Kind::Choice(&[
            odonata_declare::Choice { name: "zone", doc: "all messages in `zone`" },
            odonata_declare::Choice { name: "pami", doc: "the rules of the messaging layer of Blue Gene/Q" },
        ]),
        Kind::List(&Kind::Line(RULE)),
    ]);
}

impl Field for MessageRoute {
    fn get(&self) -> Option<Value> {
        match self {
            Self::Deterministic => Some(Value::text("deterministic")),
            Self::Dynamic(Zone::Numbered(n)) => Some(Value::text(format!("zone {n}"))),
            Self::Dynamic(masks) => masks.get(),
        }
    }

    fn of(value: Option<&Value>) -> Self {
        match value {
            Some(Value::Text(word)) => match word.strip_prefix("zone ").and_then(|n| n.parse().ok()) {
                Some(n) => Self::Dynamic(Zone::Numbered(n)),
                None => Self::Deterministic,
            },
            masks => Self::Dynamic(Zone::of(masks)),
        }
    }
}

impl Field for Rule {
    fn get(&self) -> Option<Value> {
        let bounds = self.flexibility.map(|[low, high]| Value::List(vec![Value::Number(low), Value::Number(high)]));
        let keys = [
            ("up_to", self.up_to.map(Value::Bytes)),
            ("line", self.line.then_some(Value::Flag(true))),
            ("flexibility", bounds),
            ("use", self.route.get()),
            ("else", self.otherwise.get()),
        ];
        Some(Value::Table(keys.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()))
    }

    fn of(value: Option<&Value>) -> Self {
        let Some(Value::Table(keys)) = value else { unreachable!("a rule is a table, not {value:?}") };
        let given = |name: &str| keys.iter().find(|(key, _)| *key == name).map(|(_, value)| value);
        let bounds: Option<Vec<f64>> = Field::of(given("flexibility"));
        Self {
            up_to: match given("up_to") {
                Some(Value::Bytes(bytes)) => Some(*bytes),
                _ => None,
            },
            line: matches!(given("line"), Some(Value::Flag(true))),
            // `Classes::of` refuses another number of bounds, since these are not in order.
            flexibility: bounds.map(|b| if let [low, high] = b[..] { [low, high] } else { [f64::INFINITY, 0.0] }),
            route: Field::of(given("use")),
            otherwise: Field::of(given("else")),
        }
    }
}

impl Field for Route {
    fn get(&self) -> Option<Value> {
        Some(match self {
            Self::Zone => Value::text("zone"),
            Self::Pami => Value::text("pami"),
            Self::Rules(rules) => rules.get()?,
        })
    }

    fn of(value: Option<&Value>) -> Self {
        match value {
            Some(Value::Text(word)) if word == "pami" => Self::Pami,
            Some(Value::List(rules)) => Self::Rules(rules.iter().map(|rule| Rule::of(Some(rule))).collect()),
            _ => Self::Zone,
        }
    }
}

impl Route {
    /// The rules for a machine with `nodes` nodes. PAMI's bounds count 512 nodes as a midplane and two midplanes as a
    /// rack.
    fn rules(&self, nodes: u32) -> Vec<Rule> {
        let rule = |route| Rule { up_to: None, line: false, flexibility: None, route, otherwise: None };
        match self {
            Self::Zone => Vec::new(),
            Self::Rules(rules) => rules.clone(),
            Self::Pami => {
                let racks = nodes / 1_024;
                let (bounds, zone) = match racks {
                    0 => ([1.5, 3.5], 3),
                    1 => ([1.5, 3.5], 2),
                    2..=7 => ([1.5, 3.5], 3),
                    8..=15 => ([1.5, 2.5], 3),
                    16..=63 => ([1.3, 3.0], 3),
                    _ => ([0.75, 3.0], 3),
                };
                // Up to 1,023 nodes, zone 3 on both sides of the bounds.
                let outside = if racks == 0 { 3 } else { 0 };
                vec![
                    Rule { line: true, ..rule(MessageRoute::Deterministic) },
                    Rule { up_to: Some(Bytes::kib(64)), ..rule(MessageRoute::Deterministic) },
                    Rule {
                        flexibility: Some(bounds),
                        otherwise: Some(MessageRoute::Dynamic(Zone::Numbered(outside))),
                        ..rule(MessageRoute::Dynamic(Zone::Numbered(zone)))
                    },
                ]
            }
        }
    }
}

/// The rules on a machine, and the zones that they use.
pub(super) struct Classes {
    rules: Vec<(Rule, u8, Option<u8>)>,
    /// Masks of each class of messages; `None` for deterministic ones. Messages without a matching rule are in class
    /// 0.
    masks: Vec<Option<Masks>>,
}

/// Position of the class in the route state: above the directions.
const SHIFT: u32 = 24;
/// Bits of the class.
const CLASS: u32 = 0x7f << SHIFT;
const _: () = assert!(1 << SHIFT > Directions::BITS);

impl Classes {
    /// # Errors
    /// A zone that does not exist, bounds that are not an ordered pair, or more routes than a packet can store.
    pub(super) fn of(setting: &Route, zone: &Zone, grid: &Grid, hops: &NextHops) -> Result<Self, Refusal> {
        let mut routes = vec![MessageRoute::Dynamic(zone.clone())];
        let mut place = |route: &MessageRoute| {
            let known = routes.iter().position(|other| other == route);
            known.unwrap_or_else(|| {
                routes.push(route.clone());
                routes.len() - 1
            }) as u8
        };
        let wrong = |reason: String| Refusal::Setting("route", reason);
        let mut rules = Vec::new();
        for (i, rule) in setting.rules(hops.nodes()).into_iter().enumerate() {
            if rule.flexibility.is_some_and(|[low, high]| low > high || low.is_nan() || high.is_nan()) {
                return Err(wrong(format!("rule {}: expected flexibility = [from, to], the smaller one first", i + 1)));
            }
            if rule.otherwise.is_some() && rule.flexibility.is_none() {
                return Err(wrong(format!("rule {}: `else` needs `flexibility`", i + 1)));
            }
            let (route, otherwise) = (place(&rule.route), rule.otherwise.as_ref().map(&mut place));
            rules.push((rule, route, otherwise));
        }
        if routes.len() > (CLASS >> SHIFT) as usize {
            return Err(wrong(format!("{} different routes; expected at most {}", routes.len(), CLASS >> SHIFT)));
        }
        let masks = routes.iter().map(|route| match route {
            MessageRoute::Deterministic => Ok(None),
            MessageRoute::Dynamic(zone) => Masks::of(zone, grid, hops).map(Some),
        });
        Ok(Self { rules, masks: masks.collect::<Result<_, _>>()? })
    }

    /// Whether all messages are in class 0.
    #[inline]
    pub(super) fn are_alike(&self) -> bool {
        self.rules.is_empty()
    }

    /// The class of a message, as bits of the route state.
    pub(super) fn class(&self, compass: &Compass, from: RouterId, to: RouterId, bytes: u64) -> u32 {
        let apart: Vec<u32> = (0..compass.dimensions()).map(|d| compass.hops(from, to, d)).collect();
        let line = apart.iter().filter(|&&hops| hops > 0).count() <= 1;
        let counted = if apart.len() == 5 { 4 } else { apart.len() };
        let free: f64 = (0..counted).map(|d| f64::from(apart[d]) / f64::from(compass.size(d))).sum();
        let mut class = 0;
        for (rule, route, otherwise) in &self.rules {
            if rule.up_to.is_some_and(|most| bytes > most.0) || rule.line && !line {
                continue;
            }
            let within = rule.flexibility.is_none_or(|[low, high]| (low..=high).contains(&free));
            if let Some(found) = if within { Some(*route) } else { *otherwise } {
                class = found;
                break;
            }
        }
        u32::from(class) << SHIFT
    }

    /// The bits of the class in a route state.
    #[inline]
    pub(super) fn bits(via: u32) -> u32 {
        via & CLASS
    }

    /// The masks for this route state, if the packet is routed dynamically.
    #[inline]
    pub(super) fn masks(&self, via: u32) -> Option<&Masks> {
        self.masks[(Self::bits(via) >> SHIFT) as usize].as_ref()
    }

    /// The masks of all dynamic classes.
    pub(super) fn all(&self) -> impl Iterator<Item = &Masks> {
        self.masks.iter().flatten()
    }
}
