//! The programs that Bosun itself runs, outside the sandbox: git, `ssh-keygen`, `gh`, and what the user's own hooks
//! start. The folders of `PATH` are judged once, when the process starts; a folder in which an agent, or another user,
//! could place a program is never searched. A program is run by the absolute path of its file, with every link resolved.
//!
//! What commands of agents find is not decided here (`variables.rs`): they run in the sandbox. Neither is a program
//! that the user names by a path of its own.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use nix::sys::stat::Mode;

/// The folders of this process's `PATH`, as they were when it started.
static PROGRAMS: LazyLock<Programs> = LazyLock::new(|| {
    let variable = |name| std::env::var_os(name).unwrap_or_default();
    let here = std::env::current_dir().ok();
    Programs::judge(&variable("PATH"), here.as_deref(), Path::new(&variable("HOME")))
});

/// Judges the folders of `PATH`. To be called when the process starts, before an agent can change anything.
pub fn judge_path() {
    LazyLock::force(&PROGRAMS);
}

/// The programs of this process's `PATH`.
pub(crate) fn programs() -> &'static Programs {
    &PROGRAMS
}

/// The folders of a search path, judged.
#[derive(Debug)]
pub(crate) struct Programs {
    /// Folders that only this user and the system's administrator can change, outside every workspace.
    trusted: Vec<PathBuf>,
    /// All other absolute folders.
    others: Vec<PathBuf>,
    /// The user's home folder, which may itself be under version control.
    home: PathBuf,
}

/// A program, to be run as the file that it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    /// The file, with every link resolved.
    pub(crate) file: PathBuf,
    /// Its path on `PATH`, for programs that look at the name they are called by.
    pub(crate) called: PathBuf,
}

impl Program {
    pub(crate) fn command(&self) -> std::process::Command {
        use std::os::unix::process::CommandExt as _;
        let mut command = std::process::Command::new(&self.file);
        command.arg0(&self.called);
        command
    }
}

impl Programs {
    fn judge(path: &OsStr, here: Option<&Path>, home: &Path) -> Self {
        let home = home.canonicalize().unwrap_or_default();
        // Who works in the home folder has programs there; what an agent may change is excluded with its workspace.
        let here = here.and_then(|here| here.canonicalize().ok());
        let here = here.filter(|here| !home.starts_with(here));
        let usable = |folder: &PathBuf| {
            let Ok(real) = folder.canonicalize() else { return false };
            let worked_in = here.as_ref().is_some_and(|here| real.starts_with(here));
            !worked_in && !in_repository(&real, &home) && is_ours(&real, false)
        };
        let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
        let (trusted, others) = folders.partition(usable);
        Self { trusted, others, home }
    }

    /// Finds a program, but never one inside this workspace.
    pub(crate) fn find(&self, name: &str, workspace: Option<&Path>) -> Option<Program> {
        let workspace = workspace.and_then(|folder| folder.canonicalize().ok());
        self.trusted.iter().find_map(|folder| {
            let called = folder.join(name);
            let file = called.canonicalize().ok()?;
            let inside = workspace.as_ref().is_some_and(|workspace| file.starts_with(workspace));
            let program = file.metadata().is_ok_and(|found| {
                found.is_file() && found.mode() & 0o111 != 0 && only_ours(&found)
            });
            // A link may lead out of the folder.
            let placed = file.parent().is_some_and(|parent| {
                folder.canonicalize().is_ok_and(|folder| folder == parent)
                    || (!in_repository(parent, &self.home) && is_ours(parent, false))
            });
            (program && placed && !inside).then_some(Program { file, called })
        })
    }

    /// The search path for a program of the user that starts others.
    pub(crate) fn path(&self, workspace: Option<&Path>) -> OsString {
        joined(self.outside(workspace))
    }

    /// The search path for a command line that the user typed: tools of the workspace are found, but none instead of
    /// another program.
    pub(crate) fn path_with_workspace(&self, workspace: &Path) -> OsString {
        let outside: Vec<PathBuf> = self.outside(Some(workspace)).cloned().collect();
        let rest = self.trusted.iter().chain(&self.others);
        let rest = rest.filter(|folder| !outside.contains(folder));
        joined(outside.iter().chain(rest))
    }

