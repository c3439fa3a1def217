//! Signatures by the user's SSH key, made and verified by OpenSSH's own `ssh-keygen -Y`. The program gets an
//! environment from scratch, with only `PATH`, `HOME` and the variables for an agent, a passphrase prompt or a security
//! key from the caller's. Keys are never read here, and signed messages are not interpreted.

#![expect(clippy::disallowed_methods, reason = "a temporary folder of its own")]

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use crate::programs::{Program, programs};
use crate::temporary::temporary;

/// Timeout of a call without prompts.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Timeout of a call in which the user enters a passphrase or touches a security key.
const PATIENCE: Duration = Duration::from_secs(600);

/// Variables that a signature may need: the agent, a graphical prompt, a security key.
const NEEDED: [&str; 8] = [
    "SSH_AUTH_SOCK",
    "SSH_ASKPASS",
    "SSH_ASKPASS_REQUIRE",
    "SSH_SK_PROVIDER",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "TERM",
];

/// Why signing or verification failed.
#[derive(Debug, thiserror::Error)]
pub enum SignatureError {
    #[error("ssh-keygen is not installed, or not on the PATH; it comes with OpenSSH")]
    Missing,
    #[error(
        "{key} needs a passphrase, and there is no terminal to ask for it; load it with `ssh-add` first"
    )]
    Passphrase { key: String },
    #[error("{key} cannot sign: {cause}")]
    CannotSign { key: String, cause: String },
    #[error("ssh-keygen did not finish within {seconds} seconds")]
    TimedOut { seconds: u64 },
    #[error("running ssh-keygen")]
    Io(#[from] io::Error),
}

/// OpenSSH's `ssh-keygen`.
#[derive(Debug, Clone)]
pub struct SshKeygen {
    program: Program,
}

/// Result of a call.
struct Answer {
    ok: bool,
    said: String,
}

impl SshKeygen {
    /// Finds the program on `PATH`, where no agent can place one.
    pub fn locate() -> Result<Self, SignatureError> {
        let program = programs().find("ssh-keygen", None).ok_or(SignatureError::Missing)?;
        Ok(Self { program })
    }

    /// Signs each message with a key: the file of a private key, or of a public key whose private half an agent holds.
    /// The key is opened once. With `interactive`, the user may be asked for a passphrase on the terminal.
    pub async fn sign(
        &self,
        key: &Path,
        namespace: &str,
        messages: &[Vec<u8>],
        interactive: bool,
    ) -> Result<Vec<String>, SignatureError> {
        let folder = temporary("sign")?;
        let file = |place: usize| folder.path().join(place.to_string());
        let mut args: Vec<OsString> =
            ["-Y", "sign", "-n", namespace, "-f"].map(OsString::from).to_vec();
        args.push(key.into());
        if !interactive {
            // Without this, it would read the passphrase from any source available.
            args.extend(["-P", ""].map(OsString::from));
        }
        for (place, message) in messages.iter().enumerate() {
            std::fs::write(file(place), message)?;
            args.push(file(place).into());
        }
        let answer = self.call(&args, Path::new("/dev/null"), interactive).await?;
        if !answer.ok {
            return Err(refused(key, &answer.said));
        }
        let signature = |place| std::fs::read_to_string(file(place).with_extension("sig"));
        Ok((0..messages.len()).map(signature).collect::<io::Result<_>>()?)
    }

    /// Type and fingerprint of the key that made a signature; `None` if the signature does not match the message. Does
    /// not tell whose key it is.
    pub async fn key_of(
        &self,
        namespace: &str,
        message: &[u8],
        signature: &str,
    ) -> Result<Option<String>, SignatureError> {
        let folder = Laid::out(message, signature)?;
        let mut args =
            ["-Y", "check-novalidate", "-n", namespace, "-s"].map(OsString::from).to_vec();
        args.push(folder.signature().into());
        let answer = self.call(&args, &folder.message(), false).await?;
        let key = || answer.said.rsplit_once("signature with ").map(|(_, key)| key.trim());
        Ok(answer.ok.then(key).flatten().map(|key| key.lines().next().unwrap_or(key).to_owned()))
    }

    /// Who made a signature, by a file of allowed signers; `None` if none of them did, or not for this namespace.
    pub async fn signer_of(
        &self,
        signers: &Path,
        namespace: &str,
        message: &[u8],
        signature: &str,
    ) -> Result<Option<String>, SignatureError> {
        let folder = Laid::out(message, signature)?;
        let mut args = ["-Y", "find-principals", "-f"].map(OsString::from).to_vec();
        args.extend([signers.into(), "-s".into(), folder.signature().into()]);
        let found = self.call(&args, Path::new("/dev/null"), false).await?;
        if !found.ok {
            return Ok(None);
        }
        for name in found.said.lines().flat_map(|line| line.split(',')).map(str::trim) {
            let mut args =
                ["-Y", "verify", "-n", namespace, "-I", name].map(OsString::from).to_vec();
            args.extend(["-f".into(), signers.into(), "-s".into(), folder.signature().into()]);
            if self.call(&args, &folder.message(), false).await?.ok {
                return Ok(Some(name.to_owned()));
            }
        }
        Ok(None)
    }

