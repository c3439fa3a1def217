//! A sandboxed command, seen from the main process: the spec goes to a helper, output arrives through pipes, and a
//! report on the command's own socket marks its end. Closing that socket ends everything inside.

use std::io::{self, PipeWriter};
use std::net::TcpListener;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as Line;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;
use types::{Ended, ExecResult, Millis};

use super::helper::{SandboxHelper, SandboxHelpers};
use super::line::{self, MAX_MESSAGE};
use super::proxy::Proxy;
use super::shared_network::SharedNetwork;
use super::spec::{KILL, Report, Spec, TERM};
use crate::process::{GRACE, append, failed};
use crate::stream::Streams;
use crate::{EnvError, Hosts, Listener};

/// How long the processes inside have to end after the kill message.
const LAST_GRACE: Duration = Duration::from_secs(1);

/// How long setting up a sandbox may take on a busy machine.
const SETUP: Duration = Duration::from_secs(10);

/// Dependencies of a sandboxed command: helpers, reachable hosts and the shared network.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way<'a> {
    pub(super) helpers: &'a Arc<SandboxHelpers>,
    pub(super) hosts: &'a Arc<Hosts>,
    pub(super) shared: &'a Arc<SharedNetwork>,
}

/// Runs a command until it ends, times out or is stopped.
pub(super) async fn run(
    way: Way<'_>,
    spec: Spec,
    listener: Option<Listener>,
    timeout: Millis,
    stop: &CancellationToken,
) -> Result<ExecResult, EnvError> {
    let began = Instant::now();
    let mut held = Held::start(way, spec, listener).await?;
    let cut = tokio::select! {
        biased;
        report = held.ended() => {
            let report = report?;
            if let Report::Exceeded(reason) = &report {
                held.limit = Some(reason.clone());
            }
            let ended = how(report)?;
            held.streams.take_in().map_err(failed("reading the output of"))?;
            return Ok(held.finish(ended, began));
        }
        () = stop.cancelled() => Ended::Stopped,
        () = tokio::time::sleep(timeout.duration()) => Ended::TimedOut,
    };
    held.terminate().await;
    Ok(held.finish(cut, began))
}

/// Runs the attack from inside a sandbox.
pub(super) async fn probe(helpers: &Arc<SandboxHelpers>, spec: Spec) -> Result<Report, EnvError> {
    let way = Way { helpers, hosts: &Arc::default(), shared: &Arc::default() };
    let mut held = Held::start(way, spec, None).await?;
    let report = held.ended().await?;
    // No other command will run in that workspace.
    helpers.dismiss(&held.helper);
    held.finish(Ended::Exited(0), Instant::now());
    Ok(report)
}

fn how(report: Report) -> Result<Ended, EnvError> {
    match report {
        Report::Exited(code) => Ok(Ended::Exited(code)),
        Report::Signalled(signal) => Ok(Ended::Signalled(signal)),
        Report::Exceeded(_) => Ok(Ended::Signalled(Signal::SIGKILL as i32)),
        Report::Failed(reason) => Err(EnvError::Sandbox { reason }),
        Report::Begun(_) | Report::Probed(_) | Report::Listening | Report::Network => {
            Err(EnvError::Sandbox { reason: "it misunderstood".to_owned() })
        }
    }
}

/// A running command.
struct Held {
    helpers: Arc<SandboxHelpers>,
    helper: Arc<SandboxHelper>,
    line: UnixStream,
    heard: Vec<u8>,
    /// The process whose end takes all others inside with it, once it has reported its pid.
    first: Option<Pid>,
    streams: Streams,
    proxy: Option<Proxy>,
    /// The limit that ended it.
    limit: Option<String>,
}

impl Held {
    async fn start(way: Way<'_>, spec: Spec, listener: Option<Listener>) -> Result<Self, EnvError> {
        let (streams, out, err) = Streams::open(listener).map_err(failed("making pipes for"))?;
        let helpers = Arc::clone(way.helpers);
        let known = helpers.known(&spec.prelude());
        // A short spec for a running helper fits into the socket's buffer; anything else may block.
        let quick = known.is_some() && spec.proxy_port.is_none() && !spec.shares && spec.is_short();
        let joined = way.shared.namespace().filter(|_| spec.joins);
        let given = move || {
            let helper = known.map_or_else(|| helpers.hire(&spec.prelude()), Ok);
            let helper = helper.map_err(failed("starting a sandbox helper for"))?;
            let given = orders(&helper, &spec, (out, err), joined.as_deref());
            // A spec that cannot be carried out leaves the helper usable; only an error in the exchange dismisses it.
            given.inspect_err(|_| helpers.dismiss(&helper))?.map(|given| (helper, given))
        };
        let (helper, given) = if quick {
            given()?
        } else {
            tokio::task::spawn_blocking(given).await.map_err(EnvError::CutOff)??
        };
        let Given { line, first, proxied, shared } = given;
        shared.into_iter().for_each(|namespace| way.shared.keep(namespace));
        let proxy = proxied.map(|listener| Proxy::start(listener, Arc::clone(way.hosts)));
        let proxy = proxy.transpose().map_err(failed("opening a way out for"))?;
        let line = line.set_nonblocking(true).and_then(|()| UnixStream::from_std(line));
        let line = line.map_err(failed("listening for the end of"))?;
        let (helpers, heard) = (Arc::clone(way.helpers), Vec::new());
        Ok(Self { helpers, helper, line, heard, first, streams, proxy, limit: None })
    }

