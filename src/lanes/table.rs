//! Tables whose indices wrap around, so that no index is outside and no lane needs a check.

/// A borrowed table with a power of two of entries: index i stands for entry i modulo their number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table<'a, T> {
    /// Invariant: `entries.len() == mask + 1`, a power of two.
    entries: &'a [T],
    mask: u32,
}

impl<'a, T: Copy> Table<'a, T> {
    /// A table.
    ///
    /// # Panics
    /// If the number of entries is no power of two, or above 2^31.
    #[inline(always)]
    pub(crate) fn new(entries: &'a [T]) -> Self {
        let length = u32::try_from(entries.len()).unwrap_or(0);
        assert!(length.is_power_of_two(), "a table of lanes has a power of two of entries");
        Self { entries, mask: length - 1 }
    }

    /// What an index is to be masked with before [`entry`](Self::entry) in a vector of its own.
    #[inline(always)]
    pub(crate) fn mask(self) -> u32 {
        self.mask
    }

    /// An entry, its index wrapped around.
    #[inline(always)]
    pub(crate) fn entry(self, index: u32) -> T {
        let index = (index & self.mask) as usize;
        // SAFETY: index <= mask < entries.len(), by the invariant that `new` checked.
        unsafe { *self.entries.get_unchecked(index) }
    }

    /// An entry without wrapping.
    ///
    /// # Safety
    /// The index is at most [`mask`](Self::mask).
    #[inline(always)]
    pub(crate) unsafe fn entry_unchecked(self, index: u32) -> T {
        // SAFETY: index <= mask, which the caller promises, and mask < entries.len() by the invariant.
        unsafe { *self.entries.get_unchecked(index as usize) }
    }
}
