//! Black-box checks of the server and its page: `cargo xtask screenshots`, `axe`, `schemathesis` and `client`. Each
//! runs a test of `crates/bosun/tests/it/gallery.rs`, which makes a home with runs in several states and starts the
//! real server; this module downloads the checkers from their registries, never into the repository, and keeps the
//! pictures.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};

const AXE: &str = "https://registry.npmjs.org/axe-core/-/axe-core-4.10.3.tgz";
const SCHEMATHESIS: &str = "schemathesis==4.32.5";
const GENERATOR: &str = "openapi-python-client==0.29.1";

/// The runs and sessions that schemathesis reads.
const KNOWN: &str = include_str!("page/schemathesis.toml");

/// Starts a run with the generated client, and reads it back.
const USE: &str = include_str!("page/use_client.py");

/// The pictures of the repository; all others stay in `target/`.
const CHOSEN: [&str; 8] = [
    "inbox-1280-light",
    "run-1280-dark",
    "timeline-1280-light",
    "review-1280-dark",
    "gate-1280-light",
    "money-1280-dark",
    "run-390-light",
    "inbox-390-dark",
];

/// Maximum size of a picture in the repository, in bytes.
const HEAVIEST: u64 = 150_000;

/// Writes pictures of every view, and keeps the chosen ones.
pub(crate) fn screenshots(root: &Path) -> anyhow::Result<()> {
    let all = folder(root, "screenshots")?;
    test(root, "every_view_is_drawn_and_fits_the_window", &[("PICTURES", &text(&all)?)])?;
    let kept = root.join("docs/pictures/page");
    fs::create_dir_all(&kept)?;
    for name in CHOSEN {
        let from = all.join(format!("{name}.png"));
        let bytes = fs::metadata(&from).with_context(|| format!("{name} was not drawn"))?.len();
        ensure!(bytes <= HEAVIEST, "{name} has {bytes} bytes, more than {HEAVIEST}");
        fs::copy(&from, kept.join(format!("{name}.png")))?;
    }
    println!(
        "all pictures are in {}, {} of them in docs/pictures/page",
        all.display(),
        CHOSEN.len()
    );
    Ok(())
}

/// Checks every view for accessibility.
pub(crate) fn axe(root: &Path) -> anyhow::Result<()> {
    let folder = folder(root, "axe")?;
    let (archive, script) = (folder.join("axe.tgz"), folder.join("package/axe.min.js"));
    if !script.is_file() {
        let fetched = succeeds(Command::new("curl").args(["-fsSL", AXE, "-o"]).arg(&archive));
        let opened =
            || succeeds(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&folder));
        if !fetched || !opened() {
            return skipped("axe-core cannot be fetched; accessibility was NOT checked");
        }
    }
    test(root, "every_view_is_accessible", &[("AXE", &text(&script)?)])
}

/// Sends generated requests to every operation of the served document.
pub(crate) fn schemathesis(root: &Path) -> anyhow::Result<()> {
    let Some(programs) = python(root, "schemathesis", SCHEMATHESIS)? else {
        return skipped("schemathesis cannot be installed; the API was NOT checked with it");
    };
    let checks = "not_a_server_error,status_code_conformance,content_type_conformance,\
                  response_headers_conformance,response_schema_conformance,negative_data_rejection,ignored_auth";
    let folder = folder(root, "schemathesis")?;
    fs::write(folder.join("schemathesis.toml"), KNOWN)?;
    // Excludes the streams, which do not end.
    let command = format!(
        "cd {} && {}/schemathesis --config-file schemathesis.toml run \"$BOSUN_URL/api/v1/openapi.json\" -H \"Authorization: Bearer $BOSUN_TOKEN\" \
         --checks {checks} --exclude-path-regex '^/api/v1/(events|ws)$' --phases examples,coverage,fuzzing \
         --max-examples 25 --seed 19 --request-timeout 30 --generation-database none",
        text(&folder)?,
        text(&programs)?
    );
    test(root, "another_program_uses_the_server", &[("COMMAND", &command)])
}

/// Generates a client from the served document, and starts a run with it.
pub(crate) fn client(root: &Path) -> anyhow::Result<()> {
    let Some(programs) = python(root, "client", GENERATOR)? else {
        return skipped("openapi-python-client cannot be installed; no client was generated");
    };
    let folder = folder(root, "client")?;
    fs::write(folder.join("use_client.py"), USE)?;
    let command = format!(
        "cd {} && export PATH={programs}:\"$PATH\" && curl -fsS -H \"Authorization: Bearer $BOSUN_TOKEN\" \"$BOSUN_URL/api/v1/openapi.json\" -o openapi.json && \
         openapi-python-client generate --path openapi.json --output-path made --overwrite --meta none \
         --fail-on-warning && python use_client.py",
        text(&folder)?,
        programs = text(&programs)?,
    );
    test(root, "another_program_uses_the_server", &[("COMMAND", &command)])
}

/// Runs one test of the gallery.
fn test(root: &Path, name: &str, settings: &[(&str, &str)]) -> anyhow::Result<()> {
    let mut command = Command::new("cargo");
    command.args(["test", "--locked", "--workspace", "--test", "it", "--", "--exact"]);
    command.arg(format!("gallery::{name}")).arg("--nocapture");
    command.envs(settings.iter().copied()).current_dir(root);
    ensure!(succeeds(&mut command), "{name} failed, see above");
    Ok(())
}

/// The programs of a virtual environment with a package installed. `None` if the package cannot be downloaded.
fn python(root: &Path, name: &str, package: &str) -> anyhow::Result<Option<PathBuf>> {
    let programs = folder(root, name)?.join("venv/bin");
    let venv = programs.parent().context("a folder")?.to_owned();
    let there = programs.join("python").is_file()
        || succeeds(Command::new("python3").args(["-m", "venv"]).arg(&venv));
    let mut install = Command::new(programs.join("pip"));
    install.args(["install", "--quiet", package]);
    Ok((there && succeeds(&mut install)).then_some(programs))
}

/// Reports a skipped check loudly; on a build machine that is a failure.
fn skipped(what: &str) -> anyhow::Result<()> {
    if std::env::var("CI").is_ok_and(|ci| ci == "true") {
        bail!("{what}");
    }
    println!("SKIPPED: {what}");
    Ok(())
}

fn folder(root: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let folder = root.join("target/page").join(name);
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    Ok(folder)
}

fn text(path: &Path) -> anyhow::Result<String> {
    path.to_str().map(str::to_owned).context("the path of the repository is not plain text")
}

fn succeeds(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pictures_of_the_repository_are_there_and_small() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for name in CHOSEN {
            let file = root.join(format!("docs/pictures/page/{name}.png"));
            let bytes = fs::metadata(&file).map(|file| file.len());
            assert!(
                bytes.is_ok_and(|bytes| bytes <= HEAVIEST),
                "{name}: run cargo xtask screenshots"
            );
        }
    }
}
