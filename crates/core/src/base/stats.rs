//! Means, variances and confidence intervals, in f64 and in one order, so that published numbers are reproducible.

/// Mean and variance of a stream of numbers (Welford 1962).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Running {
    /// Numbers seen.
    count: u32,
    /// Their mean; 0 before the first.
    mean: f64,
    /// Sum of squared deviations from the mean.
    squares: f64,
}

impl Running {
    /// Takes in one number.
    fn push(&mut self, x: f64) {
        self.count += 1;
        let delta = x - self.mean;
        self.mean += delta / f64::from(self.count);
        self.squares += delta * (x - self.mean);
    }

    /// Variance with divisor n − 1; 0 below two numbers.
    fn sample_variance(&self) -> f64 {
        if self.count < 2 { 0.0 } else { self.squares / f64::from(self.count - 1) }
    }
}

/// What a set of episodes or seeds is reported as.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Arithmetic mean.
    pub mean: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Half width of the 95 % confidence interval of the mean, by Student's t; 0 below two numbers.
    pub ci95: f64,
}

/// `None` for no numbers.
pub fn summary(x: &[f64]) -> Option<Summary> {
    let first = *x.first()?;
    let (mut running, mut min, mut max) = (Running::default(), first, first);
    for &x in x {
        running.push(x);
        min = if x < min { x } else { min };
        max = if x > max { x } else { max };
    }
    let ci95 = match running.count {
        1 => 0.0,
        n => student_t975(n - 1) * (running.sample_variance() / f64::from(n)).sqrt(),
    };
    Some(Summary { mean: running.mean, min, max, ci95 })
}

/// The 97.5 % quantile of Student's t: a table up to 9 degrees of freedom, then the first terms of its expansion
/// around the normal quantile (Abramowitz and Stegun 26.7.5), good to 10⁻³.
fn student_t975(degrees: u32) -> f64 {
    const TABLE: [f64; 9] = [12.706_2, 4.302_7, 3.182_4, 2.776_4, 2.570_6, 2.446_9, 2.364_6, 2.306_0, 2.262_2];
    const Z: f64 = 1.959_964;
    if let Some(t) = TABLE.get(degrees as usize - 1) {
        return *t;
    }
    let (n, z2) = (f64::from(degrees), Z * Z);
    let g1 = Z * (z2 + 1.0) / 4.0;
    let g2 = Z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    Z + g1 / n + g2 / (n * n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_of_five_seeds() {
        let s = summary(&[1.0, 2.0, 3.0, 4.0, 5.0]).expect("five numbers");
        assert_eq!((s.mean, s.min, s.max), (3.0, 1.0, 5.0));
        // 2.7764·√(2.5/5)
        assert!((s.ci95 - 1.963_2).abs() < 1e-3, "{}", s.ci95);
        assert_eq!(summary(&[]), None);
        assert_eq!(summary(&[7.0]).map(|s| s.ci95), Some(0.0));
    }

    #[test]
    fn t_quantiles_of_the_tables() {
        for (degrees, t) in [(9, 2.2622), (10, 2.2281), (15, 2.1314), (30, 2.0423), (100, 1.9840), (1000, 1.9623)] {
            assert!((student_t975(degrees) - t).abs() < 4e-3, "{degrees}: {}", student_t975(degrees));
        }
    }
}
