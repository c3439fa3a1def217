//! Reads the two pipes of a command as they fill. Ordering: each stream is complete and in order; between the two,
//! output is in order of arrival, as long as it is read fast enough to observe that.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod ready;

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read as _};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use types::{Ended, ExecResult};

use crate::capture::{CAP_BYTES, Capture};
#[cfg(not(target_os = "linux"))]
use elsewhere::Ready;
#[cfg(target_os = "linux")]
use ready::Ready;

/// The stream that a piece of output came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Output,
    Errors,
}

/// Receives the output of commands piece by piece, as it arrives. It must return quickly: the command waits meanwhile.
#[derive(Clone)]
pub struct Listener(Arc<Hear>);

type Hear = dyn Fn(Stream, &[u8]) + Send + Sync;

impl Listener {
    pub fn new(hear: impl Fn(Stream, &[u8]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listener")
    }
}

/// Bytes per read, and number of reads before other tasks get a turn.
const PIECE: usize = 32 * 1024;
const PIECES: usize = 16;

/// Both output streams of a command.
#[derive(Debug)]
pub(crate) struct Streams {
    ready: Ready,
    pipes: [Option<File>; 2],
    both: Capture,
    apart: [Capture; 2],
    listener: Option<Listener>,
    buffer: Vec<u8>,
}

impl Streams {
    /// Opens the pipes. Returns the ends to read from, and those for the command's output and errors.
    pub(crate) fn open(listener: Option<Listener>) -> io::Result<(Self, PipeWriter, PipeWriter)> {
        let ((out, to_out), (err, to_err)) = (io::pipe()?, io::pipe()?);
        let pipe = |pipe: PipeReader| -> io::Result<File> {
            let pipe = OwnedFd::from(pipe);
            rustix::io::ioctl_fionbio(&pipe, true)?;
            Ok(File::from(pipe))
        };
        let (out, err) = (pipe(out)?, pipe(err)?);
        let streams = Self {
            ready: Ready::new([&out, &err])?,
            pipes: [Some(out), Some(err)],
            both: Capture::new(CAP_BYTES),
            apart: [Capture::new(CAP_BYTES), Capture::new(CAP_BYTES)],
            listener,
            buffer: vec![0; PIECE],
        };
        Ok((streams, to_out, to_err))
    }

    pub(crate) fn is_open(&self) -> bool {
        self.pipes.iter().any(Option::is_some)
    }

    /// Waits for output, and reads some of it: a command that never stops writing must not keep its own timeout from
    /// being noticed. Cancel-safe.
    pub(crate) async fn listen(&mut self) -> io::Result<()> {
        self.ready.wait().await?;
        // Checked within `try_io`, so that output that arrives meanwhile is not missed.
        self.read_pieces(PIECES, Ready::next)
    }

    /// Reads the output that is available now, up to a limit.
    pub(crate) fn take_in(&mut self) -> io::Result<()> {
        self.read_pieces(4 * PIECES, Ready::now)
    }

    fn read_pieces(
        &mut self,
        most: usize,
        readable: fn(&Ready) -> io::Result<usize>,
    ) -> io::Result<()> {
        for _ in 0..most {
            match readable(&self.ready) {
                Ok(place) => self.read(place)?,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn read(&mut self, place: usize) -> io::Result<()> {
        let Some(pipe) = &mut self.pipes[place] else { return Ok(()) };
        match pipe.read(&mut self.buffer) {
            Ok(0) => {
                self.ready.forget(place, pipe)?;
                self.pipes[place] = None;
            }
            Ok(count) => {
                let piece = &self.buffer[..count];
                self.both.push(piece);
                self.apart[place].push(piece);
                if let Some(Listener(hear)) = &self.listener {
                    hear(if place == 0 { Stream::Output } else { Stream::Errors }, piece);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Result of a command that has ended; leaves the captures empty.
    pub(crate) fn finish(&mut self, ended: Ended, began: Instant) -> ExecResult {
        let taken = |capture: &mut Capture| std::mem::replace(capture, Capture::new(0)).finish();
        let (output, dropped) = taken(&mut self.both);
        let [stdout, stderr] = self.apart.each_mut().map(|capture| taken(capture).0);
        ExecResult { ended, output, stdout, stderr, dropped, elapsed: began.elapsed().into() }
    }
}
