//! Scripts of the scripted model.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| llm::fuzzing::script(bytes));
