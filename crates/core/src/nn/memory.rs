//! Where everything lies on a device: all buffers of a kind in one array, numbers that kernels look up, and what only
//! the device has.

use super::graph::{BufferInfo, Content, Doubles, Ints, Plan, Reals, Singles, Words};

/// Buffers begin at multiples of so many numbers.
const ALIGNMENT: u32 = 64;

/// The arrays of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Array {
    /// f32: reals, and doubles and singles, too.
    Reals,
    /// u32.
    Words,
    /// i32.
    Ints,
}

/// Where buffers lie on a device.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// First number of each buffer, by kind and index.
    places: [Vec<u32>; 5],
    /// Numbers of each array: reals, words, integers.
    pub lens: [u32; 3],
    /// Words that kernels look up, and where they lie.
    pub words: Vec<(u32, Vec<u32>)>,
    /// Numbers that kernels look up, and where they lie.
    pub reals: Vec<(u32, Vec<f32>)>,
}

impl Memory {
    /// Places for the buffers of `plan`.
    pub fn new(plan: &Plan) -> Self {
        let mut memory = Self::default();
        let kinds: [(u8, &[BufferInfo]); 5] = [
            (Reals::KIND, Reals::infos(plan)),
            (Words::KIND, Words::infos(plan)),
            (Ints::KIND, Ints::infos(plan)),
            (Doubles::KIND, Doubles::infos(plan)),
            (Singles::KIND, Singles::infos(plan)),
        ];
        for (kind, infos) in kinds {
            let array = array_of(kind);
            memory.places[kind as usize] = infos.iter().map(|info| memory.claim(array, info.len() as u32)).collect();
        }
        memory
    }

    /// The first number of a buffer.
    pub fn place(&self, (kind, index): (u8, u32)) -> u32 {
        self.places[kind as usize][index as usize]
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        self.lens.iter().map(|&len| 4 * u64::from(len)).sum()
    }

    pub(super) fn claim(&mut self, array: Array, len: u32) -> u32 {
        let end = &mut self.lens[array as usize];
        let place = *end;
        *end += len.next_multiple_of(ALIGNMENT);
        place
    }

    /// Puts numbers that kernels look up somewhere, once.
    pub(super) fn keep_words(&mut self, table: &[u32]) -> u32 {
        if let Some((place, _)) = self.words.iter().find(|(_, kept)| kept == table) {
            return *place;
        }
        let place = self.claim(Array::Words, table.len() as u32);
        self.words.push((place, table.to_vec()));
        place
    }

    pub(super) fn keep_reals(&mut self, table: &[f32]) -> u32 {
        if let Some((place, _)) = self.reals.iter().find(|(_, kept)| kept == table) {
            return *place;
        }
        let place = self.claim(Array::Reals, table.len() as u32);
        self.reals.push((place, table.to_vec()));
        place
    }
}

/// The array that buffers of a kind lie in.
pub fn array_of(kind: u8) -> Array {
    match kind {
        Words::KIND => Array::Words,
        Ints::KIND => Array::Ints,
        _ => Array::Reals,
    }
}
