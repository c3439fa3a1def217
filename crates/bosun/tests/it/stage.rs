//! Repositories made for a test, and the output of a run in one of them. Asserts nothing about the outcome.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};

/// A planner with one task for a file, and a coder that writes it.
pub(crate) fn script(path: &str, content: &str) -> String {
    format!(
        "[[attempt]]\nrole = \"planner\"\n[[attempt.reply]]\n\
         submit = {{ tasks = [{{ id = \"T1\", title = \"Write it\", artifacts = [\"{path}\"] }}] }}\n\
         [[attempt]]\nrole = \"coder\"\n[[attempt.reply]]\n\
         call = {{ tool = \"write_file\", path = \"{path}\", content = {content:?} }}\n\
         [[attempt.reply]]\nsubmit = {{ summary = \"done\" }}\n"
    )
}

/// A repository with one commit of these files, and a script beside it.
pub(crate) fn repository(
    place: &Place,
    files: &[(&str, &str)],
    script: &str,
) -> (PathBuf, PathBuf) {
    let repo = place.path().join("repo");
    std::fs::create_dir_all(&repo).expect("a folder");
    place.git(&repo, &["init", "--quiet", "--initial-branch=main"]);
    for (path, text) in files {
        put(&repo, path, text);
    }
    place.git(&repo, &["add", "--all"]);
    place.git(&repo, &["commit", "--quiet", "--message=Start"]);
    let path = place.path().join("script.toml");
    std::fs::write(&path, script).expect("a file");
    (repo, path)
}

pub(crate) fn put(folder: &Path, path: &str, text: &str) {
    let file = folder.join(path);
    std::fs::create_dir_all(file.parent().expect("a parent")).expect("folders");
    std::fs::write(file, text).expect("a file");
}

/// Output of a run, line by line, with its report at the end.
pub(crate) struct Told {
    pub(crate) lines: Vec<Value>,
    pub(crate) said: String,
    pub(crate) code: i32,
}

impl Told {
    pub(crate) fn of(place: &Place, args: &[&str]) -> Self {
        let output = place.run(&[args, &["--json"]].concat());
        let read = |line: &str| serde_json::from_str(line).ok();
        let lines: Vec<Value> = stdout(&output).lines().filter_map(read).collect();
        // Excerpts for failure messages, short enough to be read.
        let short = |line: &Value| {
            let text = format!("{} {}", line["event"], line["data"]);
            text.chars().take(600).collect::<String>()
        };
        let kinds = ["tool.finished", "check.finished", "attempt.finished", "question.asked"];
        let told = lines.iter().filter(|line| kinds.iter().any(|kind| line["event"] == *kind));
        let said = told.map(short).chain([stderr(&output)]).collect::<Vec<_>>().join("\n");
        Self { lines, said, code: output.status.code().expect("an exit code") }
    }

    /// The report at the end.
    pub(crate) fn report(&self) -> &Value {
        self.lines.last().map_or(&Value::Null, |last| &last["report"])
    }

    pub(crate) fn status(&self) -> &str {
        self.report()["status"].as_str().unwrap_or_default()
    }

    /// The run's id.
    pub(crate) fn id(&self) -> &str {
        self.report()["run"].as_str().expect("an id")
    }

    /// The data of all events of a kind.
    pub(crate) fn events(&self, kind: &str) -> Vec<&Value> {
        let of_kind = self.lines.iter().filter(|line| line["event"] == kind);
        of_kind.map(|line| &line["data"]).collect()
    }

    pub(crate) fn outputs(&self) -> Vec<String> {
        let ends = self.events("check.finished").into_iter();
        ends.map(|data| data["end"]["output"]["text"].as_str().unwrap_or_default().to_owned())
            .collect()
    }
}

/// Runs a program for the test set-up; returns whether it succeeded, and prints that the test is skipped if not.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the stage is set with the user's own programs, and it is said which are missing"
)]
pub(crate) fn did(folder: &Path, program: &str, args: &[&str]) -> bool {
    let output = std::process::Command::new(program).args(args).current_dir(folder).output();
    let done = output.is_ok_and(|output| output.status.success());
    if !done {
        println!("SKIPPED: {program} {args:?} does not work here");
    }
    done
}

pub(crate) fn has(program: &str) -> bool {
    did(Path::new("/"), program, &["--version"])
}
