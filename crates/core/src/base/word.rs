//! A 32-bit word, or several side by side: what the random numbers are made of.
//!
//! Everywhere but in wasm an array is enough. There the compiler prefers the scalar rotation, eight draws at a time in
//! sixteen registers, to three vector instructions, and most of what it does is to move words out of the way: so there
//! eight words are two vectors.

use crate::base::lanes::LANES;

/// A word, or several.
pub trait Word: Copy {
    /// `word`, in every lane.
    fn of(word: u32) -> Self;
    /// The sum, wrapping.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// The bits, turned left by `by`, then xor `other`.
    #[must_use]
    fn turned_xor(self, by: u32, other: Self) -> Self;
}

/// Eight words as they are best turned.
#[cfg(not(target_arch = "wasm32"))]
pub type Eight = [u32; LANES];
/// Eight words as they are best turned.
#[cfg(target_arch = "wasm32")]
pub type Eight = [std::arch::wasm32::v128; 2];

/// Words of an array.
#[cfg(not(target_arch = "wasm32"))]
#[inline(always)]
pub fn eight(words: [u32; LANES]) -> Eight {
    words
}

/// An array of words.
#[cfg(not(target_arch = "wasm32"))]
#[inline(always)]
pub fn lanes(words: Eight) -> [u32; LANES] {
    words
}

impl Word for u32 {
    #[inline(always)]
    fn of(word: u32) -> Self {
        word
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
    #[inline(always)]
    fn turned_xor(self, by: u32, other: Self) -> Self {
        self.rotate_left(by) ^ other
    }
}

impl<W: Word, const N: usize> Word for [W; N] {
    #[inline(always)]
    fn of(word: u32) -> Self {
        [W::of(word); N]
    }
    #[inline(always)]
    fn plus(mut self, other: Self) -> Self {
        for i in 0..N {
            self[i] = self[i].plus(other[i]);
        }
        self
    }
    #[inline(always)]
    fn turned_xor(mut self, by: u32, other: Self) -> Self {
        for i in 0..N {
            self[i] = self[i].turned_xor(by, other[i]);
        }
        self
    }
}

#[cfg(target_arch = "wasm32")]
pub use self::wasm::{eight, lanes};

#[cfg(target_arch = "wasm32")]
mod wasm {
    use std::arch::wasm32::{
        i32x4_add, u32x4, u32x4_extract_lane as lane, u32x4_shl, u32x4_shr, u32x4_splat, v128, v128_or, v128_xor,
    };

    use super::{Eight, LANES, Word};

    /// Words of an array.
    #[inline(always)]
    pub fn eight([a, b, c, d, e, f, g, h]: [u32; LANES]) -> Eight {
        [u32x4(a, b, c, d), u32x4(e, f, g, h)]
    }

    /// An array of words.
    #[inline(always)]
    pub fn lanes([x, y]: Eight) -> [u32; LANES] {
        let halves = [x, y].map(|x| [lane::<0>(x), lane::<1>(x), lane::<2>(x), lane::<3>(x)]);
        *halves.as_flattened().first_chunk().expect("two halves are eight")
    }

    impl Word for v128 {
        #[inline(always)]
        fn of(word: u32) -> Self {
            u32x4_splat(word)
        }
        #[inline(always)]
        fn plus(self, other: Self) -> Self {
            i32x4_add(self, other)
        }
        #[inline(always)]
        fn turned_xor(self, by: u32, other: Self) -> Self {
            v128_xor(v128_or(u32x4_shl(self, by), u32x4_shr(self, u32::BITS - by)), other)
        }
    }
}
