//! The chunks that are ready to be leased, by match.

use std::collections::{BTreeMap, VecDeque};

use super::state::Chunk;

/// Chunks that are ready, in the order of their matches.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    by_match: BTreeMap<u32, VecDeque<Chunk>>,
    len: usize,
}

impl Ready {
    /// Number of these chunks.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Chunk> {
        self.by_match.values().flatten()
    }

    pub(crate) fn extend(&mut self, chunks: impl IntoIterator<Item = Chunk>) {
        for chunk in chunks {
            self.of(&chunk).push_back(chunk);
            self.len += 1;
        }
    }

    /// Adds a chunk that was leased before: it comes before the others of its match.
    pub(crate) fn put_back(&mut self, chunk: Chunk) {
        self.of(&chunk).push_front(chunk);
        self.len += 1;
    }

    /// Takes the first one that fits: of this match, or else of the first `most` of all that may be
    /// played.
    pub(crate) fn take(
        &mut self,
        matchup: Option<u32>,
        most: usize,
        may_play: &dyn Fn(&Chunk) -> bool,
        fits: &dyn Fn(&Chunk) -> bool,
    ) -> Option<Chunk> {
        let (matchup, at) = match matchup {
            Some(matchup) => {
                let mut chunks = self.by_match.get(&matchup)?.iter();
                (
                    matchup,
                    chunks.position(|chunk| may_play(chunk) && fits(chunk))?,
                )
            }
            None => {
                let numbered = self.by_match.iter().flat_map(|(matchup, chunks)| {
                    let chunks = chunks.iter().enumerate();
                    chunks.map(|(at, chunk)| (*matchup, at, chunk))
                });
                let mut first = numbered.filter(|(_, _, chunk)| may_play(chunk)).take(most);
                let (matchup, at, _) = first.find(|(_, _, chunk)| fits(chunk))?;
                (matchup, at)
            }
        };
        let chunks = self.by_match.get_mut(&matchup)?;
        let chunk = chunks.remove(at)?;
        if chunks.is_empty() {
            self.by_match.remove(&matchup);
        }
        self.len -= 1;
        Some(chunk)
    }

    fn of(&mut self, chunk: &Chunk) -> &mut VecDeque<Chunk> {
        self.by_match.entry(chunk.id.matchup).or_default()
    }
}
