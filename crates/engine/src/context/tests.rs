//! Which documents are handed out, and which are not.

use types::Document;

use crate::testing::{begin, new_run, only, render, request, same, survey};

fn begun(paths: &[&str]) -> (String, String) {
    let document =
        |path: &&str| Document { path: path.parse().expect("a path"), text: format!("in {path}") };
    let mut survey = survey();
    survey.documents = paths.iter().map(document).collect();
    let mut bench = new_run();
    let events = bench.send(&begin(request("Build a CLI"), survey));
    (only(&render(&events), &["context."]), format!("{:?}", bench.asked()))
}

#[test]
fn every_document_is_decided_about_by_a_rule_on_record() {
    let (selected, brief) =
        begun(&["AGENTS.md", "context/archive/old.md", "context/api.md", "README.md"]);
    same(
        &selected,
        "context.selected +AGENTS.md context.agents_file, +context/api.md context.registry, \
         -context/archive/old.md context.superseded, -README.md context.no_rule",
    );
    for (text, given) in [
        ("in AGENTS.md", true),
        ("in context/api.md", true),
        ("in context/archive/old.md", false),
        ("in README.md", false),
    ] {
        assert_eq!(brief.contains(text), given, "{text}");
    }
}

#[test]
fn a_repository_without_documents_is_decided_about_too() {
    same(&begun(&[]).0, "context.selected");
}
