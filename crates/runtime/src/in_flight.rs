//! Effects in flight: the running effects with their stop tokens, and the timers. Outcomes are returned in order of
//! arrival, or, for reproducible runs, in the order the effects were started.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;

use engine::InFlight;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use types::{EffectId, Fault, Outcome, TimerId, Timestamp};

use crate::clock::Clock;

/// The order in which outcomes are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// On arrival: no unnecessary waiting.
    #[default]
    Arrival,
    /// In order of start: repeated runs give the same log. Effects still run concurrently.
    Started,
}

#[derive(Debug)]
pub(crate) struct RunningEffects {
    order: Order,
    /// Effects that must not be started again.
    ids: InFlight,
    effects: BTreeMap<u64, (EffectId, CancellationToken)>,
    timers: BTreeMap<u64, (EffectId, Timestamp)>,
    /// Timers that have fired and that the state still awaits. They do not fire again unless they were reset meanwhile.
    fired: BTreeMap<EffectId, Timestamp>,
    arrived: BTreeMap<u64, Outcome>,
    tickets: u64,
    sender: mpsc::Sender<(u64, Outcome)>,
    receiver: mpsc::Receiver<(u64, Outcome)>,
    suspend: CancellationToken,
    tasks: TaskTracker,
}

impl RunningEffects {
    /// `suspend` stops everything started here.
    pub(crate) fn new(order: Order, suspend: CancellationToken) -> Self {
        let (sender, receiver) = mpsc::channel(64);
        Self {
            order,
            ids: InFlight::new(),
            effects: BTreeMap::new(),
            timers: BTreeMap::new(),
            fired: BTreeMap::new(),
            arrived: BTreeMap::new(),
            tickets: 0,
            sender,
            receiver,
            suspend,
            tasks: TaskTracker::new(),
        }
    }

    pub(crate) fn ids(&self) -> &InFlight {
        &self.ids
    }

    /// Whether only timers are in flight.
    pub(crate) fn only_timers(&self) -> bool {
        self.effects.is_empty()
    }

    pub(crate) fn start(
        &mut self,
        id: EffectId,
        effects: impl FnOnce(CancellationToken) -> BoxFuture<'static, Outcome>,
    ) {
        let ticket = self.ticket(&id);
        let stop = self.suspend.child_token();
        self.effects.insert(ticket, (id, stop.clone()));
        let (sender, performing) = (self.sender.clone(), effects(stop));
        self.tasks.spawn(async move {
            let outcome = AssertUnwindSafe(performing).catch_unwind().await.unwrap_or_else(|_| {
                Outcome::Broke(Fault::bug(
                    "a panic while performing this; it is in the program's own log",
                ))
            });
            // After the loop has ended, the outcome does not matter.
            let _unheard = sender.send((ticket, outcome)).await;
        });
    }

    pub(crate) fn start_timer(&mut self, id: EffectId, until: Timestamp) {
        if self.fired.get(&id) == Some(&until) {
            return;
        }
        self.fired.remove(&id);
        let ticket = self.ticket(&id);
        self.timers.insert(ticket, (id, until));
    }

    fn ticket(&mut self, id: &EffectId) -> u64 {
        self.ids.insert(id.clone());
        self.tickets += 1;
        self.tickets
    }

    /// Releases effects that the state no longer awaits: a timer is dropped, an effect is stopped.
    pub(crate) fn release(&mut self, awaited: impl Fn(&EffectId) -> bool) {
        self.fired.retain(|id, _| awaited(id));
        let ids: Vec<EffectId> = self.ids.iter().filter(|id| !awaited(id)).cloned().collect();
        for id in ids {
            self.timers.retain(|_, (timer, _)| *timer != id);
            let running = self.effects.values().find(|(effect, _)| *effect == id);
            match running {
                Some((_, stop)) => stop.cancel(),
                None => {
                    self.ids.remove(&id);
                }
            }
        }
    }

    pub(crate) fn stop_all(&self) {
        self.effects.values().for_each(|(_, stop)| stop.cancel());
    }

    /// The next outcome. Cancel safe: nothing is lost.
    pub(crate) async fn next(&mut self, clock: &dyn Clock) -> (EffectId, Outcome) {
        loop {
            if let Some(outcome) = self.take_arrived() {
                return outcome;
            }
            let timer = self.next_timer();
            let until = timer.as_ref().map_or_else(Timestamp::default, |(_, until)| *until);
            tokio::select! {
                biased;
                arrived = self.receiver.recv() => {
                    if let Some((ticket, outcome)) = arrived {
                        self.arrived.insert(ticket, outcome);
                    }
                }
                () = clock.sleep_until(until), if timer.is_some() => {
                    if let Some((ticket, _)) = timer
                        && let Some((id, until)) = self.timers.remove(&ticket)
                    {
                        self.ids.remove(&id);
                        self.fired.insert(id.clone(), until);
                        return (id, Outcome::Fired);
                    }
                }
            }
        }
    }

    fn take_arrived(&mut self) -> Option<(EffectId, Outcome)> {
        let ticket = *self.arrived.keys().next()?;
        if self.order == Order::Started && self.first_started() != Some(ticket) {
            return None;
        }
        let outcome = self.arrived.remove(&ticket)?;
        let (id, _) = self.effects.remove(&ticket)?;
        self.ids.remove(&id);
        Some((id, outcome))
    }

    /// The oldest effect in flight, not counting a deadline.
    fn first_started(&self) -> Option<u64> {
        let timers = self.timers.iter().filter(|(_, (id, _))| !is_deadline(id)).map(|(at, _)| at);
        timers.chain(self.effects.keys()).min().copied()
    }

