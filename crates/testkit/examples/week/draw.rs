//! Pseudo-random numbers from a seed: SplitMix64. Not for secrets.

/// A number generator.
#[derive(Debug, Clone)]
pub(super) struct Draw(u64);

impl Draw {
    /// A generator for one purpose of a seed.
    pub(super) fn new(seed: u64, purpose: u64) -> Self {
        let mut draw = Self(seed ^ purpose.wrapping_mul(0xA076_1D64_78BD_642F));
        draw.next();
        draw
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }
}
