//! User-defined commands: Markdown files `commands/NAME.md` in the configuration folder. Each is a prompt in which
//! `$ARGUMENTS` is replaced by the text after the name. Only the user's own files are read, never those of a
//! repository.

use std::path::Path;

/// Maximum number of commands, and maximum bytes of each.
const MOST: usize = 100;
const LONGEST: u64 = 64 * 1024;
const ARGUMENTS: &str = "$ARGUMENTS";

/// A user-defined command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Custom {
    /// Includes the slash.
    pub(crate) name: String,
    /// First non-blank line.
    pub(crate) about: String,
    text: String,
}

impl Custom {
    /// The prompt with these arguments.
    pub(crate) fn said(&self, words: &str) -> String {
        match self.text.contains(ARGUMENTS) {
            true => self.text.replace(ARGUMENTS, words),
            false if words.is_empty() => self.text.clone(),
            false => format!("{}\n\n{words}", self.text.trim_end()),
        }
    }
}

/// All commands in a folder, sorted by name. Unreadable and invalid files are skipped.
pub(crate) fn custom_commands(folder: &Path) -> Vec<Custom> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<Custom> =
        entries.filter_map(|entry| one(&entry.path())).take(MOST).collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

fn one(file: &Path) -> Option<Custom> {
    let name = file.file_name()?.to_str()?.strip_suffix(".md")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let known = std::fs::metadata(file).ok()?;
    if name.is_empty() || !name.chars().all(plain) || !known.is_file() || known.len() > LONGEST {
        return None;
    }
    let text = std::fs::read_to_string(file).ok()?;
    let about = text.lines().find(|line| !line.trim().is_empty())?;
    let about = types::one_line(about.trim_start_matches(['#', ' ']), 60);
    Some(Custom { name: format!("/{name}"), about, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_command_and_its_words_are_put_in() {
        let dir = tempfile::tempdir().expect("a folder");
        let put =
            |name: &str, text: &str| std::fs::write(dir.path().join(name), text).expect("a file");
        put("review.md", "# Review it\n\nLook at $ARGUMENTS, twice.\n");
        put("test.md", "Run the tests.\n");
        put("bad name.md", "x");
        put("notes.txt", "x");
        let found = custom_commands(dir.path());
        let names: Vec<&str> = found.iter().map(|custom| custom.name.as_str()).collect();
        assert_eq!(names, ["/review", "/test"]);
        assert_eq!(found[0].about, "Review it");
        assert!(found[0].said("a.rs").contains("Look at a.rs, twice."));
        assert_eq!(found[1].said("all"), "Run the tests.\n\nall".replace("\n\n\n", "\n\n"));
        assert!(custom_commands(&dir.path().join("missing")).is_empty());
    }
}
