//! Whole numbers, one or eight side by side: rules of grids written with them are written once for a world and for eight.
//!
//! What [`Number`] is for places in the plane, this is for cells, flags and counters. Nothing branches on a number: a
//! lane that is not concerned multiplies by 0 or does not choose.

use std::ops::{Add, Mul, Sub};

use crate::base::lanes::{LANES, Lanes, Number};

/// A whole number, or eight.
pub trait Whole: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// As many numbers that need not be whole.
    type Reals: Number;
    /// `x`, in every lane.
    fn of(x: i32) -> Self;
    /// 1 where both are the same, else 0.
    #[must_use]
    fn is(self, other: Self) -> Self;
    /// `then` where this is not 0, else `otherwise`.
    #[must_use]
    fn choose(self, then: Self, otherwise: Self) -> Self;
    /// Both, the lower one first; numbers below 0 are above all others.
    fn in_order(self, other: Self) -> [Self; 2];
    /// The entry of `table` that has this number, `beyond` where there is none.
    #[must_use]
    fn entry(self, table: &[i32], beyond: i32) -> Self;
    /// The same number.
    fn real(self) -> Self::Reals;
}

/// Sorts in place as [`Whole::in_order`] does, comparing the same pairs whatever they are.
#[inline(always)]
pub fn sort<W: Whole>(numbers: &mut [W]) {
    for end in (1..numbers.len()).rev() {
        for k in 0..end {
            [numbers[k], numbers[k + 1]] = numbers[k].in_order(numbers[k + 1]);
        }
    }
}

impl Whole for i32 {
    type Reals = f64;
    #[inline(always)]
    fn of(x: i32) -> Self {
        x
    }
    #[inline(always)]
    fn is(self, other: Self) -> Self {
        Self::from(self == other)
    }
    #[inline(always)]
    fn choose(self, then: Self, otherwise: Self) -> Self {
        if self == 0 { otherwise } else { then }
    }
    #[inline(always)]
    fn in_order(self, other: Self) -> [Self; 2] {
        let (a, b) = (self as u32, other as u32);
        [a.min(b) as Self, a.max(b) as Self]
    }
    #[inline(always)]
    fn entry(self, table: &[i32], beyond: i32) -> Self {
        table.get(self as usize).copied().unwrap_or(beyond)
    }
    #[inline(always)]
    fn real(self) -> f64 {
        f64::from(self)
    }
}

impl Whole for Lanes<i32> {
    type Reals = Lanes<f64>;
    #[inline(always)]
    fn of(x: i32) -> Self {
        Self::splat(x)
    }
    #[inline(always)]
    fn is(self, other: Self) -> Self {
        self.zip(other, Whole::is)
    }
    #[inline(always)]
    fn choose(self, then: Self, otherwise: Self) -> Self {
        let mut chosen = otherwise;
        for i in 0..LANES {
            chosen.0[i] = self.0[i].choose(then.0[i], otherwise.0[i]);
        }
        chosen
    }
    #[inline(always)]
    fn in_order(self, other: Self) -> [Self; 2] {
        [self.zip(other, |a, b| a.in_order(b)[0]), self.zip(other, |a, b| a.in_order(b)[1])]
    }
    #[inline(always)]
    fn entry(self, table: &[i32], beyond: i32) -> Self {
        self.map(|x| x.entry(table, beyond))
    }
    #[inline(always)]
    fn real(self) -> Lanes<f64> {
        self.map(f64::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBERS: [[i32; LANES]; 3] =
        [[0, 1, 2, -1, 5, 5, 7, 0], [0, 2, 1, 4, -1, 5, 0, 7], [3, 3, 3, 3, 3, 3, -1, -1]];

    #[test]
    fn a_lane_is_a_number_alone() {
        let [a, b, c] = NUMBERS.map(Lanes);
        let table = [10, 11, 12];
        for lane in 0..LANES {
            let [x, y, z] = NUMBERS.map(|numbers| numbers[lane]);
            assert_eq!(a.is(b).0[lane], i32::from(x == y));
            assert_eq!(a.choose(b, c).0[lane], if x == 0 { z } else { y });
            assert_eq!(a.in_order(b).map(|sorted| sorted.0[lane]), x.in_order(y));
            assert_eq!(a.entry(&table, -7).0[lane], if (0..3).contains(&x) { 10 + x } else { -7 });
            assert_eq!(a.real().0[lane], f64::from(x));
            assert_eq!((a + b * c - a).0[lane], y * z);
        }
    }

    #[test]
    fn what_is_below_zero_comes_last() {
        for rotation in 0..5 {
            let mut numbers = [3, -1, 0, 2, 9];
            numbers.rotate_left(rotation);
            sort(&mut numbers);
            assert_eq!(numbers, [0, 2, 3, 9, -1]);
        }
    }
}
