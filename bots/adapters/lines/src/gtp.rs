//! Othello engines that speak GTP, the Go Text Protocol (version 2, draft 2), as several do.
//!
//! Commands have numbers, so that banners and other lines of an engine are told from its answers.
//! The engine is told moves, passes too; a game that begins in the middle is set up by moves from
//! the usual beginning, or by a command of the engine's own.

use std::time::Duration;

use adapter_process::Descendants;
use arena_proto::{
    arena::v1::Ready,
    games::othello::v1::{
        OthelloAnswer, OthelloCall, Side, Square as WireSquare, othello_answer, othello_call,
    },
};
use prost::Message as _;
use referee_core::{Game as _, Wire as _};
use referee_games::othello::{
    BLACK, Othello, OthelloBoard, OthelloPosition, Square, WHITE, squares_of,
};
use tonic::Status;

use crate::{
    AdapterError, LineSpec,
    program::{Asked, Fault, LineProgram, quoted},
    seat::{Answer, Call, CallKind, Dialect, LineBot},
};

/// The game that these engines play.
pub const GAME: &str = Othello::INFO.name;
/// Most positions that are looked at for moves that lead to a position.
const MOST_POSITIONS: u32 = 200_000;
/// The part of a limit that an engine is not told of: its answer has a way to go.
const RESERVE: u32 = 4;

pub(crate) async fn serve(
    spec: LineSpec,
    descendants: Descendants,
    options: GtpOptions,
) -> Result<(), AdapterError> {
    let games = vec![(Othello::PATH.to_owned(), options)];
    LineBot::serve(spec, descendants, games).await
}

/// How an engine is spoken to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GtpOptions {
    /// The time of a move that the engine is told, in seconds, or 0 if it is told none; by default
    /// three quarters of the limit.
    pub time: Option<u32>,
    /// The command that sets up a position: the position follows as 64 characters from a1, b1, …
    /// (`X` black, `O` white, `-` empty), a blank, and `X` or `O` for the side to move.
    pub setup: Option<String>,
}

/// The memory of a game.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The number of the last command.
    command: u32,
    /// True if the engine takes no numbers before commands.
    is_plain: bool,
    /// The position that the engine has; none before the game.
    position: Option<OthelloPosition>,
    /// True for Black.
    is_black: bool,
}

impl Dialect for GtpOptions {
    type Memory = Memory;
    /// Engines print banners.
    const SILENT: bool = false;
    const FAREWELL: Option<&'static str> = Some("quit");

    async fn hear(
        &self,
        call: &Call,
        program: &mut LineProgram,
        memory: &mut Memory,
    ) -> Result<Option<Answer>, Status> {
        let unreadable = |why: &str| Status::invalid_argument(why.to_owned());
        let message =
            OthelloCall::decode(&*call.bytes).map_err(|error| unreadable(&error.to_string()))?;
        let asked = call.asked;
        match (&call.kind, message.call) {
            (CallKind::Start(start), _) => {
                memory.is_black = start.seat == 0;
                let beginning = message.beginning.unwrap_or_default();
                let turn = match beginning.side_to_move() {
                    Side::White => WHITE,
                    Side::Black | Side::Unspecified => BLACK,
                };
                let position = position(memory, &beginning.board)?;
                let position = match position.turn == turn {
                    true => position,
                    false => position.pass(),
                };
                let limit = start.move_limit.and_then(|limit| limit.try_into().ok());
                let seconds = self.seconds(limit.unwrap_or(asked.limit));
                let mut engine = Engine {
                    program,
                    memory,
                    asked,
                };
                engine.begin(seconds).await?;
                engine.follow(self, position).await?;
                let ready = engine.ready().await?;
                Ok(call.question.map(|_| Answer::Ready(ready)))
            }
            (CallKind::Other, Some(othello_call::Call::RequestMove(ask))) => {
                let position = position(memory, &ask.board)?;
                let mut engine = Engine {
                    program,
                    memory,
                    asked,
                };
                engine.follow(self, position).await?;
                // What was answered before is in the next position.
                let Some(number) = call.question else {
                    return Ok(None);
                };
                let square = engine.genmove(self.seconds(asked.limit)).await?;
                Ok(Some(Answer::Message(written(number, square))))
            }
            (CallKind::Over | CallKind::Other, _) => Ok(None),
        }
    }
}

fn written(number: u32, square: Square) -> Vec<u8> {
    OthelloAnswer {
        number: Some(number),
        answer: Some(othello_answer::Answer::Square(WireSquare {
            row: Some(square.row().into()),
            column: Some(square.column().into()),
        })),
    }
    .encode_to_vec()
}

impl GtpOptions {
    /// The time of a move that an engine is told, in whole seconds, as GTP has them; none if it
    /// is told no time.
    fn seconds(&self, limit: Duration) -> Option<u32> {
        let told = limit - limit / RESERVE;
        let told = u32::try_from(told.as_secs()).unwrap_or(u32::MAX).max(1);
        Some(self.time.unwrap_or(told)).filter(|seconds| *seconds > 0)
    }
}

