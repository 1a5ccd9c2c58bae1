//! An opening book: positions with the values of their better moves, from searches that were
//! made beforehand (`examples/edge-book`), and the file that they are kept in. Positions that are
//! images of each other are one.
//!
//! The file: [`MAGIC`], then as little-endian words of 32 bits the version of the format and the
//! number of positions, then as a word of 64 bits the FNV-1a checksum of what follows. That is for
//! each position, in ascending order, the discs of the side to move and those of the other side as
//! words of 64 bits, the number of moves as a byte, and for each move, in ascending order, its
//! square and its value in discs as a byte each.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use crate::{
    board::Discs,
    square::{Square, Squares},
    weights::checksum,
};

/// The first bytes of a file of a book.
pub const MAGIC: [u8; 8] = *b"edge-bok";
/// The version of the file's format.
pub const FORMAT: u32 = 1;
/// The length of the file's header in bytes.
const HEADER: usize = 24;

/// A book.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Book {
    positions: BTreeMap<[u64; 2], BookEntry>,
}

/// The book's knowledge of one position.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BookEntry {
    moves: Vec<BookMove>,
    /// The value by the moves of this position and of those that follow it.
    value: i32,
}

/// A move of a position in the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookMove {
    /// The move.
    pub square: Square,
    /// The score found by the search after it, in discs for who makes it.
    pub searched: i32,
    /// The same by the positions of the book that follow, where there are some.
    pub value: i32,
}

impl Book {
    /// That which the crate has with it; read once.
    ///
    /// # Errors
    ///
    /// [`BadBook`] if the crate was built with a file that is none.
    pub fn embedded() -> Result<Arc<Self>, BadBook> {
        static EMBEDDED: LazyLock<Result<Arc<Book>, BadBook>> =
            LazyLock::new(|| Book::read(include_bytes!("../book.bin")).map(Arc::new));
        EMBEDDED.clone()
    }

    /// Number of positions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// True if it has no positions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Its positions, in ascending order.
    pub fn positions(&self) -> impl Iterator<Item = Discs> {
        let board = |&[own, other]: &[u64; 2]| Discs { own, other };
        self.positions.keys().map(board)
    }

    /// The known moves of a position, the best one first; none where it is not in the book.
    #[must_use]
    pub fn moves(&self, board: Discs) -> Vec<BookMove> {
        let (key, image) = canonical(board);
        let Some(entry) = self.positions.get(&key) else {
            return Vec::new();
        };
        let mut moves: Vec<BookMove> = Squares(board.moves())
            .filter_map(|square| {
                let seen = image_of(square, image);
                let known = entry.moves.iter().find(|known| known.square == seen)?;
                Some(BookMove { square, ..*known })
            })
            .collect();
        moves.sort_by_key(|known| -known.value);
        moves
    }

    /// Adds a position with what searches of its moves found, in discs for who makes them; what
    /// was known of it is replaced. [`Self::back_up`] then has to tell the positions before it.
    pub fn insert(&mut self, board: Discs, searched: &[(Square, i32)]) {
        let (key, image) = canonical(board);
        let mut moves: Vec<BookMove> = searched
            .iter()
            .map(|&(square, searched)| BookMove {
                square: image_of(square, image),
                searched,
                value: searched,
            })
            .collect();
        moves.sort_by_key(|known| known.square);
        self.positions.insert(key, BookEntry { moves, value: 0 });
    }

