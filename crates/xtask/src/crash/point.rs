//! A crash point as a word that reproduces it: `run:write:123:after`. Knows no processes and no files.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context as _, bail};

/// The kind of a disk operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Write,
    Sync,
    Rename,
    Unlink,
    Create,
    Link,
    Mkdir,
    Truncate,
}

impl Kind {
    pub(super) const ALL: [Self; 8] = [
        Self::Write,
        Self::Sync,
        Self::Rename,
        Self::Unlink,
        Self::Create,
        Self::Link,
        Self::Mkdir,
        Self::Truncate,
    ];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Sync => "sync",
            Self::Rename => "rename",
            Self::Unlink => "unlink",
            Self::Create => "create",
            Self::Link => "link",
            Self::Mkdir => "mkdir",
            Self::Truncate => "truncate",
        }
    }

    /// Whether it needs space: these fail on a full disk.
    pub(super) fn needs_space(self) -> bool {
        !matches!(self, Self::Unlink | Self::Truncate)
    }
}

/// An error of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DiskError {
    Io,
    Full,
}

/// The fault injected at an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// Killed before it is performed.
    Before,
    /// Killed after it was performed.
    After,
    /// Killed after half of a write.
    Torn,
    /// It fails; `for_good`: so does everything after it.
    Fails { error: DiskError, for_good: bool },
    /// The power is cut right after it; the seed decides how unsynced data is lost.
    PowerCut { seed: u64 },
}

/// One crash: the `n`-th operation of a kind, counted from one over all processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    /// `None` counts operations of any kind.
    pub(super) kind: Option<Kind>,
    pub(super) n: usize,
    pub(super) how: How,
}

/// A crash of one of the commands, and perhaps another during its recovery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) command: String,
    pub(super) fault: Fault,
    /// The first recovery is killed before this operation.
    pub(super) again: Option<usize>,
}

impl Point {
    /// Its row in the table.
    pub(super) fn group(&self) -> &'static str {
        match (self.fault.how, self.again) {
            (How::Fails { error: DiskError::Io, for_good: false }, _) => "EIO once",
            (How::Fails { error: DiskError::Io, for_good: true }, _) => "EIO for good",
            (How::Fails { error: DiskError::Full, for_good: false }, _) => "ENOSPC once",
            (How::Fails { error: DiskError::Full, for_good: true }, _) => "ENOSPC for good",
            (How::PowerCut { .. }, _) => "power cut",
            (_, Some(_)) => "killed, and again",
            (How::Before, None) => "killed before",
            (How::After, None) => "killed after",
            (How::Torn, None) => "torn write",
        }
    }
}

const HOWS: [(&str, How); 7] = [
    ("before", How::Before),
    ("after", How::After),
    ("torn", How::Torn),
    ("eio", How::Fails { error: DiskError::Io, for_good: false }),
    ("eio-on", How::Fails { error: DiskError::Io, for_good: true }),
    ("enospc", How::Fails { error: DiskError::Full, for_good: false }),
    ("enospc-on", How::Fails { error: DiskError::Full, for_good: true }),
];

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.fault.kind.map_or("any", Kind::as_str);
        write!(f, "{}:{kind}:{}:", self.command, self.fault.n)?;
        match HOWS.iter().find(|(_, how)| *how == self.fault.how) {
            Some((word, _)) => f.write_str(word)?,
            None => match self.fault.how {
                How::PowerCut { seed } => write!(f, "cut{seed}")?,
                other => write!(f, "{other:?}")?,
            },
        }
        self.again.map_or(Ok(()), |n| write!(f, "+{n}"))
    }
}

impl FromStr for Point {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let (text, again) = match text.split_once('+') {
            Some((text, n)) => (text, Some(n.parse().context("the number after +")?)),
            None => (text, None),
        };
        let parts: Vec<&str> = text.split(':').collect();
        let [command, kind, n, how] = parts[..] else {
            bail!("a point has four parts, such as run:write:123:after");
        };
        let known = Kind::ALL.into_iter().find(|one| one.as_str() == kind);
        if known.is_none() && kind != "any" {
            bail!("there is no kind {kind:?}");
        }
        let n = n.parse().context("the number of the operation")?;
        let how = match (HOWS.iter().find(|(word, _)| *word == how), how.strip_prefix("cut")) {
            (Some((_, how)), _) => *how,
            (None, Some(seed)) => How::PowerCut { seed: seed.parse().context("the cut's seed")? },
            (None, None) => bail!("there is no way {how:?}"),
        };
        Ok(Self { command: command.to_owned(), fault: Fault { kind: known, n, how }, again })
    }
}

/// Deterministic pseudo-random numbers from a seed.
#[derive(Debug, Clone)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d)
    }

    /// Below `bound`, which is not zero.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let bound = u64::try_from(bound.max(1)).unwrap_or(u64::MAX);
        usize::try_from((mixed ^ (mixed >> 31)) % bound).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_read_as_it_is_written() {
        for text in [
            "run:write:123:after",
            "run:any:9:before+57",
            "chat:rename:1:enospc-on",
            "accept:sync:4:eio",
            "answer:any:77:cut12",
        ] {
            assert_eq!(text.parse::<Point>().unwrap().to_string(), text);
        }
        for text in ["run", "run:write:x:after", "run:think:1:after", "run:write:1:never"] {
            assert!(text.parse::<Point>().is_err(), "{text}");
        }
    }

    #[test]
    fn dice_repeat_themselves_for_the_same_seed_only() {
        let throws = |seed| {
            let mut dice = Dice::new(seed);
            (0..8).map(|_| dice.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(throws(7), throws(7));
        assert_ne!(throws(7), throws(8));
    }
}
