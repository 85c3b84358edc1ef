//! Parses the text of an edit.

use super::{wrong, Amount, CableChange, Edit, FigureChange};
use crate::MachineError;
use odonata_units::Quantity;

impl Edit {
    /// Parses one edit; the [module](super) describes the forms. Whether the class, router or link exists is checked
    /// when the edit is applied.
    ///
    /// # Errors
    /// Text of another form, a count of zero, a fraction outside 0 to 1, or a quantity of the wrong kind.
    pub fn parse(text: &str) -> Result<Self, MachineError> {
        let text = text.trim();
        if text.starts_with(['+', '-']) {
            return if text.contains('%') || text.ends_with(PER_GROUP_PAIR) { spread(text) } else { cables(text) };
        }
        if let Some(what) = text.strip_prefix("fail ") {
            return fail(text, what.trim());
        }
        if let Some((left, right)) = text.split_once('=') {
            return figure(text, left, right.trim());
        }
        wrong(
            text,
            "expected cables like '-K', '+B-K' or '+2 local', a fault like 'fail g0r1c2' or 'fail 5% blue', or a figure \
             like 'blue.bandwidth*=0.5'",
        )
    }
}

const PER_GROUP_PAIR: &str = "per group pair";

/// `-50% global`, `-1 global per group pair`.
fn spread(text: &str) -> Result<Edit, MachineError> {
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    let rest = text[1..].trim_start();
    if let Some((number, class)) = rest.split_once('%') {
        let percent = number.trim().parse::<f64>().ok().filter(|percent| *percent > 0.0 && *percent <= 100.0);
        let Some(percent) = percent else {
            return wrong(text, format!("'{number}%'; expected a share above 0 and up to 100 %"));
        };
        return Ok(Edit::Spread { class: class_name(text, class)?, amount: Amount::Share(sign * percent / 100.0) });
    }
    let rest = rest.strip_suffix(PER_GROUP_PAIR).unwrap_or(rest).trim_end();
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number = if digits == 0 { "1" } else { &rest[..digits] };
    let Some(count) = number.parse::<i32>().ok().filter(|count| (1..=65_535).contains(count)) else {
        return wrong(text, format!("'{number}' cables; expected 1 to 65535"));
    };
    let class = class_name(text, &rest[digits..])?;
    Ok(Edit::Spread { class, amount: Amount::PerGroupPair(if sign < 0.0 { -count } else { count }) })
}

/// A class, by its name or letter.
fn class_name(text: &str, name: &str) -> Result<String, MachineError> {
    let name = name.trim();
    if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return wrong(
            text,
            format!("'{name}' is not a link class; write it like '-50% global' or '-1 global per group pair'"),
        );
    }
    Ok(full_name(name).into())
}

fn full_name(name: &str) -> &str {
    match name {
        "K" => "black",
        "B" => "blue",
        "G" => "green",
        name => name,
    }
}

/// `+3B-K`, `+2 local -1 global`.
fn cables(text: &str) -> Result<Edit, MachineError> {
    let mut changes: Vec<CableChange> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let Some(sign) = rest.strip_prefix('+').map(|_| 1).or_else(|| rest.strip_prefix('-').map(|_| -1)) else {
            return wrong(text, format!("expected '+' or '-' at '{rest}'"));
        };
        rest = rest[1..].trim_start();
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let count = match &rest[..digits] {
            "" => 1,
            number => match number.parse::<i32>() {
                Ok(n) if (1..=65_535).contains(&n) => n,
                _ => return wrong(text, format!("'{number}' cables; expected 1 to 65535")),
            },
        };
        rest = rest[digits..].trim_start();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if end == 0 {
            return wrong(text, "a link class is missing; write it like '-2K' or '+1 global'");
        }
        let class = full_name(&rest[..end]);
        if changes.iter().any(|change| change.class == class) {
            return wrong(text, format!("class {class} occurs twice"));
        }
        changes.push(CableChange { class: class.into(), per_pair: sign * count });
        rest = rest[end..].trim_start();
    }
    Ok(Edit::Cables(changes))
}

