//! Shares, limits, warnings, and what happens when something does not fit.

use super::*;

fn tokens(tokens: u64) -> Spend {
    Spend { tokens, ..Spend::default() }
}

fn fits(ledger: &Ledger, amount: u64) -> bool {
    lacking(ledger.free(), tokens(amount)).is_none()
}

#[test]
fn what_is_set_aside_cannot_be_set_aside_twice() {
    let mut ledger = Ledger::new(Budget { tokens: Some(100), ..Budget::default() });
    assert!(fits(&ledger, 100));
    ledger.hold(tokens(60));
    assert!(fits(&ledger, 40) && !fits(&ledger, 41));
    ledger.settle(tokens(60), tokens(10));
    assert_eq!(ledger.free().tokens, Some(90));
    assert!(!ledger.is_overspent());
}

#[test]
fn a_budget_that_names_no_limit_does_not_bind() {
    assert!(fits(&Ledger::new(Budget::default()), u64::MAX));
}

#[test]
fn a_share_is_equal_and_below_the_roles_limit() {
    let free = Budget { tokens: Some(100), ..Budget::default() };
    let role = Budget { tokens: Some(30), ..Budget::default() };
    assert_eq!(share(free, role, 2).tokens, Some(30));
    assert_eq!(share(free, role, 4).tokens, Some(25));
    assert_eq!(share(Budget::default(), role, 4).tokens, Some(30));
    assert_eq!(share(free, Budget::default(), 0).tokens, Some(100));
}