    fn outside(&self, workspace: Option<&Path>) -> impl Iterator<Item = &PathBuf> {
        let workspace = workspace.and_then(|folder| folder.canonicalize().ok());
        self.trusted.iter().filter(move |folder| match (&workspace, folder.canonicalize()) {
            (Some(workspace), Ok(folder)) => !folder.starts_with(workspace),
            (None, _) => true,
            (Some(_), Err(_)) => false,
        })
    }
}

/// A search path that is never empty, because an empty one means the current folder.
fn joined<'a>(folders: impl Iterator<Item = &'a PathBuf>) -> OsString {
    let path = std::env::join_paths(folders).unwrap_or_default();
    if path.is_empty() { "/usr/bin:/bin".into() } else { path }
}

/// Whether a folder belongs to a repository: agents may have worked there, whenever that was. A home folder under
/// version control, and what contains it, does not count.
fn in_repository(folder: &Path, home: &Path) -> bool {
    let tops = folder.ancestors().filter(|above| !home.starts_with(above));
    tops.filter(|above| **above != *Path::new("/")).any(|above| above.join(".git").exists())
}

/// Whether nobody but this user and the administrator can change what a folder contains, or replace the folder.
fn is_ours(folder: &Path, sticky_suffices: bool) -> bool {
    let Ok(found) = folder.metadata() else { return false };
    // In a sticky folder such as `/tmp`, others cannot replace what is not theirs.
    let sticky = Mode::from_bits_truncate(found.mode()).contains(Mode::S_ISVTX);
    let kept = only_ours(&found) || (sticky_suffices && sticky && is_trusted(found.uid()));
    kept && folder.parent().is_none_or(|above| is_ours(above, true))
}

fn only_ours(found: &std::fs::Metadata) -> bool {
    let group = found.mode() & 0o020 == 0 || is_alone(found.gid(), found.uid());
    found.mode() & 0o002 == 0 && group && is_trusted(found.uid())
}

/// Whether a user is this one, or the administrator: who owns `/`, because inside a user namespace that is not user 0.
fn is_trusted(user: u32) -> bool {
    static ROOT: LazyLock<u32> =
        LazyLock::new(|| Path::new("/").metadata().map_or(0, |root| root.uid()));
    user == 0 || user == nix::unistd::geteuid().as_raw() || user == *ROOT
}

/// Whether a group has no member except this user and the administrator, as the private groups that many systems give
/// their users. A group that is not in the system's files counts as shared.
fn is_alone(group: u32, owner: u32) -> bool {
    if group == 0 {
        return true;
    }
    let read = |file| std::fs::read_to_string(file).unwrap_or_default();
    is_alone_in(&read("/etc/passwd"), &read("/etc/group"), group, owner)
}

