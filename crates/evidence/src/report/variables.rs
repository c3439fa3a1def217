//! Environment variables that make a check's runner report, and the default paths of runners' report files.
//!
//! Only settings harmless to every other program. Deliberately left out: `NODE_OPTIONS` (a node without the option
//! refuses to start, and a script with its own reporters fails), `GOFLAGS=-v` (it also makes `go run` and `go build`
//! verbose), and anything that replaces the output on a person's screen.

/// The environment variables for a check; report files go to `report_folder`.
///
/// pytest takes the options from its own configuration first, then these, then those of its command line: a file that
/// the configuration asks for is not written, one that the command line asks for is written instead of ours. Only a
/// pytest without the plugin (`-p no:junitxml`) refuses the option. `-test.v` is known to `go test` alone, so every
/// other go command ignores it.
pub fn variables(report_folder: &str) -> Vec<(String, String)> {
    let path = quoted(&format!("{}/pytest.xml", report_folder.trim_end_matches('/')));
    let pytest = format!("--junitxml={path} -o junit_family=xunit2");
    [("PYTEST_ADDOPTS", pytest.as_str()), ("GOFLAGS", "-test.v=true")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
}

/// Globs below the checkout for JUnit XML that runners write by default. Only files that the check itself wrote count.
pub fn report_files() -> &'static [&'static str] {
    &[
        "**/build/test-results/**/TEST-*.xml",
        "**/target/surefire-reports/TEST-*.xml",
        "**/target/failsafe-reports/TEST-*.xml",
        "**/target/nextest/*/junit.xml",
        "**/junit.xml",
    ]
}

/// A word for pytest, which splits its options like a shell.
fn quoted(word: &str) -> String {
    let plain = |char: char| char.is_alphanumeric() || "/._-+=:@%".contains(char);
    if word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
