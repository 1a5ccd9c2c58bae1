//! `ladder`: fifty graded strengths of Connect Four, 1 the weakest. A level is
//! a fixed amount of work, so many playouts of [`uct`](crate::uct) for a move,
//! whatever the machine or the time; `docs/ladder.md` shows what that is worth.

use bot_kit::{Bot, Thinker, Turn};
use rand::{Rng, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use referee_core::Seat;
use referee_games::connect_four::{ConnectFour, ConnectFourBoard, Point};

use crate::{
    HouseBot, Parameter, Parameters, PlayedGames, SpecError,
    uct::{EXPLORATION, TreeSearch},
};

pub(crate) const BOT: HouseBot = HouseBot {
    name: "ladder",
    summary: "plays at one of fifty graded strengths",
    games: PlayedGames::These(&["connect_four"]),
    parameters: &[Parameter {
        name: "level",
        standard: "25",
        summary: "how strong, from 1 to 50",
    }],
    shows: &[],
    build,
};

/// Number of levels.
pub const LEVELS: u32 = 50;
const STANDARD: u32 = 25;
const LOWEST: u32 = 8;

/// Number of playouts that a level makes for a move: 8 for level 1, and 17 % more, rounded up, for
/// each that follows; 24,966 for level 50.
#[must_use]
pub fn playouts(level: u32) -> u32 {
    (1..level).fold(LOWEST, |playouts, _| {
        playouts + (17 * playouts).div_ceil(100)
    })
}

/// The column that a level drops a stone of `seat` into; the board has room.
#[must_use]
pub fn choose(level: u32, board: &ConnectFourBoard, seat: Seat, rng: &mut impl Rng) -> usize {
    let mut search = TreeSearch::new(board.clone(), seat, EXPLORATION);
    search.run(playouts(level), rng);
    search.best()
}

fn build(parameters: &Parameters) -> Result<Bot, SpecError> {
    let level = parameters
        .get("level", "a level of 1 to 50", |level| {
            (1..=LEVELS).contains(level)
        })?
        .unwrap_or(STANDARD);
    Ok(
        Bot::new(&format!("{} {level}", BOT.name), env!("CARGO_PKG_VERSION"))
            .can_resume()
            .thinks(move |start| LadderPlayer {
                level,
                rng: ChaCha8Rng::seed_from_u64(start.bot_seed),
            }),
    )
}

struct LadderPlayer {
    level: u32,
    rng: ChaCha8Rng,
}

impl Thinker<ConnectFour> for LadderPlayer {
    fn answer(&mut self, turn: &Turn<'_, ConnectFour>) -> Point {
        let board = &turn.view().public.board;
        let column = choose(self.level, board, turn.seat(), &mut self.rng);
        board.landing(column).expect("a column that has room")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_works_more_than_the_one_below() {
        let budgets: Vec<u32> = (1..=LEVELS).map(playouts).collect();
        assert!(budgets.is_sorted_by(|below, above| below < above));
        assert_eq!(budgets[..4], [8, 10, 12, 15]);
        assert_eq!(budgets.last(), Some(&24_966));
    }

    #[test]
    fn levels_are_1_to_50() {
        for level in [0, 51] {
            let refused = crate::bot(&format!("ladder?level={level}")).err().unwrap();
            assert_eq!(
                refused.to_string(),
                format!("ladder?level={level}: expected a level of 1 to 50")
            );
        }
    }

    #[test]
    fn a_level_plays_the_same_with_the_same_seed() {
        let board = ConnectFourBoard::new(9, 10, None);
        let game = || {
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let (mut board, mut seat, mut columns) = (board.clone(), Seat::new(0), Vec::new());
            while !board.is_full() {
                let column = choose(11, &board, seat, &mut rng);
                columns.push(column);
                if board.drop_stone(seat, column) {
                    break;
                }
                seat = seat.other();
            }
            columns
        };
        assert_eq!(game(), game());
    }
}
