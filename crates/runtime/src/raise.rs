//! Raising the limits of a run or session: the totals that a person names, and why they would change nothing.

use types::{Budget, Command, RunId, Spend};

use crate::api::Bosun;
use crate::error::{Error, RaiseError};

impl Bosun {
    /// Raises limits of a run to these totals, at the latest when it is resumed. Refused if one of them is not above
    /// the present limit and what is spent.
    pub async fn raise(&self, run: &RunId, by: &str, to: Budget) -> Result<(), Error> {
        let view = self.view(run).await?;
        check(run, (view.budget, view.spent), to)?;
        self.post(run, &Command::Raise { by: by.to_owned(), budget: to }).await?;
        Ok(())
    }
}

/// Whether each of the totals raises a limit, and is above what is spent.
pub(crate) fn check(
    run: &RunId,
    (now, spent): (Budget, Spend),
    to: Budget,
) -> Result<(), RaiseError> {
    let tokens = |budget: Budget| Budget { tokens: budget.tokens, ..Budget::default() };
    let money = |budget: Budget| Budget { money: budget.money, ..Budget::default() };
    let calls = |budget: Budget| Budget { calls: budget.calls, ..Budget::default() };
    let time = |budget: Budget| Budget { time_ms: budget.time_ms, ..Budget::default() };
    let used = Budget {
        tokens: Some(spent.counted()),
        money: Some(spent.money),
        calls: Some(spent.calls),
        time_ms: None,
    };
    let each: [(&'static str, &dyn Fn(Budget) -> Budget); 4] =
        [("tokens", &tokens), ("money", &money), ("calls", &calls), ("time", &time)];
    for (what, only) in each.into_iter().filter(|(_, only)| only(to) != Budget::default()) {
        let limit = only(now);
        if limit == Budget::default() {
            return Err(RaiseError::NoLimit { run: run.clone(), what, limits: now.says() });
        }
        let used = only(used);
        let least = rules::ledger::raised(limit, used);
        if rules::ledger::raised(least, only(to)) == least {
            let (limit, least) = (limit.says(), least.says());
            let spent = is_spent(used);
            return Err(RaiseError::NotAbove { run: run.clone(), limit, spent, least });
        }
    }
    Ok(())
}

/// How much is spent, as a clause.
fn is_spent(used: Budget) -> String {
    let one = used.money.is_some() || used.tokens == Some(1) || used.calls == Some(1);
    match used == Budget::default() {
        true => "some of it is spent".to_owned(),
        false => format!("{} {} spent", used.says(), if one { "is" } else { "are" }),
    }
}
