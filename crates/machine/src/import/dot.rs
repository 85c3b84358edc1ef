//! The edges of a graph of GraphViz: `graph { a -- b; "c":"p1" -- a }`.

use super::graph_edges::Edges;

/// Part of the text, and its line.
#[derive(Clone, PartialEq, Debug)]
enum Token {
    /// A name or a text in quotes.
    Name(String),
    /// `--` or `->`.
    Edge,
    /// One of `{ } [ ] ; , = :`.
    Sign(char),
}

/// Line and reason.
type PlacedReason = (usize, String);

/// Reads the edges.
pub(super) fn edges(text: &str) -> Result<Edges, PlacedReason> {
    let tokens = tokens(text)?;
    let mut found = Edges::default();
    // The vertex before an edge sign, and whether an edge waits for its other end.
    let (mut from, mut joined): (Option<String>, bool) = (None, false);
    let mut at = 0;
    let name = |at: usize| match tokens.get(at) {
        Some((Token::Name(name), _)) => Some(name.clone()),
        _ => None,
    };
    let mut before_body = true;
    while let Some((token, line)) = tokens.get(at) {
        at += 1;
        match token {
            Token::Name(own) if before_body => found.directed |= own == "digraph",
            Token::Sign('{') if before_body => before_body = false,
            _ if before_body => return Err((*line, "expected 'graph' or 'digraph' and '{'".into())),
            // An attribute, a keyword, or a vertex; ports follow their vertex.
            Token::Name(_) if matches!(tokens.get(at), Some((Token::Sign('='), _))) => at += 2,
            Token::Name(own) => {
                while matches!(tokens.get(at), Some((Token::Sign(':'), _))) {
                    if name(at + 1).is_none() {
                        return Err((*line, format!("expected a port after '{own}:'")));
                    }
                    at += 2;
                }
                if let (Some(from), true) = (&from, joined) {
                    found.edges.push((from.clone(), own.clone(), *line));
                }
                (from, joined) = (Some(own.clone()), false);
            }
            Token::Edge => match from {
                Some(_) => joined = true,
                None => return Err((*line, "an edge from a group of vertices; write an edge for each vertex".into())),
            },
            Token::Sign('[') => {
                while tokens.get(at).is_some_and(|(token, _)| *token != Token::Sign(']')) {
                    at += 1;
                }
                at += 1;
            }
            Token::Sign('{') if joined => {
                return Err((*line, "an edge to a group of vertices; write an edge for each vertex".into()));
            }
            Token::Sign(_) => (from, joined) = (None, false),
        }
    }
    if found.edges.is_empty() {
        return Err((1, "there are no edges; expected lines such as 'a -- b;'".into()));
    }
    Ok(found)
}

fn tokens(text: &str) -> Result<Vec<(Token, usize)>, PlacedReason> {
    let mut found = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let begun = line;
        let length = if first == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            let Some(end) = end else { return Err((line, "a text without its closing quote".into())) };
            found.push((Token::Name(rest[1..=end].to_owned()), begun));
            end + 2
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with("//") || first == '#' {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("--") || rest.starts_with("->") {
            found.push((Token::Edge, begun));
            2
        } else if first.is_whitespace() {
            first.len_utf8()
        } else if "{}[];,=:".contains(first) {
            found.push((Token::Sign(first), begun));
            1
        } else {
            let ends = |(at, c): (usize, char)| {
                (at > 0
                    && (c.is_whitespace()
                        || "{}[];,=:\"".contains(c)
                        || rest[at..].starts_with("--")
                        || rest[at..].starts_with("->")))
                .then_some(at)
            };
            let end = rest.char_indices().find_map(ends).unwrap_or(rest.len());
            found.push((Token::Name(rest[..end].to_owned()), begun));
            end
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_of_a_graph() {
        let text = "/* a\nroom */ strict graph \"fabric\" {\n  rankdir = LR; node [shape=box, label=\"x -- y\"]\n  # one\n  a -- b -- \"c d\" [w=1];\n\
                    \x20 \"e\":\"p1\" -- a:p2:n // two\n  subgraph cluster0 { f -- a; g }\n}\n";
        let found = edges(text).unwrap();
        let ends: Vec<(&str, &str, usize)> =
            found.edges.iter().map(|(a, b, at)| (a.as_str(), b.as_str(), *at)).collect();
        assert_eq!(ends, [("a", "b", 5), ("b", "c d", 5), ("e", "a", 6), ("f", "a", 7)]);
        assert!(!found.directed && edges("digraph{a->b}").unwrap().directed);
        for (text, why) in [
            ("graph { a -- { b c } }", "an edge to a group"),
            ("graph { { a b } -- c }", "an edge from a group"),
            ("graph { \"a }", "without its closing quote"),
            ("graph { a; b }", "there are no edges"),
            ("graph ; { a -- b }", "expected 'graph'"),
        ] {
            let (_, reason) = edges(text).err().unwrap();
            assert!(reason.contains(why), "{text}: {reason}");
        }
    }
}
