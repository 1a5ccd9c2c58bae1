//! The weights of the evaluation, and the file that they are kept in.
//!
//! The file: [`MAGIC`], then as little-endian words of 32 bits the version of the format, the
//! set of patterns, the number of stages and the length of what follows, then as a word of 64
//! bits its FNV-1a checksum. What follows are all weights as integers of variable length
//! (LEB128 of the zigzag form); a zero is followed by how many more zeros come after it.
//! Mirrored numbers of a pattern weigh the same, and are written once.

use std::sync::{Arc, LazyLock};

use crate::pattern;

/// The first bytes of a file of weights.
pub const MAGIC: [u8; 8] = *b"edge-wts";
/// The version of the file's format.
pub const FORMAT: u32 = 1;
/// Number of stages of a game that have weights of their own.
pub const STAGES: usize = 15;
/// Number of squares that are filled from one stage to the next.
const STAGE_LENGTH: u32 = 4;
/// Weights for a number of moves: 0 to this less one.
pub const MOVES: usize = 36;
/// A disc, in the unit of the weights.
pub const DISC: i32 = 128;
/// More than the numbers of all patterns, and a power of two: with an index that is masked, a
/// look-up needs no check.
const TABLE: usize = 1 << 18;

/// The weights of every stage.
pub struct PatternWeights {
    stages: Vec<StageWeights>,
}

/// The weights of one stage of the game, in units of 1/[`DISC`] of a disc, for the side to move.
#[derive(Clone)]
pub struct StageWeights {
    /// By the number that a feature shows: [`pattern::NUMBERS`] of them, and zeros.
    patterns: Box<[i16; TABLE]>,
    /// By how many moves the side to move has.
    pub own_moves: [i16; MOVES],
    /// By how many moves the other side would have.
    pub other_moves: [i16; MOVES],
    /// By the number of empty squares, modulo the length of a stage.
    pub empties: [i16; STAGE_LENGTH as usize],
}

impl StageWeights {
    /// All zero.
    #[must_use]
    pub fn zero() -> Self {
        Self {
            patterns: vec![0; TABLE]
                .try_into()
                .expect("the length is that of the type"),
            own_moves: [0; MOVES],
            other_moves: [0; MOVES],
            empties: [0; STAGE_LENGTH as usize],
        }
    }

    /// The weights by the number that a feature shows, as [`pattern::numbers`] counts them.
    #[must_use]
    pub fn patterns(&self) -> &[i16] {
        &self.patterns[..pattern::NUMBERS]
    }

    /// The same, to be changed. Mirrored numbers must weigh the same.
    pub fn patterns_mut(&mut self) -> &mut [i16] {
        &mut self.patterns[..pattern::NUMBERS]
    }

    /// The weight of a feature that shows this number.
    #[inline(always)]
    pub(crate) fn pattern(&self, number: usize) -> i32 {
        self.patterns[number & (TABLE - 1)].into()
    }
}

impl PatternWeights {
    /// The weights of these stages, from the beginning of a game to its end.
    ///
    /// # Panics
    ///
    /// If there are not [`STAGES`] of them.
    #[must_use]
    pub fn new(stages: Vec<StageWeights>) -> Self {
        assert_eq!(stages.len(), STAGES);
        Self { stages }
    }

    /// A disc for each move that the side to move has more than the other side.
    #[must_use]
    pub fn mobility() -> Self {
        let mut stage = StageWeights::zero();
        for moves in 0..MOVES {
            stage.own_moves[moves] = moves as i16 * DISC as i16;
            stage.other_moves[moves] = -stage.own_moves[moves];
        }
        Self::new(vec![stage; STAGES])
    }

    /// Those that the crate has with it; read once.
    ///
    /// # Errors
    ///
    /// [`BadWeights`] if the crate was built with a file that is none.
    pub fn embedded() -> Result<Arc<Self>, BadWeights> {
        static EMBEDDED: LazyLock<Result<Arc<PatternWeights>, BadWeights>> =
            LazyLock::new(|| PatternWeights::read(include_bytes!("../weights.bin")).map(Arc::new));
        EMBEDDED.clone()
    }

