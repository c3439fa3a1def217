//! Generates the list of the page's files, so that each is compiled in without being named in the source.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script things by its environment"
)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=page");
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("page");
    let mut names = Vec::new();
    list(&root, &mut names)?;
    names.sort();
    let mut text = String::from("&[\n");
    for path in names {
        let name = path.strip_prefix(&root)?;
        writeln!(text, "    ({name:?}, include_bytes!({path:?}).as_slice()),")?;
    }
    text.push(']');
    fs::write(PathBuf::from(std::env::var("OUT_DIR")?).join("page_files.rs"), text)?;
    Ok(())
}

fn list(folder: &Path, names: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, names)?;
        } else {
            names.push(path);
        }
    }
    Ok(())
}
