//! The 54 cards, their ranks and order, and sets of them. Knows no play.

use std::{
    fmt,
    ops::{BitAnd, BitOr, BitOrAssign, Sub, SubAssign},
    str::FromStr,
};

use serde::{Deserialize, Serialize};

/// Number of cards.
pub const DECK: u8 = 54;
const NATURAL: u8 = 52;
const RANKS: [&str; 13] = [
    "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A", "2",
];
const SUITS: [(char, char); 4] = [('C', '♣'), ('D', '♦'), ('H', '♥'), ('S', '♠')];
const JOKERS: [&str; 2] = ["JK1", "JK2"];

/// One of the 54 cards. Its index counts the threes first, then the fours, up
/// to the twos, in each rank clubs, diamonds, hearts, spades; then the jokers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Card(u8);

impl Card {
    /// The card that opens a game.
    pub const THREE_OF_CLUBS: Self = Self(0);

    /// The natural card of this rank and suit.
    #[must_use]
    pub const fn new(rank: Rank, suit: Suit) -> Self {
        Self(4 * rank.0 + suit as u8)
    }

    /// The card with this index, where there is one.
    #[must_use]
    pub const fn from_index(index: u8) -> Option<Self> {
        if index < DECK {
            Some(Self(index))
        } else {
            None
        }
    }

    /// All cards in order of their indices.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        (0..DECK).map(Self)
    }

    /// Its index, from 0.
    #[must_use]
    pub const fn index(self) -> u8 {
        self.0
    }

    /// Its rank; a joker has none.
    #[must_use]
    pub const fn rank(self) -> Option<Rank> {
        if self.is_joker() {
            None
        } else {
            Some(Rank(self.0 / 4))
        }
    }

    /// Its suit; a joker has none.
    #[must_use]
    pub const fn suit(self) -> Option<Suit> {
        if self.is_joker() {
            None
        } else {
            Some(Suit::ALL[self.0 as usize % 4])
        }
    }

    /// True if it is one of the two jokers.
    #[must_use]
    pub const fn is_joker(self) -> bool {
        self.0 >= NATURAL
    }
}

/// `3C`, `10D`, `AS`; the jokers are `JK1` and `JK2`.
impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.rank(), self.suit()) {
            (Some(rank), Some(suit)) => write!(f, "{rank}{}", SUITS[suit as usize].0),
            _ => f.write_str(JOKERS[usize::from(self.0 - NATURAL)]),
        }
    }
}

/// Reads the printed form; small letters, T for 10 and the symbols of the suits, as in `10♦`, are
/// accepted too.
impl FromStr for Card {
    type Err = NoCard;

    fn from_str(text: &str) -> Result<Self, NoCard> {
        let upper = text.to_uppercase();
        if let Some(joker) = JOKERS.iter().position(|name| *name == upper) {
            return Ok(Self(NATURAL + joker as u8));
        }
        let mut letters = upper.chars();
        let suit = letters.next_back();
        let suit = SUITS
            .iter()
            .position(|&(letter, sign)| Some(letter) == suit || Some(sign) == suit);
        let rank = match letters.as_str() {
            "T" => "10",
            rank => rank,
        };
        let rank = RANKS.iter().position(|known| *known == rank);
        match (rank, suit) {
            (Some(rank), Some(suit)) => Ok(Self(4 * rank as u8 + suit as u8)),
            _ => Err(NoCard::Unknown(text.chars().take(12).collect())),
        }
    }
}

/// Text that names no card, or one twice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCard {
    /// There is no such card.
    #[error(
        "expected a card such as 3C, 10D, JH, 2S (ranks 3 to 10, J, Q, K, A, 2; \
         suits C, D, H, S) or a joker, JK1 or JK2; found {0:?}"
    )]
    Unknown(String),
    /// The card is there twice.
    #[error("{0} is there twice")]
    Twice(Card),
}

/// A suit. All suits are equal in rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Suit {
    /// ♣
    Clubs,
    /// ♦
    Diamonds,
    /// ♥
    Hearts,
    /// ♠
    Spades,
}

impl Suit {
    /// All four, in the order of the cards' indices.
    pub const ALL: [Self; 4] = [Self::Clubs, Self::Diamonds, Self::Hearts, Self::Spades];
}

/// A rank of natural cards, from the three, the lowest in the normal order, to
/// the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(u8);

impl Rank {
    /// The highest in the normal order.
    pub const TWO: Self = Self(12);

    /// The thirteen ranks from 3 to 2.
    pub fn all() -> impl ExactSizeIterator<Item = Self> + Clone {
        (0..13).map(Self)
    }

    /// Its place on the faces of a suit, from 1: A 2 3 … K.
    #[must_use]
    pub const fn face(self) -> u8 {
        (self.0 + 2) % 13 + 1
    }

    /// The rank at this place on the faces of a suit, 1 to 13.
    ///
    /// # Panics
    ///
    /// Where there is no such place.
    #[must_use]
    pub const fn from_face(face: u8) -> Self {
        assert!(1 <= face && face <= 13);
        Self((face + 10) % 13)
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(RANKS[usize::from(self.0)])
    }
}

