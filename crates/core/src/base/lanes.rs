//! Eight numbers side by side: the shape of every vector loop and of every sum in the exact engine.
//!
//! Two 128-bit registers in wasm and on any x86-64, wider ones where the processor has AVX2 or AVX-512 (`kernel!`); the
//! width is part of the arithmetic (sums run over eight lanes, then a fixed tree), so results do not depend on the
//! machine. Plain arrays and loops: the compiler turns them into vector instructions.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};
use std::sync::atomic::{AtomicU8, Ordering};

use crate::base::float::{FAINT, Real};

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

impl<T: Copy> Lanes<T> {
    /// Eight times `x`.
    #[inline(always)]
    pub fn splat(x: T) -> Self {
        Self([x; LANES])
    }

    /// `f` of every lane.
    #[inline(always)]
    #[must_use]
    pub fn map<U>(self, f: impl Fn(T) -> U) -> Lanes<U> {
        let [a, b, c, d, e, g, h, i] = self.0;
        Lanes([f(a), f(b), f(c), f(d), f(e), f(g), f(h), f(i)])
    }

    /// `f` of every pair of lanes.
    #[inline(always)]
    #[must_use]
    pub fn zip(self, other: Self, f: impl Fn(T, T) -> T) -> Self {
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
}

impl<R: Real> Lanes<R> {
    /// Eight zeros.
    pub const ZERO: Self = Self([R::ZERO; LANES]);

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

