//! Runs an example of testkit that starts `bosun serve`. If a binary is given, the example is built without
//! optimisation, which is quick but slightly affects the measurement; otherwise both are built as for a release.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail, ensure};

use crate::bench::{dist_binary, dist_example};

/// Raises the limit of open files to the maximum; the server inherits it.
const RAISED: &str = "ulimit -n \"$(ulimit -H -n)\" && exec \"$0\" \"$@\"";

/// The options of such an example.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    binary: Option<String>,
    /// Passed on unchanged.
    others: Vec<String>,
}

impl Options {
    /// Parses pairs of names and values; `known` lists the names besides `--binary`.
    pub(crate) fn read(words: &[&str], known: &[&str]) -> anyhow::Result<Self> {
        let mut options = Self::default();
        for pair in words.chunks(2) {
            let [name, value] = *pair else { bail!("{} needs a value", pair.concat()) };
            if name == "--binary" {
                options.binary = Some(value.to_owned());
                continue;
            }
            ensure!(known.contains(&name), "not known: {name}; there are --binary, {known:?}");
            options.others.extend([name.to_owned(), value.to_owned()]);
        }
        Ok(options)
    }
}

/// Builds the example, and the product if no binary is given, and runs the example.
pub(crate) fn run(root: &Path, name: &str, options: &Options) -> anyhow::Result<()> {
    let mut command = Command::new("sh");
    command.args(["-c", RAISED]);
    match &options.binary {
        Some(binary) => {
            command.args(["cargo", "run", "--quiet", "--locked", "--package", "testkit"]);
            command.args(["--example", name, "--", "--binary", binary]);
        }
        None => {
            let binary = dist_binary(root)?;
            command.arg(dist_example(root, "testkit", name)?).arg("--binary").arg(binary);
        }
    }
    let status = command.args(&options.others).current_dir(root).status().context("running sh")?;
    if status.success() { Ok(()) } else { bail!("{name} failed, see above") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_pairs_of_known_names_and_values() {
        let options = Options::read(&["--seed", "7", "--binary", "b"], &["--seed"]).unwrap();
        let others = vec!["--seed".to_owned(), "7".to_owned()];
        assert_eq!(options, Options { binary: Some("b".to_owned()), others });
        assert!(Options::read(&["--seed"], &["--seed"]).is_err());
        assert!(Options::read(&["--sed", "7"], &["--seed"]).is_err());
    }
}
