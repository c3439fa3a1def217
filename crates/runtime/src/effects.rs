//! Performs effects. For a run: attempts, checks, merges. For an attempt: model calls, tool calls, the final commit.
//! Each returns an outcome, also on failure; none makes decisions.

pub(crate) mod attempt;
mod check;
pub(crate) mod exact;
mod output_capture;
pub(crate) mod processes;
pub(crate) mod run;
pub(crate) mod run_executor;
mod signs;
pub(crate) mod workspace;

use types::{BlobRef, Fault, FaultClass};

use crate::services::Services;

/// Outputs longer than this are also kept whole as blobs; shorter ones only if they will be truncated.
const BLOB_ABOVE: usize = 4_096;

/// The redacted text, and the blob with all of it if it is long or will be truncated.
pub(crate) async fn kept(
    services: &Services,
    text: String,
    cuts: impl Fn(&str) -> bool,
) -> Result<(String, Option<BlobRef>), Fault> {
    let text = match services.redactor.scrub(&text) {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(scrubbed) => scrubbed,
    };
    if text.len() <= BLOB_ABOVE && !cuts(&text) {
        return Ok((text, None));
    }
    let blob = services.journal.put_blob(text.as_bytes()).await.map_err(|error| error.fault())?;
    Ok((text, Some(blob)))
}

/// The same for a command's output, which is captured up to a limit.
pub(crate) async fn kept_whole(
    services: &Services,
    text: String,
    whole: Option<String>,
    cuts: impl Fn(&str) -> bool,
) -> Result<(String, Option<BlobRef>), Fault> {
    let Some(whole) = whole else { return kept(services, text, cuts).await };
    let (_, blob) = kept(services, whole, |_| true).await?;
    Ok((services.redactor.scrub(&text).into_owned(), blob))
}

pub(crate) fn stopped() -> Fault {
    Fault::new(FaultClass::Person, "stopped", "it was stopped before it was done")
}
