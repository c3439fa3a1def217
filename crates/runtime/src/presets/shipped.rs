//! The shipped policies: their texts, and what was read from them.

use std::sync::OnceLock;

use types::Policy;

const CREW: &str = concat!(
    include_str!("../../../../policies/requests.toml"),
    include_str!("../../../../policies/crew.toml")
);
const SOLO: &str = include_str!("../../../../policies/solo.toml");
const STRICT: &str = include_str!("../../../../policies/strict.toml");
const AUDITED: &str = include_str!("../../../../policies/audited.toml");
const BASIC: &str = include_str!("../../../../policies/basic.toml");

/// The presets by name, in display order.
const SHIPPED: [(&str, &str); 5] =
    [("crew", CREW), ("audited", AUDITED), ("strict", STRICT), ("solo", SOLO), ("basic", BASIC)];

/// The text of a preset.
pub(super) fn find(name: &str) -> Option<&'static str> {
    SHIPPED.into_iter().find(|(known, _)| *known == name).map(|(_, text)| text)
}

/// The cell for a preset as read with the shipped prompts. Its text is constant, so a process reads and checks it once.
pub(super) fn memo(name: &str) -> Option<&'static OnceLock<Policy>> {
    static READ: [OnceLock<Policy>; SHIPPED.len()] = [const { OnceLock::new() }; SHIPPED.len()];
    READ.get(SHIPPED.iter().position(|(known, _)| *known == name)?)
}

/// The names of the presets.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHIPPED.into_iter().map(|(name, _)| name)
}
