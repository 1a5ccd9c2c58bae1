//! One game by the rules: a column that has room, at random.

use arena_proto::{
    arena::v1::Ready,
    games::connect_four::v1::{ConnectFourAnswer, GetPoint, Point, connect_four_answer::Answer},
};

use crate::{Kind, Villain};

/// The same numbers for the same seed: splitmix64 (Steele, Lea, Flood: "Fast
/// splittable pseudorandom number generators", 2014).
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A point by the rules.
    pub(crate) fn point(&mut self, ask: &GetPoint) -> Point {
        let open = open_columns(ask);
        let column = open[(self.next() % open.len() as u64) as usize];
        landing(ask, column)
    }
}

/// The point in the leftmost column that has room.
pub(crate) fn leftmost(ask: &GetPoint) -> Point {
    landing(ask, open_columns(ask)[0])
}

/// The leftmost column that has none.
pub(crate) fn full_column(ask: &GetPoint) -> Option<usize> {
    ask.top.iter().position(|&top| top == 0)
}

pub(crate) const fn point(x: i32, y: usize) -> Point {
    Point {
        x: Some(x),
        y: Some(y as i32),
    }
}

pub(crate) const fn answer(number: Option<u32>, answer: Answer) -> ConnectFourAnswer {
    ConnectFourAnswer {
        number,
        answer: Some(answer),
    }
}

/// The description that this villain gives of itself.
pub(crate) fn ready(villain: &Villain) -> Answer {
    let name = &villain.name[..];
    Answer::Ready(Ready {
        bot: if villain.kind == Kind::Nameless {
            ""
        } else {
            name
        }
        .to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        max_games: (villain.kind != Kind::UnsaidMaxGames).then_some(villain.max_games()),
        can_resume: villain.kind == Kind::CannotResume,
    })
}

fn open_columns(ask: &GetPoint) -> Vec<usize> {
    let open = ask.top.iter().enumerate().filter(|(_, top)| **top > 0);
    open.map(|(column, _)| column).collect()
}

fn landing(ask: &GetPoint, column: usize) -> Point {
    point(i32::from(ask.top[column]) - 1, column)
}
