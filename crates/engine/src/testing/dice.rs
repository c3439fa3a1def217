//! Deterministic pseudo-random choices: a small generator, seeded by a test.

/// A generator of numbers, the same ones for the same seed.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        // The generator would never leave zero.
        Self(seed | 1)
    }

    /// A number below `sides`.
    pub(crate) fn throw(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % sides.max(1)
    }
}
