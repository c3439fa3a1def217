//! Standing permissions of a person for every session: a small TOML file with `commands` and `hosts`. It is read when a
//! session opens and extended on the person's request. Nothing in it ever comes from a repository.

use std::path::Path;

use sandbox::Hosts;
use types::Grants;

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GrantsError {
    #[error("reading {path}")]
    Read {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error("{path} is not a list of grants: {cause}")]
    Broken { path: String, cause: String },
    #[error("writing {path}")]
    Write {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error("{0}")]
    Host(#[from] sandbox::BadHost),
}

const HEAD: &str = "# What is always allowed in conversations, beside the policy: patterns for commands as in\n\
                    # docs/policy.md, and hosts. Take a line out to be asked again.\n\n";

/// The grants in the file; none if it does not exist.
pub fn read(file: &Path) -> Result<Grants, GrantsError> {
    let path = || file.display().to_string();
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Grants::default()),
        Err(source) => return Err(GrantsError::Read { path: path(), source }),
    };
    let grants: Grants = toml::from_str(&text)
        .map_err(|error| GrantsError::Broken { path: path(), cause: error.message().to_owned() })?;
    Hosts::parse(&grants.hosts)?;
    Ok(grants)
}

/// Adds grants to the file, creating it if necessary; returns all its grants.
pub fn add(file: &Path, more: &Grants) -> Result<Grants, GrantsError> {
    Hosts::parse(&more.hosts)?;
    let mut grants = read(file)?;
    grants.add(more);
    let path = || file.display().to_string();
    let text = toml::to_string(&grants)
        .map_err(|error| GrantsError::Broken { path: path(), cause: error.to_string() })?;
    let written = crate::small_file::write(file, format!("{HEAD}{text}").as_bytes());
    written.map_err(|source| GrantsError::Write { path: path(), source })?;
    Ok(grants)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_granted_always_is_there_the_next_time() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("bosun/grants.toml");
        assert_eq!(read(&file).expect("nothing yet"), Grants::default());
        let grant = |command: &str, hosts: &[&str]| Grants {
            commands: vec![command.to_owned()],
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        };
        add(&file, &grant("git commit", &["registries"])).expect("it is written");
        add(&file, &grant("git \"x\"", &[])).expect("it is written");
        let all = read(&file).expect("grants");
        assert_eq!(all.commands, ["git commit", "git \"x\""]);
        assert_eq!(all.hosts, ["registries"]);
        assert!(add(&file, &grant("ls", &["*"])).is_err(), "not everything at once");
        std::fs::write(&file, "comands = []\n").expect("a file");
        assert!(read(&file).expect_err("a typo").to_string().contains("comands"));
    }
}
