//! Our own cases are well formed and cover what they should. No tool is needed and nothing is played here:
//! `cargo xtask cheats --selftest` shows that each of them is what it says.
