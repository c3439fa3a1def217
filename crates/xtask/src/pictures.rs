//! `cargo xtask pictures [DIR]`: records the program in a real terminal (tmux), with a scripted model, as SVG files: a
//! run, a question, a review and a conversation, at four widths. Each file has both themes and follows the viewer's. It
//! only records and checks nothing.

mod svg;
mod terminal;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use terminal::Terminal;

const WIDTHS: [u16; 4] = [40, 80, 120, 200];
const ROWS: u16 = 44;

const RUN: &str = include_str!("pictures/run.toml");
const QUESTION: &str = include_str!("pictures/question.toml");
const CHAT: &str = include_str!("pictures/chat.toml");

/// One picture: commands typed one after another, each with the text to wait for before the next is typed or the
/// picture is taken.
struct Picture {
    name: &'static str,
    typed: &'static [(&'static str, &'static str)],
}

const GOAL: &str =
    "bosun run --script ../run.toml 'Add a tide command to harbor and document it in README.md'";
const ASKS: &str = "bosun run --script ../question.toml 'Add a tide command to harbor'";

const PICTURES: &[Picture] = &[
    Picture { name: "run", typed: &[(GOAL, "bosun accept")] },
    Picture { name: "question", typed: &[(ASKS, "Which unit")] },
    Picture {
        name: "review",
        typed: &[(GOAL, "bosun accept"), ("clear; bosun diff", "high tide")],
    },
    Picture {
        name: "chat",
        typed: &[
            ("bosun chat --script ../chat.toml", "ready"),
            ("Add a tide command", "It is written"),
        ],
    },
];

pub(crate) fn run(root: &Path, words: &[&str]) -> anyhow::Result<()> {
    let into = words.first().map_or_else(|| root.join("docs/pictures"), PathBuf::from);
    std::fs::create_dir_all(&into).with_context(|| format!("making {}", into.display()))?;
    let built = Command::new("cargo")
        .args(["build", "--quiet", "--locked", "--package", "bosun"])
        .current_dir(root)
        .status()?;
    ensure!(built.success(), "bosun does not build");
    let binaries = root.join("target/debug");
    for picture in PICTURES {
        for width in WIDTHS {
            let place = Place::make(picture.name, width)?;
            let terminal = Terminal::open(&place.folder, &binaries, width, ROWS)?;
            for (typed, until) in picture.typed {
                terminal.types(typed)?;
                terminal.wait_for(until)?;
            }
            let file = into.join(format!("{}-{width}.svg", picture.name));
            // The folder of the recording does not belong in the picture.
            let screen = terminal.styled()?.replace(&place.folder.display().to_string(), "~");
            let screen = screen.replace(&std::env::temp_dir().display().to_string(), "~");
            std::fs::write(&file, svg::draw(&screen, width))?;
            println!("{}", file.display());
        }
    }
    Ok(())
}

/// A folder with a small repository and the scripts; removed at the end.
struct Place {
    folder: PathBuf,
}

impl Place {
    fn make(name: &str, width: u16) -> anyhow::Result<Self> {
        let unique = format!("bosun-pictures-{}-{name}-{width}", std::process::id());
        let folder = std::env::temp_dir().join(unique);
        let repo = folder.join("harbor");
        for folder in ["bin", "tests"] {
            std::fs::create_dir_all(repo.join(folder))?;
        }
        let place = Self { folder };
        for (file, text) in [("run.toml", RUN), ("question.toml", QUESTION), ("chat.toml", CHAT)] {
            std::fs::write(place.folder.join(file), text)?;
        }
        for (file, text) in [
            (
                "bin/harbor",
                "#!/bin/sh\ncase $1 in\n  tide) . ./tide.sh ;;\n  *) echo harbor 1.0 ;;\nesac\n",
            ),
            ("test.sh", "for test in tests/*.sh; do sh \"$test\" || exit 1; done\n"),
            ("tests/version.sh", "test \"$(sh bin/harbor)\" = 'harbor 1.0'\n"),
            ("README.md", "# harbor\n\n`harbor` prints its version.\n"),
        ] {
            std::fs::write(repo.join(file), text)?;
        }
        for words in [
            &["init", "-q", "-b", "main"][..],
            &["config", "user.name", "Ann"],
            &["config", "user.email", "ann@example.org"],
            &["add", "."],
            &["commit", "-q", "-m", "Start"],
        ] {
            let git = Command::new("git").args(words).current_dir(&repo).status()?;
            ensure!(git.success(), "git {words:?}");
        }
        Ok(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.folder).ok();
    }
}
