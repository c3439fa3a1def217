//! A model call that failed: what a policy says about asking again, and when that will be. Plain data; how the rules are
//! applied is decided in the engine.

use serde::{Deserialize, Serialize};

use crate::{Decision, Fault, FaultClass, Millis, RuleId, Timestamp};

/// How often and for how long a model that did not reply is asked again, in the same conversation.
///
/// Only faults that say themselves that a retry makes sense are looked up. The first rule that covers one wins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFailureRule {
    pub id: RuleId,
    /// It is one of these; none named means any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<FaultClass>,
    /// And its code is one of these; none named means any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<String>,
    pub reason: String,
    /// The longest wait before the second request; it doubles with each further one. The wait itself lies anywhere
    /// between nothing and this, so that many runs do not come back at the same moment.
    #[serde(default = "ModelFailureRule::first_wait")]
    pub backoff_ms: Millis,
    /// Where the doubling ends.
    #[serde(default = "ModelFailureRule::longest_wait")]
    pub longest_wait_ms: Millis,
    /// How many calls are made for one request in all, the first one too; as many as there is time for when nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_calls: Option<u32>,
    /// How long it is tried in all, counted from the first failure, where a person is there.
    #[serde(default = "ModelFailureRule::attended")]
    pub patience_ms: Millis,
    /// And where nobody is.
    #[serde(default = "ModelFailureRule::unattended")]
    pub unattended_ms: Millis,
    /// How long it is tried where the provider names the time at which a limit ends; as long as otherwise if nothing is
    /// said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset_ms: Option<Millis>,
    /// What is done when that time is up, or that many calls have failed.
    #[serde(default)]
    pub then: OutOfPatience,
}

/// What becomes of a conversation whose model cannot be reached for too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutOfPatience {
    /// It stops where it is, and can be resumed.
    #[default]
    Pause,
    /// It has failed; for an attempt, `[[failures]]` decides what that means.
    Fail,
}

impl ModelFailureRule {
    const fn first_wait() -> Millis {
        Millis::seconds(1)
    }

    const fn longest_wait() -> Millis {
        Millis::seconds(60)
    }

    const fn attended() -> Millis {
        Millis::seconds(120)
    }

    const fn unattended() -> Millis {
        Millis::seconds(900)
    }

    /// The rules of a policy that says nothing about it.
    #[must_use]
    pub fn usual() -> Vec<Self> {
        let rule = |id: &'static str, codes: &[&str], reason: &str| Self {
            id: RuleId::fixed(id),
            classes: vec![],
            codes: codes.iter().map(|code| (*code).to_owned()).collect(),
            reason: reason.to_owned(),
            backoff_ms: Self::first_wait(),
            longest_wait_ms: Self::longest_wait(),
            max_calls: None,
            patience_ms: Self::attended(),
            unattended_ms: Self::unattended(),
            reset_ms: None,
            then: OutOfPatience::Pause,
        };
        vec![
            rule(
                "model.broke_off",
                &["model.broken_stream"],
                "the reply broke off; nothing of it was used, and the same is asked again",
            ),
            rule(
                "model.away",
                &[],
                "the model is busy or cannot be reached; the same is asked again later",
            ),
        ]
    }

    /// Whether it speaks of a fault.
    #[must_use]
    pub fn covers(&self, fault: &Fault) -> bool {
        (self.classes.is_empty() || self.classes.contains(&fault.class))
            && (self.codes.is_empty() || self.codes.contains(&fault.code))
    }
}

/// The next request after one that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskAgain {
    /// Not before this.
    pub at: Timestamp,
    /// How many requests in a row have failed.
    pub failures: u32,
    pub decision: Decision,
}