    /// The number of the stage with so many empty squares.
    #[must_use]
    #[inline(always)]
    pub const fn stage_number(empties: u32) -> usize {
        let stage = (60u32.saturating_sub(empties) / STAGE_LENGTH) as usize;
        if stage < STAGES { stage } else { STAGES - 1 }
    }

    /// The place of so many empty squares within their stage.
    #[must_use]
    #[inline(always)]
    pub const fn within_stage(empties: u32) -> usize {
        (empties % STAGE_LENGTH) as usize
    }

    /// The stage with so many empty squares.
    #[must_use]
    #[inline(always)]
    pub fn stage(&self, empties: u32) -> &StageWeights {
        &self.stages[Self::stage_number(empties)]
    }

    /// Reads a file of weights.
    ///
    /// # Errors
    ///
    /// [`BadWeights`] says what is wrong with it.
    pub fn read(file: &[u8]) -> Result<Self, BadWeights> {
        let Some((header, body)) = file.split_first_chunk::<32>() else {
            return Err(BadWeights::Short(file.len()));
        };
        if header[..8] != MAGIC {
            return Err(BadWeights::Magic);
        }
        let word = |at: usize| {
            let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            u32::from_le_bytes(bytes)
        };
        for (at, what, expected) in [
            (8, "format", FORMAT),
            (12, "set of patterns", pattern::SET),
            (16, "number of stages", STAGES as u32),
            (20, "length", body.len() as u32),
        ] {
            let found = word(at);
            if found != expected {
                return Err(BadWeights::Other {
                    what,
                    expected,
                    found,
                });
            }
        }
        if u64::from(word(24)) | u64::from(word(28)) << 32 != checksum(body) {
            return Err(BadWeights::Checksum);
        }
        let mut reader = WeightsReader { body, zeros: 0 };
        let canonical = pattern::canonical();
        let stages = (0..STAGES)
            .map(|_| reader.stage(&canonical))
            .collect::<Option<_>>()
            .ok_or(BadWeights::End)?;
        if !reader.body.is_empty() || reader.zeros != 0 {
            return Err(BadWeights::End);
        }
        Ok(Self { stages })
    }

    /// The file of these weights.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut body = Vec::new();
        let mut zeros = 0u64;
        let canonical = pattern::canonical();
        for stage in &self.stages {
            let patterns = (0..).zip(stage.patterns()).filter_map(|(number, weight)| {
                (canonical[number] as usize == number).then_some(*weight)
            });
            let others = stage.own_moves.iter().chain(&stage.other_moves);
            for weight in patterns.chain(others.chain(&stage.empties).copied()) {
                if weight == 0 {
                    zeros += 1;
                    continue;
                }
                write_zeros(&mut body, &mut zeros);
                let weight = i64::from(weight);
                write_number(&mut body, (weight << 1 ^ weight >> 63).cast_unsigned());
            }
        }
        write_zeros(&mut body, &mut zeros);
        let mut file = MAGIC.to_vec();
        for word in [FORMAT, pattern::SET, STAGES as u32, body.len() as u32] {
            file.extend(word.to_le_bytes());
        }
        file.extend(checksum(&body).to_le_bytes());
        file.extend(body);
        file
    }
}

/// Reason why a file is not one of weights that fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadWeights {
    /// It is shorter than a header.
    #[error("expected a header of 32 bytes, found {0} bytes")]
    Short(usize),
    /// It is a file of another kind.
    #[error("the file does not begin with \"edge-wts\"")]
    Magic,
    /// It was written for another evaluation, or cut off.
    #[error("expected {what} {expected}, found {found}")]
    Other {
        /// The field of the header.
        what: &'static str,
        /// The value of this version.
        expected: u32,
        /// The value in the file.
        found: u32,
    },
    /// It was damaged.
    #[error("the checksum is wrong: the file was damaged")]
    Checksum,
    /// The weights end too early or too late.
    #[error("the weights do not end with the file")]
    End,
}

