//! Checks of `bosun doctor` in a repository: commit, uncommitted work, checks, set-up, the project's own files. Runs no
//! command of the repository.

use std::path::{Path, PathBuf};

use runtime::sandbox::{GitError, PersonProgram};
use runtime::trust::{TrustStore, project_files};
use runtime::{ProjectSurvey, presets, project_survey};

use crate::home::Home;
use crate::{config, print};

/// Result of one check: one line, with the fix if it is bad.
#[derive(serde::Serialize)]
pub(super) struct Finding {
    pub(super) what: String,
    pub(super) good: bool,
    pub(super) says: String,
    /// How to fix it.
    pub(super) fix: Option<String>,
}

impl Finding {
    pub(super) fn good(what: &str, says: impl Into<String>) -> Self {
        Self { what: what.to_owned(), good: true, says: says.into(), fix: None }
    }

    pub(super) fn bad(what: &str, says: impl Into<String>, fix: &str) -> Self {
        Self { what: what.to_owned(), good: false, says: says.into(), fix: Some(fix.to_owned()) }
    }
}

/// All findings about the repository around a folder; a single bad one if there is no repository. `project` is its top,
/// if its own settings take effect.
pub(super) async fn findings(home: &Home, folder: &Path, project: Option<&Path>) -> Vec<Finding> {
    if !folder.is_dir() {
        let says = format!("no such folder: {}", folder.display());
        return vec![Finding::bad("repository", says, "choose one with --repo")];
    }
    let survey = match project_survey(folder).await {
        Ok(survey) => survey,
        Err(error) => {
            let fix = match &error {
                GitError::NotARepository { .. } => {
                    "create a git repository: git init && git add --all && git commit -m Start"
                }
                GitError::NoCommit => "make a first commit: git add --all && git commit -m Start",
                _ => "run `git status` there, and fix what it reports",
            };
            return vec![Finding::bad("repository", error.to_string(), fix)];
        }
    };
    let mut all = vec![Finding::good("repository", survey.root.display().to_string())];
    let left_out = print::left_out(&survey.uncommitted, "");
    all.push(Finding::good("uncommitted changes", left_out.unwrap_or_else(|| "none".to_owned())));
    all.push(match survey.root.to_str() {
        Some(_) => Finding::good("path", "valid UTF-8"),
        None => Finding::bad("path", "not valid UTF-8", "move the repository to a UTF-8 path"),
    });
    let own = config::load(project, &[]).ok().and_then(|loaded| loaded.settings.checks);
    let found = || survey.checks.iter().map(|check| check.command.clone()).collect();
    let commands: Vec<String> = own.or_else(|| strict(&survey)).unwrap_or_else(found);
    if commands.is_empty() {
        let fix = "set the command that tests your code: bosun run --check \"make test\", or checks in .bosun/config.toml";
        all.push(Finding::bad("checks", "none found", fix));
    }
    for command in &commands {
        all.push(check(&survey, command).await);
    }
    if !survey.missing.is_empty() {
        let setup = survey.missing.join(" && ");
        let says = format!("dependencies not installed; needs: {setup}");
        let fix = format!("install them here once: {setup}; see docs/workspace.md");
        all.push(Finding::bad("set-up", says, &fix));
    } else {
        all.push(Finding::good("set-up", "nothing to install, or already installed"));
    }
    all.extend(trusted(home, folder));
    all
}

/// The test command of a project of the preset `strict`, for a repository without other checks.
fn strict(survey: &ProjectSurvey) -> Option<Vec<String>> {
    if !survey.checks.is_empty() || !survey.root.join("config/policies.yaml").is_file() {
        return None;
    }
    let mut policy = presets::preset("strict").ok()?;
    let project = presets::strict::read(&survey.root, &mut policy).ok()?;
    let mut command = project.check.command.as_str();
    // What only leads to the folder of the project.
    for start in ["mkdir -p '", "cd '"] {
        let rest = command.strip_prefix(start).and_then(|rest| rest.split_once("' && "));
        command = rest.map_or(command, |(_, own)| own);
    }
    Some(vec![command.to_owned()])
}

/// Top of the repository, if it has files of its own that take effect.
pub(super) fn trusted_top(home: &Home, folder: &Path) -> Option<PathBuf> {
    let top = presets::top(folder);
    let files = project_files(&top).ok()?.filter(|_| !home.without_project)?;
    let store = TrustStore::at(&home.folder().ok()?);
    store.holds(&files).unwrap_or(false).then_some(top)
}

