//! One model server: started on a free port of the loopback, awaited, and stopped when dropped. `live.rs` lists the
//! servers.
#![expect(clippy::disallowed_methods, reason = "a chore that finds a free port and knocks at it")]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

/// The timeout for loading a model.
const PATIENCE: Duration = Duration::from_secs(180);

pub(super) struct Server {
    pub(super) name: &'static str,
    pub(super) url: String,
    child: Child,
}

/// The key for llama.cpp and aimock.
pub(super) const KEY: &str = "right";

impl Server {
    /// Writes the settings under which the program finds this server's model as `live/local`.
    pub(super) fn settings(
        &self,
        scratch: &Path,
        dialect: &str,
        path: &str,
    ) -> anyhow::Result<PathBuf> {
        let settings = scratch.join(format!("{dialect}.toml"));
        let text = format!(
            "[providers.live]\ndialect = \"{dialect}\"\nbase_url = \"{}{path}\"\nkey_env = [\"LIVE_KEY\"]\n\
             [models.\"live/local\"]\nwindow = 16384\nmax_output = 1024\n[deadlines]\nidle_ms = 600000\n",
            self.url
        );
        std::fs::write(&settings, text).context("writing the settings")?;
        Ok(settings)
    }

    /// Starts a server with a free port as the value of `port_option`; its output goes to a log in `scratch`.
    pub(super) fn start(
        name: &'static str,
        mut command: Command,
        port_option: &str,
        scratch: &Path,
    ) -> anyhow::Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let log = scratch.join(format!("{name}.log"));
        let out = File::create(&log).context("making its log")?;
        command.arg(port_option).arg(port.to_string()).stdin(Stdio::null());
        command.stdout(out.try_clone()?).stderr(out);
        let child = command.spawn().context("starting it")?;
        let mut server = Self { name, url: format!("http://127.0.0.1:{port}"), child };
        let begin = Instant::now();
        while !answers(port) {
            if let Some(status) = server.child.try_wait()? {
                bail!("it ended with {status}; see {}", log.display());
            }
            if begin.elapsed() > PATIENCE {
                bail!("it did not answer within {} s; see {}", PATIENCE.as_secs(), log.display());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Err(error) = self.child.kill().and_then(|()| self.child.wait()) {
            println!("{} could not be stopped: {error}", self.name);
        }
    }
}

/// Whether a server responds there that is not still loading.
fn answers(port: u16) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut connection = TcpStream::connect(("127.0.0.1", port))?;
        connection.set_read_timeout(Some(Duration::from_secs(2)))?;
        connection.write_all(b"GET /health HTTP/1.0\r\nhost: 127.0.0.1\r\n\r\n")?;
        let mut head = [0; 12];
        connection.read_exact(&mut head)?;
        Ok(String::from_utf8_lossy(&head).into_owned())
    };
    ask().is_ok_and(|head| head.starts_with("HTTP/") && !head.ends_with("503"))
}
