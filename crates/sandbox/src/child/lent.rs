//! Starts a command by `posix_spawn`: the child runs in this process's memory, with this process suspended, until exec.
//!
//! Hand-written because the standard library forks when a new session is wanted: without the sandbox, a turn with a
//! command takes 2.6 ms instead of 3.3 ms (`docs/figures.md`). With it there is no difference; a helper starts
//! commands.

use std::ffi::{CString, OsStr};
use std::io::{self, PipeWriter};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;
use std::ptr;

use libc::{c_char, c_int, c_short};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::Pid;
use rustix::process::{PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use types::Ended;

/// A running command. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Child {
    id: Pid,
    /// Readable once the process has ended; `None` once it was reaped.
    process: Option<AsyncFd<OwnedFd>>,
    ended: Ended,
}

impl Child {
    /// Starts a command with exactly the variables set on it.
    #[expect(clippy::needless_pass_by_value, reason = "our ends of the pipes close with it")]
    pub(crate) fn start(command: Command, out: PipeWriter, err: PipeWriter) -> io::Result<Self> {
        let id = spawn(&Words::of(&command)?, out.as_raw_fd(), err.as_raw_fd())?;
        let known = rustix::process::Pid::from_raw(id.as_raw());
        let known = known.ok_or_else(|| io::Error::other("it has no number"))?;
        let process =
            pidfd_open(known, PidfdFlags::NONBLOCK).map_err(io::Error::from).and_then(watched);
        if process.is_err() {
            // Without a pidfd its end would go unnoticed.
            kill(id, Signal::SIGKILL).ok();
            waitid(WaitId::Pid(known), WaitIdOptions::EXITED).ok();
        }
        Ok(Self { id, process: Some(process?), ended: Ended::Stopped })
    }

    pub(crate) const fn id(&self) -> Pid {
        self.id
    }

    /// Waits for its end. Cancel-safe.
    pub(crate) async fn wait(&mut self) -> io::Result<Ended> {
        if let Some(process) = &self.process {
            self.ended = end(process).await?;
            self.process = None;
        }
        Ok(self.ended)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let Some(process) = self.process.take() else { return };
        // An error means that it has just ended.
        kill(self.id, Signal::SIGKILL).ok();
        match tokio::runtime::Handle::try_current() {
            // Until it is reaped, the process stays a zombie.
            Ok(runtime) => drop(runtime.spawn(async move { end(&process).await.ok() })),
            Err(_) => drop(process),
        }
    }
}

#[expect(unsafe_code, reason = "tokio asks for a promise about the descriptor")]
fn watched(process: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the registered value owns the descriptor and never gives it away or replaces it.
    Ok(unsafe { AsyncFd::register_with_interest(process, Interest::READABLE) }?)
}

async fn end(process: &AsyncFd<OwnedFd>) -> io::Result<Ended> {
    let look = |process: &OwnedFd| {
        use std::os::fd::AsFd as _;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        let status = waitid(WaitId::PidFd(process.as_fd()), options)?;
        let status = status.ok_or(io::ErrorKind::WouldBlock)?;
        Ok(match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Ended::Exited(code),
            (None, Some(signal)) => Ended::Signalled(signal),
            (None, None) => Ended::Exited(-1),
        })
    };
    process.async_io(Interest::READABLE, look).await
}

/// Arguments of `posix_spawn`, as C strings.
struct Words {
    program: CString,
    arguments: Vec<CString>,
    variables: Vec<CString>,
    folder: Option<CString>,
}

impl Words {
    fn of(command: &Command) -> io::Result<Self> {
        let word = |word: &OsStr| CString::new(word.as_bytes());
        let program = word(command.get_program())?;
        let arguments = command.get_args().map(word).collect::<Result<Vec<_>, _>>()?;
        let set = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let joined =
            set.map(|(name, value)| CString::new([name.as_bytes(), value.as_bytes()].join(&b'=')));
        Ok(Self {
            arguments: [program.clone()].into_iter().chain(arguments).collect(),
            program,
            variables: joined.collect::<Result<_, _>>()?,
            folder: command.get_current_dir().map(|dir| word(dir.as_os_str())).transpose()?,
        })
    }
}

