//! One command behind walls, seen from outside: orders go to a helper, output comes through pipes, and the helper's
//! report is the end. Whoever stops waiting ends everything inside.

use std::io::{self, PipeWriter};
use std::net::TcpListener;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;
use types::{Ended, ExecResult, Span};

use super::line::{self, MAX_MESSAGE};
use super::proxy::Proxy;
use super::spare::{Spare, Spares};
use super::spec::{Report, Spec};
use super::{KILL, TERM};
use crate::process::{GRACE, result};
use crate::stream::Streams;
use crate::{EnvError, Hosts, Listener};

/// How long a helper has to end after it was told to end everything at once.
const LAST_GRACE: Duration = Duration::from_secs(1);

fn failed(doing: &'static str) -> impl FnOnce(io::Error) -> EnvError {
    move |source| EnvError::Exec { doing, source }
}

/// What a command is run with: helpers, and hosts that it may reach.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way<'a> {
    pub(super) spares: &'a Arc<Spares>,
    pub(super) hosts: &'a Arc<Hosts>,
}

/// Runs a command to its end, whichever end that is.
pub(super) async fn run(
    way: Way<'_>,
    spec: Spec,
    listener: Option<Listener>,
    timeout: Span,
    stop: &CancellationToken,
) -> Result<ExecResult, EnvError> {
    let began = Instant::now();
    let mut held = Held::start(way, spec, listener).await?;
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
    let way = Way { spares, hosts: &Arc::default() };
    let mut held = Held::start(way, spec, None).await?;
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
    proxy: Option<Proxy>,
}

impl Held {
    async fn start(way: Way<'_>, spec: Spec, listener: Option<Listener>) -> Result<Self, EnvError> {
        let (streams, out, err) = Streams::open(listener).map_err(failed("making pipes for"))?;
        let spares = Arc::clone(way.spares);
        let ready = spares.ready(&spec.prelude());
        // Short orders to somebody who is there are given at once; anything else may block.
        let quick = ready.is_some() && !spec.network && spec.is_short();
        let given = move || {
            let spare = ready.map_or_else(|| spares.start(&spec.prelude()), Ok);
            orders(spare.map_err(failed("starting the helper of"))?, &spec, (out, err))
        };
        let (spare, proxied) = if quick {
            given()?
        } else {
            tokio::task::spawn_blocking(given).await.map_err(EnvError::CutOff)??
        };
        let proxy = proxied.map(|listener| Proxy::start(listener, Arc::clone(way.hosts)));
        let proxy = proxy.transpose().map_err(failed("opening a way out for"))?;
        let line = spare.line.try_clone().and_then(UnixStream::from_std);
        let line = line.map_err(failed("listening to the helper of"))?;
        let (spare, heard) = (Some(spare), Vec::new());
        Ok(Self { spares: Arc::clone(way.spares), spare, line, heard, streams, proxy })
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
        let mut result = result(&mut self.streams, ended, began);
        // What was refused belongs to what was said: the model and the log shall see it.
        for reason in self.proxy.iter().flat_map(Proxy::refused) {
            let line = format!("[network: {reason}]\n");
            for text in [&mut result.output, &mut result.stderr] {
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                text.push_str(&line);
            }
        }
        result
    }
}

/// Gives orders, with the pipes for what the command says. A helper that could not build its walls says why.
fn orders(
    mut spare: Spare,
    spec: &Spec,
    (out, err): (PipeWriter, PipeWriter),
) -> Result<(Spare, Option<TcpListener>), EnvError> {
    let mut give = || {
        line::send(&mut spare.line, spec, &[])?;
        line::send_fds(&spare.line, &[out.as_fd(), err.as_fd()])?;
        let proxied = if spec.network { proxied(&mut spare)? } else { None };
        spare.line.set_nonblocking(true)?;
        io::Result::Ok(proxied)
    };
    match give() {
        Ok(proxied) => Ok((spare, proxied)),
        Err(source) => match line::receive::<Report>(&mut spare.line, |_| 0) {
            Ok((Report::Failed(reason), _)) => Err(EnvError::Sandbox { reason }),
            _ => Err(EnvError::Exec { doing: "giving orders for", source }),
        },
    }
}

/// The listener inside, at which our proxy will be. If there is none, the helper's report says why.
fn proxied(spare: &mut Spare) -> io::Result<Option<TcpListener>> {
    spare.line.set_read_timeout(Some(LAST_GRACE))?;
    let waits = |report: &Report| usize::from(*report == Report::Listening);
    let (report, fds) = line::receive::<Report>(&mut spare.line, waits)?;
    match (report, fds.into_iter().next()) {
        (Report::Listening, Some(fd)) => Ok(Some(TcpListener::from(fd))),
        (other, _) => Err(io::Error::other(format!("there is no way out: {other:?}"))),
    }
}
