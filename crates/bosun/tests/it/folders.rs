//! Folders that are not projects, keys in them, and Bosun's own state: the real binary, with a test home folder.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::binary::{Place, stderr, stdout};
use crate::stage::put;

/// A home folder with keys and start-up files, and with Bosun's state in its usual place.
fn home_folder(place: &Place) -> PathBuf {
    let home = place.path().join("person");
    put(&home, ".ssh/id_rsa", "CANARY");
    put(&home, ".bashrc", "before\n");
    put(&home, ".config/bosun/models.toml", "");
    put(&home, "notes.txt", "hello\n");
    home
}

/// Runs one scripted agent in a folder, with this home folder.
fn agent(place: &Place, home: &Path, folder: &Path, replies: &str, more: &[&str]) -> Output {
    let script = place.path().join("script.toml");
    std::fs::write(&script, format!("[[attempt]]\nrole = \"solo\"\n{replies}")).expect("a script");
    let (script, folder) = (script.display().to_string(), folder.display().to_string());
    let words =
        ["run", "--preset", "solo", "--repo", &folder, "--script", &script, "--headless", "Go"];
    let mut command = place.command(&[&words, more].concat());
    for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "BOSUN_HOME"] {
        command.env_remove(name);
    }
    command.env("HOME", home).output().expect("the binary runs")
}

const SAY: &str = "[[attempt.reply]]\nsay = \"Hi.\"\n";

#[test]
fn one_agent_is_not_started_in_a_place_that_is_no_project() {
    let place = Place::new();
    let home = home_folder(&place);
    let link = place.path().join("link");
    std::os::unix::fs::symlink(&home, &link).expect("a link");
    for (folder, word) in [
        (home.clone(), "--here-anyway"),
        (link, "--here-anyway"),
        (PathBuf::from("/"), "root of the file system"),
        (PathBuf::from("/etc"), "system"),
        (place.path().to_owned(), "folders of other users"),
        (home.join(".ssh"), "keys"),
        (home.join(".config"), "own state"),
    ] {
        let output = agent(&place, &home, &folder, SAY, &[]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(5), "{}: {said}", folder.display());
        assert!(said.contains(word), "{}: {said}", folder.display());
    }
    let below = home.join("code");
    std::fs::create_dir(&below).expect("a folder");
    let output = agent(&place, &home, &below, SAY, &[]);
    assert_eq!(
        (output.status.code(), stdout(&output).as_str()),
        (Some(0), "Hi.\n"),
        "{}",
        stderr(&output)
    );
}

/// An explicitly allowed home folder: work is possible; keys, start-up files and Bosun's own files are unchanged.
#[test]
fn in_a_home_folder_that_is_meant_keys_and_our_own_state_stay_closed() {
    let place = Place::new();
    let home = home_folder(&place);
    let replies = r#"
[[attempt.reply]]
call = { tool = "read_file", path = ".ssh/id_rsa" }
[[attempt.reply]]
call = { tool = "shell", command = "cat .ssh/id_rsa .local/state/bosun/journal.db; echo x >> .bashrc; echo x > .profile; echo base_url > .config/bosun/models.toml; rm -rf .local/state/bosun; echo seen; true" }
[[attempt.reply]]
call = { tool = "write_file", path = ".config/bosun/models.toml", content = "base_url" }
[[attempt.reply]]
call = { tool = "write_file", path = ".bashrc", content = "x" }
[[attempt.reply]]
call = { tool = "write_file", path = "new.txt", content = "fine\n" }
[[attempt.reply]]
say = "Done."
"#;
    let output = agent(&place, &home, &home, replies, &["--here-anyway", "--json"]);
    let said = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{said}{}", stderr(&output));
    assert!(!said.contains("CANARY"), "{said}");
    let text = |name: &str| std::fs::read_to_string(home.join(name)).expect("a file");
    assert_eq!(text(".bashrc"), "before\n");
    assert_eq!(text(".config/bosun/models.toml"), "");
    assert_eq!(text("new.txt"), "fine\n");
    assert!(!home.join(".profile").exists(), "{said}");
    assert!(home.join(".local/state/bosun/journal.db").exists(), "{said}");
}

/// A project cannot allow this for itself: its own policy may not enable work in a home folder.
#[test]
fn a_crew_is_not_started_in_a_home_folder_either() {
    let place = Place::new();
    let home = home_folder(&place);
    put(&home, ".bosun/policy.toml", "[sandbox]\nhome_folder = true\n");
    place.git(&home, &["init", "--quiet", "--initial-branch=main"]);
    place.git(&home, &["add", "notes.txt"]);
    place.git(&home, &["commit", "--quiet", "--message=Start"]);
    let script = place.path().join("script.toml");
    let text = crate::stage::script("notes.txt", "hello\n");
    std::fs::write(&script, text).expect("a script");
    let (script, folder) = (script.display().to_string(), home.display().to_string());
    let words = ["run", "--repo", &folder, "--script", &script, "Write hello to notes.txt"];
    let trusted = place.command(&["trust", &folder]).env("HOME", &home).status();
    assert!(trusted.expect("the binary runs").success());
    let output = place.command(&words).env("HOME", &home).output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(65), "{}", stderr(&output));
    assert!(stderr(&output).contains("home_folder"), "{}", stderr(&output));
    std::fs::remove_dir_all(home.join(".bosun")).expect("removed");
    let output = place.command(&words).env("HOME", &home).output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    assert!(stderr(&output).contains("home folder"), "{}", stderr(&output));
}
