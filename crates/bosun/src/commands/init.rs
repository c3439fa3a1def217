//! `bosun init`: rules, documents and prompts for a repository to start from. Never overwrites anything.

use std::io::{ErrorKind, Write as _};
use std::path::Path;

use anyhow::Context as _;
use runtime::settings::CONFIG;
use runtime::trust::{TrustStore, project_files};
use runtime::{Clock as _, Prompts, RealClock, presets, project_survey};
use serde_json::json;
use types::WorkspacePolicy;

use crate::args;
use crate::exit::{CliError, Exit};
use crate::home::Home;
use crate::{models, print};

const CREW: &str = include_str!("../../init/policy.toml");

/// The registry of documents, the same for every preset.
const CONTEXT: [(&str, &str); 3] = [
    ("context/README.md", include_str!("../../init/context/README.md")),
    ("context/principles.md", include_str!("../../init/context/principles.md")),
    ("context/decision-0001.md", include_str!("../../init/context/decision-0001.md")),
];

mod proposal;

pub(crate) async fn init(home: &Home, args: &args::Init) -> anyhow::Result<Exit> {
    if !args.repo.is_dir() {
        return Err(CliError::NoFolder { path: args.repo.display().to_string() }.into());
    }
    let mut files = layout(&args.preset)?;
    let top = presets::top(&args.repo);
    if let Some(there) = other_preset(&top, &args.preset) {
        let (path, asked) = (presets::POLICY.to_owned(), args.preset.clone());
        return Err(CliError::OtherPreset { path, there, asked }.into());
    }
    let (mut written, mut kept, mut found) = (vec![], vec![], vec![]);
    let fresh = project_files(&top)?.is_none();
    let survey = project_survey(&top).await.ok();
    let workspace = survey.as_ref().map(|survey| survey.workspace.clone()).unwrap_or_default();
    // The strict preset has its settings in config/.
    let has_config = args.preset != "strict";
    if has_config && top.join(CONFIG).exists() {
        kept.push(CONFIG.to_owned());
    } else if has_config {
        let mut proposal = proposal::Proposal::of(survey.as_ref());
        let registry = models::settings().and_then(|set| models::registry(set, None)).ok();
        if !args.yes && !args.json && proposal::can_ask() {
            proposal.ask(registry.as_ref())?;
        }
        files.insert(0, (CONFIG.to_owned(), proposal.text()));
        found = proposal.found(registry.as_ref());
    }
    for (path, mut text) in files {
        if path == presets::POLICY {
            text.push_str(&workspace_table(&workspace));
        }
        if put(&top, &path, &text)? { written.push(path) } else { kept.push(path) }
    }
    // Files that this command itself has written need no review before they are trusted.
    if let (true, Some(files)) = (fresh, project_files(&top)?) {
        TrustStore::at(&home.folder()?).trust(&files, RealClock.now())?;
    }
    if args.json {
        print::json(
            &json!({ "folder": top, "preset": args.preset, "written": written, "kept": kept }),
        )?;
        return Ok(Exit::Done);
    }
    for path in &written {
        print::line(&format!("wrote  {path}"))?;
    }
    for path in &kept {
        print::line(&format!("kept   {path} (already exists)"))?;
    }
    for line in &found {
        print::line(line)?;
    }
    if !written.is_empty() {
        next(&args.preset, &written)?;
    }
    if !presets::is_repository(&top) {
        print::note("a run needs a git repository; create one with: git init");
    }
    Ok(Exit::Done)
}

fn next(preset: &str, written: &[String]) -> std::io::Result<()> {
    let goal = if preset == "strict" { ", write your goal into config/tasks.yaml" } else { "" };
    let (policy, tops) = (presets::POLICY, tops(written));
    print::line(&format!(
        "\nnext   read {policy}{goal}; then: git add {tops} && git commit -m \"Add rules for agents\""
    ))?;
    print::line("       bosun doctor             check prerequisites and suggest fixes")?;
    print::line("       bosun policy show        show the rules that a run here would follow")?;
    let start = match preset {
        "strict" => "bosun run                work on that goal",
        "solo" => "bosun chat               talk to an agent about the files here",
        _ => "bosun run \"…\"            work on a goal",
    };
    print::line(&format!("       {start}"))
}

/// The preset of the existing policy, if it is a different one. A policy that extends no preset has none.
fn other_preset(top: &Path, asked: &str) -> Option<String> {
    let text = std::fs::read_to_string(top.join(presets::POLICY)).ok()?;
    let there = presets::preset_of(&text)?;
    (there != asked).then_some(there)
}

/// Files and folders at the top that were written, as arguments of a command.
fn tops(written: &[String]) -> String {
    let tops = written.iter().filter_map(|path| path.split('/').next());
    tops.collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(" ")
}

