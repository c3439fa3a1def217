//! Whether a project's policy permits more than the presets do. A project may ask or deny where a preset allows; it may
//! not allow an operation that a preset asks about or denies. Rule order matters, since the first match wins.

use types::{Permission, PermitRule, Policy};

use super::{PolicyError, names, preset};

/// Whether the permissions are looser than those of every preset.
pub(super) fn loosened(policy: &Policy) -> Result<bool, PolicyError> {
    for name in names() {
        let shipped = preset(name)?;
        let default = strictness(policy.default) >= strictness(shipped.default);
        if default && keeps(&shipped.permissions, &policy.permissions) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn strictness(permission: Permission) -> u8 {
    match permission {
        Permission::Allow => 0,
        Permission::Ask => 1,
        Permission::Deny => 2,
    }
}

/// Whether the rules are those of the preset, in its order, interspersed only with rules that ask or deny; rules of the
/// preset that allow something may be missing.
fn keeps(shipped: &[PermitRule], own: &[PermitRule]) -> bool {
    let mut left = shipped.iter();
    for rule in own {
        let is_shipped = shipped.contains(rule);
        if !is_shipped {
            let replaces = shipped.iter().any(|known| known.id == rule.id);
            if rule.verdict == Permission::Allow || replaces {
                return false;
            }
            continue;
        }
        // Preset rules before this one may only be missing if they allow something.
        loop {
            match left.next() {
                Some(next) if next == rule => break,
                Some(next) if next.verdict == Permission::Allow => {}
                Some(_) | None => return false,
            }
        }
    }
    left.all(|rule| rule.verdict == Permission::Allow)
}
