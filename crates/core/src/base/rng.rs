//! Counter-based randomness: every draw is a pure function of (seed, stream name, counter).
//!
//! Threefry-4x32-20 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): additions, rotations
//! and xors of 32-bit words only, so a shader computes the same words. No draw depends on how many others were made,
//! hence not on batch order, threads or engine.

use crate::base::lanes::{LANES, kernel};
use crate::base::word::{Word, eight, lanes};

/// Skein's rotation constants for four words: those of rounds 0 to 3, then of 4 to 7, then again.
const ROTATIONS: [[[u32; 2]; 4]; 2] =
    [[[10, 26], [11, 21], [13, 27], [23, 5]], [[6, 20], [17, 11], [25, 10], [18, 20]]];
/// Skein's key-schedule parity.
const PARITY: u32 = 0x1BD1_1BDA;

/// Four words of [`LANES`] counters, or the counters.
pub type Octet = [[u32; LANES]; 4];

/// Threefry-4x32 with 20 rounds: `counter` encrypted under `key`.
#[must_use]
#[inline(always)]
pub fn threefry4x32<W: Word>(key: [u32; 4], counter: [W; 4]) -> [W; 4] {
    let ks = [key[0], key[1], key[2], key[3], PARITY ^ key[0] ^ key[1] ^ key[2] ^ key[3]];
    // Written out here and below: what is not unrolled is not kept in registers.
    let key = |i: usize| W::of(ks[i]);
    let x = [counter[0].plus(key(0)), counter[1].plus(key(1)), counter[2].plus(key(2)), counter[3].plus(key(3))];
    let x = four_rounds::<W, 0, 1>(x, &ks);
    let x = four_rounds::<W, 1, 2>(x, &ks);
    let x = four_rounds::<W, 0, 3>(x, &ks);
    let x = four_rounds::<W, 1, 4>(x, &ks);
    four_rounds::<W, 0, 5>(x, &ks)
}

/// Four rounds with one half of the rotations, then key injection number `S`.
#[inline(always)]
fn four_rounds<W: Word, const HALF: usize, const S: usize>(x: [W; 4], ks: &[u32; 5]) -> [W; 4] {
    let [first, second, third, fourth] = ROTATIONS[HALF];
    // Even rounds mix (0,1) and (2,3), odd rounds (0,3) and (2,1).
    let x = mix::<W, 1, 3>(x, first);
    let x = mix::<W, 3, 1>(x, second);
    let x = mix::<W, 1, 3>(x, third);
    let x = mix::<W, 3, 1>(x, fourth);
    let key = |i: usize| W::of(ks[(S + i) % 5]);
    [x[0].plus(key(0)), x[1].plus(key(1)), x[2].plus(key(2)), x[3].plus(key(3)).plus(W::of(S as u32))]
}

/// One round: word `B` into word 0, and word `D` into word 2.
#[inline(always)]
fn mix<W: Word, const B: usize, const D: usize>(mut x: [W; 4], [r0, r1]: [u32; 2]) -> [W; 4] {
    x[0] = x[0].plus(x[B]);
    x[B] = x[B].turned_xor(r0, x[0]);
    x[2] = x[2].plus(x[D]);
    x[D] = x[D].turned_xor(r1, x[2]);
    x
}

kernel! {
    /// Four words at each counter of two octets.
    fn threefry_octets<>(key: [u32; 4], counters: &[Octet; 2], words: &mut [Octet; 2]) => encrypt
}

/// P octets at a time, so that one works while the other waits, if there are registers for both. Two octets and no
/// more: in a loop over many the compiler would gather words of several.
#[inline(always)]
fn encrypt<const P: usize>(key: [u32; 4], counters: &[Octet; 2], words: &mut [Octet; 2]) {
    if P == 1 {
        octet(key, &counters[0], &mut words[0]);
        octet(key, &counters[1], &mut words[1]);
        return;
    }
    let mut x = [[[0; LANES]; 2]; 4];
    for word in 0..4 {
        for octet in 0..2 {
            x[word][octet] = counters[octet][word];
        }
    }
    let x = threefry4x32(key, x);
    for word in 0..4 {
        for octet in 0..2 {
            words[octet][word] = x[word][octet];
        }
    }
}

/// Four words at each counter of an octet. A call of its own: seeing two of them, the compiler makes vectors of one
/// lane of each and leaves half a register empty.
#[inline(never)]
fn octet(key: [u32; 4], counters: &Octet, words: &mut Octet) {
    *words = threefry4x32(key, counters.map(eight)).map(lanes);
}

