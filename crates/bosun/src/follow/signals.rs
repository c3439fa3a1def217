//! Ctrl-C and SIGTERM: the first suspends the work, the second exits at once.

use tokio_util::sync::CancellationToken;

use crate::exit::Exit;
use crate::print::note;

/// Suspends the work on the first signal, and exits at once on the second.
pub(crate) async fn take_signals(suspend: CancellationToken) {
    if signal().await.is_err() {
        return;
    }
    note("stopping the agents; once more to leave at once");
    suspend.cancel();
    if signal().await.is_ok() {
        std::process::exit(Exit::Cancelled as i32);
    }
}

async fn signal() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}
