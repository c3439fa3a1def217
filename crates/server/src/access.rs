//! Access control: users with roles and projects, API tokens, and browser cookies. All are stored in one file in the
//! product's home, tokens and cookies only as digests. The file is read again whenever it changes, so a revocation
//! takes effect at once, whichever process wrote it. The actions of users on runs are recorded in the runs' own logs.

mod file;
mod user;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use types::{Digest, Timestamp};

pub use file::AccessError;
use file::{AccessFile, Listed, StoredLogin, StoredUser};
pub use user::{Project, Role, User};

/// The user who started the server on this machine.
pub const OWNER: &str = "owner";
/// Lifetime of a browser login.
const LOGIN_DAYS: i64 = 30;
/// Maximum number of browsers in which a user is logged in; another login ends the oldest.
const MOST_LOGINS: usize = 32;
/// Lifetime of a login link, which works only once.
const LINK_MINUTES: i64 = 15;
const MINUTE_MS: i64 = 60_000;

/// How a caller authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    Token,
    Cookie,
}

/// The authenticated sender of a request.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) user: User,
    /// Tells the user from an earlier or later one of the same name.
    pub(crate) account: Digest,
    pub(crate) proof: Proof,
}

impl Caller {
    fn of(stored: &StoredUser, proof: Proof) -> Self {
        Self { user: stored.user.clone(), account: stored.account(), proof }
    }
}

/// The users and projects of one home.
#[derive(Debug)]
pub struct Access {
    path: PathBuf,
    read: Mutex<Listed>,
}

impl Access {
    /// Opens the users of a home; there may be none yet.
    pub fn open(home: &Path) -> Result<Self, AccessError> {
        let access = Self { path: home.join("access.toml"), read: Mutex::default() };
        access.current()?;
        Ok(access)
    }

    /// All users, without their tokens.
    pub fn users(&self) -> Result<Vec<User>, AccessError> {
        Ok(self.current()?.users.iter().map(|user| user.user.clone()).collect())
    }

    pub fn projects(&self) -> Result<Vec<Project>, AccessError> {
        Ok(self.current()?.projects.clone())
    }

    /// Adds a user and returns the token; only its digest is stored.
    pub fn add_user(&self, user: &User, now: Timestamp) -> Result<String, AccessError> {
        file::check_name(&user.name)?;
        let token = draw();
        self.change(|file| {
            if file.user(&user.name).is_some() {
                return Err(AccessError::Taken { what: "user", name: user.name.clone() });
            }
            for name in user.projects.iter().flatten() {
                if !file.projects.iter().any(|project| project.name == *name) {
                    return Err(AccessError::Unknown { what: "project", name: name.clone() });
                }
            }
            file.add(user.clone(), digest(&token), now);
            Ok(())
        })?;
        Ok(token)
    }

    /// Removes a user with all their tokens and cookies.
    pub fn remove_user(&self, name: &str) -> Result<(), AccessError> {
        self.change(|file| {
            let before = file.users.len();
            file.users.retain(|user| user.user.name != name);
            file.logins.retain(|login| login.user != name);
            if file.users.len() == before {
                return Err(AccessError::Unknown { what: "user", name: name.to_owned() });
            }
            Ok(())
        })
    }

    pub fn add_project(&self, project: &Project) -> Result<(), AccessError> {
        file::check_name(&project.name)?;
        self.change(|file| {
            if file.projects.iter().any(|other| other.name == project.name) {
                return Err(AccessError::Taken { what: "project", name: project.name.clone() });
            }
            file.projects.push(project.clone());
            Ok(())
        })
    }

    pub fn remove_project(&self, name: &str) -> Result<(), AccessError> {
        self.change(|file| {
            let before = file.projects.len();
            file.projects.retain(|project| project.name != name);
            if file.projects.len() == before {
                return Err(AccessError::Unknown { what: "project", name: name.to_owned() });
            }
            Ok(())
        })
    }

    /// Creates a single-use login code that expires soon. The owner is created as an admin if necessary: write access to
    /// this file implies control of the journal beside it. Any other user must exist.
    pub fn link(&self, name: &str, now: Timestamp) -> Result<String, AccessError> {
        file::check_name(name)?;
        let code = draw();
        self.change(|file| {
            if file.user(name).is_none() {
                if name != OWNER {
                    return Err(AccessError::Unknown { what: "user", name: name.to_owned() });
                }
                let user = User { name: name.to_owned(), role: Role::Admin, projects: None };
                file.add(user, String::new(), now);
            }
            file.logins.push(StoredLogin {
                user: name.to_owned(),
                digest: digest(&code),
                until: later(now, LINK_MINUTES * MINUTE_MS),
                once: true,
            });
            Ok(())
        })?;
        Ok(code)
    }

