//! Eight numbers side by side: the shape of every vector loop and of every sum in the exact engine.
//!
//! Two 128-bit registers in wasm and on any x86-64, one of 256 bits where the processor has AVX2 (`kernel!`); the
//! width is part of the arithmetic (sums run over eight lanes, then a fixed tree), so results do not depend on the
//! machine. Plain arrays and loops: the compiler turns them into vector instructions.

use std::ops::{Add, AddAssign, Mul};

use crate::base::float::Real;

/// Numbers in a [`Lanes`].
pub const LANES: usize = 8;

/// `n` rounded up to a whole number of lanes: the stride of a row of `n` numbers.
#[must_use]
pub const fn padded(n: u32) -> u32 {
    n.next_multiple_of(LANES as u32)
}

/// Eight numbers, worked on together.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lanes<R>(pub [R; LANES]);

impl<R: Real> Lanes<R> {
    /// Eight zeros.
    pub const ZERO: Self = Self([R::ZERO; LANES]);

    /// Eight times `x`.
    #[inline(always)]
    pub fn splat(x: R) -> Self {
        Self([x; LANES])
    }

    /// The first eight numbers of `x`, which has at least as many.
    #[inline(always)]
    pub fn load(x: &[R]) -> Self {
        Self(*x.first_chunk().expect("rows are padded to whole lanes"))
    }

    /// Overwrites the first eight numbers of `x`, which has at least as many.
    #[inline(always)]
    pub fn store(self, x: &mut [R]) {
        *x.first_chunk_mut().expect("rows are padded to whole lanes") = self.0;
    }

    /// `f` of every lane.
    #[inline(always)]
    #[must_use]
    pub fn map(self, f: impl Fn(R) -> R) -> Self {
        let [a, b, c, d, e, g, h, i] = self.0;
        Self([f(a), f(b), f(c), f(d), f(e), f(g), f(h), f(i)])
    }

    /// `f` of every pair of lanes.
    #[inline(always)]
    #[must_use]
    pub fn zip(self, other: Self, f: impl Fn(R, R) -> R) -> Self {
        let (a, b) = (self.0, other.0);
        Self([
            f(a[0], b[0]),
            f(a[1], b[1]),
            f(a[2], b[2]),
            f(a[3], b[3]),
            f(a[4], b[4]),
            f(a[5], b[5]),
            f(a[6], b[6]),
            f(a[7], b[7]),
        ])
    }

    /// The sum, always as ((0+4)+(2+6)) + ((1+5)+(3+7)).
    #[inline(always)]
    pub fn sum(self) -> R {
        let [a, b, c, d, e, f, g, h] = self.0;
        ((a + e) + (c + g)) + ((b + f) + (d + h))
    }
}

/// Defines a function compiled twice on x86-64, for any processor and for those with AVX2, and picks at run time.
///
/// `kernel! { pub fn name<R: Real>(a: A, …) => body }` calls `body::<R, P>(a, …)`, an `#[inline(always)]` function
/// made of such functions only. P is how many [`Lanes`] a register tile is wide, 2 with AVX2 and 1 without: it may
/// change what is computed together, never the order within a sum. AVX2 brings no fused multiply-add, and Rust fuses
/// nothing by itself, so both have the same bits.
macro_rules! kernel {
    ($(#[$attribute:meta])* pub fn $name:ident<R: Real>($($arg:ident: $type:ty),* $(,)?) => $body:ident) => {
        $(#[$attribute])*
        pub fn $name<R: $crate::base::float::Real>($($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn with_avx2<R: $crate::base::float::Real>($($arg: $type),*) {
                    $body::<R, 2>($($arg),*);
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    #[expect(unsafe_code, reason = "a function with target features is called where they are there")]
                    // SAFETY: the processor has AVX2.
                    unsafe {
                        with_avx2($($arg),*);
                    }
                    return;
                }
            }
            $body::<R, 1>($($arg),*);
        }
    };
}
pub(crate) use kernel;

/// `x`, a whole number of lanes long, in a form that shows the compiler that vectorising a loop over it leaves nothing
/// over. Such plain loops, with the function called by name, are how long functions (tanh, softplus) become vectors.
#[inline(always)]
pub fn whole<R>(x: &[R]) -> &[R] {
    debug_assert!(x.len().is_multiple_of(LANES), "rows are padded to whole lanes");
    &x[..x.len() / LANES * LANES]
}

/// [`whole`], to change.
#[inline(always)]
pub fn whole_mut<R>(x: &mut [R]) -> &mut [R] {
    debug_assert!(x.len().is_multiple_of(LANES), "rows are padded to whole lanes");
    let whole = x.len() / LANES * LANES;
    &mut x[..whole]
}

impl<R: Real> Add for Lanes<R> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl<R: Real> Mul for Lanes<R> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
}

impl<R: Real> AddAssign for Lanes<R> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_padded_to_whole_lanes() {
        assert_eq!([0, 1, 8, 9, 64].map(padded), [0, 8, 8, 16, 64]);
    }

    #[test]
    fn the_tree_is_the_written_one() {
        let x: [f32; 8] = std::array::from_fn(|i| 1.0 / (i as f32 + 3.0));
        let expected = ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
        assert_eq!(Lanes(x).sum().to_bits(), expected.to_bits());
    }
}