/// Pointers to the strings, null-terminated.
fn listed(words: &[CString]) -> Vec<*mut c_char> {
    words.iter().map(|word| word.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect()
}

fn done(code: c_int) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
}

#[expect(unsafe_code, reason = "no library sets a session and a folder with it")]
fn spawn(words: &Words, out: c_int, err: c_int) -> io::Result<Pid> {
    let (arguments, variables) = (listed(&words.arguments), listed(&words.variables));
    let (steps, terms) = (Steps::new(words, out, err)?, Terms::new()?);
    let mut id = 0;
    // SAFETY: every pointer refers to a value that outlives the call; the lists are null-terminated; only `id` is set.
    done(unsafe {
        libc::posix_spawn(
            &raw mut id,
            words.program.as_ptr(),
            &raw const steps.0,
            &raw const terms.0,
            arguments.as_ptr(),
            variables.as_ptr(),
        )
    })?;
    Ok(Pid::from_raw(id))
}

/// File actions: the working folder and the descriptors of the program.
struct Steps(libc::posix_spawn_file_actions_t);

#[expect(unsafe_code, reason = "no library sets a session and a folder with it")]
impl Steps {
    fn new(words: &Words, out: c_int, err: c_int) -> io::Result<Self> {
        let mut new = MaybeUninit::uninit();
        // SAFETY: the call initializes it, unless it fails.
        let mut steps = unsafe {
            done(libc::posix_spawn_file_actions_init(new.as_mut_ptr()))?;
            Self(new.assume_init())
        };
        let at = &raw mut steps.0;
        // SAFETY: the file actions are initialized, and the system copies the names passed to it.
        unsafe {
            if let Some(folder) = &words.folder {
                done(libc::posix_spawn_file_actions_addchdir_np(at, folder.as_ptr()))?;
            }
            let nothing = c"/dev/null".as_ptr();
            done(libc::posix_spawn_file_actions_addopen(at, 0, nothing, libc::O_RDONLY, 0))?;
            done(libc::posix_spawn_file_actions_adddup2(at, out, 1))?;
            done(libc::posix_spawn_file_actions_adddup2(at, err, 2))?;
            done(libc::posix_spawn_file_actions_addclosefrom_np(at, 3))?;
        }
        Ok(steps)
    }
}

impl Drop for Steps {
    #[expect(unsafe_code, reason = "what the system made, it takes back")]
    fn drop(&mut self) {
        // SAFETY: they are initialized and not used again.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut self.0) };
    }
}

/// Attributes: a new session, and no blocked or ignored signals: signals that this process ignores end the child.
struct Terms(libc::posix_spawnattr_t);

#[expect(unsafe_code, reason = "no library sets a session and a folder with it")]
impl Terms {
    fn new() -> io::Result<Self> {
        const FLAGS: c_int = libc::POSIX_SPAWN_SETSIGDEF | libc::POSIX_SPAWN_SETSIGMASK;
        let mut new = MaybeUninit::uninit();
        // SAFETY: the call initializes it, unless it fails.
        let mut terms = unsafe {
            done(libc::posix_spawnattr_init(new.as_mut_ptr()))?;
            Self(new.assume_init())
        };
        let at = &raw mut terms.0;
        let (none, all) = (SigSet::empty(), SigSet::all());
        let flags = c_short::try_from(FLAGS).map_err(io::Error::other)?;
        // SAFETY: the attributes are initialized, and the system copies the signal sets passed to it.
        unsafe {
            done(libc::posix_spawnattr_setsigmask(at, none.as_ref()))?;
            done(libc::posix_spawnattr_setsigdefault(at, all.as_ref()))?;
            done(libc::posix_spawnattr_setflags(at, flags | libc::POSIX_SPAWN_SETSID))?;
        }
        Ok(terms)
    }
}

impl Drop for Terms {
    #[expect(unsafe_code, reason = "what the system made, it takes back")]
    fn drop(&mut self) {
        // SAFETY: they are initialized and not used again.
        unsafe { libc::posix_spawnattr_destroy(&raw mut self.0) };
    }
}
