//! Ctrl-C and SIGTERM: the first suspends the work, the second exits at once.

use tokio_util::sync::CancellationToken;

use crate::chat;
use crate::exit::Exit;
use crate::print::note;

/// Message for work that is being suspended.
pub(crate) const STOPPING: &str = "stopping the agents; press Ctrl-C again to exit immediately";

/// Suspends the work on the first signal, and exits at once on the second. A live view reports the suspension itself.
pub(crate) async fn take_signals(suspend: CancellationToken, under_view: bool) {
    if signal().await.is_err() {
        return;
    }
    if !under_view {
        note(STOPPING);
    }
    suspend.cancel();
    if signal().await.is_err() {
        return;
    }
    if under_view {
        leave_at_once();
    }
    std::process::exit(Exit::Cancelled as i32);
}

/// Ends the process from under a live view, after restoring the terminal.
pub(crate) fn leave_at_once() -> ! {
    if let Err(error) = chat::put_back() {
        tracing::debug!(%error, "putting the terminal back");
    }
    note("");
    std::process::exit(Exit::Cancelled as i32);
}

/// Waits for the next SIGINT or SIGTERM.
pub(crate) async fn signal() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}