/// Parses the text after `fail`: a name, `router NAME`, `link NAME`, or a fraction with its class.
fn fail(text: &str, what: &str) -> Result<Edit, MachineError> {
    let words: Vec<&str> = what.split_whitespace().collect();
    match words[..] {
        ["router", name] => Ok(Edit::FailRouter(name.into())),
        ["node", name] => Ok(Edit::FailNode(name.into())),
        ["link" | "cable", name] => Ok(Edit::FailLink(name.into())),
        [name] if name.contains('>') => Ok(Edit::FailLink(name.into())),
        [name] if name.starts_with(|c: char| c.is_alphabetic()) => Ok(Edit::FailRouter(name.into())),
        [fraction, "routers"] => Ok(Edit::FailRouters { fraction: parse_fraction(text, fraction)? }),
        [fraction, class] => Ok(Edit::FailCables { class: class.into(), fraction: parse_fraction(text, fraction)? }),
        _ => wrong(
            text,
            "expected 'fail ROUTER', 'fail ROUTER>ROUTER:CLASS.INDEX', 'fail router ID', 'fail node NAME', 'fail link ID', 'fail 5% CLASS' or \
             'fail 5% routers'",
        ),
    }
}

fn parse_fraction(text: &str, fraction: &str) -> Result<f64, MachineError> {
    let (number, unit) = match fraction.strip_suffix('%') {
        Some(number) => (number, 0.01),
        None => (fraction, 1.0),
    };
    match number.parse::<f64>().map(|n| n * unit) {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => wrong(text, format!("'{fraction}' is not a fraction; expected 0% to 100%, or 0 to 1")),
    }
}

