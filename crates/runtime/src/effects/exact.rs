//! Exact arguments of calls that are recorded redacted, so that execution is exact. They are kept in memory only, until
//! the next turn of their session; a call whose secret is gone is not made. The permission was given for the recorded,
//! redacted call, so the exact one is checked again here.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use engine::calls_of;
use rules::permit;
use serde_json::Value;
use store::Redactor;
use tools::Registry;
use types::{
    Arguments, BlockBody, Brief, Call, CallFacts, CallId, Digest, ExactCall, Fault, FaultClass,
    Inspection, ModelReply, Policy, REDACTED, Scope, SessionId, WorkPath,
};

/// Sent to the model for a call whose secret is gone.
const GONE: &str = "The arguments of this call held a secret, and secrets are not kept when the program stops: nothing \
                    was done. Make the call again, whole, if it is still wanted.";
/// Sent to the model for a call whose secret hides facts that the rules need.
const HIDDEN: &str = "This call has a secret in its command or path that is more than one plain word, so that nobody can \
                      see what it would do: nothing was done. Put the secret into a file or a variable and name that.";

/// The calls of the last replies that hold a secret, with their exact arguments.
#[derive(Debug, Default)]
pub(crate) struct ExactCalls(Mutex<BTreeMap<CallId, Value>>);

impl ExactCalls {
    /// Keeps the calls of a reply that hold a secret, and drops those of earlier replies.
    pub(crate) fn keep(
        &self,
        (session, turn): (SessionId, u32),
        reply: &ModelReply,
        redactor: &Redactor,
        (policy, brief): (&Policy, &Brief),
    ) -> Vec<ExactCall> {
        let mut calls = self.calls();
        calls.retain(|call, _| call.session != session);
        let held = match reply.calls().next() {
            Some(_) => in_calls(reply, redactor),
            None if session == SessionId::ROOT => in_text(reply, redactor, (policy, brief)),
            None => vec![],
        };
        let keep = |(index, arguments): (u32, Value)| {
            let exact = ExactCall { index, digest: digest(&arguments) };
            calls.insert(CallId { session, turn, index }, arguments);
            exact
        };
        held.into_iter().map(keep).collect()
    }

    /// The arguments of a call, if they still have this digest.
    fn find(&self, call: CallId, wanted: Digest) -> Option<Value> {
        self.calls().get(&call).filter(|arguments| digest(arguments) == wanted).cloned()
    }

    /// The arguments to make a call with; or why it is not made, for the model.
    pub(crate) fn arguments<'a>(
        &self,
        call: CallId,
        recorded: &'a Value,
        exact: Option<Digest>,
        judged: &Judged<'_>,
    ) -> Result<Cow<'a, Value>, String> {
        let Some(wanted) = exact else { return Ok(Cow::Borrowed(recorded)) };
        let exact = self.find(call, wanted).ok_or_else(|| GONE.to_owned())?;
        judged.permits(&exact)?;
        Ok(Cow::Owned(exact))
    }

    fn calls(&self) -> MutexGuard<'_, BTreeMap<CallId, Value>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn digest(arguments: &Value) -> Digest {
    Digest::of(arguments.to_string().as_bytes())
}

fn in_calls(reply: &ModelReply, redactor: &Redactor) -> Vec<(u32, Value)> {
    let calls = reply.calls().zip(0_u32..);
    let held = calls.filter_map(|(call, index)| match &call.arguments {
        Arguments::Json(value) if redactor.finds_in(value) => Some((index, value.clone())),
        Arguments::Json(_) | Arguments::Broken(_) => None,
    });
    held.collect()
}

/// The files of a JSON reply, where the record differs from the reply.
fn in_text(
    reply: &ModelReply,
    redactor: &Redactor,
    (policy, brief): (&Policy, &Brief),
) -> Vec<(u32, Value)> {
    let mut recorded = reply.clone();
    let mut differs = false;
    for block in &mut recorded.blocks {
        if let BlockBody::Text { text } = &mut block.body
            && let Cow::Owned(scrubbed) = redactor.scrub(text)
        {
            (*text, differs) = (scrubbed, true);
        }
    }
    if !differs {
        return vec![];
    }
    let calls = |reply| {
        let calls = calls_of(brief, &policy.contracts, &policy.verify, reply);
        calls.into_iter().map(|(_, arguments)| arguments)
    };
    let pairs = calls(reply).zip(calls(&recorded)).zip(0_u32..);
    let held = pairs.filter(|((exact, recorded), _)| exact != recorded);
    held.map(|((exact, _), index)| (index, exact)).collect()
}

/// The context of a call's permission.
pub(crate) struct Judged<'a> {
    pub(crate) redactor: &'a Redactor,
    pub(crate) registry: &'a Registry,
    pub(crate) policy: &'a Policy,
    pub(crate) scope: &'a Scope,
    pub(crate) tool: &'a str,
}