/// The order of the ranks at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// 3 4 5 6 7 8 9 10 J Q K A 2, from low to high.
    #[default]
    Normal,
    /// The reversed order, from low to high: 2 A K … 4 3.
    Reversed,
}

impl Order {
    /// The order after one more reversal.
    #[must_use]
    pub const fn turned(self) -> Self {
        match self {
            Self::Normal => Self::Reversed,
            Self::Reversed => Self::Normal,
        }
    }

    /// A remark about the order for the description of a play; empty if it is normal.
    pub(super) const fn in_words(self) -> &'static str {
        match self {
            Self::Normal => "",
            Self::Reversed => " in the reversed order",
        }
    }

    /// The strength of a rank in this order: 0 to 12.
    #[must_use]
    pub const fn strength(self, rank: Rank) -> u8 {
        match self {
            Self::Normal => rank.0,
            Self::Reversed => 12 - rank.0,
        }
    }

    /// The thirteen ranks from low to high.
    pub fn ranks(self) -> impl ExactSizeIterator<Item = Rank> {
        (0..13).map(move |strength| match self {
            Self::Normal => Rank(strength),
            Self::Reversed => Rank(12 - strength),
        })
    }
}

/// A joker is above every rank, in either order.
pub const JOKER_STRENGTH: u8 = 13;

/// A set of cards: bit i is the card with index i, so a rank is four bits in a
/// row.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Cards(u64);

impl Cards {
    /// No cards.
    pub const NONE: Self = Self(0);
    /// All 54.
    pub const DECK: Self = Self((1 << DECK) - 1);
    /// Both jokers.
    pub const JOKERS: Self = Self(0b11 << NATURAL);

    /// The set with these bits; bits that stand for no card are dropped.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits & Self::DECK.0)
    }

    /// Its bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// All cards of a rank.
    #[must_use]
    pub const fn of_rank(rank: Rank) -> Self {
        Self(0b1111 << (4 * rank.0))
    }

    /// All cards of a suit.
    #[must_use]
    pub const fn of_suit(suit: Suit) -> Self {
        Self(0x1_1111_1111_1111 << suit as u8)
    }

    /// The cards of a suit with these faces: bit 0 is A, bit 12 K.
    #[must_use]
    pub const fn of_faces(suit: Suit, faces: u16) -> Self {
        let faces = faces as u64 & 0x1fff;
        let mut bits = (faces >> 2 | faces << 11) & 0x1fff;
        // Spreads the bits: each becomes the first of four.
        bits = (bits | bits << 24) & 0x0000_00ff_0000_00ff;
        bits = (bits | bits << 12) & 0x000f_000f_000f_000f;
        bits = (bits | bits << 6) & 0x0303_0303_0303_0303;
        bits = (bits | bits << 3) & 0x1111_1111_1111_1111;
        Self(bits << suit as u8)
    }

    /// Number of cards.
    #[must_use]
    pub const fn len(self) -> u8 {
        self.0.count_ones() as u8
    }

    /// True if there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// True if this card is among them.
    #[must_use]
    pub const fn contains(self, card: Card) -> bool {
        self.0 >> card.0 & 1 == 1
    }

    /// True if all of these are among them.
    #[must_use]
    pub const fn contains_all(self, cards: Self) -> bool {
        cards.0 & !self.0 == 0
    }

    /// Puts a card in and says whether it is new.
    pub const fn insert(&mut self, card: Card) -> bool {
        let new = !self.contains(card);
        self.0 |= 1 << card.0;
        new
    }

    /// The jokers among them.
    #[must_use]
    pub const fn jokers(self) -> Self {
        Self(self.0 & Self::JOKERS.0)
    }

    /// The others.
    #[must_use]
    pub const fn naturals(self) -> Self {
        Self(self.0 & !Self::JOKERS.0)
    }

    /// The card with the lowest index.
    #[must_use]
    pub const fn first(self) -> Option<Card> {
        if self.0 == 0 {
            None
        } else {
            Some(Card(self.0.trailing_zeros() as u8))
        }
    }

    /// The card with the highest index.
    #[must_use]
    pub const fn last(self) -> Option<Card> {
        if self.0 == 0 {
            None
        } else {
            Some(Card(63 - self.0.leading_zeros() as u8))
        }
    }

    /// The suits in which the rank is there, as four bits.
    #[must_use]
    pub(super) const fn suits_of(self, rank: Rank) -> u8 {
        (self.0 >> (4 * rank.0)) as u8 & 0b1111
    }

    /// The faces of a suit that are there: bit 0 is A, bit 12 K.
    #[must_use]
    pub const fn faces_of(self, suit: Suit) -> u16 {
        // Collects every fourth bit.
        let mut bits = self.0 >> suit as u8 & 0x1_1111_1111_1111;
        bits = (bits | bits >> 3) & 0x0303_0303_0303_0303;
        bits = (bits | bits >> 6) & 0x000f_000f_000f_000f;
        bits = (bits | bits >> 12) & 0x0000_00ff_0000_00ff;
        let ranks = (bits | bits >> 24) as u16 & 0x1fff;
        (ranks << 2 | ranks >> 11) & 0x1fff
    }

    /// The cards in order of their indices.
    #[must_use]
    pub const fn iter(self) -> Iter {
        Iter(self)
    }
}