/// `CLASS.FIGURE=VALUE` or `CLASS.FIGURE*=FACTOR`.
fn figure(text: &str, left: &str, right: &str) -> Result<Edit, MachineError> {
    let (left, times) = match left.trim().strip_suffix('*') {
        Some(left) => (left.trim(), true),
        None => (left.trim(), false),
    };
    let Some((class, figure)) = left.rsplit_once('.') else {
        return wrong(text, "expected CLASS.bandwidth, CLASS.latency or CLASS.ports before '='");
    };
    let factor = || match right.parse::<f64>() {
        Ok(factor) if factor.is_finite() && factor >= 0.0 => Ok(factor),
        _ => wrong(text, format!("'{right}' is not a factor; expected a number from 0 up")),
    };
    let change = match (figure, times) {
        ("bandwidth", false) => FigureChange::Bandwidth(Quantity::rate(right).or_else(|error| wrong(text, error))?),
        ("bandwidth", true) => FigureChange::BandwidthFactor(factor()?),
        ("latency", false) => FigureChange::Latency(Quantity::time(right).or_else(|error| wrong(text, error))?),
        ("latency", true) => FigureChange::LatencyFactor(factor()?),
        ("ports", false) => match right.parse() {
            Ok(ports) => FigureChange::Ports(ports),
            Err(_) => return wrong(text, format!("'{right}' is not a number of ports")),
        },
        ("ports", true) => return wrong(text, "ports are set with '=', not multiplied"),
        _ => return wrong(text, format!("unknown figure '{figure}'; a class has bandwidth, latency and ports")),
    };
    Ok(Edit::Figure { class: class.trim().into(), change })
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_units::{Rate, Time};
    use proptest::prelude::*;

    fn cables(changes: &[(&str, i32)]) -> Edit {
        Edit::Cables(changes.iter().map(|&(class, per_pair)| CableChange { class: class.into(), per_pair }).collect())
    }

    #[test]
    fn the_papers_machines() {
        assert_eq!(Edit::parse("-K"), Ok(cables(&[("black", -1)])));
        assert_eq!(Edit::parse("-2K"), Ok(cables(&[("black", -2)])));
        assert_eq!(Edit::parse("-B"), Ok(cables(&[("blue", -1)])));
        assert_eq!(Edit::parse("+B-K"), Ok(cables(&[("blue", 1), ("black", -1)])));
        assert_eq!(Edit::parse("+3B-K"), Ok(cables(&[("blue", 3), ("black", -1)])));
        assert_eq!(Edit::parse("+2 local - global"), Ok(cables(&[("local", 2), ("global", -1)])));
    }

    #[test]
    fn faults() {
        assert_eq!(Edit::parse("fail g0r1c2"), Ok(Edit::FailRouter("g0r1c2".into())));
        let spread = |class: &str, amount| Ok(Edit::Spread { class: class.into(), amount });
        assert_eq!(Edit::parse("-50% global"), spread("global", Amount::Share(-0.5)));
        assert_eq!(Edit::parse("+12.5 % B"), spread("blue", Amount::Share(0.125)));
        assert_eq!(Edit::parse("-1 global per group pair"), spread("global", Amount::PerGroupPair(-1)));
        assert_eq!(Edit::parse("+2B per group pair"), spread("blue", Amount::PerGroupPair(2)));
        for wrong in ["-0% blue", "-101% blue", "-x% blue", "-50%", "-0 blue per group pair", "+1 per group pair"] {
            assert!(Edit::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Edit::parse("fail node nid00012"), Ok(Edit::FailNode("nid00012".into())));
        assert_eq!(Edit::parse("fail router 17"), Ok(Edit::FailRouter("17".into())));
        assert_eq!(Edit::parse("fail g0r0>g0r1:local.0"), Ok(Edit::FailLink("g0r0>g0r1:local.0".into())));
        assert_eq!(Edit::parse("fail 5% blue"), Ok(Edit::FailCables { class: "blue".into(), fraction: 0.05 }));
        assert_eq!(Edit::parse("fail 0.5 routers"), Ok(Edit::FailRouters { fraction: 0.5 }));
    }

    #[test]
    fn figures() {
        let figure = |class: &str, change| Ok(Edit::Figure { class: class.into(), change });
        let rate = Rate::from_bytes_per_s(9_400_000_000);
        assert_eq!(Edit::parse("blue.bandwidth = 9.4 GB/s"), figure("blue", FigureChange::Bandwidth(rate)));
        assert_eq!(Edit::parse("terminal.bandwidth*=0.5"), figure("terminal", FigureChange::BandwidthFactor(0.5)));
        assert_eq!(Edit::parse("blue.latency=300 ns"), figure("blue", FigureChange::Latency(Time::from_ns(300))));
        assert_eq!(Edit::parse("blue.ports=20"), figure("blue", FigureChange::Ports(20)));
    }

    #[test]
    fn mistakes_state_the_expected_form() {
        for (text, part) in [
            ("K", "expected cables like '-K'"),
            ("-0K", "expected 1 to 65535"),
            ("-", "a link class is missing"),
            ("-K-K", "occurs twice"),
            ("+B K", "expected '+' or '-' at 'K'"),
            ("fail 120% blue", "expected 0% to 100%"),
            ("fail", "expected cables like"),
            ("blue.bandwidth=3 ns", "expected a data rate"),
            ("blue.width=3", "bandwidth, latency and ports"),
            ("blue.bandwidth*=-1", "from 0 up"),
        ] {
            let message = Edit::parse(text).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC*") {
            let _ = Edit::parse(&text);
        }

        #[test]
        fn parses_its_own_output(text in "([+-][1-9]?[KBG])|(fail [a-z][0-9]>[a-z][0-9])|(fail 0\\.[0-9]+ (blue|routers))|([a-z]+\\.(bandwidth|latency)\\*=[0-9]\\.[0-9])") {
            let edit = Edit::parse(&text).unwrap();
            prop_assert_eq!(Edit::parse(&edit.to_string()).unwrap(), edit);
        }
    }
}
