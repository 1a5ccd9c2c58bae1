//! Secrets that no worker may be told before their time: the root of each tournament, and the seeds
//! of deals of which it has no game.

use std::collections::HashMap;

use referee_core::Root;

/// Length of a secret in hexadecimal digits, and so the most bytes that it has on the wire.
pub(crate) const LONGEST: usize = 64;
/// The seeds of so many deals of each tournament are looked for.
const DEALS: u64 = 256;

/// A secret: the number of the tournament, and its deal; none for the root.
pub(crate) type Secret = (usize, Option<u64>);

/// The secrets of a simulation, as they are on the wire.
pub(crate) struct Secrets {
    roots: Vec<[u8; 32]>,
    seeds: Vec<Vec<[u8; 32]>>,
    /// By the first four bytes.
    begins: HashMap<[u8; 4], Vec<(Vec<u8>, Secret)>>,
    /// Which of all pairs of bytes begin a secret. Most of what is heard is told apart by it.
    pairs: Vec<bool>,
}

impl Secrets {
    /// The secrets of these games with these roots.
    pub(crate) fn new<'a>(tournaments: impl Iterator<Item = (&'a str, Root)>) -> Self {
        let mut secrets = Self {
            roots: Vec::new(),
            seeds: Vec::new(),
            begins: HashMap::new(),
            pairs: vec![false; 1 << 16],
        };
        for (number, (game, root)) in tournaments.enumerate() {
            let bytes = hex::decode(root.reveal()).expect("hexadecimal digits");
            let bytes: [u8; 32] = bytes.try_into().expect("a root has 32 bytes");
            secrets.add(bytes, (number, None));
            secrets.roots.push(bytes);
            let seed = |deal| *root.seed(game, deal).bytes();
            let seeds: Vec<[u8; 32]> = (0..DEALS).map(seed).collect();
            for (deal, seed) in (0..).zip(&seeds) {
                secrets.add(*seed, (number, Some(deal)));
            }
            secrets.seeds.push(seeds);
        }
        secrets
    }

    pub(crate) fn root(&self, tournament: usize) -> [u8; 32] {
        self.roots[tournament]
    }

    pub(crate) fn seed(&self, tournament: usize, deal: u64) -> [u8; 32] {
        self.seeds[tournament][deal as usize]
    }

    /// The secrets in these bytes: where, and which.
    pub(crate) fn within(&self, bytes: &[u8]) -> Vec<(usize, Secret)> {
        let mut found = Vec::new();
        for (at, window) in bytes.windows(4).enumerate() {
            if !self.pairs[pair(window)] {
                continue;
            }
            let Some(begin) = window.first_chunk() else {
                continue;
            };
            for (form, secret) in self.begins.get(begin).into_iter().flatten() {
                if bytes[at..].starts_with(form) {
                    found.push((at, *secret));
                }
            }
        }
        found
    }

    fn add(&mut self, bytes: [u8; 32], secret: Secret) {
        for form in [bytes.to_vec(), hex::encode(bytes).into_bytes()] {
            self.pairs[pair(&form)] = true;
            let begin = [form[0], form[1], form[2], form[3]];
            self.begins.entry(begin).or_default().push((form, secret));
        }
    }
}

fn pair(bytes: &[u8]) -> usize {
    usize::from(u16::from_be_bytes([bytes[0], bytes[1]]))
}
