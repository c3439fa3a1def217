//! The current user, as the system knows it. The environment may say otherwise, or nothing.

/// Name of the user that this process runs as.
#[must_use]
pub fn user_name() -> Option<String> {
    let user = nix::unistd::User::from_uid(nix::unistd::getuid()).ok().flatten()?;
    Some(user.name).filter(|name| !name.is_empty())
}

/// Lets this thread do only what the owner of the files may do: for tests, which often run as root.
#[cfg(test)]
pub(crate) fn as_ordinary_user() {
    #[cfg(target_os = "linux")]
    {
        let mut sets = rustix::thread::capabilities(None).expect("they can be read");
        sets.effective = rustix::thread::CapabilitySet::empty();
        rustix::thread::set_capabilities(None, sets).expect("they can be given up");
    }
}

/// Keeps other users from writing to what this process and its programs create, if its umask lets them: Bosun's own files
/// are created with it. A narrower umask, or one that shares with a group, stays. To be called when the process starts.
pub fn narrow_umask() {
    use rustix::fs::Mode;
    use rustix::process::umask;
    // It can only be read by setting it.
    let before = umask(Mode::RWXG | Mode::RWXO);
    let after = if before.contains(Mode::WOTH) { before } else { before | Mode::WGRP | Mode::WOTH };
    umask(after);
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_umask_that_lets_everybody_write_is_narrowed_and_others_stay() {
        use rustix::fs::Mode;
        use rustix::process::umask;
        for (before, after) in [(0o000, 0o022), (0o002, 0o002), (0o077, 0o077), (0o040, 0o062)] {
            let own = umask(Mode::from_raw_mode(before));
            super::narrow_umask();
            let narrowed = umask(own);
            assert_eq!(narrowed.as_raw_mode(), after, "{before:o}");
        }
    }

    #[test]
    fn a_user_has_a_name_unless_the_system_does_not_know_it() {
        let id = nix::unistd::getuid().to_string();
        let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let entry = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let known = entry
            .filter(|fields| fields.get(2) == Some(&id.as_str()))
            .map(|user| user[0].to_owned())
            .next();
        if known.is_some() {
            assert_eq!(super::user_name(), known);
        }
    }
}
