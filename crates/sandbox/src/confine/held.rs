//! One command behind walls, seen from outside: orders go to a helper, output comes through pipes, and the helper's
//! report is the end. Whoever stops waiting ends everything inside.

use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;
use types::{Ended, ExecResult, Span};

use super::line::{self, MAX_MESSAGE};
use super::spare::{Spare, Spares};
use super::spec::{Report, Spec};
use super::{KILL, TERM};
use crate::process::{GRACE, result};
use crate::stream::Streams;
use crate::{EnvError, Listener};

/// How long a helper has to end after it was told to end everything at once.
const LAST_GRACE: Duration = Duration::from_secs(1);

fn failed(doing: &'static str) -> impl FnOnce(io::Error) -> EnvError {
    move |source| EnvError::Exec { doing, source }
}

/// Runs a command to its end, whichever end that is.
pub(super) async fn run(
    spares: &Arc<Spares>,
    spec: Spec,
    listener: Option<Listener>,
    timeout: Span,
    stop: &CancellationToken,
) -> Result<ExecResult, EnvError> {
    let began = Instant::now();
    let mut held = Held::start(spares, spec, listener).await?;
    let cut = tokio::select! {
        biased;
        report = held.ended() => {
            let ended = how(report?)?;
            held.streams.take_in().map_err(failed("reading the output of"))?;
            return Ok(held.finish(ended, began));
        }
        () = stop.cancelled() => Ended::Stopped,
        () = tokio::time::sleep(timeout.duration()) => Ended::TimedOut,
    };
    held.terminate().await;
    Ok(held.finish(cut, began))
}

/// Asks a helper to attack its own walls.
pub(super) async fn probe(spares: &Arc<Spares>, spec: Spec) -> Result<Report, EnvError> {
    let mut held = Held::start(spares, spec, None).await?;
    let report = held.ended().await?;
    held.finish(Ended::Exited(0), Instant::now());
    Ok(report)
}

fn how(report: Report) -> Result<Ended, EnvError> {
    match report {
        Report::Exited(code) => Ok(Ended::Exited(code)),
        Report::Signalled(signal) => Ok(Ended::Signalled(signal)),
        Report::Failed(reason) => Err(EnvError::Sandbox { reason }),
        Report::Probed(_) | Report::Listening => {
            Err(EnvError::Sandbox { reason: "it misunderstood".to_owned() })
        }
    }
}

/// A command under way.
struct Held {
    spares: Arc<Spares>,
    spare: Option<Spare>,
    line: UnixStream,
    heard: Vec<u8>,
    streams: Streams,
}

impl Held {
    async fn start(
        spares: &Arc<Spares>,
        spec: Spec,
        listener: Option<Listener>,
    ) -> Result<Self, EnvError> {
        let (streams, out, err) = Streams::open(listener).map_err(failed("making pipes for"))?;
        let (prelude, pool) = (spec.prelude(), Arc::clone(spares));
        let given = move || {
            let mut spare = pool.take(&spec.prelude())?;
            line::send(&mut spare.line, &spec, &[])?;
            line::send_fds(&spare.line, &[out.as_fd(), err.as_fd()])?;
            spare.line.set_nonblocking(true)?;
            io::Result::Ok(spare)
        };
        let spare = tokio::task::spawn_blocking(given).await.map_err(EnvError::CutOff)?;
        let spare = spare.map_err(failed("giving orders for"))?;
        spares.refill(prelude);
        let line = spare.line.try_clone().and_then(UnixStream::from_std);
        let line = line.map_err(failed("listening to the helper of"))?;
        let (spare, heard) = (Some(spare), Vec::new());
        Ok(Self { spares: Arc::clone(spares), spare, line, heard, streams })
    }

    /// Takes in output until the helper reports. Cancel-safe.
    async fn ended(&mut self) -> Result<Report, EnvError> {
        loop {
            if let Some(report) = self.report()? {
                return Ok(report);
            }
            tokio::select! {
                biased;
                heard = self.streams.listen(), if self.streams.is_open() => {
                    heard.map_err(failed("reading the output of"))?;
                }
                read = self.line.read_buf(&mut self.heard) => {
                    if read.map_err(failed("hearing how it went with"))? == 0 {
                        return Ok(Report::Failed("it ended without a word".to_owned()));
                    }
                }
            }
        }
    }

    /// The report, once all of it is there.
    fn report(&self) -> Result<Option<Report>, EnvError> {
        let Some((length, rest)) = self.heard.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > MAX_MESSAGE {
            return Err(EnvError::Sandbox { reason: "it talks too much".to_owned() });
        }
        let Some(text) = rest.get(..length) else { return Ok(None) };
        let report = serde_json::from_slice(text);
        report.map(Some).map_err(|_| EnvError::Sandbox { reason: "it talks nonsense".to_owned() })
    }

    /// Asks everybody inside to end, and ends those who do not.
    async fn terminate(&mut self) {
        for (word, patience) in [(TERM, GRACE), (KILL, LAST_GRACE)] {
            // If the line is full or broken, the helper is at its end anyway.
            self.line.try_write(word).ok();
            if tokio::time::timeout(patience, self.ended()).await.is_ok() {
                self.streams.take_in().ok();
                return;
            }
        }
        if let Some(spare) = &self.spare {
            spare.kill();
        }
    }

    fn finish(mut self, ended: Ended, began: Instant) -> ExecResult {
        if let Some(spare) = self.spare.take() {
            self.spares.give_back(spare);
        }
        result(&mut self.streams, ended, began)
    }
}
