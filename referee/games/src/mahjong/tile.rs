//! Tiles, sets of them, and their notation: ranks, then their suit, as in
//! `122367c1478b1389d`.

use std::fmt;

/// Number of kinds of tiles.
pub const KINDS: usize = 27;
/// Number of tiles of a kind.
pub const COPIES: u8 = 4;
/// Number of tiles.
pub const TILES: usize = KINDS * COPIES as usize;
/// Number of ranks of a suit.
pub(super) const RANKS: u8 = 9;

/// A suit. The order is the one in which tiles are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MahjongSuit {
    /// c
    Characters,
    /// b
    Bamboos,
    /// d
    Dots,
}

impl MahjongSuit {
    /// All of them, in order.
    pub const ALL: [Self; 3] = [Self::Characters, Self::Bamboos, Self::Dots];

    /// Its letter.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Characters => 'c',
            Self::Bamboos => 'b',
            Self::Dots => 'd',
        }
    }
}

/// A kind of tile, of which there are four. Tiles are sorted by suit, then by
/// rank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tile(u8);

impl Tile {
    /// The tile of this suit and rank; none where the rank is not 1 to 9.
    #[must_use]
    pub const fn new(suit: MahjongSuit, rank: u8) -> Option<Self> {
        match rank {
            1..=RANKS => Some(Self(suit as u8 * RANKS + rank - 1)),
            _ => None,
        }
    }

    /// All kinds, in order.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        (0..KINDS as u8).map(Self)
    }

    /// Its suit.
    #[must_use]
    pub const fn suit(self) -> MahjongSuit {
        MahjongSuit::ALL[(self.0 / RANKS) as usize]
    }

    /// Its rank, 1 to 9.
    #[must_use]
    pub const fn rank(self) -> u8 {
        self.0 % RANKS + 1
    }

    /// Its place among all kinds, from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.rank(), self.suit().letter())
    }
}

impl fmt::Debug for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Some kinds of tiles.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct TileSet(u32);

impl TileSet {
    /// None.
    pub const EMPTY: Self = Self(0);

    /// By the kinds' places.
    pub(super) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Adds one.
    pub const fn insert(&mut self, tile: Tile) {
        self.0 |= 1 << tile.0;
    }

    /// True if it is among them.
    #[must_use]
    pub const fn contains(self, tile: Tile) -> bool {
        self.0 >> tile.0 & 1 == 1
    }

    /// True if there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Number of kinds.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The kinds, in order.
    pub fn iter(self) -> impl Iterator<Item = Tile> {
        Tile::all().filter(move |&tile| self.contains(tile))
    }
}

impl FromIterator<Tile> for TileSet {
    fn from_iter<I: IntoIterator<Item = Tile>>(tiles: I) -> Self {
        let mut set = Self::EMPTY;
        for tile in tiles {
            set.insert(tile);
        }
        set
    }
}

impl fmt::Debug for TileSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(&self.iter().collect::<Vec<_>>()))
    }
}

/// Reason why a text is not in the notation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotationError {
    /// A character without a meaning.
    #[error(
        "expected ranks 1 to 9 followed by their suit c, b or d, such as 123c45b6d, found '{0}'"
    )]
    Sign(char),
    /// A suit without a rank.
    #[error("expected ranks before the suit '{0}', such as 123c45b6d")]
    NoRank(char),
    /// Ranks without a suit.
    #[error("expected a suit c, b or d after the ranks {0}, such as 123c45b6d")]
    NoSuit(String),
}

/// Reads tiles in the order in which they are written; blanks, commas and brackets mean nothing, and
/// a suit may be a capital.
///
/// # Errors
///
/// [`NotationError`] says what is wrong.
pub fn parse(text: &str) -> Result<Vec<Tile>, NotationError> {
    let mut tiles = Vec::new();
    let mut ranks = String::new();
    let means_nothing = |sign: &char| sign.is_whitespace() || matches!(sign, ',' | '[' | ']');
    for sign in text.chars().filter(|sign| !means_nothing(sign)) {
        if ('1'..='9').contains(&sign) {
            ranks.push(sign);
            continue;
        }
        let suit = MahjongSuit::ALL
            .into_iter()
            .find(|suit| suit.letter() == sign.to_ascii_lowercase())
            .ok_or(NotationError::Sign(sign))?;
        if ranks.is_empty() {
            return Err(NotationError::NoRank(sign));
        }
        tiles.extend(
            ranks
                .bytes()
                .filter_map(|rank| Tile::new(suit, rank - b'0')),
        );
        ranks.clear();
    }
    if ranks.is_empty() {
        Ok(tiles)
    } else {
        Err(NotationError::NoSuit(ranks))
    }
}

/// Writes tiles in the order in which they come.
#[must_use]
pub fn print(tiles: &[Tile]) -> String {
    let mut text = String::new();
    for (at, tile) in tiles.iter().enumerate() {
        text.push(char::from(b'0' + tile.rank()));
        let next = tiles.get(at + 1).map(|next| next.suit());
        if next != Some(tile.suit()) {
            text.push(tile.suit().letter());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notation_reads_back() {
        for text in ["122367c1478b1389d", "9d1c", "", "111c222b3d"] {
            assert_eq!(print(&parse(text).unwrap()), text);
        }
        for text in ["1c2c 3d", "1C2c, 3D", "1c  2c  [3d]"] {
            assert_eq!(print(&parse(text).unwrap()), "12c3d");
        }
        assert_eq!(parse("1c9d").unwrap()[1].index(), 26);
    }

    #[test]
    fn what_is_no_notation_is_refused() {
        assert_eq!(parse("10c"), Err(NotationError::Sign('0')));
        assert_eq!(parse("12"), Err(NotationError::NoSuit("12".to_owned())));
        assert_eq!(parse("1cc"), Err(NotationError::NoRank('c')));
        assert_eq!(parse("1ö"), Err(NotationError::Sign('ö')));
    }
}