/// Whether the program of a check is installed, and the module if it runs one with Python. Does not run the check.
async fn check(survey: &ProjectSurvey, command: &str) -> Finding {
    let what = format!("check {}", print::one_line(command, 60));
    let first = command.split_whitespace().find(|word| !word.contains('='));
    let program = first.unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    if program.is_empty() || !program.chars().all(plain) {
        return Finding::good(&what, "tried when a run starts");
    }
    let builtin = ["cd", "test", "true", "false", "exec", "export", "if", "for"].contains(&program);
    let foreign = module_of(command).filter(|module| !is_brought(survey, module));
    if let Some(module) = foreign
        && !has_module(program, module, &survey.root).await
    {
        let fix = format!(
            "install it ({program} -m pip install {module}), add a set-up command, or choose another check"
        );
        return Finding::bad(&what, format!("{program} has no module {module}"), &fix);
    }
    let brought = [".venv", "venv"].map(|name| survey.root.join(name).join("bin").join(program));
    if let Some(brought) = brought.iter().find(|path| path.is_file()) {
        let says = format!("{} is there; tried when a run starts", print::path(brought));
        return Finding::good(&what, says);
    }
    if builtin || installed(program) {
        return Finding::good(&what, format!("{program} is installed; tried when a run starts"));
    }
    let fix = format!("install {program}, or choose another check");
    Finding::bad(&what, format!("{program} is not on the PATH"), &fix)
}

/// Module of a check that runs one with Python, such as `python3 -m pytest`.
fn module_of(command: &str) -> Option<&str> {
    let mut words = command.split_whitespace().skip_while(|word| word.contains('='));
    let is_python = words.next()?.starts_with("python") && words.next()? == "-m";
    let module = words.next().filter(|_| is_python)?;
    module.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_').then_some(module)
}

/// Whether a module belongs to the repository, or may come from its virtual environment or its set-up.
fn is_brought(survey: &ProjectSurvey, module: &str) -> bool {
    let (file, inner) = (format!("{module}.py"), format!("src/{module}"));
    let places = [module, &file, &inner, ".venv", "venv"].map(|name| survey.root.join(name));
    !survey.workspace.setup.is_empty() || places.iter().any(|place| place.exists())
}

/// Whether Python finds a module. Looks at nothing in the repository.
async fn has_module(python: &str, module: &str, repository: &Path) -> bool {
    let find =
        format!("import importlib.util as u, sys; sys.exit(u.find_spec('{module}') is None)");
    // Without Python, the finding is about the missing program, not the module.
    let Some(python) = PersonProgram::find(python, repository) else { return true };
    let found = python.run(Path::new("/"), &["-c", &find], "").await;
    found.is_ok_and(|found| found.succeeded)
}

fn installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn trusted(home: &Home, folder: &Path) -> Option<Finding> {
    let what = "project files";
    let files = match project_files(&presets::top(folder)) {
        Ok(files) => files?,
        Err(error) => {
            let says = format!("{:#}", anyhow::Error::from(error));
            return Some(Finding::bad(what, says, "make it a regular file of moderate size"));
        }
    };
    let held = home.folder().ok().and_then(|home| TrustStore::at(&home).holds(&files).ok());
    let count = types::count(files.files.len(), "file");
    Some(match held {
        Some(true) => Finding::good(what, format!("{count}, trusted")),
        _ => {
            let fix =
                format!("review them, then: bosun trust {}", crate::print::path(&files.folder));
            Finding::bad(what, format!("{count}, not trusted yet"), &fix)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_of_a_python_check_is_found() {
        assert_eq!(module_of("python3 -m pytest -q"), Some("pytest"));
        assert_eq!(module_of("PYTHONPATH=src python3 -m unittest"), Some("unittest"));
        for other in ["pytest -q", "python3 tests.py", "python3 -m a.b", "make -m x", ""] {
            assert_eq!(module_of(other), None, "{other}");
        }
    }

    #[tokio::test]
    async fn a_check_whose_module_is_missing_cannot_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().to_owned();
        let (uncommitted, checks, missing) = (vec![], vec![], vec![]);
        let workspace = types::WorkspacePolicy::default();
        let mut survey = ProjectSurvey { root, uncommitted, checks, workspace, missing };
        let missing = check(&survey, "python3 -m no_such_module_here").await;
        // Without Python, the finding is about the missing program.
        let says = ["python3 has no module no_such_module_here", "python3 is not on the PATH"];
        assert!(!missing.good && says.contains(&missing.says.as_str()), "{}", missing.says);
        std::fs::write(survey.root.join("own.py"), "").expect("a file");
        let own = check(&survey, "python3 -m own").await;
        assert!(!own.says.contains("has no module"), "{}", own.says);
        survey.workspace.setup.push("pip install -r requirements.txt".to_owned());
        let later = check(&survey, "python3 -m no_such_module_here").await;
        assert!(!later.says.contains("has no module"), "the set-up may bring it: {}", later.says);
    }
}
