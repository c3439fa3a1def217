//! Which documents are selected, and which are not.

use types::Document;

use rules::reading::Reading;

use crate::testing::{begin, crew, new_run, only, render, request, same, survey};

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

fn document(path: &str, front_matter: &str) -> Document {
    let text = format!("---\n{front_matter}\n---\nbody of {path}\n");
    Document { path: path.parse().expect("a path"), text }
}

fn rules(documents: &[Document], text: &str) -> Vec<String> {
    let available = super::Available::of(documents, None);
    let selection =
        rules::context::choose(&crate::testing::crew(), &available, &Reading::of_text(text), false);
    let line = |sign: char, one: &types::Selected| format!("{sign}{} {}", one.path, one.rule);
    let included = selection.included.iter().map(|one| line('+', one));
    included.chain(selection.excluded.iter().map(|one| line('-', one))).collect()
}

/// C15, C16, C22: kind, status and domain of a document decide.
#[test]
fn what_a_document_says_of_itself_decides() {
    let documents = [
        document("context/a.md", "kind: ADR\nstatus: Active\ndomain: authentication"),
        document("context/b.md", "kind: adr\nstatus: superseded"),
        document("context/c.md", "kind: adr\ndomain:\n  - billing\n  - tax"),
        document("context/d.md", "kind: principles"),
        document("context/e.md", "kind: standard # for code"),
    ];
    let expected = [
        "+context/a.md context.decisions",
        "+context/d.md context.principles",
        "+context/e.md context.standards",
        "-context/b.md context.not_in_force",
        "-context/c.md context.other_domain",
    ];
    assert_eq!(rules(&documents, "Make auth simpler; the authentication is slow"), expected);
    let taxed = rules(&documents, "Show the tax on the bill");
    assert!(taxed.contains(&"+context/c.md context.decisions".to_owned()), "{taxed:?}");
}

/// C18: rules that would select a whole registry select nothing.
#[test]
fn a_whole_registry_is_given_to_nobody() {
    let paths = ["context/a.md", "context/b.md", "context/c.md"];
    let (selected, _) = begun(&paths);
    same(&selected, "");
    let (some, _) = begun(&paths[..2]);
    same(&some, "context.selected +context/a.md context.registry, +context/b.md context.registry");
}

/// Explanations match decisions: rules for the second selection are not evaluated at the first.
#[test]
fn rules_for_a_second_choice_are_not_told_of_the_first() {
    let mut policy = crew();
    policy.context.iter_mut().for_each(|rule| rule.again = true);
    let documents = [document("context/d.md", "kind: principles")];
    let available = super::Available::of(&documents, None);
    let told = |again| rules::context::look(&policy, &available, "Build a CLI", again);
    assert!(told(false).is_empty());
    assert!(told(true).iter().any(|looked| looked.matched));
}

/// C19: a request that names its documents gets no others, and a dangling reference is recorded.
#[test]
fn a_reference_to_a_document_that_is_not_there_is_on_record() {
    let mut survey = survey();
    survey.documents =
        vec![document("context/a.md", "kind: adr"), document("context/b.md", "kind: adr")];
    let registry = ["context/a.md", "context/gone.md"].map(|path| path.parse().expect("a path"));
    let request = types::Request {
        registry: Some(registry.to_vec()),
        ..crate::testing::request("Build a CLI")
    };
    let mut bench = new_run();
    let events = bench.send(&crate::testing::begin(request, survey));
    let selected = crate::testing::render(&events);
    same(
        &crate::testing::only(&selected, &["context"]),
        "context.selected +context/a.md context.decisions, -context/gone.md context.no_document",
    );
}

#[test]
fn front_matter_that_never_ends_is_none() {
    let mut open = document("context/a.md", "kind: adr\nstatus: superseded");
    open.text = open.text.replacen("\n---\n", "\n", 1);
    assert_eq!(rules(&[open], "Build a CLI"), ["+context/a.md context.registry"]);
}

/// C20: a planner gets neither the names nor the texts of unselected documents.
#[test]
fn the_files_of_the_registry_are_not_listed() {
    let mut survey = survey();
    survey.files = ["context/a.md", "src/a.rs"].map(|path| path.parse().expect("a path")).to_vec();
    let mut bench = new_run();
    bench.send(&begin(request("Build a CLI"), survey));
    let brief = format!("{:?}", bench.asked());
    assert!(brief.contains("src/a.rs") && !brief.contains("context/a.md"), "{brief}");
}

/// P1: attachments reach the planner: the text of a file, the address of a page.
#[test]
fn attachments_are_handed_to_the_planner() {
    let attached = |kind, content: &str| types::Attachment {
        kind,
        content: content.to_owned(),
        description: "notes".to_owned(),
    };
    let mut asked = request("Build what is in the attachment");
    asked.attachments = vec![
        attached(types::AttachmentKind::File, "three buttons"),
        attached(types::AttachmentKind::Url, "https://a.test/x"),
        attached(types::AttachmentKind::Image, "aGVsbG8="),
        attached(types::AttachmentKind::Image, "iVBORw0KGgoAAAANSUhEUgAA"),
    ];
    let mut bench = new_run();
    bench.send(&begin(asked, survey()));
    let brief = format!("{:?}", bench.asked());
    assert!(brief.contains("three buttons") && brief.contains("See https://a.test/x"), "{brief}");
    assert!(
        brief.contains("# Attached image, which cannot be shown here")
            && !brief.contains("aGVsbG8="),
        "{brief}"
    );
    assert!(brief.contains("iVBORw0KGgoAAAANSUhEUgAA"), "what is a picture is shown: {brief}");
}
