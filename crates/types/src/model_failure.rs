//! Failed model calls: the policy for retries, and their schedule. Plain data; the engine applies the rules.

use serde::{Deserialize, Serialize};

use crate::{Decision, Fault, FaultClass, Millis, RuleId, Timestamp};

/// How often and for how long a failed model request is retried, in the same session.
///
/// The first matching rule wins. A fault that is not marked as retryable is never retried; a rule
/// with its code can pause the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFailureRule {
    pub id: RuleId,
    /// The fault's class is one of these; empty matches any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<FaultClass>,
    /// And its code is one of these; empty matches any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<String>,
    pub reason: String,
    /// Maximum delay before the first retry; it doubles with each further one. The actual delay is anywhere between
    /// zero and this, so that many runs do not retry at the same moment.
    #[serde(default = "ModelFailureRule::first_wait")]
    pub backoff_ms: Millis,
    /// Upper bound of the doubling.
    #[serde(default = "ModelFailureRule::longest_wait")]
    pub longest_wait_ms: Millis,
    /// Maximum number of calls for one request, including the first; `None`: limited only by time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_calls: Option<u32>,
    /// The total time for retries from the first failure, with a person present.
    #[serde(default = "ModelFailureRule::attended")]
    pub patience_ms: Millis,
    /// The same without a person.
    #[serde(default = "ModelFailureRule::unattended")]
    pub unattended_ms: Millis,
    /// The same if the provider names the time at which a limit ends; by default no different.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset_ms: Option<Millis>,
    /// The action after that time, or that many calls.
    #[serde(default)]
    pub then: OutOfPatience,
}

/// The action for a session whose model is unavailable for too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutOfPatience {
    /// It stops, and can be resumed.
    #[default]
    Pause,
    /// It has failed; for an attempt, `[[failures]]` selects the remedy.
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

    /// The default rules.
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

    /// Whether it covers a fault.
    #[must_use]
    pub fn covers(&self, fault: &Fault) -> bool {
        (self.classes.is_empty() || self.classes.contains(&fault.class))
            && (self.codes.is_empty() || self.codes.contains(&fault.code))
    }
}

/// The next request after one that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskAgain {
    /// The earliest time for it.
    pub at: Timestamp,
    /// The number of consecutive failures.
    pub failures: u32,
    pub decision: Decision,
}
