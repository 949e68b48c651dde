//! The only home of transcendental functions, so that a run has the same bits natively, in wasm and unoptimised.
//!
//! Two families. The *free functions* are `libm` by name, in f64. The methods of [`Real`] are for
//! networks: f32 versions are branch-free, made of add, multiply, divide, compare-select and bit operations only, so
//! that a loop over them vectorises and a lane has the bits of the scalar; they stay within 2 ulp of libm (measured
//! in `tests/float.rs`). Nothing here fuses a multiply with an add. f64 exists to check gradients and calls libm.
//!
//! `f32` has inherent methods of the same names (`exp`, `tanh`, …) that are *not* reproducible: on a concrete type
//! write `Real::exp(x)`.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A network's number: f32 in runs, f64 where gradients are checked.
pub trait Real:
    Copy
    + Debug
    + Default
    + PartialOrd
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;

    /// The nearest number to `x`.
    fn from_f32(x: f32) -> Self;
    /// The nearest number to `x`.
    fn from_f64(x: f64) -> Self;
    /// The nearest number to `x`.
    fn from_u32(x: u32) -> Self;
    /// The nearest f32.
    fn to_f32(self) -> f32;
    /// The same number as f64.
    fn to_f64(self) -> f64;
    /// Neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// `numbers` where they are of single precision, for what is written in that alone.
    fn singles(numbers: &mut [Self]) -> Option<&mut [f32]>;
    /// |x|.
    #[must_use]
    fn abs(self) -> Self;
    /// √x, correctly rounded.
    #[must_use]
    fn sqrt(self) -> Self;
    /// eˣ; 0 and ∞ where f32 ends.
    #[must_use]
    fn exp(self) -> Self;
    /// Natural logarithm; −∞ at 0, NaN below.
    #[must_use]
    fn ln(self) -> Self;
    /// Hyperbolic tangent.
    #[must_use]
    fn tanh(self) -> Self;
    /// [`Real::tanh`] of all of `x`, in place: faster than one by one where registers are narrow.
    fn tanh_all(x: &mut [Self]);
    /// 1 / (1 + e⁻ˣ).
    #[must_use]
    fn sigmoid(self) -> Self;
    /// eˣ for x ≤ 0, as softplus takes it.
    #[must_use]
    fn exp_of_negative(self) -> Self;
    /// ln(1 + t) for t in 0 ..= 1; t itself below [`FAINT`].
    #[must_use]
    fn log1p_of_unit(self) -> Self;
    /// x above 0, eˣ − 1 below, never under −1: ELU with α = 1.
    #[must_use]
    fn elu(self) -> Self;

    /// ln(1 + eˣ); its derivative is [`Real::sigmoid`].
    #[must_use]
    #[inline(always)]
    fn softplus(self) -> Self {
        Self::max(self, Self::ZERO) + (-self.abs()).exp_of_negative().log1p_of_unit()
    }

    /// The larger; `other` when either is NaN. Defined by one comparison because the processors' own instructions
    /// disagree about −0 and NaN.
    #[must_use]
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if self > other { self } else { other }
    }

    /// The smaller; `other` when either is NaN.
    #[must_use]
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if self < other { self } else { other }
    }
}

/// 2⁻⁵⁴. ln(1 + t) is t − t²/2 + …, and below this t²/2 is less than half of what rounding to t leaves off.
pub const FAINT: f64 = 1.0 / 18_014_398_509_481_984.0;

