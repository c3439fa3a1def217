//! The server's life: it is started, and restarted after every few finished runs, at a line drawn from the seed; every
//! third restart is a kill. One stream over all runs is read across the restarts, to show that it has no gap.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, bail};
use testkit::client::{EventStream, SentEvent};
use testkit::served::{Served, Site};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::caller::Caller;
use super::draw::Draw;

/// The number of runs that end between two restarts.
const BETWEEN: usize = 20;
/// The most lines between that moment and the restart.
const MOST_LINES: u64 = 120;
/// One in this many restarts is a kill.
const KILL: usize = 3;
/// How long the stream may lag behind the runs at the end.
const PATIENCE: Duration = Duration::from_secs(60);

/// The server, with its site.
pub(super) struct Host {
    pub(super) site: Site,
    pub(super) served: Served,
    caller: Caller,
    up: watch::Sender<u64>,
    draw: Draw,
}

/// Facts from the stream over all runs.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) lines: usize,
    pub(super) stops: usize,
    pub(super) kills: usize,
    /// The last position.
    after: u64,
    /// The number of request lines and of end lines for each run.
    runs: BTreeMap<String, (usize, usize)>,
    over: usize,
}

impl Told {
    pub(super) fn of(&self, run: &str) -> (usize, usize) {
        self.runs.get(run).copied().unwrap_or_default()
    }

    fn hear(&mut self, event: &SentEvent) -> anyhow::Result<()> {
        let line = event.json();
        let position = line["position"].as_u64().context("a position")?;
        // The feed may skip positions, but never goes back.
        if position <= self.after {
            bail!("line {position} came after line {}", self.after);
        }
        self.after = position;
        self.lines += 1;
        let run = line["run"].as_str().unwrap_or_default().to_owned();
        match line["event"].as_str() {
            Some("run.requested") => self.runs.entry(run).or_default().0 += 1,
            Some("run.finished") => {
                self.runs.entry(run).or_default().1 += 1;
                self.over += 1;
            }
            _ => {}
        }
        Ok(())
    }
}

impl Host {
    /// Starts the first server; returns it with a client that has all rights.
    pub(super) async fn start(site: Site, seed: u64) -> anyhow::Result<(Self, Caller)> {
        let token = site.admin("ann").await?;
        let served = site.serve("127.0.0.1:0", &[]).await?;
        let client = served.client().with_token(&token);
        let (up, receiver) = watch::channel(1);
        let caller = Caller { client, up: receiver, repeated: 0 };
        let draw = Draw::new(seed, u64::MAX);
        Ok((Self { site, served, caller: caller.clone(), up, draw }, caller))
    }

    /// Restarts the server now and then, until all runs are over.
    pub(super) async fn keep_up(
        mut self,
        runs: usize,
        over: CancellationToken,
    ) -> anyhow::Result<(Self, Told)> {
        let mut told = Told::default();
        loop {
            let restart_at = told.over + BETWEEN;
            let all = self.follow(&mut told, runs, restart_at, &over).await?;
            if all {
                return Ok((self, told));
            }
            self = self.restart(&mut told).await?;
        }
    }

    /// Reads the stream until a restart is due; returns whether all runs are over instead.
    async fn follow(
        &mut self,
        told: &mut Told,
        runs: usize,
        restart_at: usize,
        over: &CancellationToken,
    ) -> anyhow::Result<bool> {
        let mut more = self.draw.below(MOST_LINES);
        let path = format!("/api/v1/events?after={}", told.after);
        let (mut stream, _) = self.caller.stream(&path).await?;
        loop {
            let Some(event) = next_event(&mut stream, told.over >= runs, over).await? else {
                return Ok(true);
            };
            match event.event.as_str() {
                "line" => told.hear(&event)?,
                "lagged" => {
                    let path = format!("/api/v1/events?after={}", told.after);
                    (stream, _) = self.caller.stream(&path).await?;
                }
                _ => {}
            }
            if told.over >= restart_at {
                if more == 0 {
                    return Ok(false);
                }
                more -= 1;
            }
        }
    }

    async fn restart(self, told: &mut Told) -> anyhow::Result<Self> {
        let Self { site, served, caller, up, draw } = self;
        let address = served.address().to_owned();
        if (told.stops + told.kills + 1).is_multiple_of(KILL) {
            served.kill().await.context("killing the server")?;
            told.kills += 1;
        } else {
            served.stop().await.context("stopping the server")?;
            told.stops += 1;
        }
        let served = site.serve(&address, &[]).await.context("starting the server again")?;
        up.send_modify(|number| *number += 1);
        Ok(Self { site, served, caller, up, draw })
    }
}

/// The next message; `None` if everything is over.
async fn next_event(
    stream: &mut EventStream,
    all_told: bool,
    over: &CancellationToken,
) -> anyhow::Result<Option<SentEvent>> {
    let mut next = std::pin::pin!(stream.next());
    let event = tokio::select! {
        event = &mut next => event?,
        () = over.cancelled(), if all_told => return Ok(None),
        () = over.cancelled(), if !all_told => match timeout(PATIENCE, next).await {
            Ok(event) => event?,
            // The waiters for the unfinished runs report them.
            Err(_) => return Ok(None),
        },
    };
    Ok(Some(event.context("the stream over all runs ended by itself")?))
}
