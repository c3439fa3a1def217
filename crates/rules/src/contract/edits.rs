//! The edits contract of the strict preset (document 002): whole files for the task's artifacts, all or none. A test
//! may be edited only if the task names that file.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::json;
use types::{Contracts, Scope, VerifyPolicy, WorkPath};

use super::object::Object;
use super::reply::{Invalid, Taken, Write, outside, within};
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
    let reply: Reply = object.read().map_err(Invalid::Shape)?;
    let edits = reply.edits.into_iter().map(|edit| (edit.path, edit.content));
    let writes = writes(edits, policy, scope, Tests::Named(tests))?;
    let names: Vec<&str> = writes.iter().filter_map(|write| outside(policy, &write.path)).collect();
    let submission = json!({ "summary": format!("wrote {}", names.join(", ")), "files": names });
    Ok(Taken { writes, ..Taken::of(submission) })
}

/// Which tests may be written.
#[derive(Clone, Copy)]
pub(super) enum Tests<'a> {
    /// Only those tests, by this policy, that the task names.
    Named(&'a VerifyPolicy),
    AsOthers,
}

/// The files in the order of their paths, if all of them may be written.
pub(super) fn writes(
    edits: impl Iterator<Item = (String, String)>,
    policy: &Contracts,
    scope: &Scope,
    tests: Tests<'_>,
) -> Result<Vec<Write>, Invalid> {
    let mut writes = Vec::new();
    let mut seen = BTreeSet::new();
    for (path, content) in edits {
        let most = policy.content_chars;
        if content.len() > most && content.chars().count() > most {
            let name = super::reply::short(&path);
            return Err(Invalid::Shape(format!(
                "the content of {name:?} is longer than {most} characters"
            )));
        }
        let path = within(policy, &path)
            .map_err(|cause| Invalid::Scope(format!("{cause}; nothing was written")))?;
        may_write(&path, scope, tests)?;
        if !seen.insert(path.clone()) {
            return Err(Invalid::Shape(format!("{path} occurs twice")));
        }
        writes.push(Write { path, content });
    }
    if writes.is_empty() {
        return Err(Invalid::Shape("it contains no files".to_owned()));
    }
    writes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(writes)
}

fn may_write(path: &WorkPath, scope: &Scope, tests: Tests<'_>) -> Result<(), Invalid> {
    if path.is_root() || !scope.allows(path) {
        return Err(Invalid::Scope(format!(
            "{path} is not one of the task's artifacts ({scope}); nothing was written"
        )));
    }
    let limited = matches!(tests, Tests::Named(tests) if is_test(path.as_str(), tests));
    if limited && !names_file(scope, path) {
        return Err(Invalid::Scope(format!(
            "{path} is a test that the task does not name; nothing was written"
        )));
    }
    Ok(())
}
