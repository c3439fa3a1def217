//! Help, completions and manual pages of the real binary; and closed pipes.

use std::io::Read as _;
use std::process::Stdio;

use crate::binary::{Place, stderr, stdout};
use crate::naming::done;

#[test]
fn help_has_examples_and_help_for_a_command_is_found() {
    let place = Place::new();
    for args in [&["help", "diff"][..], &["diff", "--help"], &["diff", "-h"]] {
        let output = place.run(args);
        let told = stdout(&output);
        assert!(output.status.success() && told.contains("Examples:"), "{args:?}: {told}");
    }
    let output = place.run(&["dif"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("'diff'"), "{}", stderr(&output));
    assert!(place.run(&["prune", "--dry-run"]).status.success());
}

#[test]
fn completions_and_manual_pages_are_made() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let told = stdout(&place.run(&["completions", shell]));
        assert!(told.contains("transcript"), "{shell}: {told}");
    }
    assert!(stdout(&place.run(&["man"])).contains(".TH bosun 1"));
    let folder = place.path().join("man one");
    let output = place.run(&["man", folder.to_str().expect("a plain path")]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("/man one'"), "{}", stderr(&output));
    for page in ["bosun.1", "bosun-run.1", "bosun-audit-export.1"] {
        assert!(folder.join(page).is_file(), "{page}");
    }
}

/// A closed pipe is not an error to report.
#[test]
fn a_pipe_that_is_closed_is_left_in_silence() {
    let place = Place::new();
    let (_, run) = done(&place);
    let commands: [&[&str]; 8] = [
        &["log", &run],
        &["list"],
        &["show", &run, "--json"],
        &["diff", &run],
        &["transcript", &run, "--whole"],
        &["review", &run],
        &["pr", &run],
        &["models"],
    ];
    for args in commands {
        let mut command = place.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
        let ended = child.wait().expect("it ends");
        assert_eq!((said.as_str(), ended.code()), ("", Some(0)), "{args:?}");
    }
}
