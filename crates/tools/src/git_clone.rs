//! `git_clone`: copies a repository inside the workspace, or from a host granted by the policy, into a new folder of
//! the workspace. A remote repository is fetched by git inside the sandbox, whose proxy is the only way out. There are
//! no credentials in it, so an ssh address is fetched over https. Flags from a model are not passed on.

use sandbox::GitRequest;
use schemars::JsonSchema;
use serde::Deserialize;
use types::{Access, CallFacts, Metadata, Repeat, WorkPath};

use crate::typed::{Reply, Typed, facts};
use crate::{ToolContext, schema, tame};

/// Maximum length of an address.
const MAX_URL_BYTES: usize = 2048;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitClone {
    /// The repository: an https or ssh address, or a folder inside the workspace.
    url: String,
    /// The folder to make, relative to the workspace; `repo` by default.
    dest: Option<String>,
    branch: Option<String>,
    /// How many commits of history; 1 by default, 0 for all.
    depth: Option<u32>,
}

/// Location of a repository.
#[derive(Debug, PartialEq, Eq)]
enum Origin {
    Inside(WorkPath),
    Remote(Remote),
}

/// A remote address that is passed to git.
#[derive(Debug, PartialEq, Eq)]
struct Remote {
    url: String,
    host: String,
}

impl GitClone {
    fn from(&self) -> Result<Origin, String> {
        match remote(&self.url)? {
            Some(remote) => Ok(Origin::Remote(remote)),
            None => Ok(Origin::Inside(schema::path(&self.url)?)),
        }
    }

    fn to(&self) -> Result<WorkPath, String> {
        schema::path(self.dest.as_deref().unwrap_or("repo"))
    }

    /// The branch, if its name is valid.
    fn branch(&self) -> Result<Option<&str>, String> {
        let Some(branch) = self.branch.as_deref() else { return Ok(None) };
        let letter = |c: char| c.is_ascii_alphanumeric() || "-_./+@".contains(c);
        if branch.is_empty() || branch.starts_with('-') || !branch.chars().all(letter) {
            return Err(format!("{branch:?} is not the name of a branch"));
        }
        Ok(Some(branch))
    }
}

/// Parses a remote address; `None` if this is a path.
fn remote(url: &str) -> Result<Option<Remote>, String> {
    let not = |why: &str| {
        let shown: String = url.chars().take(120).collect();
        Err(format!("{shown:?} cannot be cloned: {why}"))
    };
    let (scheme, rest) = match url.split_once("://") {
        Some(parts) => parts,
        None if url.contains("::") => return not("only https and ssh addresses can be"),
        None => match url.split_once('@').and_then(|(_, rest)| rest.split_once(':')) {
            // The short form of ssh: user@host:path.
            Some((host, path)) => return address("https", &format!("{host}/{path}")).map(Some),
            None if url.contains('@') => return not("it is neither an address nor a path"),
            None => return Ok(None),
        },
    };
    match scheme {
        "https" | "http" if rest.split('/').next().is_some_and(|host| host.contains('@')) => {
            not("leave out user and password; only what needs neither can be cloned")
        }
        "https" | "http" => address(scheme, rest).map(Some),
        "ssh" => {
            let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = host.rsplit('@').next().unwrap_or(host);
            // The ssh port does not apply to https.
            let host = host.split(':').next().unwrap_or(host);
            address("https", &format!("{host}/{path}")).map(Some)
        }
        _ => not("only https and ssh addresses can be"),
    }
}

fn address(scheme: &str, rest: &str) -> Result<Remote, String> {
    let letter = |c: char| c.is_ascii_alphanumeric() || "-._~/:%+=,".contains(c);
    let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = place.split(':').next().unwrap_or(place);
    let odd = !rest.chars().all(letter) || rest.len() > MAX_URL_BYTES || host.starts_with('-');
    if odd || host.is_empty() || path.trim_matches('/').is_empty() {
        let shown: String = rest.chars().take(120).collect();
        return Err(format!("{shown:?} is not the address of a repository"));
    }
    Ok(Remote { url: format!("{scheme}://{rest}"), host: host.to_owned() })
}

/// Quotes a word for the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

impl Remote {
    /// Command line that fetches it. The machine's git settings cannot run programs or give away credentials.
    fn line(&self, to: &WorkPath, branch: Option<&str>, depth: u32) -> String {
        // The only way to a granted address of this machine is the proxy, too.
        let mut line = "NO_PROXY= no_proxy= GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null git -c protocol.allow=never -c protocol.https.allow=always -c protocol.http.allow=always \
                        -c core.hooksPath=/dev/null -c core.askPass=true -c credential.helper= \
                        clone --quiet --template= --no-recurse-submodules"
            .to_owned();
        if depth > 0 {
            line.push_str(&format!(" --depth {depth}"));
        }
        if let Some(branch) = branch {
            line.push_str(&format!(" --branch {}", quoted(branch)));
        }
        format!("{line} -- {} {}", quoted(&self.url), quoted(to.as_str()))
    }

