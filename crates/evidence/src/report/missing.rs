//! Whether a failure is only that of names that do not exist. Reads what runners and compilers print; a test that fails
//! for another reason beside it is enough to tell more.

use crate::pattern::pattern;

/// Whether tests failed because a name, a module or a file is missing, and for no other reason that can be read.
#[must_use]
pub fn lacks_names(output: &str) -> bool {
    let lacks = pattern!(
        r"(?x)
        \b(?:ImportError|ModuleNotFoundError|AttributeError|NameError|NoMethodError)\b
        |\bcannot\ import\ name\b|\bhas\ no\ attribute\b|\bunexpected\ keyword\ argument\b
        |\bis\ not\ (?:defined|a\ function|a\ constructor)\b
        |\bCannot\ find\ (?:module|name)\b|\bERR_MODULE_NOT_FOUND\b|\bdoes\ not\ provide\ an\ export\b
        |\berror\[E(?:0425|0432|0433|0412|0599|0422|0423|0405|0560|0609|0061)\]
        |\bundefined:\ |\bundefined\ reference\b|\bimplicit\ declaration\b|\bundeclared\b
        |\bcannot\ find\ symbol\b|\bundefined\ (?:method|function|local\ variable)\b
        |:\ (?:command\ )?not\ found\b|\bNo\ such\ file\ or\ directory\b"
    );
    let compared = pattern!(
        r"(?x)
        \bAssertionError\b|\bERR_ASSERTION\b|\bpanicked\ at\b|^E\s+assert\b|\bassert(?:ion)?\b.*\bfailed\b
        |\bexpected\b.*\b(?:got|but|received|actual|found)\b|\b(?:got|want)\b.*\b(?:want|got)\b"
    );
    lacks.is_match(output) && !output.lines().any(|line| compared.is_match(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_name_is_told_from_a_wrong_value() {
        for output in [
            "E   ImportError: cannot import name 'fee' from 'bank'",
            "E   AttributeError: module 'bank' has no attribute 'fee'",
            "TypeError: fee is not a function",
            "error[E0425]: cannot find function `fee` in this scope",
            "./bank_test.go:9:7: undefined: Fee",
            "bank.c:3: warning: implicit declaration of function 'fee'",
            "sh: 3: fee: not found",
        ] {
            assert!(lacks_names(output), "{output}");
        }
        for output in [
            "E   assert 3 == 4",
            "AttributeError: x\nE   AssertionError: 3 != 4",
            "thread 'a' panicked at src/lib.rs:3",
            "bank_test.go:9: got 3, want 4",
            "3 failed",
        ] {
            assert!(!lacks_names(output), "{output}");
        }
    }
}
