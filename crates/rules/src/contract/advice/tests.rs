//! The shape of an adviser's reply.

use samples::brief;
use serde_json::Value;
use types::{Brief, Contract, Contracts, ReplyRule, Strictness, VerifyPolicy};

fn read(text: &str) -> Result<Value, String> {
    let reply = Some(ReplyRule { contract: Contract::Advice, reading: Strictness::Strict });
    let brief = Brief { reply, ..brief("advice.1") };
    let taken = super::super::take(&brief, &Contracts::default(), &VerifyPolicy::default(), text);
    let taken = taken.expect("the role has a contract");
    taken.map(|taken| taken.submission).map_err(|fault| fault.what)
}

#[test]
fn advice_that_asks_has_a_question() {
    let advice = read(r#"{"verdict":"go","reason":"clear"}"#).expect("advice");
    assert_eq!(advice["verdict"], "go");
    assert!(read(r#"{"verdict":"ask","reason":"unclear","questions":["Which?"]}"#).is_ok());
    let refused = |text: &str, part: &str| {
        let what = read(text).expect_err(text);
        assert!(what.contains(part), "{part:?} is not in {what:?}");
    };
    refused(r#"{"verdict":"ask","reason":"unclear"}"#, "there is no question");
    refused(r#"{"verdict":"ask","reason":"unclear","questions":[" "]}"#, "question is empty");
    refused(r#"{"verdict":"refuse","reason":"no"}"#, "refuse");
    let many = r#"{"verdict":"ask","reason":"r","questions":["1","2","3","4","5","6"]}"#;
    refused(many, "at most 5");
}
