//! A 64-bit fingerprint of what a run did, in two u32 words so that a shader could compute it.
//!
//! Each record, its coordinates included, is hashed alone; hashes are added, wrapping. So the order in which
//! environments, tiles or threads deliver records does not matter, while a record twice, missing or with other
//! coordinates changes the sum. Callers never hash NaN: its bits differ between processors.

use std::fmt;

/// Start and multiplier of each word's chain: odd numbers whose multiplication mixes well (Wellons 2018, "Prospecting
/// for hash functions"; Steele and Vigna 2021).
const CHAINS: [(u32, u32); 2] = [(0x9E37_79B9, 0x7FEB_352D), (0x85EB_CA6B, 0x846C_A68B)];

/// Sum of the hashes of records.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct TraceHash(pub [u32; 2]);

impl TraceHash {
    /// Adds one record: its kind and coordinates first, then its contents.
    pub fn add(&mut self, record: &[u32]) {
        for (sum, (start, multiplier)) in self.0.iter_mut().zip(CHAINS) {
            *sum = sum.wrapping_add(chain(record, start, multiplier));
        }
    }
}

impl fmt::Display for TraceHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(self.0))
    }
}

impl fmt::Debug for TraceHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Fingerprint of a parameter buffer: one record (place, bits) a number.
pub fn weights_hash(weights: &[f32]) -> TraceHash {
    let mut hash = TraceHash::default();
    for (i, w) in weights.iter().enumerate() {
        hash.add(&[i as u32, w.to_bits()]);
    }
    hash
}

/// Two words as sixteen hexadecimal digits: how a hash is shown everywhere.
pub fn hex(words: [u32; 2]) -> String {
    format!("{:08x}{:08x}", words[0], words[1])
}

/// Multiply, xor, shift for every word and once more at the end.
fn chain(record: &[u32], start: u32, multiplier: u32) -> u32 {
    let mix = |h: u32, word: u32| {
        let h = (h ^ word).wrapping_mul(multiplier);
        h ^ (h >> 15)
    };
    mix(record.iter().fold(start, |h, word| mix(h, *word)), record.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(records: &[&[u32]]) -> TraceHash {
        let mut hash = TraceHash::default();
        for record in records {
            hash.add(record);
        }
        hash
    }

    #[test]
    fn order_does_not_matter_but_coordinates_do() {
        assert_eq!(of(&[&[1, 2, 3], &[4, 5, 6]]), of(&[&[4, 5, 6], &[1, 2, 3]]));
        assert_ne!(of(&[&[1, 2, 3], &[4, 5, 6]]), of(&[&[1, 5, 6], &[4, 2, 3]]));
        assert_ne!(of(&[&[0]]), of(&[&[0, 0]]));
        assert_ne!(of(&[]), of(&[&[]]));
    }

    #[test]
    fn words_are_independent_and_shown_in_hex() {
        let hash = of(&[&[7, 8, 9]]);
        assert_ne!(hash.0[0], hash.0[1]);
        assert_eq!(TraceHash([0xAB, 1]).to_string(), "000000ab00000001");
    }

    /// Short records with small numbers, as traces have them, hardly collide.
    #[test]
    fn small_records_spread() {
        let mut seen = std::collections::BTreeSet::new();
        for a in 0..64 {
            for b in 0..64 {
                for c in 0..16 {
                    seen.insert(of(&[&[a, b, c]]).0);
                }
            }
        }
        assert_eq!(seen.len(), 64 * 64 * 16);
    }

    #[test]
    fn one_bit_of_one_weight_shows() {
        let mut weights = vec![0.0_f32; 64];
        let before = weights_hash(&weights);
        weights[63] = f32::from_bits(1);
        assert_ne!(weights_hash(&weights), before);
    }
}