fn is_alone_in(users: &str, groups: &str, group: u32, owner: u32) -> bool {
    let (group, owner) = (group.to_string(), owner.to_string());
    let fields = |line: &str| line.split(':').map(str::to_owned).collect::<Vec<_>>();
    let users: Vec<Vec<String>> = users.lines().map(fields).collect();
    let is = |field: Option<&String>, value: &str| field.is_some_and(|field| field == value);
    let may = |user: &Vec<String>| is(user.get(2), &owner) || is(user.get(2), "0");
    let primary = users.iter().filter(|user| is(user.get(3), &group)).all(may);
    let mut entries = groups.lines().map(fields).filter(|entry| is(entry.get(2), &group));
    let Some(entry) = entries.next() else { return false };
    let members = entry.get(3).map(String::as_str).unwrap_or_default();
    let mut members = members.split(',').filter(|name| !name.is_empty());
    primary && members.all(|name| users.iter().any(|user| is(user.first(), name) && may(user)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn chmod(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    }

    /// A folder with a program `git`.
    fn programs_in(folder: &Path) -> PathBuf {
        fs::create_dir_all(folder).expect("a folder");
        chmod(folder, 0o755);
        fs::write(folder.join("git"), "#!/bin/sh\n").expect("a program");
        chmod(&folder.join("git"), 0o755);
        folder.to_owned()
    }

    fn judged(folders: &[&Path], here: &Path) -> Programs {
        let path = std::env::join_paths(folders).expect("a path");
        Programs::judge(&path, Some(here), Path::new("/nonexistent"))
    }

    #[test]
    fn a_program_in_a_workspace_is_not_run() {
        let dir = tempfile::tempdir().expect("a folder");
        let top = dir.path().canonicalize().expect("a folder");
        let good = programs_in(&top.join("good"));
        let (repo, plain) = (top.join("repo"), top.join("plain"));
        fs::create_dir_all(repo.join(".git")).expect("a repository");
        let (in_repo, in_plain) =
            (programs_in(&repo.join("a/bin")), programs_in(&plain.join("bin")));
        let relative = Path::new("bin");
        let programs = judged(&[relative, &in_repo, &in_plain, &good], &plain);
        let found = programs.find("git", None).expect("a program");
        assert_eq!(found.file, good.join("git"), "neither in the repository nor in this folder");
        // A workspace without repository that this process was not started in.
        let programs = judged(&[&in_plain, &good], &top.join("elsewhere"));
        let found = programs.find("git", Some(&plain)).expect("a program");
        assert_eq!(found.file, good.join("git"));
        assert_eq!(programs.path(Some(&plain)), good.as_os_str());
        let both = std::env::join_paths([&good, &in_plain]).expect("a path");
        assert_eq!(programs.path_with_workspace(&plain), both, "nothing is shadowed");
    }

    #[test]
    fn a_folder_that_others_write_to_is_not_searched() {
        let dir = tempfile::tempdir().expect("a folder");
        let top = dir.path().canonicalize().expect("a folder");
        let good = programs_in(&top.join("good"));
        let open = programs_in(&top.join("open"));
        chmod(&open, 0o1777);
        let below = programs_in(&top.join("shared/bin"));
        chmod(&top.join("shared"), 0o777);
        let file = programs_in(&top.join("file"));
        chmod(&file.join("git"), 0o777);
        let programs = judged(&[&open, &below, &file, &good], Path::new("/nonexistent"));
        assert_eq!(programs.find("git", None).expect("a program").file, good.join("git"));
        assert_eq!(programs.find("missing", None), None);
    }

    #[test]
    fn a_link_is_judged_by_where_it_leads() {
        let dir = tempfile::tempdir().expect("a folder");
        let top = dir.path().canonicalize().expect("a folder");
        let good = programs_in(&top.join("good"));
        let repo = top.join("repo");
        fs::create_dir_all(repo.join(".git")).expect("a repository");
        let inside = programs_in(&repo.join("bin"));
        let links = top.join("links");
        fs::create_dir(&links).expect("a folder");
        symlink(inside.join("git"), links.join("git")).expect("a link");
        symlink(&inside, top.join("linked")).expect("a link");
        symlink(good.join("git"), links.join("other")).expect("a link");
        let programs = judged(&[&links, &top.join("linked"), &good], Path::new("/nonexistent"));
        assert_eq!(programs.find("git", None).expect("a program").file, good.join("git"));
        let other = programs.find("other", None).expect("a program");
        assert_eq!((other.file, other.called), (good.join("git"), links.join("other")));
    }

    #[test]
    fn the_folder_that_a_person_works_in_is_no_workspace_if_it_is_their_home() {
        let dir = tempfile::tempdir().expect("a folder");
        let home = dir.path().canonicalize().expect("a folder");
        fs::create_dir(home.join(".git")).expect("a repository");
        let bin = programs_in(&home.join(".local/bin"));
        let programs = Programs::judge(bin.as_os_str(), Some(&home), &home);
        assert!(programs.find("git", None).is_some());
        assert_eq!(programs.find("git", Some(&home)), None, "unless an agent works there");
    }

    #[test]
    fn a_group_of_one_is_not_shared() {
        let users = "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/ann:/bin/sh\n\
                     bob:x:1001:100::/bob:/bin/sh\n";
        let groups = "root:x:0:\nann:x:1000:\nstaff:x:50:\nusers:x:100:\ndev:x:200:ann,bob\n";
        let alone = |group| is_alone_in(users, groups, group, 1000);
        assert!(alone(1000) && alone(50));
        assert!(!alone(100) && !alone(200) && !alone(999));
    }
}