    /// Why it may not be fetched, and how to change that.
    fn refusal(&self, place: &ToolContext<'_>) -> Option<String> {
        let granted = place.web.is_some_and(|web| web.grants(&self.host));
        (!granted).then(|| {
            let host = &self.host;
            format!(
                "{host} is not among the hosts that the policy grants. A person can grant it with `network = [\"{host}\"]` \
                 in [sandbox] of the policy; do without it, or say that you need it"
            )
        })
    }
}

impl Typed for GitClone {
    const NAME: &'static str = "git_clone";
    const DESCRIPTION: &'static str = "Clones a git repository into a new folder of the workspace: one of a host \
        that the policy grants, or one that is inside the workspace.";

    fn facts(&self) -> Result<CallFacts, String> {
        let (from, to) = (self.from()?, self.to()?);
        self.branch()?;
        let access = match from {
            Origin::Inside(_) => Access::Write,
            // Git runs like any command, and writes to the new folder.
            Origin::Remote(_) => Access::Execute,
        };
        Ok(facts(access, vec![to], Repeat::Unknown))
    }

    async fn act(self, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let (from, to, depth) = (self.from()?, self.to()?, self.depth.unwrap_or(1));
        let metadata = Metadata { path: Some(to.clone()), ..Metadata::default() };
        let remote = match from {
            Origin::Inside(from) => {
                let request = GitRequest::Clone { from, to, branch: self.branch, depth };
                return Ok(Reply::from(place.env.git(request).await?).knowing(metadata));
            }
            Origin::Remote(remote) => remote,
        };
        if let Some(refusal) = remote.refusal(place) {
            return Err(refusal.into());
        }
        if place.env.exists(&to).await? {
            return Err(format!("{to} exists already; choose another dest").into());
        }
        let line = remote.line(&to, self.branch()?, depth);
        let request = place.command(line, WorkPath::root(), place.max_command_timeout());
        let result = place.env.exec(request, place.stop).await?;
        let url = &remote.url;
        if result.passed() {
            let settings = format!("{to}/.git/config").parse::<WorkPath>();
            let kept = matches!(settings, Ok(path) if place.env.exists(&path).await?);
            let note = if kept { "" } else { ", without its settings: it has no remote" };
            return Ok(Reply::from(format!("cloned {url} into {to}{note}")).knowing(metadata));
        }
        let said = tame::without_colours(&result.output);
        Err(format!("{url} could not be cloned ({}): {}", result.ended, said.trim()).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(url: &str) -> Result<String, String> {
        remote(url).map(|remote| remote.map_or_else(|| "inside".to_owned(), |remote| remote.url))
    }

    /// K33: accepted addresses; those of ssh become https.
    #[test]
    fn addresses_are_read() {
        for (url, wanted) in [
            ("https://example.org/a/b.git", "https://example.org/a/b.git"),
            ("http://127.0.0.1:8080/b.git", "http://127.0.0.1:8080/b.git"),
            ("ssh://git@example.org:2222/a/b", "https://example.org/a/b"),
            ("git@example.org:a/b.git", "https://example.org/a/b.git"),
            ("libs/b", "inside"),
        ] {
            assert_eq!(asked(url).as_deref(), Ok(wanted), "{url}");
        }
        for url in [
            "ext::sh -c id",
            "file:///etc",
            "git://example.org/a",
            "https://user:secret@example.org/a",
            "https://example.org/a'; id; '",
            "https://example.org/$(id)",
            "https://-oProxyCommand=id/a",
            "https://example.org",
            "user@host",
        ] {
            assert!(asked(url).is_err(), "{url}");
        }
    }

    #[test]
    fn nothing_of_a_call_becomes_an_option_or_a_command() {
        let remote = Remote { url: "https://h/a".to_owned(), host: "h".to_owned() };
        let to: WorkPath = "it's here".parse().expect("a path");
        let line = remote.line(&to, Some("main"), 1);
        assert!(
            line.ends_with(r"--depth 1 --branch 'main' -- 'https://h/a' 'it'\''s here'"),
            "{line}"
        );
        assert!(line.starts_with("NO_PROXY= no_proxy= "), "a granted loopback address: {line}");
        assert!(!remote.line(&to, None, 0).contains("--depth"));
        for branch in ["--upload-pack=id", "a b", "$(id)", ""] {
            let branch = Some(branch.to_owned());
            let call = GitClone { url: "a".to_owned(), dest: None, branch, depth: None };
            assert!(call.branch().is_err(), "{call:?}");
        }
    }
}
