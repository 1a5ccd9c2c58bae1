//! A seat's calls folded into what it knows. Each question holds everything, so the
//! fold keeps nothing from earlier calls.

use arena_proto::games::othello::v1::{self as proto, Side, othello_call::Call};
use prost::Message as _;
use referee_core::{Malformed, Seat, Sight};

use super::{
    board::OthelloBoard,
    position::{BLACK, OthelloPosition, WHITE},
    rules::{Othello, Previous, Public, Question},
    square::{Square, squares_of},
    wire::read_square,
};

/// The knowledge of a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The seat that knows it.
    pub seat: Seat,
    /// The seat's knowledge of the public part.
    pub public: Public,
}

impl Sight for Othello {
    type View = View;

    fn begin(seat: Seat, start: &[u8]) -> Result<View, Malformed> {
        let beginning = decode(start)?
            .beginning
            .ok_or_else(|| Malformed("the start has no beginning".to_owned()))?;
        let turn = match beginning.side_to_move() {
            Side::Black => BLACK,
            Side::White => WHITE,
            Side::Unspecified => {
                return Err(Malformed("the start lacks the side to move".to_owned()));
            }
        };
        let own = OthelloPosition {
            board: read_board(&beginning.board)?,
            turn: seat,
        };
        let position = OthelloPosition {
            board: own.board_of(turn),
            turn,
        };
        let previous = read_previous(beginning.previous.as_ref())?;
        Ok(View {
            seat,
            public: Public::beginning(position, previous),
        })
    }

    fn hear(view: &mut View, call: &[u8]) -> Result<Option<Question>, Malformed> {
        let Some(Call::RequestMove(ask)) = decode(call)?.call else {
            return Ok(None);
        };
        let before = view.public;
        view.public.position = OthelloPosition {
            board: read_board(&ask.board)?,
            turn: view.seat,
        };
        view.public.previous = read_previous(ask.previous.as_ref())?;
        view.public.turned = turned(&before, &view.public).unwrap_or_default();
        Ok(Some(Question::Move))
    }

    fn answered(view: &mut View, Question::Move: Question, square: &Square) {
        // An answer that is not a move was a foul and changes nothing.
        if view.public.position.allows(*square) {
            view.public.play(*square);
        }
    }

    fn known(view: &View) -> (Public, ()) {
        (view.public, ())
    }
}

/// The discs that the last move has turned on the way from one position to another: the side that is
/// not asked may have played several times. None where the side that is asked has played, too.
fn turned(before: &Public, now: &Public) -> Option<u64> {
    if before.position == now.position && before.previous == now.previous {
        return Some(before.turned);
    }
    // It would have been asked there.
    if before.position.turn == now.position.turn {
        return None;
    }
    let board = now.position.board;
    let new = before.position.board.empty() & !board.empty() & before.position.board.moves();
    squares_of(new).find_map(|square| {
        let mut next = *before;
        next.play(square);
        turned(&next, now)
    })
}

fn decode(call: &[u8]) -> Result<proto::OthelloCall, Malformed> {
    proto::OthelloCall::decode(call).map_err(|error| Malformed(error.to_string()))
}

fn read_board(cells: &[u8]) -> Result<OthelloBoard, Malformed> {
    if cells.len() != usize::from(Square::COUNT) {
        return Err(Malformed(format!(
            "expected 64 squares, found {}",
            cells.len()
        )));
    }
    let mut board = OthelloBoard {
        own: 0,
        opponent: 0,
    };
    for (square, cell) in Square::all().zip(cells) {
        match cell {
            0 => {}
            1 => board.opponent |= square.bit(),
            2 => board.own |= square.bit(),
            other => {
                return Err(Malformed(format!(
                    "expected a square of 0 to 2, found {other}"
                )));
            }
        }
    }
    Ok(board)
}

fn read_previous(previous: Option<&proto::Previous>) -> Result<Previous, Malformed> {
    use proto::previous::Previous as Kind;
    match previous.and_then(|previous| previous.previous.as_ref()) {
        Some(Kind::Square(square)) => read_square(square).map(Previous::Square),
        Some(Kind::Pass(_)) => Ok(Previous::Pass),
        Some(Kind::None(_)) => Ok(Previous::None),
        None => Err(Malformed("the previous move is missing".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_turned_is_known_for_the_moves_between_two_questions_alone() {
        let first = Public::beginning(OthelloPosition::BEGINNING, Previous::None);
        let mut far = first;
        for ply in 1..=20 {
            let square = squares_of(far.position.board.moves())
                .next()
                .expect("a move");
            far.play(square);
            let known = turned(&first, &far);
            match ply {
                // Black has played it, and is not asked for White's answer.
                1 => assert_eq!(known, Some(far.turned)),
                // Other moves of both lead there, too: nobody looks for them.
                _ if far.position.turn == BLACK => assert_eq!(known, None),
                _ => {}
            }
        }
    }
}
