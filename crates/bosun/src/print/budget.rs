//! A run that waits for nothing but a larger budget, and the command that continues it.

use types::{About, Budget, Money, QuestionView, RunView};

/// The command that continues a run whose open questions are all about its budget, without the program's name.
pub(crate) fn continues(view: &RunView) -> Option<String> {
    if view.ended.is_some() {
        return None;
    }
    let mut open = view.questions.iter().filter(|question| question.answer.is_none()).peekable();
    let first = offer(open.peek()?)?;
    open.all(|question| offer(question).is_some()).then(|| command(view, first))
}

/// What would be added, if the question is about the budget.
fn offer(question: &QuestionView) -> Option<Budget> {
    let terms = question.terms.as_ref()?;
    (terms.about == Some(About::Budget)).then(|| terms.offer.unwrap_or_default())
}

fn command(view: &RunView, add: Budget) -> String {
    let spent = view.spent;
    let total = |now: Option<u64>, spent: u64, add: Option<u64>| Some(above(now?, spent, add?));
    let money = view.budget.money.zip(add.money).map(|(now, add)| {
        Money::nanos(above(now.as_nanos(), spent.money.as_nanos(), add.as_nanos()))
    });
    let time = view.budget.time_ms.zip(add.time_ms).map(|(now, add)| (now.0 + add.0) / 60_000 + 1);
    let flags = [
        money.map(|money| format!("--money {}", amount(money))),
        total(view.budget.tokens, spent.counted(), add.tokens)
            .map(|tokens| format!("--tokens {tokens}")),
        total(view.budget.calls, spent.calls, add.calls).map(|calls| format!("--calls {calls}")),
        time.map(|minutes| format!("--time {minutes}m")),
    ];
    let flags: Vec<String> = flags.into_iter().flatten().collect();
    match flags.as_slice() {
        // Only the limit of a task, role or phase is in the way.
        [] => format!("answer {} raise", view.run),
        _ => format!("resume {} {}", view.run, flags.join(" ")),
    }
}

/// A limit with an addition; above what is spent, even if that has grown since the addition was offered.
fn above(limit: u64, spent: u64, add: u64) -> u64 {
    let total = limit.saturating_add(add);
    if total > spent { total } else { spent.saturating_add(add) }
}

/// Dollars and cents, rounded up, as a flag takes them.
fn amount(money: Money) -> String {
    super::dollars(money).trim_start_matches('$').to_owned()
}