/// A named stream of a seed. Streams with different names are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    key: [u32; 4],
}

impl Stream {
    /// The stream `name` of `seed`; key = (seed low, seed high, FNV-1a of the name, 0).
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        let hash = name.bytes().fold(0x811C_9DC5_u32, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
        Self { key: [seed as u32, (seed >> 32) as u32, hash, 0] }
    }

    /// What counters are encrypted under; the last word is 0.
    #[must_use]
    pub fn key(&self) -> [u32; 4] {
        self.key
    }

    /// Four words at `counter`.
    #[must_use]
    pub fn words(&self, counter: [u32; 4]) -> [u32; 4] {
        threefry4x32(self.key, counter)
    }

    /// Four words at each counter of two octets.
    #[must_use]
    pub fn words_of_octets(&self, counters: &[Octet; 2]) -> [Octet; 2] {
        let mut words = [Octet::default(); 2];
        threefry_octets(self.key, counters, &mut words);
        words
    }

    /// The draws of one environment at one step: counter = (environment, episode, step, agent·256 + draw).
    #[must_use]
    pub fn env(&self, env: u32, episode: u32, step: u32) -> Draws {
        Draws { stream: *self, env, episode, step }
    }
}

/// What one environment may draw at one step. `agent` is the agent's index, or [`Draws::WORLD`] for the world itself.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    stream: Stream,
    env: u32,
    episode: u32,
    step: u32,
}

impl Draws {
    /// The world's own draws (a pellet's cell, say), as opposed to an agent's.
    pub const WORLD: u32 = 0x00FF_FFFF;

    /// Four words of `agent`'s draw number `draw` (below 256).
    #[must_use]
    pub fn words(&self, agent: u32, draw: u32) -> [u32; 4] {
        self.stream.words(self.counter(agent, draw))
    }

    fn counter(&self, agent: u32, draw: u32) -> [u32; 4] {
        debug_assert!(draw < 256, "a step has 256 draws an agent");
        [self.env, self.episode, self.step, agent.wrapping_mul(256).wrapping_add(draw)]
    }

    /// Calls `take` with the number, from 0, and the four words of each agent's draw among `of`, drawn many at a time.
    pub fn each(&self, of: impl IntoIterator<Item = (u32, u32)>, mut take: impl FnMut(usize, [u32; 4])) {
        let mut of = of.into_iter().peekable();
        let mut first = 0;
        while of.peek().is_some() {
            let mut counters = [Octet::default(); 2];
            let mut count = 0;
            for (k, (agent, draw)) in of.by_ref().take(2 * LANES).enumerate() {
                for (lanes, word) in counters[k / LANES].iter_mut().zip(self.counter(agent, draw)) {
                    lanes[k % LANES] = word;
                }
                count += 1;
            }
            let words = self.stream.words_of_octets(&counters);
            for k in 0..count {
                take(first + k, words[k / LANES].map(|word| word[k % LANES]));
            }
            first += count;
        }
    }

    /// Uniform integer below `n`.
    #[must_use]
    pub fn below(&self, agent: u32, draw: u32, n: u32) -> u32 {
        below(self.words(agent, draw)[0], n)
    }
}

