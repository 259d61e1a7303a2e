//! Numbers in byte buffers of any alignment.

use std::ops::{BitOr, BitXor};

/// A number of fixed size, in native byte order.
pub(crate) trait Item: Copy + 'static {
    /// Its bytes, an array.
    type Bytes: Copy;
    /// Unsigned integer of its width.
    type Bits: Copy + Default + Eq + BitXor<Output = Self::Bits> + BitOr<Output = Self::Bits>;

    /// The bytes of a buffer, number by number.
    fn items(bytes: &[u8]) -> &[Self::Bytes];

    /// The bytes of a buffer, number by number.
    fn items_mut(bytes: &mut [u8]) -> &mut [Self::Bytes];

    /// The number.
    fn read(bytes: Self::Bytes) -> Self;

    /// Its bytes.
    fn write(self) -> Self::Bytes;

    /// Its bits.
    fn bits(bytes: Self::Bytes) -> Self::Bits;
}

macro_rules! items {
    ($($number:ty, $bits:ty);* $(;)?) => {$(
        impl Item for $number {
            type Bytes = [u8; size_of::<$number>()];
            type Bits = $bits;

            #[inline]
            fn items(bytes: &[u8]) -> &[Self::Bytes] {
                bytes.as_chunks().0
            }

            #[inline]
            fn items_mut(bytes: &mut [u8]) -> &mut [Self::Bytes] {
                bytes.as_chunks_mut().0
            }

            #[inline]
            fn read(bytes: Self::Bytes) -> Self {
                Self::from_ne_bytes(bytes)
            }

            #[inline]
            fn write(self) -> Self::Bytes {
                self.to_ne_bytes()
            }

            #[inline]
            fn bits(bytes: Self::Bytes) -> Self::Bits {
                <$bits>::from_ne_bytes(bytes)
            }
        }
    )*};
}
pub(crate) use items;

items! {
    u8, u8;
    u16, u16;
    u32, u32;
    u64, u64;
    i8, u8;
    i16, u16;
    i32, u32;
    i64, u64;
    i128, u128;
    f32, u32;
    f64, u64;
}
