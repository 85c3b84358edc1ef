//! The pages of the reference of the experiment file: one for each section, and for the names of a key.

use super::markdown::Page;
use super::{sections, Section};
use crate::markdown::wrap;
use odonata_declare::{Family, Kind, VariantInfo};
use std::fmt::Write;

const INTRODUCTION: &str = include_str!("introduction.md");
const SWEEP: &str = include_str!("sweep.md");

/// A page of the reference.
pub struct ReferencePage {
    /// The file, below `docs/reference`.
    pub file: String,
    /// Markdown.
    pub text: String,
}

/// The pages on the experiment file, the first with links to the others. A test compares them with `docs/reference`.
pub fn reference_pages() -> Vec<ReferencePage> {
    let mut index =
        format!("{INTRODUCTION}\n## Sections\n\n| section | about | names and their keys |\n|---|---|---|\n");
    let mut pages = vec![];
    for section in sections() {
        let heading = section.heading();
        let names = name_pages(section);
        let chosen: Vec<&str> = names.iter().map(|page| page.key).collect();
        let mut page = Page::new(&format!("`{heading}`"));
        page.write_section(section, &chosen).expect("writing to a string never fails");
        if !names.is_empty() {
            let links: Vec<String> = names.iter().map(|name| format!("[{}]({})", name.label, name.file)).collect();
            write!(page.text, "\nNames with keys of their own: {}.\n", links.join(", ")).expect("as above");
        }
        let about = section.doc.split(". ").next().unwrap_or_default().trim_end_matches('.');
        let links: Vec<String> = names.iter().map(|name| format!("[{}](keys/{})", name.label, name.file)).collect();
        writeln!(index, "| [`{heading}`](keys/{}.md) | {about} | {} |", section.name, links.join(", "))
            .expect("as above");
        pages.push((format!("{}.md", section.name), page.text));
        for NamePage { label, file, key, variants } in names {
            let mut page = Page::new(&format!("{label} of `{heading}`"));
            match variants {
                [one] => page.write_variant(one, 2),
                _ => page.write_variants(key, variants, 2),
            }
            .expect("as above");
            pages.push((file, page.text));
        }
    }
    index += "| [`[sweep]`](keys/sweep.md) | Values of keys, one run for each combination | |\n";
    pages.push(("sweep.md".to_owned(), SWEEP.to_owned()));
    let pages = pages.into_iter().map(|(file, text)| (format!("keys/{file}"), text));
    let first = std::iter::once(("experiment-file.md".to_owned(), index));
    first.chain(pages).map(|(file, text)| ReferencePage { file, text: wrap(&text) }).collect()
}

/// All pages as one.
pub fn reference() -> String {
    reference_pages().into_iter().map(|page| page.text).collect::<Vec<_>>().join("\n")
}

/// A page with some of the names that a key may have.
struct NamePage {
    label: String,
    file: String,
    key: &'static str,
    variants: &'static [VariantInfo],
}

fn name_pages(section: &'static Section) -> Vec<NamePage> {
    let chosen = section.choosers.iter().map(|chooser| (chooser.key, chooser.family));
    let known: Vec<&str> = section.choosers.iter().map(|chooser| chooser.key).collect();
    let others = section.keys.iter().filter(|key| !known.contains(&key.name));
    chosen
        .chain(others.filter_map(|key| Some((key.name, key.kind.family()?))))
        .flat_map(|(key, family)| pages_of(section.name, key, family))
        .collect()
}

/// One page for all names, or for each name if some have further names below them.
fn pages_of(section: &str, key: &'static str, family: &'static Family) -> Vec<NamePage> {
    let variants = family.variants();
    let has_names = |variant: &VariantInfo| variant.keys.iter().any(|key| matches!(key.kind, Kind::Variant(_)));
    if !variants.iter().any(has_names) {
        return vec![NamePage { label: format!("`{key}`"), file: format!("{section}-{key}.md"), key, variants }];
    }
    let page = |variant: &'static VariantInfo| NamePage {
        label: format!("`{key} = \"{}\"`", variant.name),
        file: format!("{section}-{}.md", variant.name),
        key,
        variants: std::slice::from_ref(variant),
    };
    variants.iter().map(page).collect()
}