    async fn call(
        &self,
        args: &[OsString],
        stdin: &Path,
        interactive: bool,
    ) -> Result<Answer, SignatureError> {
        let mut command = Command::from(self.program.command());
        command.args(args).env_clear().env("LC_ALL", "C").kill_on_drop(true);
        let asked = NEEDED.iter().chain(&["HOME"]);
        command.env("PATH", programs().path(None));
        command.envs(asked.filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.stdin(std::fs::File::open(stdin)?).stdout(Stdio::piped());
        // A security key's request to be touched appears on standard error.
        command.stderr(if interactive { Stdio::inherit() } else { Stdio::piped() });
        let limit = if interactive { PATIENCE } else { TIMEOUT };
        let output = tokio::time::timeout(limit, command.output()).await;
        let output =
            output.map_err(|_| SignatureError::TimedOut { seconds: limit.as_secs() })??;
        let text = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&text).into_owned();
        Ok(Answer { ok: output.status.success(), said })
    }
}

/// A message and its signature as files.
struct Laid(crate::temporary::TemporaryFolder);

impl Laid {
    fn out(message: &[u8], signature: &str) -> io::Result<Self> {
        let laid = Self(temporary("verify")?);
        std::fs::write(laid.message(), message)?;
        std::fs::write(laid.signature(), signature)?;
        Ok(laid)
    }

    fn message(&self) -> PathBuf {
        self.0.path().join("message")
    }

    fn signature(&self) -> PathBuf {
        self.0.path().join("signature")
    }
}

fn refused(key: &Path, said: &str) -> SignatureError {
    let key = key.display().to_string();
    if said.contains("incorrect passphrase") {
        return SignatureError::Passphrase { key };
    }
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    let cause = last.unwrap_or("ssh-keygen refused it").to_owned();
    SignatureError::CannotSign { key, cause }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: &str = "test@bosun";

    /// A key in a folder of its own; `None`, with a message, if OpenSSH is not installed.
    async fn key(passphrase: &str) -> Option<(SshKeygen, tempfile::TempDir)> {
        let Ok(keygen) = SshKeygen::locate() else {
            println!("SKIPPED: ssh-keygen is not installed");
            return None;
        };
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("key");
        let mut args = ["-q", "-t", "ed25519", "-N", passphrase, "-f"].map(OsString::from).to_vec();
        args.push(file.into());
        let made = keygen.call(&args, Path::new("/dev/null"), false).await.expect("it runs");
        assert!(made.ok, "{}", made.said);
        Some((keygen, folder))
    }

    #[tokio::test]
    async fn a_signature_holds_for_its_message_its_namespace_and_its_signer() {
        let Some((keygen, folder)) = key("").await else { return };
        let file = folder.path().join("key");
        let messages = [b"one".to_vec(), b"two\0".to_vec()];
        let signed = keygen.sign(&file, SPACE, &messages, false).await.expect("it signs");
        assert_eq!(signed.len(), 2);
        let key = keygen.key_of(SPACE, &messages[1], &signed[1]).await.expect("it runs");
        assert!(key.is_some_and(|key| key.contains("ED25519 key SHA256:")));
        assert_eq!(keygen.key_of(SPACE, &messages[0], &signed[1]).await.expect("it runs"), None);
        assert_eq!(keygen.key_of("other", &messages[1], &signed[1]).await.expect("it runs"), None);
        let public = std::fs::read_to_string(folder.path().join("key.pub")).expect("a key");
        let signers = folder.path().join("signers");
        let who = |text: String| {
            std::fs::write(&signers, text).expect("a file");
            keygen.signer_of(&signers, SPACE, &messages[0], &signed[0])
        };
        let mine = who(format!("ann@example.org {public}")).await.expect("it runs");
        assert_eq!(mine.as_deref(), Some("ann@example.org"));
        let other = who(format!("ann@example.org namespaces=\"git\" {public}")).await;
        assert_eq!(other.expect("it runs"), None, "allowed, but for something else");
        assert_eq!(who(String::new()).await.expect("it runs"), None);
    }

    #[tokio::test]
    async fn a_key_that_cannot_be_opened_is_said_to_be_so() {
        let Some((keygen, folder)) = key("secret").await else { return };
        let sign = |name: &str| {
            let file = folder.path().join(name);
            let keygen = keygen.clone();
            async move { keygen.sign(&file, SPACE, &[b"one".to_vec()], false).await }
        };
        let locked = sign("key").await.expect_err("nobody has the passphrase");
        assert!(locked.to_string().contains("ssh-add"), "{locked}");
        let none = sign("nothing").await.expect_err("there is none");
        assert!(none.to_string().contains("No such file"), "{none}");
    }
}