    /// The sum, always as ((0+4)+(2+6)) + ((1+5)+(3+7)).
    #[inline(always)]
    pub fn sum(self) -> R {
        let [a, b, c, d, e, f, g, h] = self.0;
        ((a + e) + (c + g)) + ((b + f) + (d + h))
    }
}

/// Defines a function compiled for any processor and, on x86-64, for those with AVX2 and with AVX-512; picks at run time.
///
/// `kernel! { pub fn name<R: Real>(a: A, …) => body }` calls `body::<R, P>(a, …)`, an `#[inline(always)]` function
/// made of such functions only. P is how many [`Lanes`] a register tile is wide, 2 with wider registers and 1 without:
/// it may change what is computed together, never the order within a sum. Wider registers bring no fused
/// multiply-add of their own, and Rust fuses nothing by itself, so all have the same bits.
///
/// `kernel! { fn name[R: Real](a: A, …) => body }` is the same without P.
macro_rules! kernel {
    ($(#[$attribute:meta])* $vis:vis fn $name:ident<$($type:ident: $bound:path),*>($($args:tt)*) => $body:ident) => {
        $crate::base::lanes::kernel! {
            @($(#[$attribute])* $vis) $name [$($type: $bound),*] ($($args)*) ($body::<$($type,)* 1>) ($body::<$($type,)* 2>)
        }
    };
    ($(#[$attribute:meta])* $vis:vis fn $name:ident[$($type:ident: $bound:path),*]($($args:tt)*) => $body:ident) => {
        $crate::base::lanes::kernel! {
            @($(#[$attribute])* $vis) $name [$($type: $bound),*] ($($args)*) ($body::<$($type),*>) ($body::<$($type),*>)
        }
    };
    (@($(#[$attribute:meta])* $vis:vis) $name:ident [$($type:ident: $bound:path),*] ($($arg:ident: $of:ty),* $(,)?)
        ($($narrow:tt)*) ($($wide:tt)*)) => {
        $(#[$attribute])*
        $vis fn $name<$($type: $bound),*>($($arg: $of),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn with_avx2<$($type: $bound),*>($($arg: $of),*) {
                    $($wide)*($($arg),*);
                }
                #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
                fn with_avx512<$($type: $bound),*>($($arg: $of),*) {
                    $($wide)*($($arg),*);
                }
                let registers = $crate::base::lanes::Registers::here();
                #[expect(unsafe_code, reason = "a function with target features is called where they are there")]
                match registers {
                    // SAFETY: the processor has AVX-512's four parts.
                    $crate::base::lanes::Registers::Avx512 => return unsafe { with_avx512($($arg),*) },
                    // SAFETY: the processor has AVX2.
                    $crate::base::lanes::Registers::Avx2 => return unsafe { with_avx2($($arg),*) },
                    $crate::base::lanes::Registers::Narrow => {}
                }
            }
            $($narrow)*($($arg),*);
        }
    };
}
pub(crate) use kernel;

/// Widths of registers that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Registers {
    /// 128 bits, and whatever other processors than x86-64 have.
    Narrow,
    /// 256 bits.
    Avx2,
    /// 512 bits, and twice as many of every width.
    Avx512,
}

impl Registers {
    /// The widest that this processor has, and at most what [`limit_registers`] allows.
    #[inline]
    pub fn here() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let has = if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw")
            {
                Self::Avx512
            } else if is_x86_feature_detected!("avx2") {
                Self::Avx2
            } else {
                Self::Narrow
            };
            let allowed = LIMIT.load(Ordering::Relaxed);
            [Self::Narrow, Self::Avx2]
                .into_iter()
                .find(|&width| allowed == width as u8)
                .map_or(has, |width| has.min(width))
        }
        #[cfg(not(target_arch = "x86_64"))]
        Self::Narrow
    }
}

static LIMIT: AtomicU8 = AtomicU8::new(Registers::Avx512 as u8);

/// Uses no wider registers than these from now on, in the whole process: bits must not depend on it.
pub fn limit_registers(limit: Registers) {
    LIMIT.store(limit as u8, Ordering::Relaxed);
}

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

macro_rules! operator {
    ($trait:ident, $method:ident) => {
        impl<T: Copy + $trait<Output = T>> $trait for Lanes<T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.zip(other, |a, b| a.$method(b))
            }
        }
    };
}
operator!(Add, add);
operator!(Sub, sub);
operator!(Mul, mul);
operator!(Div, div);

impl<R: Real> Neg for Lanes<R> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.map(|x| -x)
    }
}

impl<R: Real> AddAssign for Lanes<R> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// A number, or eight of them side by side: what is written with it is written once for a world and for eight.
pub trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// `x`, in every lane.
    fn of(x: f64) -> Self;
    /// √x, correctly rounded.
    #[must_use]
    fn sqrt(self) -> Self;
    /// ln(1 + eˣ).
    #[must_use]
    fn softplus(self) -> Self;
    /// `then` where this is below `bound`, else `otherwise`.
    #[must_use]
    fn if_below(self, bound: Self, then: Self, otherwise: Self) -> Self;
    /// Whether every lane is above `bound`.
    fn all_above(self, bound: Self) -> bool;
}

impl<R: Real> Number for R {
    #[inline(always)]
    fn of(x: f64) -> Self {
        R::from_f64(x)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Real::sqrt(self)
    }
    #[inline(always)]
    fn softplus(self) -> Self {
        Real::softplus(self)
    }
    #[inline(always)]
    fn if_below(self, bound: Self, then: Self, otherwise: Self) -> Self {
        if self < bound { then } else { otherwise }
    }
    #[inline(always)]
    fn all_above(self, bound: Self) -> bool {
        self > bound
    }
}

impl<R: Real> Number for Lanes<R> {
    #[inline(always)]
    fn of(x: f64) -> Self {
        Self::splat(R::from_f64(x))
    }
    #[inline(always)]
    fn sqrt(mut self) -> Self {
        for x in &mut self.0 {
            *x = Real::sqrt(*x);
        }
        self
    }
    #[inline(always)]
    fn softplus(mut self) -> Self {
        if cfg!(target_arch = "wasm32") {
            return softplus_by_twos(self);
        }
        // A loop, so that it becomes vectors everywhere: written out it is too long for that.
        for x in &mut self.0 {
            *x = Real::softplus(*x);
        }
        self
    }
    #[inline(always)]
    fn if_below(self, bound: Self, then: Self, otherwise: Self) -> Self {
        let mut out = otherwise;
        for i in 0..LANES {
            out.0[i] = if self.0[i] < bound.0[i] { then.0[i] } else { otherwise.0[i] };
        }
        out
    }
    #[inline(always)]
    fn all_above(self, bound: Self) -> bool {
        (0..LANES).all(|i| self.0[i] > bound.0[i])
    }
}

/// [`Real::softplus`] without logarithms that change nothing, where two doubles fill a register: eight lanes seldom agree
/// about it, and natively one loop of eight takes less time than any such choice.
#[inline(always)]
fn softplus_by_twos<R: Real>(x: Lanes<R>) -> Lanes<R> {
    let mut y = x;
    for y in &mut y.0 {
        *y = (-y.abs()).exp_of_negative();
    }
    for two in y.0.as_chunks_mut::<2>().0 {
        if !two.iter().all(|&t| t < R::from_f64(FAINT)) {
            for t in two {
                *t = t.log1p_of_unit();
            }
        }
    }
    for (y, x) in y.0.iter_mut().zip(x.0) {
        *y = Real::max(x, R::ZERO) + *y;
    }
    y
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

    /// Numbers on both sides of where the logarithm begins to change something, beside each other in every way.
    #[test]
    fn the_shorter_softplus_has_the_same_bits() {
        let edge = crate::base::float::ln(FAINT);
        let near = (-40..40).map(|k| edge + f64::from(k) * 1e-15 * edge);
        let far = [-1e4, -746.0, -745.0, -300.0, -1.0, -0.0, 0.0, 0.3, 50.0, 800.0, f64::INFINITY, f64::NEG_INFINITY];
        let numbers: Vec<f64> = near.chain(far).chain((0..4_000).map(|k| f64::from(k) * 0.2 - 780.0)).collect();
        for stride in [1, 3, 7, 1_001] {
            for start in 0..numbers.len() {
                let x = Lanes(std::array::from_fn(|lane| numbers[(start + lane * stride) % numbers.len()]));
                assert_eq!(softplus_by_twos(x).0.map(f64::to_bits), x.0.map(|x| Real::softplus(x).to_bits()), "{x:?}");
            }
        }
    }
}
