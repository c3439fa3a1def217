//! Documents of a registry, judged by the crew's rules.
#![no_main]

use std::sync::OnceLock;

use types::Policy;

static POLICY: OnceLock<Policy> = OnceLock::new();

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let read = || toml::from_str(concat!(
        include_str!("../../policies/requests.toml"),
        include_str!("../../policies/crew.toml")
    )).expect("a policy");
    rules::fuzzing::front_matter(POLICY.get_or_init(read), bytes);
});
