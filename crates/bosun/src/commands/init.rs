//! `bosun init`: rules, documents and prompts for a repository to start from. Never overwrites anything.

use std::io::{ErrorKind, Write as _};
use std::path::Path;

use anyhow::Context as _;
use runtime::{Prompts, presets};
use serde_json::json;

use crate::args;
use crate::exit::{Exit, Wrong};
use crate::print;

const CREW: &str = include_str!("../../init/policy.toml");

/// The registry of documents, the same for every preset.
const CONTEXT: [(&str, &str); 3] = [
    ("context/README.md", include_str!("../../init/context/README.md")),
    ("context/principles.md", include_str!("../../init/context/principles.md")),
    ("context/decision-0001.md", include_str!("../../init/context/decision-0001.md")),
];

pub(crate) fn init(args: &args::Init) -> anyhow::Result<Exit> {
    if !args.repo.is_dir() {
        return Err(Wrong::NoFolder { path: args.repo.display().to_string() }.into());
    }
    let top = presets::top(&args.repo);
    let (mut written, mut kept) = (vec![], vec![]);
    for (path, text) in layout(&args.preset)? {
        if put(&top.join(&path), &text)? { written.push(path) } else { kept.push(path) }
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
        print::line(&format!("kept   {path}, which was there"))?;
    }
    if !written.is_empty() {
        print::line(
            "\nnext   read .bosun/policy.toml; then: git add .bosun context && git commit",
        )?;
        print::line("       bosun policy show        what a run here would work by")?;
    }
    Ok(Exit::Done)
}

/// The files of a preset, each with its path from the top of the repository.
fn layout(preset: &str) -> anyhow::Result<Vec<(String, String)>> {
    let rules = presets::text(preset)?;
    // What ships grows with the product, so a crew's file only says what is different.
    let policy = if preset == "crew" { CREW } else { rules };
    let mut files = vec![(presets::POLICY.to_owned(), policy.to_owned())];
    if preset == "strict" {
        // It has a layout of its own, with its prompts in it.
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

/// Writes a file that is not there yet; whether it did.
fn put(path: &Path, text: &str) -> anyhow::Result<bool> {
    let writing = || format!("writing {}", path.display());
    if let Some(above) = path.parent() {
        std::fs::create_dir_all(above).with_context(writing)?;
    }
    // Links are not followed, and nothing that is there is touched.
    match std::fs::OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => {
            file.write_all(text.as_bytes()).with_context(writing)?;
            Ok(true)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error).with_context(writing),
    }
}
