//! The name of an archive.

use std::{fmt, str::FromStr};

/// The SHA-256 of an archive's tar file. It is written with 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArchiveHash([u8; 32]);

/// A text that is no hash of an archive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected 64 hexadecimal digits in lower case, which name an archive")]
pub struct ArchiveHashError;

impl ArchiveHash {
    /// The hash that is these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The first twelve digits: enough to tell archives apart in a table.
    #[must_use]
    pub fn short(&self) -> String {
        hex::encode(&self.0[..6])
    }
}

impl fmt::Display for ArchiveHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for ArchiveHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ArchiveHash({self})")
    }
}

impl FromStr for ArchiveHash {
    type Err = ArchiveHashError;

    fn from_str(text: &str) -> Result<Self, ArchiveHashError> {
        // An archive has one name, so that it is found by it.
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if !text.bytes().all(is_digit) {
            return Err(ArchiveHashError);
        }
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| ArchiveHashError)?;
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_has_one_text() {
        let hash = ArchiveHash::new([0xa7; 32]);
        let text = hash.to_string();
        assert_eq!(text.parse(), Ok(hash));
        assert_eq!(hash.short(), "a7a7a7a7a7a7");
        for other in ["", "a7", &text.to_uppercase(), &format!("{text}a7"), "♣"] {
            assert_eq!(
                other.parse::<ArchiveHash>(),
                Err(ArchiveHashError),
                "{other}"
            );
        }
    }
}
