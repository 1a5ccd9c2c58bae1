//! {{name}}: a bot for Othello.

use std::time::Duration;

use bot_kit::{
    Bot,
    othello::{OthelloBot, RequestMove, Square},
};

const OPPONENT: u8 = 1;
const OWN: u8 = 2;

/// How many discs a move there turns; 0 where it is not legal.
fn turned(board: &[u8], row: i32, column: i32) -> i32 {
    let at = |row: i32, column: i32| match (row, column) {
        (0..8, 0..8) => board[(8 * row + column) as usize],
        _ => 0,
    };
    if at(row, column) != 0 {
        return 0;
    }
    let mut count = 0;
    for down in -1..=1 {
        for right in -1..=1 {
            let mut steps = 1;
            while at(row + steps * down, column + steps * right) == OPPONENT {
                steps += 1;
            }
            if at(row + steps * down, column + steps * right) == OWN {
                count += steps - 1;
            }
        }
    }
    count
}

/// A legal move. Your idea goes here: this takes one that turns the most discs.
fn choose(board: &[u8]) -> Square {
    let squares = (0..64).map(|index| (index / 8, index % 8));
    let most = squares.max_by_key(|(row, column)| turned(board, *row, *column));
    let (row, column) = most.expect("a board has squares");
    Square {
        row: row as u32,
        column: column as u32,
    }
}

/// One value for each game.
struct MyBot;

impl OthelloBot for MyBot {
    fn request_move(&mut self, ask: &RequestMove, _limit: Duration) -> Square {
        let square = choose(&ask.board);
        println!("I play {square:?}"); // goes into the bot's log
        square
    }
}

fn main() -> std::process::ExitCode {
    Bot::new("{{name}}", "1").othello(|_start| MyBot).main()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_discs_are_more_than_one() {
        let mut board = [0; 64];
        board[0] = OWN;
        for index in [1, 2, 3, 8] {
            board[index] = OPPONENT;
        }
        assert_eq!(choose(&board), Square { row: 0, column: 4 });
    }
}