    /// Works out all values from those of the positions that follow.
    pub fn back_up(&mut self) {
        let mut keys: Vec<[u64; 2]> = self.positions.keys().copied().collect();
        // From the end: a position has more discs than any before it.
        keys.sort_by_key(|[own, other]| std::cmp::Reverse((own | other).count_ones()));
        for key in keys {
            let board = Discs {
                own: key[0],
                other: key[1],
            };
            let mut moves = self.positions[&key].moves.clone();
            for known in &mut moves {
                let next = board.play(known.square).map(|next| canonical(next).0);
                let next = next.and_then(|next| self.positions.get(&next));
                known.value = next.map_or(known.searched, |next| -next.value);
            }
            let value = moves.iter().map(|known| known.value).max().unwrap_or(0);
            self.positions.insert(key, BookEntry { moves, value });
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`BadBook`] says what is wrong with it.
    pub fn read(file: &[u8]) -> Result<Self, BadBook> {
        let Some((header, mut rest)) = file.split_first_chunk::<HEADER>() else {
            return Err(BadBook::Short(file.len()));
        };
        let mut header = &header[..];
        if take(&mut header) != Some(MAGIC) {
            return Err(BadBook::Magic);
        }
        let mut number = || take(&mut header).map_or(0, u32::from_le_bytes);
        let (format, count) = (number(), number());
        if format != FORMAT {
            return Err(BadBook::Format(format));
        }
        if take(&mut header).map(u64::from_le_bytes) != Some(checksum(rest)) {
            return Err(BadBook::Checksum);
        }
        let mut book = Self::default();
        for number in 0..count {
            let (key, entry) = read_position(&mut rest).ok_or(BadBook::Position(number))?;
            if book
                .positions
                .last_key_value()
                .is_some_and(|(last, _)| *last >= key)
            {
                return Err(BadBook::Position(number));
            }
            book.positions.insert(key, entry);
        }
        if !rest.is_empty() {
            return Err(BadBook::End(rest.len()));
        }
        book.back_up();
        Ok(book)
    }

    /// The file of this book.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut body = Vec::new();
        for ([own, other], entry) in &self.positions {
            body.extend(own.to_le_bytes());
            body.extend(other.to_le_bytes());
            body.push(entry.moves.len() as u8);
            for known in &entry.moves {
                body.extend([known.square.index() as u8, known.searched as u8]);
            }
        }
        let mut file = MAGIC.to_vec();
        file.extend(FORMAT.to_le_bytes());
        file.extend((self.positions.len() as u32).to_le_bytes());
        file.extend(checksum(&body).to_le_bytes());
        file.extend(body);
        file
    }
}

/// Reason why a file is not one of a book.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadBook {
    /// It is shorter than a header.
    #[error("expected a header of {HEADER} bytes, found {0} bytes")]
    Short(usize),
    /// It is a file of another kind.
    #[error("the file does not begin with \"edge-bok\"")]
    Magic,
    /// It is of another version.
    #[error("expected format {FORMAT}, found {0}")]
    Format(u32),
    /// It was damaged.
    #[error("the checksum is wrong: the file was damaged or cut off")]
    Checksum,
    /// A position can't be one of a book.
    #[error(
        "position {0}: expected a board that is the least of its images and comes after the one \
         before, and legal moves in order with values of -64 to 64"
    )]
    Position(u32),
    /// There is more than the header says.
    #[error("{0} bytes come after the last position")]
    End(usize),
}

/// The least image of a board, and which one it is.
fn canonical(board: Discs) -> ([u64; 2], usize) {
    let images = board.images();
    let keys = (0..)
        .zip(&images)
        .map(|(number, image)| ([image.own, image.other], number));
    keys.min().expect("there are eight images")
}

/// The square of this image that a square is mapped to.
fn image_of(square: Square, image: usize) -> Square {
    let alone = Discs {
        own: square.bit(),
        other: 0,
    };
    Square::first_of(alone.images()[image].own)
}

