//! Whether the sandbox is strong enough for a policy. The runtime probes it by attacking it; this module only evaluates
//! the result.

use types::{Attack, Decision, Event, IsolationLevel, Policy, Proof, RuleId};

/// The probe result, with its decision under this policy.
#[must_use]
pub fn judged(policy: &Policy, proof: Proof) -> Event {
    let decision = decision(policy, &proof);
    Event::SandboxProbed { proof, decision }
}

/// The decision on a proof under a policy.
#[must_use]
pub fn decision(policy: &Policy, proof: &Proof) -> Decision {
    let (require, level) = (policy.sandbox.require, proof.level);
    let missing = proof.missing.join("; ");
    let (rule, reason) = if level < require {
        let reason = format!(
            "the policy requires isolation level {}, and the level here is {}: {missing}. \
             `bosun doctor` shows the details; fix the cause, or lower `require` in [sandbox]",
            require.as_str(),
            level.as_str()
        );
        ("sandbox.refused", reason)
    } else if level < IsolationLevel::Full {
        let open: Vec<&str> = proof.through().map(|attack| attack.what.as_str()).collect();
        let open = if open.is_empty() { "anything".to_owned() } else { open.join(", ") };
        let reason = format!(
            "the policy accepts isolation level {}, and the level here is {}: {missing}. A command could {open}",
            require.as_str(),
            level.as_str(),
        );
        ("sandbox.degraded", reason)
    } else {
        ("sandbox.walls_held", "all isolation tests passed".to_owned())
    };
    let seen = proof.attacks.iter().map(|Attack { what, through }| match through {
        None => format!("{what}: test passed"),
        Some(how) => format!("{what}: {how}"),
    });
    Decision { rule: RuleId::fixed(rule), reason, seen: seen.collect() }
}
