//! The commands and files shown in the documentation: fenced blocks of Markdown, the command lines in them, and their
//! words. Parses only the Markdown and shell syntax that the documentation uses, and runs nothing.

use std::io;
use std::path::Path;

/// A fenced block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The page, by its path from the top of the repository.
    pub page: String,
    /// The line of the opening fence, counted from 1.
    pub line: usize,
    /// The language after the opening fence; may be empty.
    pub language: String,
    pub text: String,
}

/// A page and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub name: String,
    pub text: String,
}

/// The README and every page of `docs/`, in order.
pub fn pages(top: &Path) -> io::Result<Vec<Page>> {
    let mut names = vec!["README.md".to_owned()];
    for entry in std::fs::read_dir(top.join("docs"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".md") {
            names.push(format!("docs/{name}"));
        }
    }
    names[1..].sort();
    let read = |name: String| {
        let text = std::fs::read_to_string(top.join(&name))?;
        Ok(Page { name, text })
    };
    names.into_iter().map(read).collect()
}

impl Page {
    /// The fenced blocks of the page.
    #[must_use]
    pub fn blocks(&self) -> Vec<Block> {
        let mut found: Vec<Block> = Vec::new();
        let mut open = false;
        for (at, line) in self.text.lines().enumerate() {
            match (line.strip_prefix("```"), open) {
                (Some(_), true) => open = false,
                (Some(language), false) => {
                    open = true;
                    let (page, language) = (self.name.clone(), language.trim().to_owned());
                    found.push(Block { page, line: at + 1, language, text: String::new() });
                }
                (None, true) => {
                    if let Some(block) = found.last_mut() {
                        block.text.push_str(line);
                        block.text.push('\n');
                    }
                }
                (None, false) => {}
            }
        }
        found
    }

    /// The text in single backticks outside fenced blocks.
    #[must_use]
    pub fn inline(&self) -> Vec<String> {
        let mut open = false;
        let mut paragraphs = vec![String::new()];
        for line in self.text.lines() {
            let fence = line.starts_with("```");
            open ^= fence;
            match paragraphs.last_mut() {
                Some(last) if !open && !fence && !line.is_empty() => *last += &format!("{line} "),
                _ => paragraphs.push(String::new()),
            }
        }
        let spans = |text: &String| {
            text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()
        };
        paragraphs.iter().flat_map(spans).collect()
    }
}

impl Block {
    /// The command lines of the block: all lines of a shell script, those after a prompt in a terminal transcript,
    /// those below "Examples:" in a command's help. Continued lines are joined.
    #[must_use]
    pub fn commands(&self) -> Vec<String> {
        match self.language.as_str() {
            "sh" | "bash" => joined(self.text.lines()),
            "console" => joined(self.text.lines().filter_map(|line| line.strip_prefix("$ "))),
            "text" => examples(&self.text),
            _ => Vec::new(),
        }
    }
}

fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found = Vec::new();
    let mut begun = String::new();
    for line in lines.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(line) = line.strip_suffix('\\') {
            begun.push_str(line);
        } else if line.ends_with('|') {
            begun.push_str(line);
            begun.push(' ');
        } else {
            found.push(std::mem::take(&mut begun) + line);
        }
    }
    found.extend(Some(begun).filter(|begun| !begun.is_empty()));
    found
}

/// The indented lines below "Example:" or "Examples:", without the description after two blanks outside quotes.
fn examples(text: &str) -> Vec<String> {
    let below = text.lines().skip_while(|line| !line.starts_with("Example"));
    let lines = below.skip(1).map_while(|line| line.strip_prefix("  "));
    lines.map(|line| without_description(line).to_owned()).collect()
}

fn without_description(line: &str) -> &str {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, ' ') if line[at..].starts_with("  ") => return &line[..at],
            _ => {}
        }
    }
    line
}

/// The simple commands of a line, each as its words: split at `|`, `&` and `;`, without redirections and comments.
#[must_use]
pub fn simple_commands(line: &str) -> Vec<Vec<String>> {
    let mut found = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut redirected = false;
    let mut letters = line.chars();
    while let Some(c) = letters.next() {
        match c {
            '#' if word.is_none() => break,
            ' ' | '|' | '&' | ';' | '>' | '<' => {
                if let Some(word) = word.take().filter(|_| !std::mem::take(&mut redirected))
                    && let Some(last) = found.last_mut()
                {
                    last.push(word);
                }
                match c {
                    '>' | '<' => redirected = true,
                    '|' | '&' | ';' => found.push(Vec::new()),
                    _ => {}
                }
            }
            '\'' | '"' => {
                let quoted = letters.by_ref().take_while(|other| *other != c);
                word.get_or_insert_default().extend(quoted);
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    if let Some(word) = word.filter(|_| !redirected)
        && let Some(last) = found.last_mut()
    {
        last.push(word);
    }
    found.retain(|words| !words.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page {
        Page { name: "docs/a.md".to_owned(), text: text.to_owned() }
    }

    #[test]
    fn blocks_have_their_commands() {
        let page = page(
            "x\n```sh\na 'b  c'   # d\n# e\nf \\\n  g\nh |\n  i\n```\n```console\n$ j\nk\n```\n\
             ```text\nExamples:\n  l \"m  n\"   o\n\n  p\n```\n```\nq\n```\n",
        );
        let blocks = page.blocks();
        let all: Vec<Vec<String>> = blocks.iter().map(Block::commands).collect();
        let expected: [&[&str]; 4] =
            [&["a 'b  c'   # d", "f g", "h | i"], &["j"], &["l \"m  n\""], &[]];
        assert_eq!(all, expected);
        assert_eq!((blocks[0].line, blocks[3].language.as_str()), (2, ""));
    }

    #[test]
    fn a_line_is_split_as_a_shell_would() {
        let found = simple_commands("git diff | bosun ask - --system \"a | b\" > f # c");
        assert_eq!(found, [vec!["git", "diff"], vec!["bosun", "ask", "-", "--system", "a | b"]]);
    }

    #[test]
    fn code_in_sentences_is_found_outside_of_blocks() {
        let page = page("a `bosun list` b\n`c\nd` e\n```sh\n`x`\n```\n`f`\n");
        assert_eq!(page.inline(), ["bosun list", "c d", "f"]);
    }
}
