//! Preparation for the preset `strict`: the project's own files complete the policy and the arguments.

use runtime::presets::{self, strict as project};
use types::Policy;

use crate::args;
use crate::rules::Origin;

/// Reads the project's files into the policy and the arguments.
pub(super) fn prepare(
    args: &mut args::Run,
    policy: &mut Policy,
    from: &Origin,
) -> anyhow::Result<()> {
    if !rules::policy::is_strict(policy) {
        return Ok(());
    }
    let project = project::read(args.repo(), policy)?;
    if let Origin::Project(path) = from {
        presets::refuse_too_much(path, policy)?;
    }
    if args.goal.trim().is_empty() {
        args.goal = project.goal.unwrap_or_default();
    }
    if args.checks.is_empty() {
        args.checks.push(project.check.command);
    }
    if args.script.is_some() || args.model.is_some() {
        // A model or script on the command line applies to all roles.
        policy.roles.values_mut().for_each(|role| role.model = None);
    } else {
        let mut models = policy.roles.values().filter_map(|role| role.model.clone());
        args.model = models.next();
    }
    Ok(())
}
