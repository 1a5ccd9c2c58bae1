//! The game's messages: only this file writes and reads them.

use arena_proto::games::othello::v1::{
    self as proto, NoMove, OthelloAnswer, OthelloCall, Pass, RequestMove, Side,
    othello_answer::Answer, othello_call::Call,
};
use prost::Message;
use referee_core::{Malformed, Observation, Seat, Wire};

use super::{
    position::{BLACK, OthelloPosition},
    rules::{Never, Othello, Previous, Question},
    square::Square,
};

impl Wire for Othello {
    const PATH: &'static str = "/games.othello.v1.OthelloBot/Play";
    const DESCRIPTORS: &'static [u8] = arena_proto::DESCRIPTORS;

    fn write_start(sight: &Observation<'_, Self>, out: &mut Vec<u8>) {
        let public = sight.public();
        let side = if public.position.turn == BLACK {
            Side::Black
        } else {
            Side::White
        };
        let call = OthelloCall {
            beginning: Some(proto::Beginning {
                board: cells(public.position, sight.seat()).into(),
                side_to_move: side.into(),
                previous: Some(write_previous(public.previous)),
            }),
            ..OthelloCall::default()
        };
        append(&call, out);
    }

    fn write_notice(_: &Observation<'_, Self>, notice: Never, _: &mut Vec<u8>) {
        match notice {}
    }

    fn write_question(sight: &Observation<'_, Self>, question: Question, out: &mut Vec<u8>) {
        let Question::Move = question;
        let public = sight.public();
        let call = OthelloCall {
            call: Some(Call::RequestMove(RequestMove {
                board: cells(public.position, sight.seat()).into(),
                previous: Some(write_previous(public.previous)),
            })),
            ..OthelloCall::default()
        };
        append(&call, out);
    }

    fn read_answer(question: Question, bytes: &[u8]) -> Result<Square, Malformed> {
        let Question::Move = question;
        let message = OthelloAnswer::decode(bytes).map_err(|error| Malformed(error.to_string()))?;
        match message.answer {
            Some(Answer::Square(square)) => read_square(&square),
            Some(Answer::Ready(_)) => Err(Malformed("expected a square, found Ready".to_owned())),
            None => Err(Malformed("expected a square, found nothing".to_owned())),
        }
    }

    fn write_answer(square: &Square, out: &mut Vec<u8>) {
        let answer = OthelloAnswer {
            number: None,
            answer: Some(Answer::Square(write_square(*square))),
        };
        append(&answer, out);
    }

    fn notation(square: &Square) -> String {
        square.to_string()
    }
}

/// One byte a square: 0 empty, 1 the opponent's, 2 one's own.
fn cells(position: OthelloPosition, seat: Seat) -> Vec<u8> {
    let board = position.board_of(seat);
    Square::all()
        .map(|square| {
            let bit = square.bit();
            2 * u8::from(board.own & bit != 0) + u8::from(board.opponent & bit != 0)
        })
        .collect()
}

fn write_previous(previous: Previous) -> proto::Previous {
    use proto::previous::Previous as Kind;
    let kind = match previous {
        Previous::None => Kind::None(NoMove {}),
        Previous::Square(square) => Kind::Square(write_square(square)),
        Previous::Pass => Kind::Pass(Pass {}),
    };
    proto::Previous {
        previous: Some(kind),
    }
}

fn write_square(square: Square) -> proto::Square {
    proto::Square {
        row: Some(square.row().into()),
        column: Some(square.column().into()),
    }
}

pub(super) fn read_square(square: &proto::Square) -> Result<Square, Malformed> {
    let proto::Square {
        row: Some(row),
        column: Some(column),
    } = *square
    else {
        return Err(Malformed("the square lacks its row or column".to_owned()));
    };
    let part = |part: u32| u8::try_from(part).unwrap_or(u8::MAX);
    Square::at(part(row), part(column)).ok_or_else(|| {
        Malformed(format!(
            "expected a square with row and column of 0 to 7, found row {row}, column {column}"
        ))
    })
}

fn append(message: &impl Message, out: &mut Vec<u8>) {
    message.encode(out).expect("a vector has room");
}