/// The cards of a set in order of their indices.
#[derive(Clone, Debug)]
pub struct Iter(Cards);

impl Iterator for Iter {
    type Item = Card;

    fn next(&mut self) -> Option<Card> {
        let first = self.0.first()?;
        self.0.0 &= self.0.0 - 1;
        Some(first)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::from(self.0.len());
        (left, Some(left))
    }
}

impl ExactSizeIterator for Iter {}

impl IntoIterator for Cards {
    type Item = Card;
    type IntoIter = Iter;

    fn into_iter(self) -> Iter {
        self.iter()
    }
}

impl FromIterator<Card> for Cards {
    fn from_iter<I: IntoIterator<Item = Card>>(cards: I) -> Self {
        let mut set = Self::NONE;
        for card in cards {
            set.insert(card);
        }
        set
    }
}

impl From<Card> for Cards {
    fn from(card: Card) -> Self {
        Self(1 << card.0)
    }
}

impl BitOr for Cards {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Cards {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl BitAnd for Cards {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// The cards that are not in the other set.
impl Sub for Cards {
    type Output = Self;

    fn sub(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }
}

impl SubAssign for Cards {
    fn sub_assign(&mut self, others: Self) {
        self.0 &= !others.0;
    }
}

/// `3C 10D JK1`, in order of the indices.
impl fmt::Display for Cards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, card) in self.iter().enumerate() {
            let space = if i == 0 { "" } else { " " };
            write!(f, "{space}{card}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Cards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{self}]")
    }
}

/// Reads cards with blanks, commas or brackets between them, in any order.
impl FromStr for Cards {
    type Err = NoCard;

    fn from_str(text: &str) -> Result<Self, NoCard> {
        let mut cards = Self::NONE;
        let is_between = |c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']');
        for word in text.split(is_between).filter(|word| !word.is_empty()) {
            let card = word.parse()?;
            if !cards.insert(card) {
                return Err(NoCard::Twice(card));
            }
        }
        Ok(cards)
    }
}

impl TryFrom<String> for Cards {
    type Error = NoCard;

    fn try_from(text: String) -> Result<Self, NoCard> {
        text.parse()
    }
}

impl From<Cards> for String {
    fn from(cards: Cards) -> Self {
        cards.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_card_is_read_as_it_is_printed() {
        for card in Card::all() {
            assert_eq!(card.to_string().parse(), Ok(card));
        }
        assert_eq!(Cards::DECK.to_string().parse(), Ok(Cards::DECK));
        for text in ["10♦", "10d", "TD", "t♦"] {
            assert_eq!(text.parse::<Card>(), "10D".parse());
        }
        assert_eq!(
            "[3♣]  10♦, jk1".parse::<Cards>(),
            "3C 10D JK1".parse::<Cards>()
        );
        assert_eq!("jk2 ♣".parse::<Cards>().unwrap_err().to_string(), {
            let what = NoCard::Unknown("♣".to_owned());
            what.to_string()
        });
        assert_eq!(
            "3C 4C 3c".parse::<Cards>().unwrap_err().to_string(),
            "3C is there twice"
        );
        for text in ["", "C", "3", "1C", "11D", "JK", "JK3", "3CC", "♣3", "J♣♣"] {
            assert!(text.parse::<Card>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_order_of_the_page_from_low_to_high() {
        let names = |order: Order| {
            order
                .ranks()
                .map(|r| r.to_string())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(names(Order::Normal), "3 4 5 6 7 8 9 10 J Q K A 2");
        assert_eq!(names(Order::Reversed), "2 A K Q J 10 9 8 7 6 5 4 3");
        for order in [Order::Normal, Order::Reversed] {
            for (at, rank) in order.ranks().enumerate() {
                assert_eq!(usize::from(order.strength(rank)), at);
                assert!(order.strength(rank) < JOKER_STRENGTH);
            }
        }
    }

    #[test]
    fn faces_go_from_the_ace_to_the_king() {
        let faces: Vec<String> = (1..=13).map(|f| Rank::from_face(f).to_string()).collect();
        assert_eq!(faces.join(" "), "A 2 3 4 5 6 7 8 9 10 J Q K");
        for rank in Rank::all() {
            assert_eq!(Rank::from_face(rank.face()), rank);
            for suit in Suit::ALL {
                let card = Card::new(rank, suit);
                assert_eq!((card.rank(), card.suit()), (Some(rank), Some(suit)));
                assert_eq!(
                    Cards::from(card).faces_of(suit),
                    1 << (rank.face() - 1),
                    "{card}"
                );
                assert_eq!(Cards::of_faces(suit, 1 << (rank.face() - 1)), card.into());
                assert_eq!(
                    (Cards::DECK - Cards::from(card))
                        .faces_of(suit)
                        .count_ones(),
                    12
                );
            }
        }
    }
}
