//! Slices with an unmapped page right before and right behind them, so that a read or a write outside ends the test.

#[cfg(unix)]
mod mapped {
    use std::marker::PhantomData;
    use std::ptr::{NonNull, null_mut};

    use rehome::NodeId;
    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

    /// `length` values of a plain number type between two pages that cannot be touched.
    pub(crate) struct Guarded<T> {
        start: NonNull<u8>,
        bytes: usize,
        values: NonNull<T>,
        length: usize,
        owns: PhantomData<T>,
    }

    /// At which of the two pages the values lie.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum At {
        Start,
        End,
    }

    /// Types without padding or drop glue, whose size is a power of two.
    pub(crate) trait Plain: Copy {}
    impl Plain for u32 {}
    impl Plain for u64 {}
    impl Plain for NodeId {}

    impl<T: Plain> Guarded<T> {
        pub(crate) fn new(values: &[T], at: At) -> Self {
            let page = rustix::param::page_size();
            let inside = size_of_val(values).div_ceil(page).max(1) * page;
            let bytes = inside + 2 * page;
            // SAFETY: a new mapping of its own, at no address in particular.
            let start =
                unsafe { mmap_anonymous(null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE) };
            let start = NonNull::new(start.expect("memory").cast::<u8>()).expect("an address");
            for guard in [0, bytes - page] {
                // SAFETY: the first and the last page of the mapping just made, which nothing has touched.
                unsafe { mprotect(start.as_ptr().add(guard).cast(), page, MprotectFlags::empty()) }.expect("a guard");
            }
            let offset = match at {
                At::Start => page,
                At::End => page + inside - size_of_val(values),
            };
            // SAFETY: inside the mapping, and aligned for T: pages are, and the size of T divides that of a page.
            let place = unsafe { start.add(offset) }.cast::<T>();
            // SAFETY: the place has room for all values between the two guards, and is new.
            unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), place.as_ptr(), values.len()) };
            Self { start, bytes, values: place, length: values.len(), owns: PhantomData }
        }

        pub(crate) fn slice(&self) -> &[T] {
            // SAFETY: `new` has put `length` values there, and this owns them.
            unsafe { std::slice::from_raw_parts(self.values.as_ptr(), self.length) }
        }

        pub(crate) fn slice_mut(&mut self) -> &mut [T] {
            // SAFETY: as in `slice`, and nobody else borrows them.
            unsafe { std::slice::from_raw_parts_mut(self.values.as_ptr(), self.length) }
        }
    }

    impl<T> Drop for Guarded<T> {
        fn drop(&mut self) {
            // SAFETY: the mapping that `new` made, of which no slice is left.
            let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
        }
    }
}

#[cfg(unix)]
pub(crate) use mapped::{At, Guarded};
