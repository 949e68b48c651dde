//! Transcendental functions of the network kernels: how far from libm, what happens at the edges, and that a lane
//! has the bits of the scalar.

use tandem_core::base::float::{FAINT, Real};
use tandem_core::base::lanes::Lanes;

type Function = (&'static str, fn(f32) -> f32, fn(f64) -> f64, u32);

/// Name, ours in f32, libm's in f64, and how many ulp apart they may be.
const FUNCTIONS: [Function; 6] = [
    ("exp", <f32 as Real>::exp, libm::exp, 2),
    ("ln", <f32 as Real>::ln, libm::log, 2),
    ("tanh", <f32 as Real>::tanh, libm::tanh, 2),
    ("sigmoid", <f32 as Real>::sigmoid, <f64 as Real>::sigmoid, 2),
    ("softplus", <f32 as Real>::softplus, <f64 as Real>::softplus, 2),
    ("elu", <f32 as Real>::elu, <f64 as Real>::elu, 2),
];

/// Every 257th bit pattern of both signs: 17 million numbers from the smallest subnormal to the largest finite one.
fn grid() -> impl Iterator<Item = f32> {
    (0..0x7F80_0000_u32).step_by(257).flat_map(|bits| [f32::from_bits(bits), -f32::from_bits(bits)])
}

/// Steps between two floats along the number line; 0 only for equals (and ±0).
fn ulp(a: f32, b: f32) -> u32 {
    let place = |x: f32| {
        let bits = x.to_bits() as i32;
        i64::from(if bits < 0 { i32::MIN.wrapping_sub(bits) } else { bits })
    };
    (place(a) - place(b)).unsigned_abs() as u32
}

#[test]
fn within_two_ulp_of_libm_on_a_dense_grid() {
    for (name, ours, libm, allowed) in FUNCTIONS {
        let mut worst = (0, 0.0);
        for x in grid().filter(|x| name != "ln" || *x > 0.0) {
            let (got, expected) = (ours(x), libm(f64::from(x)) as f32);
            assert!(!got.is_nan(), "{name}({x:e}) is not a number");
            worst = std::cmp::max_by_key(worst, (ulp(got, expected), x), |(ulp, _)| *ulp);
        }
        println!("{name}: {} ulp at {:e}", worst.0, worst.1);
        assert!(worst.0 <= allowed, "{name}({:e}) is {} ulp off", worst.1, worst.0);
    }
}

/// The softplus of particles in contact: ours, for lanes, against libm's.
#[test]
fn the_softplus_of_f64_is_within_two_ulp_of_libm() {
    let libm = |x: f64| f64::max(x, 0.0) + libm::log1p(libm::exp(-x.abs()));
    let mut worst = (0, 0.0);
    let even = (0..1_000_000).map(|k| f64::from(k) * 1.6e-3 - 800.0);
    let ever_nearer_to_0 = std::iter::successors(Some(-1.0), |x| Some(x * 0.7)).take(2_000);
    for x in even.chain(ever_nearer_to_0) {
        let (got, expected) = (Real::softplus(x), libm(x));
        let ulp = got.to_bits().abs_diff(expected.to_bits());
        worst = std::cmp::max_by_key(worst, (ulp, x), |(ulp, _)| *ulp);
    }
    println!("softplus: {} ulp at {:e}", worst.0, worst.1);
    assert!(worst.0 <= 2, "{} ulp at {:e}", worst.0, worst.1);
    let softplus = <f64 as Real>::softplus;
    let edges = [f64::NEG_INFINITY, -746.0, -0.0, 0.0, f64::INFINITY].map(softplus);
    assert_eq!(edges, [0.0, 0.0, std::f64::consts::LN_2, std::f64::consts::LN_2, f64::INFINITY]);
    assert!(softplus(f64::NAN).is_nan() && softplus(-745.0) > 0.0);
}

/// Which is why lanes leave the logarithm out there.
#[test]
fn the_logarithm_near_to_1_changes_nothing() {
    let ever_fainter = std::iter::successors(Some(FAINT.next_down()), |t| Some(t * 0.999)).take(1_000_000);
    for t in ever_fainter.chain([0.0, 5e-324, f64::MIN_POSITIVE]) {
        assert_eq!(t.log1p_of_unit().to_bits(), t.to_bits(), "{t:e}");
    }
    for t in grid().filter(|t| t.is_sign_positive() && f64::from(*t) < FAINT) {
        assert_eq!(t.log1p_of_unit().to_bits(), t.to_bits(), "{t:e}");
    }
    assert_ne!((FAINT * 64.0).log1p_of_unit(), FAINT * 64.0);
}

#[test]
fn edges_are_what_the_mathematics_says() {
    let infinity = f32::INFINITY;
    for (name, ours, at_minus_infinity, at_zero, at_infinity) in [
        ("exp", <f32 as Real>::exp as fn(f32) -> f32, 0.0, 1.0, infinity),
        ("tanh", <f32 as Real>::tanh, -1.0, 0.0, 1.0),
        ("sigmoid", <f32 as Real>::sigmoid, 0.0, 0.5, 1.0),
        ("softplus", <f32 as Real>::softplus, 0.0, std::f32::consts::LN_2, infinity),
        ("elu", <f32 as Real>::elu, -1.0, 0.0, infinity),
    ] {
        let got = [-infinity, -0.0, 0.0, infinity].map(ours);
        assert_eq!(got, [at_minus_infinity, at_zero, at_zero, at_infinity], "{name}");
        assert!(ours(f32::NAN).is_nan(), "{name} of NaN");
    }
    let ln = <f32 as Real>::ln;
    assert_eq!([0.0, -0.0, 1.0, infinity].map(ln), [-infinity, -infinity, 0.0, infinity]);
    assert!([-1.0, -infinity, f32::NAN].iter().all(|x| ln(*x).is_nan()));
    // Where f32 ends: the largest finite result, then infinity; the smallest subnormal, then 0.
    let exp = <f32 as Real>::exp;
    assert!(exp(88.722_83).is_finite() && exp(88.722_85) == infinity);
    assert!(exp(-103.97) > 0.0 && exp(-103.98) == 0.0);
}

/// QMIX's monotonicity rests on ELU′ = h + 1 ≥ 0.
#[test]
fn elu_never_falls_below_minus_one() {
    assert!(grid().all(|x| x.elu() >= -1.0));
}

#[test]
fn a_lane_has_the_bits_of_the_scalar() {
    let numbers: Vec<f32> = grid().step_by(401).chain([f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0]).collect();
    for (name, ours, ..) in FUNCTIONS {
        for x in numbers.chunks_exact(8) {
            let lanes = match name {
                "exp" => Lanes::load(x).map(Real::exp),
                "ln" => Lanes::load(x).map(Real::ln),
                "tanh" => Lanes::load(x).map(Real::tanh),
                "sigmoid" => Lanes::load(x).map(Real::sigmoid),
                "softplus" => Lanes::load(x).map(Real::softplus),
                _ => Lanes::load(x).map(Real::elu),
            };
            for (x, lane) in x.iter().zip(lanes.0) {
                let scalar = std::hint::black_box(ours)(*x);
                assert!(lane.to_bits() == scalar.to_bits() || lane.is_nan() && scalar.is_nan(), "{name}({x:e})");
            }
        }
    }
}

#[test]
fn tanh_of_many_has_the_bits_of_one() {
    let numbers: Vec<f32> =
        grid().step_by(401).chain([f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 0.625, -0.625, f32::NAN]).collect();
    for many in [1, 8, 24, 32, 40, 72] {
        for x in numbers.chunks(many) {
            let mut y = x.to_vec();
            Real::tanh_all(&mut y);
            for (x, y) in x.iter().zip(y) {
                assert!(y.to_bits() == Real::tanh(*x).to_bits() || y.is_nan() && x.is_nan(), "tanh({x:e}) of {many}");
            }
        }
    }
}