    /// Collects output until there is a report. Cancel-safe.
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
                        return Ok(Report::Failed(self.why().await));
                    }
                }
            }
        }
    }

    /// Reason for a missing report, from the helper if it knows.
    async fn why(&self) -> String {
        self.helpers.dismiss(&self.helper);
        let helper = Arc::clone(&self.helper);
        let words = tokio::task::spawn_blocking(move || helper.last_words()).await;
        words.ok().flatten().unwrap_or_else(|| "it ended without a word".to_owned())
    }

    /// The report, once it is complete.
    fn report(&mut self) -> Result<Option<Report>, EnvError> {
        loop {
            let Some((length, rest)) = self.heard.split_first_chunk::<4>() else { return Ok(None) };
            let length = u32::from_le_bytes(*length) as usize;
            if length > MAX_MESSAGE {
                return Err(EnvError::Sandbox { reason: "it talks too much".to_owned() });
            }
            let Some(text) = rest.get(..length) else { return Ok(None) };
            let report = serde_json::from_slice(text)
                .map_err(|_| EnvError::Sandbox { reason: "it talks nonsense".to_owned() })?;
            self.heard.drain(..4 + length);
            match report {
                Report::Begun(number) => self.first = Some(Pid::from_raw(number)),
                report => return Ok(Some(report)),
            }
        }
    }

    /// Asks all processes inside to end, and kills those that do not.
    async fn terminate(&mut self) {
        for (word, patience) in [(TERM, GRACE), (KILL, LAST_GRACE)] {
            // A socket that is full or broken means that the command is ending anyway.
            self.line.try_write(word).ok();
            if tokio::time::timeout(patience, self.ended()).await.is_ok() {
                self.streams.take_in().ok();
                return;
            }
        }
        // The socket is still open, so the process exists and its pid was not reused.
        if let Some(first) = self.first.filter(|first| first.as_raw() > 1) {
            kill(first, Signal::SIGKILL).ok();
        }
    }

    fn finish(mut self, ended: Ended, began: Instant) -> ExecResult {
        let mut result = self.streams.finish(ended, began);
        let refused = self.proxy.iter().flat_map(Proxy::refused);
        let lines = refused.map(|reason| format!("[network: {reason}]\n"));
        let limit = self.limit.iter().map(|reason| format!("[limit: ended, because {reason}]\n"));
        lines.chain(limit).for_each(|line| append(&line, &mut result));
        result
    }
}

/// Connection to a command whose spec was sent: the socket and, with a granted or shared network, the process that took
/// the spec and the listener inside that the proxy will serve.
struct Given {
    line: Line,
    first: Option<Pid>,
    proxied: Option<TcpListener>,
    /// The command's network namespace, for later commands.
    shared: Option<OwnedFd>,
}

/// Outcome of a spec that a helper received: it may be impossible to carry out.
type Followed = Result<Given, EnvError>;

/// Sends a spec with the pipes for the command's output. A helper that is terminating reports the reason.
fn orders(
    helper: &SandboxHelper,
    spec: &Spec,
    (out, err): (PipeWriter, PipeWriter),
    joined: Option<&OwnedFd>,
) -> Result<Followed, EnvError> {
    let give = || {
        let (line, theirs) = Line::pair()?;
        let own = [theirs.as_fd(), out.as_fd(), err.as_fd()].into_iter();
        let fds: Vec<BorrowedFd<'_>> = own.chain(joined.map(std::os::fd::AsFd::as_fd)).collect();
        helper.order(spec, &fds)?;
        drop(theirs);
        awaited(line, spec.proxy_port.is_some(), spec.shares)
    };
    give().map_err(|source| match helper.last_words() {
        Some(reason) => EnvError::Sandbox { reason },
        None => failed("giving orders for")(source),
    })
}

/// Waits for the listener inside, the network namespace, both, or nothing.
fn awaited(mut line: Line, listens: bool, shares: bool) -> io::Result<Followed> {
    line.set_read_timeout(Some(SETUP))?;
    let (mut first, mut proxied, mut shared) = (None, None, None);
    loop {
        if proxied.is_some() == listens && shared.is_some() == shares {
            return Ok(Ok(Given { line, first, proxied, shared }));
        }
        let waits =
            |report: &Report| usize::from(matches!(report, Report::Listening | Report::Network));
        let (report, fds) = line::receive::<Report>(&mut line, waits)?;
        match (report, fds.into_iter().next()) {
            (Report::Begun(number), _) => first = Some(Pid::from_raw(number)),
            (Report::Listening, Some(fd)) => proxied = Some(TcpListener::from(fd)),
            (Report::Network, Some(fd)) => shared = Some(fd),
            (Report::Failed(reason), _) => return Ok(Err(EnvError::Sandbox { reason })),
            (other, _) => {
                return Err(io::Error::other(format!("there is no way out: {other:?}")));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_that_cannot_be_followed_are_not_the_helpers_end() {
        let (line, mut theirs) = Line::pair().expect("a line");
        let reason = "entering src: it does not exist".to_owned();
        for report in [Report::Begun(2), Report::Failed(reason)] {
            line::send(&mut theirs, &report, &[]).expect("it is heard");
        }
        let followed = awaited(line, true, false).expect("a helper that goes on");
        let error = followed.err().expect("there is no way out").to_string();
        assert!(error.contains("entering src: it does not exist;"), "{error}");
    }
}
