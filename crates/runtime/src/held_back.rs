//! What only hidden checks may see: the project's own settings, which may contain such a check, and files of the machine
//! that its command names by absolute path, with their folder. Agents, other checks and set-ups see none of it. Files
//! that a hidden check names by a relative path are part of the repository, and so visible to everyone, unless they are
//! below `.bosun/`.

use std::path::{Path, PathBuf};

use rules::folder::{self, MachineFolders};
use types::Check;

/// The project's own settings.
const OWN: &str = ".bosun/**";

/// The globs of hidden files for one command: the policy's, and the project's own settings if they are held back.
pub(crate) fn globs(hidden: &[String], checks: &[Check], own: Option<&Check>) -> Vec<String> {
    let held = checks.iter().any(|check| check.hidden) && !own.is_some_and(|own| own.hidden);
    hidden.iter().cloned().chain(held.then(|| OWN.to_owned())).collect()
}

/// What a command sees of the machine because it is a hidden check.
pub(crate) fn shown(own: Option<&Check>, machine: &MachineFolders) -> Vec<PathBuf> {
    let own = own.filter(|own| own.hidden);
    own.map(|own| places(&own.command, machine)).unwrap_or_default()
}

/// What a command must not see of the machine because it belongs to hidden checks.
pub(crate) fn withheld(
    checks: &[Check],
    own: Option<&Check>,
    machine: &MachineFolders,
) -> Vec<PathBuf> {
    if own.is_some_and(|own| own.hidden) {
        return vec![];
    }
    let hidden = checks.iter().filter(|check| check.hidden);
    hidden.flat_map(|check| places(&check.command, machine)).collect()
}

/// The files and folders that a command line names by absolute path; of a file its folder, unless that is shared with
/// other programs.
fn places(command: &str, machine: &MachineFolders) -> Vec<PathBuf> {
    let ends = |c: char| c.is_whitespace() || "\"'`=;:|&<>(){}".contains(c);
    let words = command.split(ends).map(Path::new).filter(|word| word.is_absolute());
    let real = words.filter_map(|word| word.canonicalize().ok());
    let mut found: Vec<PathBuf> = vec![];
    for path in real {
        let narrow = |folder: &Path| folder::refusal(folder, machine, false).is_none();
        let place = match path.parent() {
            Some(above) if !path.is_dir() && narrow(above) => above.to_owned(),
            _ => path,
        };
        if narrow(&place) && !is_of_programs(&place) && !found.contains(&place) {
            found.push(place);
        }
    }
    found
}

/// Whether a folder has programs that other commands need as well: those of the system, and of toolchains.
fn is_of_programs(place: &Path) -> bool {
    place.starts_with("/usr")
        || place.file_name().is_some_and(|name| name == "bin" || name == "sbin")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_named_file_is_for_the_hidden_check_alone() {
        let dir = tempfile::tempdir().expect("a folder");
        let top = dir.path().canonicalize().expect("a folder");
        let acceptance = top.join("acceptance");
        std::fs::create_dir(&acceptance).expect("a folder");
        let script = acceptance.join("run.sh");
        std::fs::write(&script, "").expect("a file");
        let machine = MachineFolders::default();
        let command = format!("sh \"{}\" /bin/sh /missing relative", script.display());
        let hidden = Check { hidden: true, ..Check::new("acceptance", command.clone()) };
        let ordinary = Check::new("tests", command);
        let all = [hidden.clone(), ordinary.clone()];
        assert_eq!(shown(Some(&hidden), &machine), std::slice::from_ref(&acceptance));
        assert_eq!(shown(Some(&ordinary), &machine), Vec::<PathBuf>::new());
        assert_eq!(withheld(&all, Some(&ordinary), &machine), std::slice::from_ref(&acceptance));
        assert_eq!(withheld(&all, None, &machine), std::slice::from_ref(&acceptance));
        assert_eq!(withheld(&all, Some(&hidden), &machine), Vec::<PathBuf>::new());
        assert_eq!(globs(&["a".to_owned()], &all, None), ["a", ".bosun/**"]);
        assert_eq!(globs(&["a".to_owned()], &all, Some(&hidden)), ["a"]);
        assert_eq!(globs(&[], &[ordinary], None), Vec::<String>::new());
    }

    #[test]
    fn a_script_in_a_home_shows_itself_and_not_the_home() {
        let dir = tempfile::tempdir().expect("a folder");
        let home = dir.path().canonicalize().expect("a folder");
        std::fs::write(home.join("run.sh"), "").expect("a file");
        let machine = MachineFolders { home: Some(home.clone()), ..MachineFolders::default() };
        let command = format!("sh {}/run.sh; ls {}", home.display(), home.display());
        assert_eq!(places(&command, &machine), [home.join("run.sh")]);
    }
}
