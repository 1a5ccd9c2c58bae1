//! The source of all chance: one secret root for a run, and one seed for a game,
//! derived from it by a hash, so that a published seed tells nothing about another
//! seed.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// The seed of one game, which decides all its chance. It is secret while the game is
/// played; its `Debug` form does not show it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seed([u8; 32]);

impl Seed {
    /// A seed of these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The seed for the bot's own random numbers in `seat`: the first 8 bytes,
    /// little-endian, of SHA-256("bot-arena bot seed v1" ‖ seed ‖ seat). It tells
    /// nothing about the deal, since the hash can't be inverted. It is the same in each seating
    /// of a deal, so that bots which play alike come out even.
    #[must_use]
    pub fn for_bot(&self, seat: crate::Seat) -> u64 {
        u64::from_le_bytes(self.derive(b"bot-arena bot seed v1", &[seat.index() as u8]))
    }

    /// The name of a game with secrets that its bots are told, as 16 hexadecimal digits: the
    /// first 8 bytes of SHA-256("bot-arena game name v1" ‖ seed ‖ game_id). Nobody without the
    /// seed can say which deal it belongs to, nor which seating of it this is.
    #[must_use]
    pub fn name_for_bots(&self, game_id: &str) -> String {
        hex::encode(self.derive(b"bot-arena game name v1", game_id.as_bytes()))
    }

    fn derive(&self, purpose: &[u8], of: &[u8]) -> [u8; 8] {
        let hash = Sha256::new()
            .chain_update(purpose)
            .chain_update(self.0)
            .chain_update(of)
            .finalize();
        let mut first = [0; 8];
        first.copy_from_slice(&hash[..8]);
        first
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(secret)")
    }
}

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(self.0))
    }
}

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse32(&text)
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("a seed is 64 hexadecimal digits"))
    }
}

/// The secret that a run's seeds are derived from.
#[derive(Clone, PartialEq, Eq)]
pub struct Root([u8; 32]);

impl Root {
    /// A root of these bytes, which should come from the system's generator.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The commitment that is published before the run: SHA-256("bot-arena root v1" ‖
    /// root), in hexadecimal.
    #[must_use]
    pub fn commitment(&self) -> String {
        let hash = Sha256::new()
            .chain_update(b"bot-arena root v1")
            .chain_update(self.0)
            .finalize();
        hex::encode(hash)
    }

    /// The root in hexadecimal, which is published after the run. Used as a typed seed,
    /// it gives the same games again.
    #[must_use]
    pub fn reveal(&self) -> String {
        hex::encode(self.0)
    }

    /// The seed of a group of games that share one deal:
    /// SHA-256("bot-arena game seed v1" ‖ root ‖ game ‖ 0 ‖ group), the group's
    /// number as 8 little-endian bytes.
    #[must_use]
    pub fn seed(&self, game: &str, group: u64) -> Seed {
        let hash = Sha256::new()
            .chain_update(b"bot-arena game seed v1")
            .chain_update(self.0)
            .chain_update(game.as_bytes())
            .chain_update([0])
            .chain_update(group.to_le_bytes())
            .finalize();
        Seed(hash.into())
    }
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Root(secret)")
    }
}

/// Reason why a typed seed is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeedError {
    /// The text was empty.
    #[error("a seed can't be empty: give a number, a word, or the 64 hexadecimal digits of a root")]
    Empty,
}

/// Reads a typed seed: 64 hexadecimal digits are the root itself; any other text is
/// hashed, SHA-256("bot-arena typed root v1" ‖ text).
impl FromStr for Root {
    type Err = SeedError;

    fn from_str(text: &str) -> Result<Self, SeedError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SeedError::Empty);
        }
        Ok(parse32(text).map_or_else(
            || {
                let hash = Sha256::new()
                    .chain_update(b"bot-arena typed root v1")
                    .chain_update(text.as_bytes())
                    .finalize();
                Self(hash.into())
            },
            Self,
        ))
    }
}

fn parse32(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    hex::decode_to_slice(text, &mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seat;

    #[test]
    fn a_typed_seed_means_the_same_root_for_ever() {
        let root: Root = "42".parse().unwrap();
        assert_eq!(
            root.reveal(),
            hex::encode(Sha256::digest(b"bot-arena typed root v142"))
        );
        assert_eq!(root.reveal().parse::<Root>().unwrap(), root);
        assert_eq!("".parse::<Root>(), Err(SeedError::Empty));
    }

    #[test]
    fn seeds_differ_by_game_group_and_seat() {
        let root = Root::new([7; 32]);
        let seed = root.seed("a", 0);
        assert_ne!(seed, root.seed("a", 1));
        assert_ne!(seed, root.seed("b", 0));
        assert_ne!(seed.for_bot(Seat::new(0)), seed.for_bot(Seat::new(1)));
    }

    /// The page of the protocol says what they are; other programs may compute them.
    #[test]
    fn what_bots_are_told_is_the_same_for_ever() {
        let seed = Seed::new([7; 32]);
        let game = "match-0000-deal-0003-game-1";
        assert_eq!(seed.name_for_bots(game), "8e9d0bef19a359d1");
        assert_eq!(seed.for_bot(Seat::new(1)), 446_843_209_393_771_457);
    }

    #[test]
    fn secrets_do_not_print() {
        assert_eq!(format!("{:?}", Seed::new([7; 32])), "Seed(secret)");
        assert_eq!(format!("{:?}", Root::new([7; 32])), "Root(secret)");
    }
}