fn read_position(rest: &mut &[u8]) -> Option<([u64; 2], BookEntry)> {
    let own = u64::from_le_bytes(take(rest)?);
    let other = u64::from_le_bytes(take(rest)?);
    let board = Discs { own, other };
    let [count] = take(rest)?;
    let mut moves: Vec<BookMove> = Vec::new();
    for _ in 0..count {
        let [square, value] = take(rest)?;
        let square = Square::new(square)?;
        let searched = i32::from(value.cast_signed());
        moves.push(BookMove {
            square,
            searched,
            value: searched,
        });
    }
    let is_good = own & other == 0
        && canonical(board).0 == [own, other]
        && !moves.is_empty()
        && moves.is_sorted_by(|a, b| a.square < b.square)
        && moves.iter().all(|known| {
            board.play(known.square).is_some() && (-64..=64).contains(&known.searched)
        });
    is_good.then_some(([own, other], BookEntry { moves, value: 0 }))
}

/// The next bytes.
fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first position and the one after d3.
    fn two() -> Book {
        let mut book = Book::default();
        let firsts: Vec<_> = Squares(Discs::START.moves())
            .map(|square| (square, 0))
            .collect();
        book.insert(Discs::START, &firsts);
        let next = Discs::START.play(firsts[0].0).unwrap();
        let replies: Vec<_> = Squares(next.moves()).zip([-2, 1]).collect();
        book.insert(next, &replies);
        book.back_up();
        book
    }

    #[test]
    fn images_are_one_and_values_are_backed_up() {
        let book = two();
        assert_eq!(book.len(), 2);
        let firsts = book.moves(Discs::START);
        assert_eq!(firsts.len(), 4);
        assert!(firsts.iter().all(|it| (it.searched, it.value) == (0, -1)));
        for first in firsts {
            let next = Discs::START.play(first.square).unwrap();
            for image in next.images() {
                let moves = book.moves(image);
                assert_eq!((moves[0].value, moves[1].value), (1, -2));
                assert!(moves.iter().all(|it| image.play(it.square).is_some()));
            }
        }
        let unknown = "-".repeat(62) + "XO X";
        assert!(book.moves(unknown.parse().unwrap()).is_empty());
    }

    #[test]
    fn a_file_is_read_again() {
        let book = two();
        assert_eq!(Book::read(&book.write()), Ok(book));
        assert_eq!(Book::read(&Book::default().write()), Ok(Book::default()));
    }

    #[test]
    fn every_move_of_the_crates_book_is_legal() {
        let book = Book::embedded().unwrap();
        assert!(!book.moves(Discs::START).is_empty());
        for board in book.positions() {
            let moves = book.moves(board);
            assert!(!moves.is_empty());
            for known in moves {
                assert!(
                    board.play(known.square).is_some(),
                    "{board} {}",
                    known.square
                );
            }
        }
    }

    #[test]
    fn a_bad_file_is_refused() {
        let good = two().write();
        let message = |file: &[u8]| Book::read(file).unwrap_err().to_string();
        // With the right checksum, so that only what it says is wrong.
        let changed = |at: usize, to: u8| {
            let mut file = good.clone();
            file[at] = to;
            let sum = checksum(&file[HEADER..]);
            file[16..24].copy_from_slice(&sum.to_le_bytes());
            file
        };
        assert_eq!(message(&[]), "expected a header of 24 bytes, found 0 bytes");
        assert_eq!(
            message(&changed(0, b'x')),
            "the file does not begin with \"edge-bok\""
        );
        assert_eq!(message(&changed(8, 9)), "expected format 1, found 9");
        let cut = "the checksum is wrong: the file was damaged or cut off";
        assert_eq!(message(&good[..good.len() - 1]), cut);
        assert_eq!(message(&[&good[..], &[0]].concat()), cut);
        // More positions than there are, and fewer.
        assert!(message(&changed(12, 3)).starts_with("position 2: "));
        assert!(message(&changed(12, 1)).ends_with(" bytes come after the last position"));
        // Discs of both sides on a square, no moves, an occupied square, a value that is none.
        for (at, to) in [(27, 0x18), (40, 0), (41, 27), (41, 64), (42, 65)] {
            let error = message(&changed(at, to));
            assert!(
                error.starts_with("position 0: expected a board"),
                "{at}: {error}"
            );
        }
    }
}