    fn next_timer(&self) -> Option<(u64, Timestamp)> {
        let first = self.first_started();
        let may_fire = |ticket: &u64, id: &EffectId| {
            self.order == Order::Arrival || is_deadline(id) || first == Some(*ticket)
        };
        let timers = self.timers.iter().filter(|(ticket, (id, _))| may_fire(ticket, id));
        timers.map(|(ticket, (_, until))| (*ticket, *until)).min_by_key(|(_, until)| *until)
    }

    /// The time before which no outcome can come: only timers are in flight, or, in order of start, a timer is first.
    pub(crate) fn nothing_before(&self) -> Option<Timestamp> {
        if self.effects.is_empty() {
            return self.next_timer().map(|(_, until)| until);
        }
        let head = self.first_started().filter(|_| self.order == Order::Started)?;
        self.timers.get(&head).map(|(_, until)| *until)
    }

    /// Stops everything and waits until it has ended.
    pub(crate) async fn drain(mut self) {
        self.stop_all();
        self.receiver.close();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

fn is_deadline(id: &EffectId) -> bool {
    matches!(id, EffectId::Timer(TimerId::Deadline | TimerId::Session(..)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;
    use types::{CallId, SessionId, TaskId, ToolOutput};

    fn tool(index: u32) -> EffectId {
        EffectId::Tool(CallId { session: SessionId::ROOT, turn: 1, index })
    }

    fn done(text: &str) -> Outcome {
        Outcome::Tool(ToolOutput::ok(text))
    }

    fn in_flight(order: Order) -> (RunningEffects, ManualClock) {
        (
            RunningEffects::new(order, CancellationToken::new()),
            ManualClock::at(Timestamp::from_millis(0)),
        )
    }

    #[tokio::test]
    async fn outcomes_come_in_the_order_of_arrival_or_of_the_start() {
        for (order, first) in [(Order::Arrival, tool(2)), (Order::Started, tool(1))] {
            let (mut in_flight, clock) = in_flight(order);
            let (release, held) = tokio::sync::oneshot::channel::<()>();
            let (arrived, seen) = tokio::sync::oneshot::channel::<()>();
            in_flight.start(tool(1), |_| {
                Box::pin(async move {
                    held.await.ok();
                    done("slow")
                })
            });
            in_flight.start(tool(2), |_| {
                Box::pin(async move {
                    arrived.send(()).ok();
                    done("fast")
                })
            });
            seen.await.expect("the second one ran");
            if order == Order::Started {
                release.send(()).expect("the first one waits");
                assert_eq!(in_flight.next(&clock).await.0, first);
            } else {
                assert_eq!(in_flight.next(&clock).await.0, first);
                release.send(()).expect("the first one waits");
            }
            in_flight.next(&clock).await;
            assert!(in_flight.ids().is_empty());
        }
    }

    #[tokio::test]
    async fn a_panic_is_an_outcome() {
        let (mut in_flight, clock) = in_flight(Order::Arrival);
        in_flight.start(tool(1), |_| Box::pin(async { panic!("on purpose") }));
        let (_, outcome) = in_flight.next(&clock).await;
        assert!(matches!(outcome, Outcome::Broke(fault) if fault.class == types::FaultClass::Bug));
    }

    #[tokio::test]
    async fn a_timer_at_the_head_of_the_line_holds_up_nothing_but_the_clock() {
        let (mut in_flight, clock) = in_flight(Order::Started);
        let id = EffectId::Timer(TimerId::Retry(TaskId::plan()));
        let until = Timestamp::from_millis(250);
        in_flight.start_timer(id.clone(), until);
        in_flight.start(tool(1), |_| Box::pin(async { done("fast") }));
        assert_eq!(in_flight.nothing_before(), Some(until));
        clock.skip_to(until);
        assert_eq!(in_flight.next(&clock).await.0, id);
        in_flight.release(|effect| *effect != id);
        assert_eq!(in_flight.nothing_before(), None);
        assert_eq!(in_flight.next(&clock).await.0, tool(1));
    }

    #[tokio::test]
    async fn what_is_no_longer_wanted_is_told_to_stop() {
        let (mut in_flight, clock) = in_flight(Order::Arrival);
        in_flight.start(tool(1), |stop| {
            Box::pin(async move {
                stop.cancelled().await;
                done("stopped")
            })
        });
        in_flight.release(|_| false);
        assert_eq!(in_flight.next(&clock).await, (tool(1), done("stopped")));
    }

    /// A task delayed again in the step in which its delay ended has the same timer, reset.
    #[tokio::test]
    async fn a_timer_that_was_set_anew_fires_again_and_the_same_one_does_not() {
        let (mut in_flight, clock) = in_flight(Order::Arrival);
        let id = EffectId::Timer(TimerId::Retry(TaskId::fixed("T1")));
        let at = |millis| Timestamp::from_millis(millis);
        in_flight.start_timer(id.clone(), at(0));
        assert_eq!(in_flight.next(&clock).await.0, id);
        in_flight.release(|_| true);
        in_flight.start_timer(id.clone(), at(0));
        assert_eq!(in_flight.nothing_before(), None, "it has fired");
        in_flight.start_timer(id.clone(), at(5));
        assert_eq!(in_flight.nothing_before(), Some(at(5)));
        in_flight.release(|_| false);
        assert_eq!(in_flight.nothing_before(), None);
        in_flight.start_timer(id, at(0));
        assert_eq!(in_flight.nothing_before(), Some(at(0)), "the state had let go of it");
    }
}
