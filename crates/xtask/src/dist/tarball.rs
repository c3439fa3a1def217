//! A gzipped tar archive that depends on its entries alone: sorted by name, owned by 0, all with the same time. Writes
//! the ustar format, plain files only.

use std::collections::BTreeMap;
use std::io::Write as _;

use anyhow::ensure;
use flate2::{Compression, GzBuilder};

const BLOCK: usize = 512;

/// The entries of an archive, by name.
#[derive(Debug, Default)]
pub(super) struct Tarball(BTreeMap<String, Entry>);

#[derive(Debug)]
struct Entry {
    mode: u32,
    bytes: Vec<u8>,
}

impl Tarball {
    /// Adds a file.
    pub(super) fn file(&mut self, name: String, bytes: Vec<u8>) {
        self.0.insert(name, Entry { mode: 0o644, bytes });
    }

    /// Adds a program.
    pub(super) fn program(&mut self, name: String, bytes: Vec<u8>) {
        self.0.insert(name, Entry { mode: 0o755, bytes });
    }

    /// The archive, compressed.
    pub(super) fn gzipped(&self) -> anyhow::Result<Vec<u8>> {
        // Without time and name; the operating system is recorded as unknown.
        let mut out =
            GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::best());
        for (name, entry) in &self.0 {
            out.write_all(&header(name, entry)?)?;
            out.write_all(&entry.bytes)?;
            let rest = entry.bytes.len().next_multiple_of(BLOCK) - entry.bytes.len();
            out.write_all(&vec![0; rest])?;
        }
        out.write_all(&[0; 2 * BLOCK])?;
        Ok(out.finish()?)
    }
}

fn header(name: &str, entry: &Entry) -> anyhow::Result<[u8; BLOCK]> {
    ensure!(name.is_ascii() && name.len() <= 100, "{name} is too long for an archive");
    let mut block = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name.as_bytes());
    put(100, format!("{:07o}", entry.mode).as_bytes());
    // User and group 0, without names; the time is the beginning of 1970.
    put(108, b"0000000");
    put(116, b"0000000");
    put(124, format!("{:011o}", entry.bytes.len()).as_bytes());
    put(136, b"00000000000");
    put(148, b"        ");
    put(156, b"0");
    put(257, b"ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Ok(block)
}