/// The position of a board as a seat is told it, with this seat to move.
fn position(memory: &Memory, board: &[u8]) -> Result<OthelloPosition, Status> {
    let bits = |of: u8| {
        let squares = Square::all().zip(board).filter(|(_, cell)| **cell == of);
        squares.fold(0, |bits, (square, _)| bits | square.bit())
    };
    let is_board = board.len() == Square::all().len() && board.iter().all(|cell| *cell < 3);
    let position = OthelloPosition {
        board: OthelloBoard {
            own: bits(2),
            opponent: bits(1),
        },
        turn: if memory.is_black { BLACK } else { WHITE },
    };
    is_board
        .then_some(position)
        .ok_or_else(|| Status::invalid_argument("expected a board of 64 squares"))
}

/// An engine in a game.
struct Engine<'a> {
    program: &'a mut LineProgram,
    memory: &'a mut Memory,
    asked: Asked,
}

impl Engine<'_> {
    /// A new game, with so many seconds for a move.
    async fn begin(&mut self, seconds: Option<u32>) -> Result<(), Status> {
        // One that plays Othello alone may not know it.
        let is_known = self.ask("boardsize 8").await?.is_ok();
        if self.ask("clear_board").await?.is_err() {
            // One that takes the number for the command knows none.
            self.memory.is_plain = !is_known;
            self.command("clear_board").await?;
        }
        self.memory.position = Some(OthelloPosition::BEGINNING);
        if let Some(seconds) = seconds {
            // What it takes for the main time is a move's, too.
            let settings = format!("time_settings {seconds} {seconds} 1");
            let _ = self.ask(&settings).await?;
        }
        Ok(())
    }

    async fn ready(&mut self) -> Result<Ready, Status> {
        Ok(Ready {
            bot: self.ask("name").await?.unwrap_or_default(),
            version: self.ask("version").await?.unwrap_or_default(),
            can_resume: true,
            ..Ready::default()
        })
    }

    /// Tells it what was played until this position.
    async fn follow(
        &mut self,
        options: &GtpOptions,
        position: OthelloPosition,
    ) -> Result<(), Status> {
        let from = self.memory.position.unwrap_or(OthelloPosition::BEGINNING);
        if let Some(path) = path(from, position) {
            for (side, square) in path {
                let side = colour(side == BLACK);
                if let Some(square) = square {
                    // As the specification writes them: some engines read no others.
                    let square = square.to_string().to_uppercase();
                    self.command(&format!("play {side} {square}")).await?;
                } else {
                    // One that passes by itself may refuse it.
                    let _ = self.ask(&format!("play {side} pass")).await?;
                }
            }
        } else if let Some(setup) = &options.setup {
            self.command(&format!("{setup} {position}")).await?;
        } else {
            return Err(Status::failed_precondition(
                "this position can't be set up: no moves were found that lead to it. If the engine \
                 has a command for positions, name it in the SPEC: ?setup=COMMAND",
            ));
        }
        self.memory.position = Some(position);
        Ok(())
    }

    /// The move that it plays.
    async fn genmove(&mut self, seconds: Option<u32>) -> Result<Square, Status> {
        let side = colour(self.memory.is_black);
        if let Some(seconds) = seconds {
            let _ = self.ask(&format!("time_left {side} {seconds} 1")).await?;
        }
        let command = format!("genmove {side}");
        let answer = self.command(&command).await?;
        let square = answer.to_lowercase().parse::<Square>();
        let square = square.map_err(|_| {
            Status::internal(format!(
                "answered {} to \"{command}\": expected a square, as in d3",
                quoted(&answer)
            ))
        })?;
        // The referee judges one that is not legal.
        let position = self
            .memory
            .position
            .filter(|position| position.allows(square));
        self.memory.position = position.map(|position| position.play(square));
        Ok(square)
    }

    /// Its answer to a command that it has to know.
    async fn command(&mut self, command: &str) -> Result<String, Status> {
        self.ask(command).await?.map_err(|why| {
            Status::internal(format!(
                "answered {} to \"{command}\"",
                quoted(&format!("? {why}"))
            ))
        })
    }

    /// Its answer to a command: what follows `=`, or what follows `?`.
    async fn ask(&mut self, command: &str) -> Result<Result<String, String>, Status> {
        self.memory.command += 1;
        let number = self.memory.command.to_string();
        let line = match self.memory.is_plain {
            true => command.to_owned(),
            false => format!("{number} {command}"),
        };
        // Which command it was says more than how it ended.
        let at = |Fault(words): Fault| Status::from(Fault(format!("at \"{line}\": {words}")));
        self.program.tell(&line).await.map_err(at)?;
        loop {
            let said = self.program.answer(&self.asked).await.map_err(at)?;
            if let Some(answer) = response(&said, &number) {
                return Ok(answer);
            }
        }
    }
}

