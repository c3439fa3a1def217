//! The loop with a simulated outside world: effects start as the state asks for them and end in an order chosen by the
//! dice. Invariants are asserted at every step.

use std::collections::{BTreeMap, BTreeSet};

use types::{Effect, EffectId, Input, Millis, Outcome, TimerId};

use super::{Bench, Dice, fold, reread};
use crate::{InFlight, Machine};

/// Performs effects. The same effect always has the same outcome.
pub(crate) trait Outside {
    fn perform(&self, effect: &Effect) -> Outcome;
}

/// A machine driven against an outside world.
pub(crate) struct Drive<'w, M, W> {
    pub(crate) bench: Bench<M>,
    /// The performed effects, in the order they ended.
    pub(crate) performed: Vec<EffectId>,
    fresh: M,
    outside: &'w W,
    under_way: BTreeMap<EffectId, Effect>,
    dice: Dice,
}

impl<'w, M: Machine + Clone + PartialEq + std::fmt::Debug, W: Outside> Drive<'w, M, W> {
    /// `fresh` is the machine before its first event; `bench` is the starting point.
    pub(crate) fn new(fresh: M, bench: Bench<M>, outside: &'w W, seed: u64) -> Self {
        let (under_way, dice) = (BTreeMap::new(), Dice::new(seed));
        Self { bench, performed: Vec::new(), fresh, outside, under_way, dice }
    }

    /// Handles one outcome. Returns whether there was one.
    pub(crate) fn step(&mut self) -> bool {
        self.begin_what_is_asked();
        // The deadline is far away; everything else ends before it.
        let deadline = EffectId::Timer(TimerId::Deadline);
        let ids: Vec<EffectId> =
            self.under_way.keys().filter(|id| **id != deadline).cloned().collect();
        let Some(id) = ids.get(self.dice.throw(ids.len())) else { return false };
        let Some(effect) = self.under_way.remove(id) else { return false };
        self.bench.now = self.bench.now.after(Millis(1));
        if let Effect::Wait { until, .. } = effect {
            self.bench.now = self.bench.now.max(until);
        }
        self.performed.push(id.clone());
        // The outside may be another machine: effects and outcomes survive serialization.
        let outcome = over_the_wire(&self.outside.perform(&over_the_wire(&effect)));
        self.bench.send(&Input::Outcome(id.clone(), outcome));
        true
    }

    /// Continues until nothing happens any more; then it must be over, or wait for a person.
    pub(crate) fn finish(&mut self, waits: impl Fn(&M) -> bool) {
        let most = 100_000;
        let steps = (0..most).take_while(|_| self.step()).count();
        assert!(steps < most, "it does not come to an end");
        let machine = &self.bench.machine;
        assert!(machine.is_over() || waits(machine), "it hangs:\n{}", self.story());
        assert!(
            !machine.is_over() || self.bench.asked().is_empty(),
            "it asks for more after its end"
        );
        self.is_the_fold_of_its_log();
    }

    pub(crate) fn is_the_fold_of_its_log(&self) {
        let folded = fold(self.fresh.clone(), &reread(&self.bench.log));
        assert!(folded == self.bench.machine, "the log says something else:\n{}", self.story());
    }

    /// All events so far, as text.
    pub(crate) fn story(&self) -> String {
        let events: Vec<_> = self.bench.log.iter().map(|(event, _)| event.clone()).collect();
        super::render(&events)
    }

    fn begin_what_is_asked(&mut self) {
        let machine = &self.bench.machine;
        let in_flight: InFlight = self.under_way.keys().cloned().collect();
        let offered = machine.pending(&in_flight);
        let ids: BTreeSet<EffectId> = offered.iter().map(Effect::id).collect();
        assert_eq!(ids.len(), offered.len(), "an effect is offered twice: {ids:?}");
        for id in &ids {
            assert!(!in_flight.contains(id), "{id:?} is offered and under way");
            assert!(machine.awaits(id), "{id:?} is offered and its outcome not wanted");
        }
        self.under_way.extend(offered.into_iter().map(|effect| (effect.id(), effect)));
    }
}

/// A value after serializing and reading it back.
fn over_the_wire<T>(sent: &T) -> T
where
    T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let text = serde_json::to_string(sent).expect("it can be written");
    let arrived = serde_json::from_str(&text).expect("it can be read");
    assert_eq!(*sent, arrived);
    arrived
}
