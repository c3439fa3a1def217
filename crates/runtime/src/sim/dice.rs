//! Deterministic pseudo-random choices from one seed.

use types::Millis;

/// A generator of numbers, the same ones for the same seed.
#[derive(Debug, Clone)]
pub(super) struct Dice(u64);

impl Dice {
    /// Dice for one purpose: the same for the same seed and name, independent of all other throws.
    pub(super) fn of(seed: u64, name: &str) -> Self {
        let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(name.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, hash))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `sides`.
    pub(super) fn below(&mut self, sides: u64) -> u64 {
        self.next() % sides.max(1)
    }

    /// A number from `from` to `to`, both included.
    pub(super) fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to - from + 1)
    }

    /// True in this percentage of cases.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// True in this many of a thousand cases.
    pub(super) fn rarely(&mut self, permille: u64) -> bool {
        self.below(1_000) < permille
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let place = usize::try_from(self.below(from.len() as u64)).unwrap_or(0);
        from[place]
    }

    /// A duration: mostly next to nothing, sometimes long.
    pub(super) fn delay(&mut self) -> Millis {
        let most = self.pick(&[0, 1, 20, 20, 400, 3_000, 30_000, 400_000]);
        Millis(self.below(most + 1))
    }
}
