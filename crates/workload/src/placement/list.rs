//! Placement on nodes listed by the user.

use super::free::FreeNodes;
use super::rule::NodeOrder;
use odonata_declare::{parameters, Field, Kind, ParameterMistake, Value};
use odonata_machine::hostlist;
use odonata_units::{NodeId, Stream};

parameters! {
    /// Parameters of `list`.
    #[derive(PartialEq, Eq)]
    pub struct ListParameters {
        /// Nodes in the order in which the ranks fill them, exactly as many as the job needs: numbers, names, or lists
        /// of names (`nid[00012-00044,00100]`).
        pub nodes: NodeList, Kind::Any(&[Kind::List(&Kind::Any(&[Kind::count(0), Kind::Text])), Kind::Text]);
    }
}

/// Nodes as the user lists them: a list, or one text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NodeList(pub Vec<NodeName>);

impl Field for NodeList {
    fn get(&self) -> Option<Value> {
        self.0.get()
    }

    fn of(value: Option<&Value>) -> Self {
        match value {
            Some(text @ Value::Text(_)) => Self(vec![NodeName::of(Some(text))]),
            list => Self(Vec::of(list)),
        }
    }
}

/// A node, or several nodes by a list of names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NodeName {
    /// Its number.
    Id(u32),
    /// Its name (`g0r1c2n3`), its number as text, or a list of names (`nid[001-064]`).
    Name(String),
}

impl Field for NodeName {
    fn get(&self) -> Option<Value> {
        Some(match self {
            Self::Id(id) => Value::Integer((*id).into()),
            Self::Name(name) => Value::text(name),
        })
    }

    fn of(value: Option<&Value>) -> Self {
        match value {
            Some(Value::Text(name)) => Self::Name(name.clone()),
            id => Self::Id(u32::of(id)),
        }
    }
}

impl NodeOrder for ListParameters {
    fn nodes(&self, count: usize, free: &FreeNodes<'_>, _: &mut Stream) -> Result<Vec<NodeId>, ParameterMistake> {
        let machine = free.machine();
        let wrong = |reason: String| ("nodes", reason);
        let mut names = Vec::with_capacity(count);
        for listed in &self.nodes.0 {
            match listed {
                NodeName::Id(id) => names.push(id.to_string()),
                NodeName::Name(list) => names.append(&mut hostlist::expand(list).map_err(wrong)?),
            }
        }
        if names.len() != count {
            return Err(wrong(format!("{} nodes listed, but the job needs {count}", names.len())));
        }
        names.iter().map(|name| machine.node_named(name).map_err(|error| wrong(error.to_string()))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{place, placed};
    use crate::test_machines::cascade;
    use odonata_units::NodeId;
    use serde_json::json;

    #[test]
    fn names_and_numbers_in_the_given_order() {
        let machine = cascade(2, 2, 2, 2, 1);
        let given = [("nodes", json!([9, "g0r1c1n0", "2"]))];
        assert_eq!(place(&machine, "list", &given, 3, 1), [NodeId(9), NodeId(6), NodeId(2)]);
    }

    #[test]
    fn lists_of_names() {
        let machine = cascade(2, 2, 2, 2, 1);
        let listed = |nodes: serde_json::Value| place(&machine, "list", &[("nodes", nodes)], 4, 1);
        let expected: Vec<NodeId> = [0, 4, 8, 12].map(NodeId).into();
        assert_eq!(listed(json!("g[0-1]r[0-1]c0n0")), expected);
        assert_eq!(listed(json!(["g0r[0-1]c0n0", "g1r0c0n0", 12])), expected);
    }

    #[test]
    fn mistakes() {
        let machine = cascade(2, 2, 2, 2, 1);
        let message =
            |nodes: serde_json::Value| placed(&machine, "list", &[("nodes", nodes)], 2, 1).unwrap_err().to_string();
        assert_eq!(message(json!([1])), "job 'test': placement 'list': nodes: 1 nodes listed, but the job needs 2");
        assert_eq!(
            message(json!([1, "g0r0c0n1"])),
            "job 'test': placement 'list': nodes: node g0r0c0n1 is named twice"
        );
        assert!(message(json!([1, 16])).contains("ids are 0 to 15"));
        assert!(message(json!([1, "g0r0c7n0"])).contains("unknown node 'g0r0c7n0'"));
    }
}
