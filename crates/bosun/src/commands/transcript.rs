//! `bosun transcript`: the conversations and calls of a run's attempts or of a session, for a terminal or as a file.

use std::path::Path;

use engine::export::{TranscriptEntry, transcript_html, transcript_markdown};
use types::RunId;

use crate::args::{self, TranscriptFormat};
use crate::exit::{CliError, Exit};
use crate::files;
use crate::home::Home;
use crate::print::{self, transcript as told};
use crate::recorded;

pub(crate) async fn transcript(home: &Home, args: args::Transcript) -> anyhow::Result<Exit> {
    let bosun = home.read(false).await?;
    let (named, part) = recorded::split(&bosun, args.run, args.part).await;
    let run = recorded::newest(&bosun, named).await?;
    let of = super::diff::wanted(&run, part.as_deref())?;
    let entries = bosun.transcript(&run, &of, args.whole).await?;
    if entries.is_empty() {
        let name = part.unwrap_or_else(|| "any conversation".to_owned());
        return Err(CliError::NoConversation { name: print::one_line(&name, 80), run }.into());
    }
    let by_name = args.out.as_deref().and_then(format_of);
    let json = args.json.then_some(TranscriptFormat::Json);
    let format = args.format.or(json).or(by_name).unwrap_or(TranscriptFormat::Text);
    let text = written(&run, &entries, format, args.whole)?;
    match &args.out {
        Some(path) => {
            // A file has no colours.
            files::write(path, &anstream::adapter::strip_str(&text).to_string())?;
            print::note(&format!("written: {}", crate::print::path(path)));
        }
        None if format == TranscriptFormat::Text => print::text(&text)?,
        None => print::bytes(text.as_bytes())?,
    }
    Ok(Exit::Done)
}

/// Format for the extension of a file name.
fn format_of(path: &Path) -> Option<TranscriptFormat> {
    match path.extension()?.to_str()? {
        "md" | "markdown" => Some(TranscriptFormat::Markdown),
        "html" | "htm" => Some(TranscriptFormat::Html),
        "json" | "jsonl" => Some(TranscriptFormat::Json),
        _ => None,
    }
}

fn written(
    run: &RunId,
    entries: &[TranscriptEntry],
    format: TranscriptFormat,
    whole: bool,
) -> anyhow::Result<String> {
    let title = format!("Transcript of {run}");
    Ok(match format {
        TranscriptFormat::Text => told::shown(entries, whole),
        TranscriptFormat::Markdown => transcript_markdown(&title, entries),
        TranscriptFormat::Html => transcript_html(&title, entries),
        TranscriptFormat::Json => {
            let lines: Result<Vec<String>, _> = entries.iter().map(serde_json::to_string).collect();
            lines?.iter().map(|line| format!("{line}\n")).collect()
        }
    })
}