impl Judged<'_> {
    /// Whether the permission for the recorded call covers the exact one, and its effects were visible to people; if
    /// not, a message for the model.
    fn permits(&self, exact: &Value) -> Result<(), String> {
        let exact = self.facts(exact)?;
        let recorded = self.recorded(&exact)?;
        if recorded == exact {
            return Ok(());
        }
        if !self.shows(&exact) {
            return Err(HIDDEN.to_owned());
        }
        let [judged, was] = [exact, recorded]
            .map(|facts| permit::judge(self.policy, self.scope, self.tool, &facts));
        if judged.verdict <= was.verdict {
            return Ok(());
        }
        Err(format!(
            "with the secret in it, this call is not permitted; nothing was done: {} ({})",
            judged.decision.reason, judged.decision.rule
        ))
    }

    fn facts(&self, arguments: &Value) -> Result<CallFacts, String> {
        let call = Call {
            wire_id: String::new(),
            tool: self.tool.to_owned(),
            arguments: Arguments::Json(arguments.clone()),
        };
        match self.registry.inspect(&call) {
            Inspection::Would(facts) => Ok(facts),
            Inspection::Invalid(why) | Inspection::Outside(why) => Err(why),
        }
    }

    /// The effects of a call as recorded and permitted.
    fn recorded(&self, facts: &CallFacts) -> Result<CallFacts, String> {
        let scrub = |text: &str| self.redactor.scrub(text).into_owned();
        let path = |path: &WorkPath| scrub(path.as_str()).parse().map_err(|_| HIDDEN.to_owned());
        Ok(CallFacts {
            paths: facts.paths.iter().map(path).collect::<Result<_, _>>()?,
            folder: facts.folder.as_ref().map(path).transpose()?,
            command: facts.command.as_deref().map(scrub),
            ..facts.clone()
        })
    }

    /// Whether every secret visible to the rules is one plain word.
    fn shows(&self, facts: &CallFacts) -> bool {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '=');
        let paths = facts.paths.iter().chain(&facts.folder).map(WorkPath::as_str);
        let mut texts = paths.chain(facts.command.as_deref());
        texts.all(|text| self.redactor.find(text).into_iter().all(|at| text[at].chars().all(plain)))
    }
}

/// Refuses a redacted command of a check or a preparation: it is not the requested one, and could not be repeated from
/// the record.
pub(crate) fn is_whole(command: &str) -> Result<(), Fault> {
    if !command.contains(REDACTED) {
        return Ok(());
    }
    let what = format!(
        "the command {command:?} held a secret, which is not recorded; put the secret into a file or a variable that the \
         command reads"
    );
    Err(Fault::new(FaultClass::Resource, "command.redacted", what))
}

/// Reports the positions of secrets in files to the tools.
#[derive(Debug)]
pub(crate) struct InFiles<'a>(pub(crate) &'a Redactor);

impl tools::Secrets for InFiles<'_> {
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        self.0.find(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use types::{Block, StopReason, Usage};

    use super::*;

    fn brief() -> Brief {
        let brief = json!({
            "run": "r_aa", "attempt": "T1.1", "role": "coder", "model": "script/x", "system": "",
            "task": "{}", "tools": [], "scope": ["a.py", "b.py"], "start": "0".repeat(40),
            "budget": {}, "max_turns": 1, "max_output_tokens": 100, "output_chars": 100,
            "reply": { "contract": "edits" },
        });
        serde_json::from_value(brief).expect("a brief")
    }

    #[test]
    fn a_command_without_its_secret_is_not_run() {
        assert_eq!(is_whole("make test"), Ok(()));
        let fault = is_whole("KEY=[redacted] make test").expect_err("its key is missing");
        assert_eq!((fault.code.as_str(), fault.class), ("command.redacted", FaultClass::Resource));
    }

    /// A JSON reply also stands for calls; its files are written exactly.
    #[test]
    fn the_files_of_a_reply_that_is_json_are_kept_as_they_came() {
        let policy = crate::presets::preset("strict").expect("the preset");
        let (redactor, brief) = (Redactor::none(), brief());
        let key = format!("sk-{}", "aB3dE5fG7hI9jK1lM3nO5pQ7rS9t");
        let content = format!("KEY = \"{key}\"\n");
        let edits = json!({ "edits": [
            { "path": "a.py", "content": "x = 1\n" },
            { "path": "b.py", "content": content },
        ]});
        let blocks = vec![Block::text(edits.to_string())];
        let reply = ModelReply::new(blocks, StopReason::End, Usage::default(), None);
        let asked = (&policy, &brief);
        let calls = ExactCalls::default();
        let kept = calls.keep((SessionId::ROOT, 1), &reply, &redactor, asked);
        let [ExactCall { index: 1, digest }] = kept.as_slice() else { panic!("{kept:?}") };
        let call = CallId { session: SessionId::ROOT, turn: 1, index: 1 };
        let exact = calls.find(call, *digest).expect("it is kept");
        assert_eq!(exact["content"], content);
        assert_eq!(calls.find(call, Digest::ZERO), None);
        // The next turn has its own calls.
        let plain = ModelReply::new(vec![], StopReason::End, Usage::default(), None);
        calls.keep((SessionId::ROOT, 2), &plain, &redactor, asked);
        assert_eq!(calls.find(call, *digest), None);
    }
}