/// The detected workspace set-up as a commented-out table, for the user to enable.
fn workspace_table(found: &WorkspacePolicy) -> String {
    let mut text = "\n# Set-up of a fresh checkout for agents and checks. Without this table, the files \
                    to copy are detected\n# automatically; set-up commands run only if they are listed \
                    here.\n# [workspace]\n"
        .to_owned();
    let mut line = |key: &str, value: &serde_json::Value, says: &str| {
        let empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        if !empty && *value != json!(false) {
            text.push_str(&format!("# {key} = {value}{says}\n"));
        }
    };
    line("setup", &json!(found.setup), "");
    line("bring", &json!(found.bring), "");
    line("writable", &json!(found.writable), "");
    line("locks", &json!(found.locks), "");
    line("submodules", &json!(found.submodules), "");
    line("lfs", &json!(found.lfs), "");
    line("network", &json!(found.network), "   # only in a policy that is named with --policy");
    text
}

/// The files of a preset, each with its path from the top of the repository.
fn layout(preset: &str) -> anyhow::Result<Vec<(String, String)>> {
    let rules = presets::text(preset)?;
    // Built-in rules grow with the product, so the crew's file contains only differences.
    let policy = if preset == "crew" { CREW } else { rules };
    let mut files = vec![(presets::POLICY.to_owned(), policy.to_owned())];
    if preset == "strict" {
        // This preset has its own layout, which includes its prompts.
        let own = presets::strict::LAYOUT.map(|(path, text)| (path.to_owned(), text.to_owned()));
        files.extend(own);
        return Ok(files);
    }
    let shipped = Prompts::default();
    for name in Prompts::names().filter(|name| rules.contains(&format!("@{name}"))) {
        let text = shipped.get(name).unwrap_or_default().to_owned();
        files.push((format!("{}/{name}", presets::PROMPTS), text));
    }
    files.extend(CONTEXT.map(|(path, text)| (path.to_owned(), text.to_owned())));
    Ok(files)
}

/// Writes a file below a folder unless it exists; returns whether it did. Follows no links, and overwrites nothing.
fn put(top: &Path, path: &str, text: &str) -> anyhow::Result<bool> {
    let writing = || format!("writing {}", top.join(path).display());
    let mut folder = top.to_owned();
    for name in Path::new(path).parent().into_iter().flatten() {
        folder.push(name);
        match std::fs::symlink_metadata(&folder) {
            Ok(there) if there.is_symlink() => {
                return Err(CliError::Link { path: folder.display().to_string() }.into());
            }
            Ok(_) => {}
            Err(_) => std::fs::create_dir(&folder).with_context(writing)?,
        }
    }
    match std::fs::File::create_new(top.join(path)) {
        Ok(mut file) => {
            file.write_all(text.as_bytes()).with_context(writing)?;
            Ok(true)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error).with_context(writing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proposal_is_a_table_in_comments() {
        let setup = vec!["npm ci".to_owned()];
        let bring = Some(vec![".env.test".parse().expect("a path")]);
        let found = WorkspacePolicy { setup, bring, ..WorkspacePolicy::default() };
        let text = workspace_table(&found);
        assert!(text.contains("# setup = [\"npm ci\"]\n# bring = [\".env.test\"]\n"), "{text}");
        assert!(text.lines().all(|line| line.is_empty() || line.starts_with('#')), "{text}");
        let taken = text.lines().filter_map(|line| line.strip_prefix("# ")).skip(2);
        let policy = presets::read("p", &taken.collect::<Vec<_>>().join("\n")).expect("a policy");
        assert_eq!(policy.workspace, found);
    }

    #[test]
    fn a_file_is_put_where_none_is_and_never_through_a_link() {
        let place = tempfile::tempdir().expect("a folder");
        let (top, elsewhere) = (place.path().join("top"), place.path().join("elsewhere"));
        std::fs::create_dir_all(top.join("context")).expect("a folder");
        std::fs::create_dir(&elsewhere).expect("a folder");
        std::os::unix::fs::symlink(&elsewhere, top.join(".bosun")).expect("a link");
        let refused = put(&top, ".bosun/prompts/a.md", "x").expect_err("it leads elsewhere");
        assert!(refused.to_string().contains("is a symbolic link"), "{refused}");
        assert_eq!(std::fs::read_dir(&elsewhere).expect("a folder").count(), 0);
        assert!(put(&top, "context/new/a.md", "x").expect("it is written"));
        assert!(!put(&top, "context/new/a.md", "y").expect("it is left"));
        let nowhere = elsewhere.join("b.md");
        std::os::unix::fs::symlink(&nowhere, top.join("context/b.md")).expect("a link");
        assert!(!put(&top, "context/b.md", "x").expect("it is left"));
        assert!(!nowhere.exists());
    }
}