/// The answer in a line to the command of this number; none where the line is something else. An
/// engine may leave out the number, or write it after a blank.
fn response(line: &str, number: &str) -> Option<Result<String, String>> {
    let (is_done, rest) = match line.strip_prefix('=') {
        Some(rest) => (true, rest),
        None => (false, line.strip_prefix('?')?),
    };
    let ends = |rest: &&str| rest.is_empty() || rest.starts_with(char::is_whitespace);
    let words = match rest.trim_start().strip_prefix(number).filter(ends) {
        Some(words) => words,
        None if ends(&rest) => rest,
        // A banner of such signs, or the answer to an earlier command.
        None => return None,
    };
    let words = words.trim().to_owned();
    Some(if is_done { Ok(words) } else { Err(words) })
}

fn colour(is_black: bool) -> &'static str {
    if is_black { "black" } else { "white" }
}

/// A move, or none for a pass, and the side that makes it.
type Played = (referee_core::Seat, Option<Square>);

/// Moves and passes that lead from one position to another, where some are found.
fn path(from: OthelloPosition, to: OthelloPosition) -> Option<Vec<Played>> {
    let mut search = PathSearch {
        to,
        squares: !to.board.empty(),
        left: MOST_POSITIONS,
        path: Vec::new(),
    };
    search.reaches(from).then_some(search.path)
}

struct PathSearch {
    to: OthelloPosition,
    /// The squares that have discs at the end.
    squares: u64,
    left: u32,
    path: Vec<Played>,
}

impl PathSearch {
    fn reaches(&mut self, from: OthelloPosition) -> bool {
        if from == self.to {
            return true;
        }
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let missing = from.board.empty() & self.squares;
        if missing == 0 || from.must_pass() {
            // Who has no move passes. At the end, whose turn it is must fit, too.
            let passes = from.must_pass();
            return passes && self.step(from, None);
        }
        let moves = from.board.moves() & missing;
        squares_of(moves).any(|square| self.step(from, Some(square)))
    }

    fn step(&mut self, from: OthelloPosition, square: Option<Square>) -> bool {
        self.path.push((from.turn, square));
        let to = match square {
            Some(square) => from.play(square),
            None => from.pass(),
        };
        let reaches = self.reaches(to);
        if !reaches {
            self.path.pop();
        }
        reaches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(moves: &str) -> OthelloPosition {
        let squares: Vec<Square> = (0..moves.len())
            .step_by(2)
            .map(|at| moves[at..at + 2].parse().unwrap())
            .collect();
        let mut position = OthelloPosition::BEGINNING.after(&squares).unwrap();
        if position.must_pass() {
            position = position.pass();
        }
        position
    }

    #[test]
    fn answers_are_told_from_banners() {
        for (line, expected) in [
            ("=1 D3", Some(Ok("D3"))),
            ("= d3", Some(Ok("d3"))),
            ("= 1 d3", Some(Ok("d3"))),
            ("= 1", Some(Ok(""))),
            ("=", Some(Ok(""))),
            ("?1 unknown command", Some(Err("unknown command"))),
            ("? unknown command", Some(Err("unknown command"))),
            ("=12 d3", None),
            ("=2 d3", None),
            ("Welcome!", None),
            ("depth 12: d3", None),
            ("=========", None),
            ("???", None),
        ] {
            let expected = expected
                .map(|answer: Result<&str, &str>| answer.map(str::to_owned).map_err(str::to_owned));
            assert_eq!(response(line, "1"), expected, "{line}");
        }
    }

    #[test]
    fn moves_that_lead_to_a_position_are_found() {
        for moves in ["", "f5", "f5d6c3d3c4", "f5f6e6f4e3c5c4e7c6d3f3"] {
            let to = after(moves);
            let mut position = OthelloPosition::BEGINNING;
            let found = path(position, to).unwrap();
            assert_eq!(found.len(), moves.len() / 2);
            for (side, square) in found {
                assert_eq!(side, position.turn);
                position = position.play(square.unwrap());
            }
            assert_eq!(position, to);
        }
        // No moves lead to a corner from here.
        let corner = OthelloPosition {
            board: OthelloBoard {
                own: OthelloBoard::BEGINNING.own | 1,
                ..OthelloBoard::BEGINNING
            },
            turn: BLACK,
        };
        assert_eq!(path(OthelloPosition::BEGINNING, corner), None);
    }

    #[test]
    fn a_pass_is_a_part_of_the_way() {
        // Black has no move after these, and White has.
        let to = after("c4c3f5b4a4a5c2a3");
        assert_eq!(to.turn, WHITE);
        let found = path(OthelloPosition::BEGINNING, to).unwrap();
        assert_eq!((found.len(), found.last()), (9, Some(&(BLACK, None))));
    }

    #[test]
    fn the_time_that_is_told_is_whole_and_less_than_the_limit() {
        let told = |limit: u64| GtpOptions::default().seconds(Duration::from_millis(limit));
        assert_eq!(told(3_000), Some(2));
        assert_eq!(told(10_000), Some(7));
        // No smaller one can be said.
        assert_eq!(told(500), Some(1));
        let fixed = |seconds| GtpOptions {
            time: Some(seconds),
            setup: None,
        };
        assert_eq!(fixed(5).seconds(Duration::from_secs(60)), Some(5));
        assert_eq!(fixed(0).seconds(Duration::from_secs(60)), None);
    }
}