struct WeightsReader<'a> {
    body: &'a [u8],
    /// Number of zeros before the next value in the body.
    zeros: u64,
}

impl WeightsReader<'_> {
    fn stage(&mut self, canonical: &[u32]) -> Option<StageWeights> {
        let mut stage = StageWeights::zero();
        for (number, &first) in canonical.iter().enumerate() {
            stage.patterns[number] = if first as usize == number {
                self.weight()?
            } else {
                stage.patterns[first as usize]
            };
        }
        let others = stage.own_moves.iter_mut().chain(&mut stage.other_moves);
        for weight in others.chain(&mut stage.empties) {
            *weight = self.weight()?;
        }
        Some(stage)
    }

    fn weight(&mut self) -> Option<i16> {
        if self.zeros > 0 {
            self.zeros -= 1;
            return Some(0);
        }
        let number = self.number()?;
        if number == 0 {
            self.zeros = self.number()?;
            return Some(0);
        }
        let weight = (number >> 1).cast_signed() ^ -(number & 1).cast_signed();
        weight.try_into().ok()
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..35).step_by(7) {
            let (&byte, rest) = self.body.split_first()?;
            self.body = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

fn write_zeros(body: &mut Vec<u8>, zeros: &mut u64) {
    if let Some(more) = zeros.checked_sub(1) {
        body.push(0);
        write_number(body, more);
        *zeros = 0;
    }
}

fn write_number(body: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        body.push(number as u8 | 0x80);
        number >>= 7;
    }
    body.push(number as u8);
}

/// FNV-1a of 64 bits (Fowler, Noll, Vo).
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> PatternWeights {
        let canonical = pattern::canonical();
        let mut stages = vec![StageWeights::zero(); STAGES];
        for (number, stage) in (0..).zip(&mut stages) {
            for at in (0..pattern::NUMBERS).step_by(1 + number) {
                let weight = (canonical[at] as i32 * 7 % 1001 - 500) as i16;
                let mirrored = canonical[at] as usize;
                stage.patterns_mut()[mirrored] = weight;
            }
            let patterns = stage.patterns_mut();
            for (at, &first) in canonical.iter().enumerate() {
                patterns[at] = patterns[first as usize];
            }
            stage.own_moves[3] = i16::MIN;
            stage.other_moves[35] = i16::MAX;
            stage.empties[number % 4] = 1;
        }
        PatternWeights::new(stages)
    }

    #[test]
    fn a_file_reads_back() {
        let weights = some();
        let file = weights.write();
        let read = PatternWeights::read(&file).unwrap();
        for (stage, expected) in read.stages.iter().zip(&weights.stages) {
            assert_eq!(stage.patterns(), expected.patterns());
            assert_eq!(stage.own_moves, expected.own_moves);
            assert_eq!(stage.other_moves, expected.other_moves);
            assert_eq!(stage.empties, expected.empties);
        }
    }

    #[test]
    fn a_wrong_file_is_refused() {
        let file = some().write();
        let error = |change: fn(&mut Vec<u8>)| {
            let mut file = file.clone();
            change(&mut file);
            PatternWeights::read(&file).err().unwrap().to_string()
        };
        assert_eq!(
            error(|file| file.truncate(9)),
            "expected a header of 32 bytes, found 9 bytes"
        );
        assert_eq!(
            error(|file| file[0] = b'E'),
            "the file does not begin with \"edge-wts\""
        );
        assert_eq!(error(|file| file[8] = 9), "expected format 1, found 9");
        assert_eq!(
            error(|file| file[12] = 9),
            format!("expected set of patterns {}, found 9", pattern::SET)
        );
        assert_eq!(
            error(|file| file[16] = 9),
            "expected number of stages 15, found 9"
        );
        assert!(error(|file| file.truncate(99)).starts_with("expected length 67, found "));
        assert_eq!(
            error(|file| file[99] ^= 1),
            "the checksum is wrong: the file was damaged"
        );
    }

    #[test]
    fn the_embedded_weights_fit() {
        assert!(PatternWeights::embedded().is_ok());
    }
}