/// Natural logarithm by libm.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// Cosine by libm.
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// xʸ by libm.
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    #[inline(always)]
    fn from_f32(x: f32) -> Self {
        x
    }
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x as Self
    }
    #[inline(always)]
    fn from_u32(x: u32) -> Self {
        x as Self
    }
    #[inline(always)]
    fn to_f32(self) -> f32 {
        self
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn is_finite(self) -> bool {
        self.is_finite()
    }
    fn singles(numbers: &mut [Self]) -> Option<&mut [f32]> {
        Some(numbers)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.abs()
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.sqrt()
    }
    #[inline(always)]
    fn exp(self) -> Self {
        exp_f32(self)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        ln_f32(self)
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        tanh_f32(self)
    }
    fn tanh_all(x: &mut [Self]) {
        tanh_all_f32(x);
    }
    #[inline(always)]
    fn sigmoid(self) -> Self {
        // e^-|x| never overflows, and both branches of the quotient stay accurate.
        let e = exp_f32(-self.abs());
        (if self < 0.0 { e } else { 1.0 }) / (1.0 + e)
    }
    #[inline(always)]
    fn exp_of_negative(self) -> Self {
        exp_f32(self)
    }
    #[inline(always)]
    fn log1p_of_unit(self) -> Self {
        // ln(u) + (t − (u − 1)) / u with u = 1 + t: the quotient gives back what the sum rounded off.
        let u = 1.0 + self;
        ln_f32(u) + (self - (u - 1.0)) / u
    }
    #[inline(always)]
    fn elu(self) -> Self {
        // Below −18, e^x − 1 is −1 in f32.
        let below = if self > 0.0 { 0.0 } else { self };
        let (shifted, r) = exp_reduced(if below < -18.0 { -18.0 } else { below });
        let (scale, q) = (power_of_two(rounded(shifted)), exp_m1_near_0(r));
        let below = scale * q + (scale - 1.0);
        if self > 0.0 { self } else { below }
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    #[inline(always)]
    fn from_f32(x: f32) -> Self {
        Self::from(x)
    }
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn from_u32(x: u32) -> Self {
        Self::from(x)
    }
    #[inline(always)]
    fn to_f32(self) -> f32 {
        self as f32
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
    #[inline(always)]
    fn is_finite(self) -> bool {
        self.is_finite()
    }
    fn singles(_numbers: &mut [Self]) -> Option<&mut [f32]> {
        None
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.abs()
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.sqrt()
    }
    fn exp(self) -> Self {
        libm::exp(self)
    }
    fn ln(self) -> Self {
        libm::log(self)
    }
    fn tanh(self) -> Self {
        libm::tanh(self)
    }
    fn tanh_all(x: &mut [Self]) {
        for x in x {
            *x = libm::tanh(*x);
        }
    }
    fn sigmoid(self) -> Self {
        let e = libm::exp(-self.abs());
        (if self < 0.0 { e } else { 1.0 }) / (1.0 + e)
    }
    #[inline(always)]
    fn exp_of_negative(self) -> Self {
        exp_of_negative_f64(self)
    }
    #[inline(always)]
    fn log1p_of_unit(self) -> Self {
        log1p_of_unit_f64(self)
    }
    fn elu(self) -> Self {
        if self > 0.0 { self } else { libm::expm1(self) }
    }
}

/// Adding and subtracting 1.5·2²³ rounds an f32 below 2²² to the nearest integer, which then sits in the low bits.
const ROUND: f32 = 12_582_912.0;

/// Splits x into n·ln 2 + r with r in ±0.35; n = round(x / ln 2) is what [`times_power_of_two`] takes. `x` must lie in
/// −104 ..= 89.
#[expect(clippy::excessive_precision, reason = "coefficients as published")]
#[inline(always)]
fn exp_reduced(x: f32) -> (f32, f32) {
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    // ln 2 in two parts; n times the first is exact.
    (shifted, (x - n * 0.693_359_375) - n * -2.121_944_40e-4)
}

/// eʳ − 1 for r in ±0.35, by Cephes' polynomial (Moshier, `expf.c`).
#[expect(clippy::excessive_precision, reason = "coefficients as published")]
#[inline(always)]
fn exp_m1_near_0(r: f32) -> f32 {
    let p = 1.987_569_150_0e-4;
    let p = p * r + 1.398_199_950_7e-3;
    let p = p * r + 8.333_451_907_3e-3;
    let p = p * r + 4.166_579_589_4e-2;
    let p = p * r + 1.666_666_545_9e-1;
    let p = p * r + 5.000_000_120_1e-1;
    (p * (r * r)) + r
}

/// The integer in the low bits of a sum with [`ROUND`].
#[inline(always)]
fn rounded(shifted: f32) -> i32 {
    (shifted.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32)
}

/// 2ⁿ for n in −126 ..= 127.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

/// y·2ⁿ in two steps, since 2ⁿ alone may be out of range; only the second rounds.
#[inline(always)]
fn times_power_of_two(y: f32, n: i32) -> f32 {
    let half = n >> 1;
    y * power_of_two(half) * power_of_two(n.wrapping_sub(half))
}

#[inline(always)]
fn exp_f32(x: f32) -> f32 {
    // Past these bounds the result is 0 and ∞. NaN passes both comparisons and stays NaN.
    let x = if x < -104.0 { -104.0 } else { x };
    let x = if x > 89.0 { 89.0 } else { x };
    let (shifted, r) = exp_reduced(x);
    times_power_of_two(1.0 + exp_m1_near_0(r), rounded(shifted))
}

/// FreeBSD's `e_exp.c` (which libm follows) for x ≤ 0, without its branches: particles need it in lanes. 0 from −746 on,
/// below half the least number. NaN stays NaN.
#[expect(clippy::excessive_precision, reason = "coefficients as published")]
#[inline(always)]
fn exp_of_negative_f64(x: f64) -> f64 {
    /// Adding and subtracting 1.5·2⁵² rounds to the nearest integer, as [`ROUND`] does in f32.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let x = if x < -746.0 { -746.0 } else { x };
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let high = x - n * 6.931_471_803_691_238_164_90e-1;
    let low = n * 1.908_214_929_270_587_700_02e-10;
    let r = high - low;
    let z = r * r;
    let p = 4.138_136_797_057_238_460_39e-8;
    let p = p * z + -1.653_390_220_546_525_153_90e-6;
    let p = p * z + 6.613_756_321_437_934_361_17e-5;
    let p = p * z + -2.777_777_777_701_559_338_42e-3;
    let p = p * z + 1.666_666_666_666_660_190_37e-1;
    let c = r - z * p;
    let y = 1.0 - ((low - (r * c) / (2.0 - c)) - high);
    // 2ⁿ in two steps, since 2ⁿ alone may be out of range; n is shifted to be positive, for only such shifts are vectors.
    let n = shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(2048);
    let half = n >> 1;
    let power = |n: u64| f64::from_bits(n << 52);
    y * power(half.wrapping_sub(1)) * power(n.wrapping_sub(half).wrapping_sub(1))
}

/// ln(1 + t) for t in 0 ..= 1: FreeBSD's `e_log.c` of 1 + t or, above √2, of its half; less 1, both are there without
/// the sum's rounding, but for the last bit of a t between √2 − 1 and ½.
#[expect(clippy::excessive_precision, reason = "coefficients as published")]
#[inline(always)]
fn log1p_of_unit_f64(t: f64) -> f64 {
    let (f, k) = if t > std::f64::consts::SQRT_2 - 1.0 { (0.5 * (t - 1.0), 1.0) } else { (t, 0.0) };
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even =
        w * (3.999_999_999_940_941_908e-1 + w * (2.222_219_843_214_978_396e-1 + w * 1.531_383_769_920_937_332e-1));
    let odd = z
        * (6.666_666_666_666_735_130e-1
            + w * (2.857_142_874_366_239_149e-1
                + w * (1.818_357_216_161_805_012e-1 + w * 1.479_819_860_511_658_591e-1)));
    let half_square = 0.5 * f * f;
    let y = s * (half_square + (odd + even)) + k * 1.908_214_929_270_587_700_02e-10 - half_square + f;
    y + k * 6.931_471_803_691_238_164_90e-1
}

/// FreeBSD's `e_logf.c` (which libm follows) without its branches.
#[expect(clippy::excessive_precision, reason = "coefficients as published")]
#[inline(always)]
fn ln_f32(x: f32) -> f32 {
    /// Bits of √½: mantissas are brought into √½ .. √2, where x − 1 is exact.
    const SQRT_HALF: u32 = 0x3F35_04F3;
    let subnormal = x < f32::MIN_POSITIVE;
    let scaled = if subnormal { x * 33_554_432.0 } else { x };
    let bits = scaled.to_bits().wrapping_sub(SQRT_HALF);
    let exponent = ((bits as i32) >> 23) as f32 - if subnormal { 25.0 } else { 0.0 };
    let f = f32::from_bits((bits & 0x007F_FFFF).wrapping_add(SQRT_HALF)) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * (0.400_009_721_52 + w * 0.242_790_788_41);
    let odd = z * (0.666_666_626_93 + w * 0.284_987_866_88);
    let half_square = 0.5 * f * f;
    let y = s * (half_square + (odd + even)) + exponent * 9.058_000_614_5e-6 - half_square
        + f
        + exponent * 0.693_138_122_56;
    let y = if x > f32::MAX { x } else { y };
    let y = if x == 0.0 { f32::NEG_INFINITY } else { y };
    if x >= 0.0 { y } else { f32::NAN }
}

/// Cephes' `tanhf.c`: a polynomial near 0, where the quotient would cancel; 1 − 2/(e^2|x| + 1) elsewhere.
#[inline(always)]
fn tanh_f32(x: f32) -> f32 {
    let (shifted, r) = tanh_reduced(x);
    tanh_near_0_or(tanh_of_exp(shifted, 1.0 + exp_m1_near_0(r)), x)
}

/// [`exp_reduced`] of 2|x|.
#[inline(always)]
fn tanh_reduced(x: f32) -> (f32, f32) {
    let double = x.abs() + x.abs();
    exp_reduced(if double > 89.0 { 89.0 } else { double })
}

/// tanh |x|, given e^2|x| = y·2ⁿ.
#[inline(always)]
fn tanh_of_exp(shifted: f32, y: f32) -> f32 {
    1.0 - 2.0 / (times_power_of_two(y, rounded(shifted)) + 1.0)
}

/// tanh x by the polynomial, or what is `far` from 0 with the sign of x.
#[expect(clippy::excessive_precision, reason = "coefficients as published")]
#[inline(always)]
fn tanh_near_0_or(far: f32, x: f32) -> f32 {
    let z = x * x;
    let p = -5.704_988_727_45e-3;
    let p = p * z + 2.063_908_879_54e-2;
    let p = p * z - 5.373_971_555_31e-2;
    let p = p * z + 1.333_144_220_36e-1;
    let p = p * z - 3.333_328_194_22e-1;
    let near = p * z * x + x;
    let far = f32::from_bits(far.to_bits() | (x.to_bits() & 0x8000_0000));
    // A choice where `if` might become a branch, which is no vector.
    std::hint::select_unpredictable(x.abs() < 0.625, near, far)
}

/// tanh of many in four short loops: each step of one number waits for the step before, and a processor looks far enough
/// ahead to work on the next numbers meanwhile only where a number has few steps; and a browser writes the constants of
/// a short loop into registers once for several numbers.
fn tanh_all_f32(x: &mut [f32]) {
    // No more than the compiler clears by itself: in a browser anything else is a call of its own.
    const BLOCK: usize = 32;
    let (mut shifted, mut y) = ([0.0; BLOCK], [0.0; BLOCK]);
    for x in x.chunks_mut(BLOCK) {
        let (shifted, y) = (&mut shifted[..x.len()], &mut y[..x.len()]);
        for ((shifted, r), x) in shifted.iter_mut().zip(&mut *y).zip(&*x) {
            (*shifted, *r) = tanh_reduced(*x);
        }
        for y in &mut *y {
            *y = 1.0 + exp_m1_near_0(*y);
        }
        for (y, shifted) in y.iter_mut().zip(&*shifted) {
            *y = tanh_of_exp(*shifted, *y);
        }
        for (x, far) in x.iter_mut().zip(&*y) {
            *x = tanh_near_0_or(*far, *x);
        }
    }
}
