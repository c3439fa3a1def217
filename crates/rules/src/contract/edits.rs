//! The edits contract of the strict preset (document 002): whole files for the task's artifacts, all or none. A test
//! may be edited only if the task names that file.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::json;
use types::{Contracts, Scope, VerifyPolicy, WorkPath};

use super::object::Object;
use super::reply::{Invalid, Taken, Write, outside, semantic, within};
use crate::findings::is_test;
use crate::permit::names_file;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    edits: Vec<Edit>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    path: String,
    content: String,
}

pub(super) fn take(
    object: &Object<'_>,
    policy: &Contracts,
    tests: &VerifyPolicy,
    scope: &Scope,
) -> Result<Taken, Invalid> {
    let reply: Reply = object.read()?;
    let edits = reply.edits.into_iter().map(|edit| (edit.path, edit.content));
    let writes = writes(edits, policy, scope, Some(tests))?;
    let names: Vec<&str> = writes.iter().filter_map(|write| outside(policy, &write.path)).collect();
    let submission = json!({ "summary": format!("wrote {}", names.join(", ")), "files": names });
    Ok(Taken { writes, ..Taken::of(submission) })
}

/// The files in the order of their paths, if all of them may be written. With `tests`, the files that are tests by this
/// policy must be named by the task.
pub(super) fn writes(
    edits: impl Iterator<Item = (String, String)>,
    policy: &Contracts,
    scope: &Scope,
    tests: Option<&VerifyPolicy>,
) -> Result<Vec<Write>, Invalid> {
    let mut writes = Vec::new();
    let mut seen = BTreeSet::new();
    for (path, content) in edits {
        let most = policy.content_chars;
        if content.len() > most && content.chars().count() > most {
            let name = super::reply::short(&path);
            return Err(format!("the content of {name:?} is longer than {most} characters").into());
        }
        let path = within(policy, &path).map_err(|cause| outside_artifacts(&cause))?;
        may_write(&path, scope, tests)?;
        if !seen.insert(path.clone()) {
            return Err(format!("{path} occurs twice").into());
        }
        writes.push(Write { path, content });
    }
    if writes.is_empty() {
        return Err(Invalid::Shape("it contains no files".to_owned()));
    }
    writes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(writes)
}

fn may_write(path: &WorkPath, scope: &Scope, tests: Option<&VerifyPolicy>) -> Result<(), Invalid> {
    if path.is_root() || !scope.allows(path) {
        let what = format!("{path} is not one of the task's artifacts ({scope})");
        return Err(outside_artifacts(&what));
    }
    let is_limited = tests.is_some_and(|tests| is_test(path.as_str(), tests));
    if is_limited && !names_file(scope, path) {
        return Err(outside_artifacts(&format!("{path} is a test that the task does not name")));
    }
    Ok(())
}

fn outside_artifacts(what: &str) -> Invalid {
    let what = format!("{what}; nothing was written");
    Invalid::Fault(semantic("contract.outside_artifacts", what))
}
