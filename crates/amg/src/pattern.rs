//! The pattern `amg`: messages of one phase of one level of a hierarchy.

use crate::import::{self, HierarchyRequest, LevelMessages, HIERARCHIES};
use crate::{Hierarchy, Phase};
use odonata_declare::{parameters, Kind, ParameterMistake, Reader, Variant};
use odonata_programs::MessageCounts;
use odonata_units::RankId;
use odonata_workload::{MissingMessages, Pattern, PatternContext, PatternRule, SentMessage};
use std::sync::Arc;

/// The patterns of this crate.
pub const PATTERNS: &[Variant<dyn PatternRule>] = &[Variant {
    name: "amg",
    doc: "one phase of one level of an algebraic multigrid hierarchy",
    default: || Box::new(HierarchyPattern::default()),
}];

parameters! {
    /// Parameters of `amg` and the data read for them.
    #[derive(PartialEq)]
    pub struct HierarchyPattern {
        /// Directory of `odonata amg hierarchy`, a level table (JSON, CSV, Parquet), a message list (CSV, Parquet), or
        /// the name of a hierarchy in the package. A level table has no messages: only the model engine can use it.
        pub hierarchy: String, Kind::KnownOrPath(HIERARCHIES);
        /// Level of the hierarchy. 0 is the finest.
        pub level: u32 = 0, Kind::count(0);
        /// Phase of the multigrid cycle or of the set-up whose messages are sent.
        pub phase: Phase = Phase::default();
        /// Whether to use the levels after the redistribution in the directory.
        pub regrouped: bool = false;
        /// Level table, if there is one. The closed form uses it.
        pub levels: Option<Hierarchy> = None, no key;
        /// Messages of the level and phase.
        pub messages: LevelMessages = LevelMessages::default(), no key;
    }
}

/// The key of the hierarchy.
const KEY: &str = "hierarchy";

impl PatternRule for HierarchyPattern {
    fn read(&mut self, ranks: u32, files: &mut dyn Reader) -> Result<(), ParameterMistake> {
        let Self { hierarchy, level, phase, regrouped, .. } = &*self;
        let wanted = HierarchyRequest { hierarchy, level: *level, phase: *phase, regrouped: *regrouped };
        let read = import::read(&wanted, ranks, files).map_err(|reason| (KEY, format!("'{KEY}': {reason}")))?;
        (self.levels, self.messages) = (read.levels, read.messages);
        Ok(())
    }

    fn build(&self, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, ParameterMistake> {
        let wrong = |reason: String| Err((KEY, reason));
        match &self.messages {
            LevelMessages::NotRead if self.hierarchy.is_empty() => {
                wrong("missing; write the name of a hierarchy or the path of its directory".into())
            }
            LevelMessages::NotRead => wrong(format!("no hierarchy was read from '{}'", self.hierarchy)),
            LevelMessages::None => Ok(Arc::new(PatternWithoutMessages::new(&self.hierarchy, context.ranks))),
            LevelMessages::Read(graph) if graph.ranks() == context.ranks => Ok(graph.clone()),
            LevelMessages::Read(graph) => {
                wrong(format!("'{}' has {} ranks, but the job has {}", self.hierarchy, graph.ranks(), context.ranks))
            }
        }
    }
}

/// The pattern of a level table. It knows how much is sent, but not between which ranks.
#[derive(Debug)]
struct PatternWithoutMessages {
    ranks: u32,
    missing: MissingMessages,
}

impl PatternWithoutMessages {
    fn new(hierarchy: &str, ranks: u32) -> Self {
        let reason = format!(
            "'{hierarchy}' is a level table without messages; only the model engine can use it: use a directory of \
            `odonata amg hierarchy`"
        );
        Self { ranks, missing: MissingMessages { parameter: KEY, reason } }
    }
}

impl Pattern for PatternWithoutMessages {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn sends(&self, _: RankId, _: &mut Vec<SentMessage>) {}

    fn counts(&self) -> MessageCounts {
        MessageCounts::default()
    }

    fn missing_messages(&self) -> Option<&MissingMessages> {
        Some(&self.missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_help::Directory;
    use odonata_declare::Value;
    use odonata_machine::presets;
    use odonata_workload::PatternSpec;

    const FILES: Directory = Directory(&[
        (
            "levels.csv",
            "unknowns,nonzeros_per_row,sends,values_sent,interpolation_nonzeros_per_row,interpolation_sends,\
             interpolation_values_sent,active_ranks,messages,interpolation_messages\n8,3,1,1,0,0,0,2,2,0\n",
        ),
        ("messages.csv", "level,operator,source,destination,values\n0,0,0,1,10\n"),
    ]);

    fn built(hierarchy: &str, read: bool) -> Result<(Arc<dyn Pattern>, HierarchyPattern), String> {
        let mut spec = PatternSpec::of(&PATTERNS[0]);
        if !hierarchy.is_empty() {
            spec.set("hierarchy", Value::text(hierarchy)).map_err(|error| error.to_string())?;
        }
        if read {
            spec.rule_mut().read(2, &mut Directory(FILES.0)).map_err(|(key, reason)| format!("{key}: {reason}"))?;
        }
        let rule = spec.rule().as_any().downcast_ref::<HierarchyPattern>().expect("it is of this type").clone();
        let machine = presets::builder(presets::names()[0].name).unwrap().build().unwrap();
        let context = PatternContext { machine: &machine, job: "a", ranks: 2, seed: 1, node_of_rank: &[] };
        rule.build(&context).map(|pattern| (pattern, rule)).map_err(|(key, reason)| format!("{key}: {reason}"))
    }

    #[test]
    fn a_hierarchy_must_be_read_first() {
        assert!(built("", false).unwrap_err().contains("hierarchy: missing"));
        assert!(built("h", false).unwrap_err().ends_with("no hierarchy was read from 'h'"));
        assert_eq!(built("h", true).unwrap_err(), "hierarchy: 'hierarchy': can't read h");
    }

    /// A level table is priced but has no messages; a message list is sent.
    #[test]
    fn levels_are_not_messages() {
        let sends = |pattern: &dyn Pattern| {
            let mut out = Vec::new();
            pattern.sends(RankId(0), &mut out);
            out.iter().map(|send| send.bytes.0).collect::<Vec<_>>()
        };
        let (pattern, rule) = built("levels.csv", true).unwrap();
        assert_eq!(rule.levels.map(|levels| levels.levels().len()), Some(1));
        assert!(pattern
            .missing_messages()
            .is_some_and(|missing| missing.reason.contains("a level table without messages")));
        assert_eq!(sends(&*pattern), [0u64; 0]);
        assert_eq!(pattern.ranks(), 2);
        let (pattern, rule) = built("messages.csv", true).unwrap();
        assert_eq!((rule.levels, pattern.missing_messages()), (None, None));
        assert_eq!(sends(&*pattern), [80]);
    }
}
