//! Files of models and of settings.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| llm::fuzzing::models(bytes));
