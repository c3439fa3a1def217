//! What a check is given so that its runner reports: environment variables, and where runners leave files by themselves.
//!
//! Only what is harmless to every other program. Deliberately left out: `NODE_OPTIONS` (a node that does not know the
//! option refuses to start, and a script with reporters of its own fails), `GOFLAGS=-v` (it also makes `go run` and
//! `go build` talk), and anything that replaces what a person sees on the screen.

/// The environment variables for a check; report files land in `report_folder`.
///
/// pytest takes the options from its own configuration first, then these, then those of its command line: a file that
/// the configuration asks for is not written, one that the command line asks for is written instead of ours. Only a pytest told to do without the plugin (`-p no:junitxml`)
/// refuses the option.
/// `-test.v` is known to `go test` alone, so every other go command passes over it.
pub fn variables(report_folder: &str) -> Vec<(String, String)> {
    let path = quoted(&format!("{}/pytest.xml", report_folder.trim_end_matches('/')));
    let pytest = format!("--junitxml={path} -o junit_family=xunit2");
    [("PYTEST_ADDOPTS", pytest.as_str()), ("GOFLAGS", "-test.v=true")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
}

/// Globs below the checkout where runners leave JUnit XML by themselves. Only files that the check itself wrote count.
pub fn report_files() -> &'static [&'static str] {
    &[
        "**/build/test-results/**/TEST-*.xml",
        "**/target/surefire-reports/TEST-*.xml",
        "**/target/failsafe-reports/TEST-*.xml",
        "**/target/nextest/*/junit.xml",
        "**/junit.xml",
    ]
}

/// A word for pytest, which splits its options as a shell does.
fn quoted(word: &str) -> String {
    let plain = |char: char| char.is_alphanumeric() || "/._-+=:@%".contains(char);
    if word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