/// A word as a number in [0, 1): its upper 24 bits over 2^24, exact in f32.
#[must_use]
pub fn uniform(word: u32) -> f32 {
    (word >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// A word as an integer below `n`: floor(word·n / 2^32), the high word of the product.
/// (A shader gets it from four 16-bit products.)
#[must_use]
pub fn below(word: u32, n: u32) -> u32 {
    debug_assert!(n >= 1, "below() takes n from 1");
    ((u64::from(word) * u64::from(n)) >> 32) as u32
}

/// A keyed bijection of 0 .. len: a shuffled order of which every place can be asked on its own.
///
/// A Feistel network of six rounds on the smallest even number of bits that holds len; a number that falls outside is
/// encrypted again until it falls inside (Black and Rogaway 2002, "Ciphers with arbitrary finite domains").
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    keys: [u32; 4],
    half: u32,
    len: u32,
}

impl Permutation {
    /// The order that four random words give to `len` things, at least one.
    #[must_use]
    pub fn new(keys: [u32; 4], len: u32) -> Self {
        Self { keys, half: Self::half(len), len }
    }

    /// Half of the bits that hold `len` things.
    #[must_use]
    pub fn half(len: u32) -> u32 {
        debug_assert!(len >= 1, "a permutation has a place");
        (u32::BITS - (len - 1).leading_zeros()).div_ceil(2).max(1)
    }

    /// Who stands at `place`, which is below `len`.
    #[must_use]
    pub fn at(&self, place: u32) -> u32 {
        let mask = (1_u32 << self.half) - 1;
        let mut x = place;
        loop {
            let (mut left, mut right) = (x >> self.half, x & mask);
            for round in 0..6_u32 {
                let key = self.keys[round as usize % 4].wrapping_add(round.wrapping_mul(0x9E37_79B9));
                // The finish of MurmurHash3.
                let mut h = right ^ key;
                h = (h ^ (h >> 16)).wrapping_mul(0x85EB_CA6B);
                h = (h ^ (h >> 13)).wrapping_mul(0xC2B2_AE35);
                h ^= h >> 16;
                (left, right) = (right, (left ^ h) & mask);
            }
            x = left << self.half | right;
            if x < self.len {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers of Random123 1.09 (kat_vectors: threefry4x32, 20 rounds).
    #[test]
    fn threefry_known_answers() {
        assert_eq!(threefry4x32([0; 4], [0; 4]), [0x9c6c_a96a, 0xe17e_ae66, 0xfc10_ecd4, 0x5256_a7d8]);
        assert_eq!(threefry4x32([u32::MAX; 4], [u32::MAX; 4]), [0x2a88_1696, 0x5701_2287, 0xf6c7_446e, 0xa16a_6732]);
        assert_eq!(
            threefry4x32(
                [0xa409_3822, 0x299f_31d0, 0x082e_fa98, 0xec4e_6c89],
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344]
            ),
            [0x59cd_1dbb, 0xb887_9579, 0x86b5_d00c, 0xac8b_6d84]
        );
    }

    #[test]
    fn lanes_have_the_words_of_one_at_a_time() {
        let stream = Stream::new(5, "lanes");
        let counter = |lane: usize| [lane as u32, 7, u32::MAX - lane as u32, 256 * lane as u32];
        let octet = std::array::from_fn(|word| std::array::from_fn(|lane| counter(lane)[word]));
        let words = stream.words_of_octets(&[octet; 2]);
        for lane in 0..LANES {
            assert_eq!(words.map(|words| words.map(|word| word[lane])), [stream.words(counter(lane)); 2]);
        }
    }

    #[test]
    fn draws_made_together_are_those_made_one_by_one() {
        let draws = Stream::new(5, "draws").env(3, 7, 11);
        for count in [0, 1, 15, 16, 17, 40] {
            let mut next = 0;
            draws.each((0..count).map(|k| (k * 5, 255 - k)), |k, words| {
                assert_eq!((k, words), (next, draws.words(k as u32 * 5, 255 - k as u32)));
                next += 1;
            });
            assert_eq!(next, count as usize);
        }
    }

    #[test]
    fn a_permutation_moves_everyone_to_a_place_of_their_own_and_evenly() {
        let stream = Stream::new(3, "order");
        for len in [1, 2, 3, 4, 5, 16, 17, 100, 3200] {
            let mut seen = vec![false; len as usize];
            let order = Permutation::new(stream.words([len, 0, 0, 0]), len);
            (0..len).for_each(|k| seen[order.at(k) as usize] = true);
            assert!(seen.iter().all(|&s| s), "{len}");
        }
        // Each of 6 things stands at the first place about as often.
        let mut first = [0_u32; 6];
        (0..6_000).for_each(|k| first[Permutation::new(stream.words([k, 1, 0, 0]), 6).at(0) as usize] += 1);
        assert!(first.iter().all(|&c| (850..1150).contains(&c)), "{first:?}");
    }

    #[test]
    fn below_covers_its_range_evenly() {
        for n in [1, 2, 3, 5, 7, 100, 200_000] {
            assert_eq!(below(0, n), 0);
            assert_eq!(below(u32::MAX, n), n - 1);
            let mut counts = vec![0_u32; n.min(10) as usize];
            let stream = Stream::new(1, "test");
            for i in 0..20_000 {
                let cell = u64::from(below(stream.words([i, 0, 0, 0])[0], n)) * counts.len() as u64 / u64::from(n);
                counts[cell as usize] += 1;
            }
            let expected = 20_000.0 / counts.len() as f64;
            assert!(counts.iter().all(|&c| (f64::from(c) - expected).abs() < 5.0 * expected.sqrt()), "{n}: {counts:?}");
        }
    }
}
