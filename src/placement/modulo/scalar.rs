//! Modulo, literally.
//!
//! Source: `spec/placement.md`, "modulo".

/// The slot of a digest among `slots` slots; none without slots.
///
/// ```
/// use rehome::placement::modulo::scalar::modulo;
///
/// assert_eq!(modulo(1000, 12), Some(4));
/// ```
#[inline]
pub fn modulo(digest: u64, slots: u32) -> Option<u32> {
    u32::try_from(digest.checked_rem(u64::from(slots))?).ok()
}
