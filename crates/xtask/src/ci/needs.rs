//! Programs that the tests run: checked before the tests, so that a bare machine fails with one sentence instead of
//! forty tests. Installs packages only as root, with apt-get.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::bail;

struct Need {
    program: &'static str,
    /// A command line that succeeds if the program is installed.
    probe: &'static [&'static str],
    /// Its Debian package.
    package: &'static str,
}

const NEEDS: &[Need] = &[
    Need { program: "sh", probe: &["-c", "exit 0"], package: "dash" },
    Need { program: "git", probe: &["--version"], package: "git" },
    // The check of the repository in which documented commands are run.
    Need { program: "make", probe: &["--version"], package: "make" },
    // Comes with ssh-keygen, which has no harmless command line that succeeds.
    Need { program: "ssh", probe: &["-V"], package: "openssh-client" },
    // Shows syncs, and kills at single steps.
    Need { program: "strace", probe: &["-V"], package: "strace" },
    Need { program: "tmux", probe: &["-V"], package: "tmux" },
    // The page is tested in it.
    Need { program: "chromium", probe: &["--version"], package: "chromium" },
];

pub(crate) fn meet(_root: &Path) -> anyhow::Result<()> {
    let on_build_machine = std::env::var("CI").is_ok_and(|ci| ci == "true");
    let may_install = is_root() && succeeds("apt-get", &["--version"]);
    for need in NEEDS {
        if succeeds(need.program, need.probe) {
            println!("{} is there", need.program);
        } else if may_install {
            install(need)?;
        } else if on_build_machine {
            bail!("{} is missing, and it cannot be installed here", need.program);
        } else {
            println!(
                "WARNING: {0} is missing; tests that need it will fail. Install {0}.",
                need.program
            );
        }
    }
    Ok(())
}

fn install(need: &Need) -> anyhow::Result<()> {
    println!("{} is missing; installing the package {}", need.program, need.package);
    let updated = succeeds("apt-get", &["update", "-q"]);
    let words = ["install", "-y", "-q", "--no-install-recommends", need.package];
    if !updated || !succeeds("apt-get", &words) || !succeeds(need.program, need.probe) {
        bail!("{} is missing, and apt-get could not install {}", need.program, need.package);
    }
    Ok(())
}

fn is_root() -> bool {
    let user = Command::new("id").arg("-u").output();
    user.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn succeeds(program: &str, words: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(words).env("DEBIAN_FRONTEND", "noninteractive");
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_missing_or_fails_does_not_succeed() {
        assert!(succeeds("sh", &["-c", "exit 0"]));
        assert!(!succeeds("sh", &["-c", "exit 1"]));
        assert!(!succeeds("no-such-program-anywhere", &[]));
    }
}
