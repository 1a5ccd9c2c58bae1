//! Changes inputs, the same for the same seed.

/// Numbers that are often the edge of something.
const EDGES: &[&str] = &[
    "0",
    "-1",
    "1",
    "255",
    "256",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "1e308",
    "null",
    "\"\"",
    "[]",
    "{}",
];

/// Changes inputs.
pub struct Mutator(u64);

impl Mutator {
    /// One that always does the same for the same seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below this one, or 0.
    pub fn below(&mut self, end: usize) -> usize {
        // SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators).
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) as usize % end.max(1)
    }

    /// One of these with one to four changes, of at most 64 KiB.
    ///
    /// # Panics
    ///
    /// There is none.
    pub fn mutate(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut input = corpus[self.below(corpus.len())].clone();
        for _ in 0..=self.below(4) {
            let other = &corpus[self.below(corpus.len())];
            self.change(&mut input, other);
        }
        input.truncate(64 * 1024);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, other: &[u8]) {
        let [start, end] = self.range(input.len());
        match self.below(9) {
            0 => {
                if let Some(byte) = input.get_mut(start) {
                    *byte ^= 1 << self.below(8);
                }
            }
            1 => {
                if let Some(byte) = input.get_mut(start) {
                    *byte = self.below(256) as u8;
                }
            }
            2 => input.truncate(start),
            3 => drop(input.drain(start..end)),
            4 => {
                let part = input[start..end].to_vec();
                let copies = 1 + self.below(8);
                input.splice(start..start, part.repeat(copies));
            }
            5 => {
                let [from, to] = self.range(other.len());
                input.splice(start..end, other[from..to].iter().copied());
            }
            6 => {
                let random = (0..self.below(16)).map(|_| self.below(256) as u8);
                let random: Vec<u8> = random.collect();
                input.splice(start..start, random);
            }
            7 => self.replace_number(input),
            _ => self.swap_lines(input),
        }
    }

    fn range(&mut self, length: usize) -> [usize; 2] {
        let start = self.below(length + 1);
        let most = if self.below(2) == 0 {
            8
        } else {
            length - start
        };
        [start, start + self.below(most.min(length - start) + 1)]
    }

    /// A run of digits becomes a number at the edge of something.
    fn replace_number(&mut self, input: &mut Vec<u8>) {
        let from = self.below(input.len());
        let Some(start) = input.iter().skip(from).position(u8::is_ascii_digit) else {
            return;
        };
        let start = from + start;
        let digits = input[start..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        let end = start + digits.count();
        let edge = EDGES[self.below(EDGES.len())];
        input.splice(start..end, edge.bytes());
    }

    fn swap_lines(&mut self, input: &mut Vec<u8>) {
        let mut lines: Vec<&[u8]> = input.split_inclusive(|byte| *byte == b'\n').collect();
        let [one, other] = [0, 1].map(|_| self.below(lines.len()));
        if lines.len() > 1 {
            lines.swap(one, other);
            *input = lines.concat();
        }
    }
}