    /// The user whom the code of a link or a token logs in. Uses nothing up.
    pub(crate) fn holder(&self, secret: &str, now: Timestamp) -> Result<Option<User>, AccessError> {
        let (file, wanted) = (self.current()?, digest(secret));
        let mut codes = file.logins.iter().filter(|login| login.once && login.until > now);
        let stored = match codes.find(|login| login.digest == wanted) {
            Some(login) => file.user(&login.user),
            None => file.user_of_token(&wanted),
        };
        Ok(stored.map(|stored| stored.user.clone()))
    }

    /// Whether a caller is still known, as the same user with the same role and projects.
    pub(crate) fn knows(&self, caller: &Caller) -> bool {
        let is_same =
            |stored: &StoredUser| stored.user == caller.user && stored.account() == caller.account;
        self.current().is_ok_and(|file| file.user(&caller.user.name).is_some_and(is_same))
    }

    /// Logs a browser in with the code of a link or with a token, and returns the value of its cookie.
    pub(crate) fn log_in(
        &self,
        secret: &str,
        now: Timestamp,
    ) -> Result<Option<String>, AccessError> {
        let cookie = draw();
        let mut known = false;
        self.change(|file| {
            file.logins.retain(|login| login.until > now);
            let wanted = digest(secret);
            let by_code = file.logins.iter().position(|login| login.once && login.digest == wanted);
            let user = match by_code {
                Some(place) => Some(file.logins.remove(place).user),
                None => file.user_of_token(&wanted).map(|stored| stored.user.name.clone()),
            };
            let Some(user) = user else { return Ok(()) };
            known = true;
            let own = |login: &StoredLogin| !login.once && login.user == user;
            while file.logins.iter().filter(|login| own(login)).count() >= MOST_LOGINS {
                let Some(oldest) = file.logins.iter().position(own) else { break };
                file.logins.remove(oldest);
            }
            let until = later(now, LOGIN_DAYS * 24 * 60 * MINUTE_MS);
            file.logins.push(StoredLogin { user, digest: digest(&cookie), until, once: false });
            Ok(())
        })?;
        Ok(known.then_some(cookie))
    }

    /// Ends a browser's login.
    pub(crate) fn log_out(&self, cookie: &str) -> Result<(), AccessError> {
        let gone = digest(cookie);
        self.change(|file| {
            file.logins.retain(|login| login.digest != gone);
            Ok(())
        })
    }

    /// Looks up the caller by token.
    pub(crate) fn by_token(&self, token: &str) -> Result<Option<Caller>, AccessError> {
        let file = self.current()?;
        let stored = file.user_of_token(&digest(token));
        Ok(stored.map(|stored| Caller::of(stored, Proof::Token)))
    }

    /// Looks up the caller by browser cookie.
    pub(crate) fn by_cookie(
        &self,
        cookie: &str,
        now: Timestamp,
    ) -> Result<Option<Caller>, AccessError> {
        let (file, wanted) = (self.current()?, digest(cookie));
        let login = file
            .logins
            .iter()
            .find(|login| !login.once && login.digest == wanted && login.until > now);
        let stored = login.and_then(|login| file.user(&login.user));
        Ok(stored.map(|stored| Caller::of(stored, Proof::Cookie)))
    }

    /// The current content of the file.
    fn current(&self) -> Result<Arc<AccessFile>, AccessError> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.refresh(&self.path)?;
        Ok(read.file.clone())
    }

    fn change(
        &self,
        change: impl FnOnce(&mut AccessFile) -> Result<(), AccessError>,
    ) -> Result<(), AccessError> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.change(&self.path, change)
    }
}

/// Generates a token, code or cookie: 366 random bits (three version 4 UUIDs) as text.
fn draw() -> String {
    let bytes: Vec<u8> = (0..3).flat_map(|_| uuid::Uuid::new_v4().into_bytes()).collect();
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The stored form of a secret. Secrets are random rather than chosen by users, so a plain, unsalted digest cannot be
/// brute-forced. Only digests are compared, never secrets, so the timing of a comparison reveals nothing.
fn digest(secret: &str) -> String {
    Digest::of(secret.as_bytes()).to_string()
}

fn later(now: Timestamp, millis: i64) -> Timestamp {
    Timestamp::from_millis(now.millis().saturating_add(millis))
}

#[cfg(test)]
mod tests;
