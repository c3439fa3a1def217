//! Runs a command, shows its output as it comes, and keeps selected lines.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::Context;

#[derive(Debug)]
pub(crate) struct Streamed {
    pub(crate) success: bool,
    /// The selected lines, of standard output first.
    pub(crate) kept: Vec<String>,
}

pub(crate) fn stream(mut command: Command, keep: fn(&str) -> bool) -> anyhow::Result<Streamed> {
    let running = format!("running {command:?}");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| running.clone())?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let kept = thread::scope(|scope| {
        let errors = scope.spawn(|| pass_on(stderr, io::stderr(), keep));
        let mut kept = pass_on(stdout, io::stdout(), keep)?;
        let errors = errors.join().map_err(|_| io::Error::other("the reader of errors stopped"))?;
        kept.extend(errors?);
        Ok::<_, io::Error>(kept)
    });
    let status = child.wait().with_context(|| running.clone())?;
    Ok(Streamed { success: status.success(), kept: kept.context(running)? })
}

fn pass_on(
    from: Option<impl Read>,
    mut to: impl Write,
    keep: fn(&str) -> bool,
) -> io::Result<Vec<String>> {
    let mut kept = Vec::new();
    let Some(from) = from else { return Ok(kept) };
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    // Bytes, because a test may print invalid UTF-8.
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        to.flush()?;
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if keep(text) {
            kept.push(text.to_owned());
        }
        line.clear();
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_passed_on_and_the_wanted_ones_kept() {
        let text: &[u8] = b"one\ntwo \xff\nthree";
        let mut seen = Vec::new();
        let kept = pass_on(Some(text), &mut seen, |line| line.starts_with('t')).unwrap();
        assert_eq!(seen, text);
        assert_eq!(kept, ["two \u{fffd}", "three"]);
    }

    #[test]
    fn the_exit_code_and_both_outputs_are_told() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2; exit 3"]);
        let streamed = stream(command, |_| true).unwrap();
        assert!(!streamed.success);
        assert_eq!(streamed.kept, ["out", "err"]);
    }
}
