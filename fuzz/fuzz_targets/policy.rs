//! Policies in TOML.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(read) = toml::from_str(text) {
        rules::fuzzing::policy_file(&read);
    }
});
