//! `cargo xtask dist`: the release archive for this machine's target, in `target/dist`: the program, its documents,
//! completions and manual pages, and `SHA256SUMS` beside it. The same program gives the same bytes. Signs and uploads
//! nothing.

mod tarball;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use sha2::{Digest as _, Sha256};

use tarball::Tarball;

const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Shells, and the file names that they expect for a program's completions.
const SHELLS: [(&str, &str); 5] = [
    ("bash", "bosun.bash"),
    ("elvish", "bosun.elv"),
    ("fish", "bosun.fish"),
    ("powershell", "_bosun.ps1"),
    ("zsh", "_bosun"),
];

pub(crate) fn run(root: &Path, words: &[&str]) -> anyhow::Result<()> {
    let into = root.join("target/dist");
    let binary = match words {
        [] => build(root)?,
        ["--binary", path] => PathBuf::from(path),
        other => bail!("dist takes nothing or --binary PATH, not {:?}", other.join(" ")),
    };
    let archive = pack(root, &binary, &into)?;
    println!("{}", archive.display());
    Ok(())
}

/// Builds the program with the profile of releases.
fn build(root: &Path) -> anyhow::Result<PathBuf> {
    let words = ["build", "--locked", "--profile", "dist", "--package", "bosun"];
    let built = Command::new("cargo").args(words).current_dir(root).status()?;
    ensure!(built.success(), "bosun does not build");
    Ok(root.join("target/dist/bosun"))
}

/// Writes the archive of a program and the sums of all archives of its version; returns the archive's path.
fn pack(root: &Path, binary: &Path, into: &Path) -> anyhow::Result<PathBuf> {
    let binary = binary.canonicalize().with_context(|| format!("finding {}", binary.display()))?;
    let told = said(&binary, &["--version"])?;
    let told = String::from_utf8_lossy(&told).into_owned();
    let version = told.trim().strip_prefix("bosun ").context("the program is not bosun")?;
    let name = format!("bosun-{version}-{}", target()?);
    let mut tarball = Tarball::default();
    tarball.program(format!("{name}/bosun"), read(&binary)?);
    for document in DOCUMENTS {
        tarball.file(format!("{name}/{document}"), read(&root.join(document))?);
    }
    for (shell, file) in SHELLS {
        tarball.file(format!("{name}/completions/{file}"), said(&binary, &["completions", shell])?);
    }
    std::fs::create_dir_all(into).with_context(|| format!("making {}", into.display()))?;
    for (file, page) in manual(&binary, &into.join(format!("{name}.man")))? {
        tarball.file(format!("{name}/man/man1/{file}"), page);
    }
    let archive = into.join(format!("{name}.tar.gz"));
    write(&archive, &tarball.gzipped()?)?;
    write(&into.join("SHA256SUMS"), sums(into, &format!("bosun-{version}-"))?.as_bytes())?;
    Ok(archive)
}

/// The manual pages, which the program writes into a folder; the folder is removed afterwards.
fn manual(binary: &Path, folder: &Path) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let place = folder.to_str().context("the path of the archive is not text")?;
    said(binary, &["--quiet", "man", place])?;
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        pages.push((entry.file_name().to_string_lossy().into_owned(), read(&entry.path())?));
    }
    std::fs::remove_dir_all(folder)?;
    Ok(pages)
}

/// The checksums of all archives with this prefix, in the format of `sha256sum --check`.
fn sums(folder: &Path, start: &str) -> anyhow::Result<String> {
    let mut lines = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(start) && name.ends_with(".tar.gz") {
            let sum: String =
                Sha256::digest(read(&entry.path())?).iter().map(|b| format!("{b:02x}")).collect();
            lines.push((name, sum));
        }
    }
    lines.sort();
    Ok(lines.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect())
}

/// The target that the compiler builds for here.
fn target() -> anyhow::Result<String> {
    let told = said(Path::new("rustc"), &["-vV"])?;
    let told = String::from_utf8_lossy(&told).into_owned();
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not name its host")?.to_owned())
}

fn said(program: &Path, words: &[&str]) -> anyhow::Result<Vec<u8>> {
    let output = Command::new(program).args(words).output();
    let output = output.with_context(|| format!("starting {}", program.display()))?;
    let words = words.join(" ");
    ensure!(output.status.success(), "{} {words}: {}", program.display(), output.status);
    Ok(output.stdout)
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("reading {}", path.display()))
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("writing {}", path.display()))
}

#[cfg(test)]
mod tests;
