//! The messages between adapter and host over a pair of sockets: questions one way,
//! reports the other. Both ends are the same program.

use std::io::{self, Read};

use arena_proto::games::connect_four::v1::GetPoint;

/// A message of the host, [`SIZE`](Self::SIZE) bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostReport {
    /// The object is loaded.
    Loaded,
    /// It can't be loaded; why is the text that follows, of so many bytes.
    Refused { bytes: u32 },
    /// It lacks a function of the interface; which is the text that follows, of so many bytes.
    Lacks { bytes: u32 },
    /// `getPoint` has returned this; `clearPoint` is next.
    Point { x: i32, y: i32 },
    /// `clearPoint` has returned.
    Cleared,
    /// `getPoint` has returned NULL.
    Null,
}

impl HostReport {
    /// Number of bytes of a report: one for its kind, and two numbers.
    pub(crate) const SIZE: usize = 9;

    pub(crate) fn write(self) -> [u8; Self::SIZE] {
        let (which, x, y) = match self {
            Self::Loaded => (1, 0, 0),
            Self::Point { x, y } => (2, x, y),
            Self::Cleared => (3, 0, 0),
            Self::Null => (4, 0, 0),
            Self::Refused { bytes } => (5, bytes.cast_signed(), 0),
            Self::Lacks { bytes } => (6, bytes.cast_signed(), 0),
        };
        let mut bytes = [0; Self::SIZE];
        bytes[0] = which;
        bytes[1..5].copy_from_slice(&x.to_le_bytes());
        bytes[5..].copy_from_slice(&y.to_le_bytes());
        bytes
    }

    /// None where it is not a report.
    pub(crate) fn read(bytes: [u8; Self::SIZE]) -> Option<Self> {
        let [which, x @ .., y0, y1, y2, y3] = bytes;
        match which {
            1 => Some(Self::Loaded),
            2 => Some(Self::Point {
                x: i32::from_le_bytes(x),
                y: i32::from_le_bytes([y0, y1, y2, y3]),
            }),
            3 => Some(Self::Cleared),
            4 => Some(Self::Null),
            5 => Some(Self::Refused {
                bytes: u32::from_le_bytes(x),
            }),
            6 => Some(Self::Lacks {
                bytes: u32::from_le_bytes(x),
            }),
            _ => None,
        }
    }
}

/// The arguments of a call of `getPoint`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PointQuestion {
    pub(crate) m: i32,
    pub(crate) n: i32,
    /// n numbers.
    pub(crate) top: Vec<i32>,
    /// m times n numbers, row by row.
    pub(crate) board: Vec<i32>,
    pub(crate) last_x: i32,
    pub(crate) last_y: i32,
    pub(crate) no_x: i32,
    pub(crate) no_y: i32,
}

impl PointQuestion {
    /// The question of a referee, where its parts fit together.
    pub(crate) fn of(ask: &GetPoint) -> Option<Self> {
        let wide = |bytes: &[u8]| bytes.iter().copied().map(i32::from).collect::<Vec<_>>();
        let cells = usize::try_from(ask.m)
            .ok()?
            .checked_mul(usize::try_from(ask.n).ok()?)?;
        let fits = ask.top.len() == usize::try_from(ask.n).ok()? && ask.board.len() == cells;
        fits.then(|| Self {
            m: ask.m,
            n: ask.n,
            top: wide(&ask.top),
            board: wide(&ask.board),
            last_x: ask.last_x,
            last_y: ask.last_y,
            no_x: ask.no_x,
            no_y: ask.no_y,
        })
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let head = [
            self.m,
            self.n,
            self.last_x,
            self.last_y,
            self.no_x,
            self.no_y,
        ];
        let numbers = head.iter().chain(&self.top).chain(&self.board);
        numbers.flat_map(|number| number.to_le_bytes()).collect()
    }

    /// Reads one that [`write`](Self::write) wrote.
    pub(crate) fn read(mut from: impl Read) -> io::Result<Self> {
        let mut numbers = |count: usize| -> io::Result<Vec<i32>> {
            let mut bytes = vec![0; 4 * count];
            from.read_exact(&mut bytes)?;
            let numbers = bytes.chunks_exact(4);
            Ok(numbers
                .map(|four| i32::from_le_bytes([four[0], four[1], four[2], four[3]]))
                .collect())
        };
        let head = numbers(6)?;
        let (m, n) = (head[0], head[1]);
        let top = numbers(n as usize)?;
        let board = numbers(m as usize * n as usize)?;
        Ok(Self {
            m,
            n,
            top,
            board,
            last_x: head[2],
            last_y: head[3],
            no_x: head[4],
            no_y: head[5],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for report in [
            HostReport::Loaded,
            HostReport::Point { x: -7, y: 1 << 20 },
            HostReport::Cleared,
            HostReport::Null,
            HostReport::Refused { bytes: 0 },
            HostReport::Lacks { bytes: u32::MAX },
        ] {
            assert_eq!(HostReport::read(report.write()), Some(report));
        }
        assert_eq!(HostReport::read([9; HostReport::SIZE]), None);
        let ask = GetPoint {
            m: 2,
            n: 3,
            top: vec![1, 2, 2].into(),
            board: vec![0, 0, 0, 1, 0, 2].into(),
            last_x: -1,
            last_y: -1,
            no_x: 1,
            no_y: 1,
        };
        let question = PointQuestion::of(&ask).unwrap();
        assert_eq!(
            PointQuestion::read(&question.write()[..]).unwrap(),
            question
        );
        for (m, n) in [(2, 2), (3, 3), (-2, -3), (i32::MAX, i32::MAX)] {
            assert_eq!(
                PointQuestion::of(&GetPoint {
                    m,
                    n,
                    ..ask.clone()
                }),
                None
            );
        }
    }
}
