//! Reports of test runners, read from a check's output and report files into a list of tests.
//!
//! The code under test may have written any of it, so a report alone proves nothing: it has the runners' claims, and
//! whether each of them finished. The consequences are decided elsewhere.

mod cannot;
mod cargo;
mod compare;
mod golang;
mod javascript;
mod junit;
mod missing;
mod names;
mod nextest;
mod node;
mod part;
mod pytest;
mod signs;
mod tap;
mod text;
mod totals;
mod unittest;
mod variables;

#[cfg(test)]
mod cannot_tests;
#[cfg(test)]
mod report_tests;

use types::TestReport;

pub use cannot::cannot_run;
pub use compare::{Compared, compare, ran_nothing};
pub use missing::lacks_names;
pub use names::{declares, is_manifest, is_runner, is_whole_file};
pub use variables::{report_files, variables};

use part::Part;

/// The tests reported by the runners of one check, from its output (both streams, not trimmed) and its report files
/// (name and content). `None` if no runner is recognised.
///
/// A report file overrides the text of the same runner, but is complete only if the text has the end of that run.
pub fn read(output: &str, files: &[(String, String)]) -> Option<TestReport> {
    let text = text::plain(output);
    let lines = text::lines(&text);
    let mut parts = Vec::new();
    let nextest = nextest::read(&lines);
    parts.extend(cargo::read(&lines, !nextest.is_empty()));
    parts.extend(nextest);
    parts.extend(golang::read(&lines));
    parts.extend(tap::read(&lines));
    parts.extend(node::read(&lines));
    parts.extend(pytest::read(&lines));
    parts.extend(unittest::read(&lines));
    parts.extend(javascript::jest(&lines));
    parts.extend(javascript::vitest(&lines));
    parts.extend(javascript::mocha(&lines));
    parts.extend(totals::read(&lines));
    for file in written(files, &lines) {
        place(file, &mut parts);
    }
    part::combine(parts)
}

/// The report files, each once; those of a runner that writes one per class are combined.
fn written(files: &[(String, String)], lines: &[&str]) -> Vec<Part> {
    let mut found: Vec<Part> = Vec::new();
    for (path, content) in files {
        let Some(file) = junit::read(path, content) else { continue };
        let joined = matches!(file.runner, "maven" | "gradle");
        match found.iter_mut().find(|held| held.runner == file.runner) {
            Some(held) if joined => held.absorb(file),
            Some(held) if held.same_tests(&file) => {}
            _ => found.push(file),
        }
    }
    for file in found.iter_mut().filter(|file| file.runner == "gradle") {
        file.complete &= totals::gradle_ended(lines);
    }
    found
}

/// Replaces the text of the same run by a report file.
fn place(mut file: Part, parts: &mut Vec<Part>) {
    let of_runner = |part: &Part| part.runner == file.runner || file.runner == "junit";
    let total = file.counts.total();
    let same = |part: &Part| of_runner(part) && total.abs_diff(part.counts.total()) <= part.slack;
    let ended = |part: &Part| part.complete || part.complete_with_file;
    let told = parts
        .iter()
        .rposition(|part| same(part) && ended(part))
        .or_else(|| parts.iter().rposition(|part| part.runner == file.runner));
    match told {
        Some(at) => {
            let told = &parts[at];
            let agrees = file.runner == "gradle" || same(told);
            file.complete &= agrees && ended(told);
            if file.runner == "junit" {
                file.runner = told.runner;
            }
            parts[at] = file;
        }
        // Without any text of its runner, a file is an unconfirmed claim; those of runners that always end with a
        // summary are not complete.
        None => {
            file.quiet = file.complete;
            file.complete &= matches!(file.runner, "junit" | "gradle");
            parts.push(file);
        }
    }
}
