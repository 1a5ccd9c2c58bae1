//! The game's messages: only this file writes and reads them.

use arena_proto::games::connect_four::v1::{
    self as proto, ConnectFourAnswer, ConnectFourCall, GetPoint, connect_four_answer::Answer,
};
use bytes::Bytes;
use prost::Message;
use referee_core::{Malformed, Observation, Seat, Wire};

use super::rules::{ConnectFour, Never, Point, Question};

impl Wire for ConnectFour {
    const PATH: &'static str = "/games.connect_four.v1.ConnectFourBot/Play";
    const DESCRIPTORS: &'static [u8] = arena_proto::DESCRIPTORS;

    fn write_start(sight: &Observation<'_, Self>, out: &mut Vec<u8>) {
        let public = sight.public();
        let board = &public.board;
        let empty = Seat::all(2).all(|seat| board.stones(seat) == 0);
        let (no_x, no_y) = coordinates(board.forbidden());
        append(
            &ConnectFourCall {
                board: Some(proto::Board {
                    m: board.rows() as i32,
                    n: board.columns() as i32,
                    no_x,
                    no_y,
                    board: (!empty).then(|| cells(sight)),
                    last: public.last.map(write_point),
                }),
                ..ConnectFourCall::default()
            },
            out,
        );
    }

    fn write_notice(_: &Observation<'_, Self>, notice: Never, _: &mut Vec<u8>) {
        match notice {}
    }

    fn write_question(sight: &Observation<'_, Self>, question: Question, out: &mut Vec<u8>) {
        let Question::Point = question;
        let public = sight.public();
        let board = &public.board;
        let (last_x, last_y) = coordinates(public.last);
        let (no_x, no_y) = coordinates(board.forbidden());
        let ask = GetPoint {
            m: board.rows() as i32,
            n: board.columns() as i32,
            top: board.top().to_vec().into(),
            board: cells(sight),
            last_x,
            last_y,
            no_x,
            no_y,
        };
        // Written directly into its field, without building a whole `ConnectFourCall`
        // for every question.
        prost::encoding::message::encode(GET_POINT, &ask, out);
    }

    fn read_answer(question: Question, bytes: &[u8]) -> Result<Point, Malformed> {
        let Question::Point = question;
        let message =
            ConnectFourAnswer::decode(bytes).map_err(|error| Malformed(error.to_string()))?;
        match message.answer {
            Some(Answer::Point(proto::Point {
                x: Some(x),
                y: Some(y),
            })) => Ok(Point { x, y }),
            Some(Answer::Point(_)) => Err(Malformed("the point lacks x or y".to_owned())),
            Some(Answer::Ready(_)) => Err(Malformed("expected a point, found Ready".to_owned())),
            None => Err(Malformed("expected a point, found nothing".to_owned())),
        }
    }

    fn write_answer(point: &Point, out: &mut Vec<u8>) {
        append(
            &ConnectFourAnswer {
                number: None,
                answer: Some(Answer::Point(write_point(*point))),
            },
            out,
        );
    }

    fn notation(point: &Point) -> String {
        format!("({}, {})", point.x, point.y)
    }
}

/// The field of a `ConnectFourCall` that holds a `GetPoint`.
const GET_POINT: u32 = 10;

/// One byte a cell: 0 empty, 1 the opponent's, 2 one's own.
fn cells(sight: &Observation<'_, ConnectFour>) -> Bytes {
    let board = &sight.public().board;
    board.cells(sight.seat(), [2, 1, 0]).into()
}

const fn write_point(point: Point) -> proto::Point {
    proto::Point {
        x: Some(point.x),
        y: Some(point.y),
    }
}

/// -1 and -1 stand for no point.
const fn coordinates(point: Option<Point>) -> (i32, i32) {
    match point {
        Some(Point { x, y }) => (x, y),
        None => (-1, -1),
    }
}

fn append(message: &impl Message, out: &mut Vec<u8>) {
    message.encode(out).expect("a vector has room");
}

#[cfg(test)]
mod tests {
    use arena_proto::games::connect_four::v1::connect_four_call::Call;
    use referee_core::{Dice, Game as _, Seed, State};

    use super::{super::setup::Setup, *};

    fn question(state: &State<ConnectFour>, seat: Seat) -> Vec<u8> {
        let mut call = Vec::new();
        ConnectFour::write_question(&state.observe(seat), Question::Point, &mut call);
        call
    }

    #[test]
    fn a_question_shows_the_board_from_the_seat_that_is_asked() {
        let seats = [0, 1].map(Seat::new);
        let mut state = ConnectFour::deal(&Setup::default(), &mut Dice::new(&Seed::new([9; 32])));
        for ply in 0..20 {
            let seat = seats[ply % 2];
            let call = question(&state, seat);
            let read = ConnectFourCall::decode(&call[..]).unwrap();
            let Some(Call::GetPoint(ask)) = read.call else {
                panic!("expected a GetPoint, found {read:?}");
            };
            let board = &state.public.board;
            assert_eq!((ask.m, ask.n), (11, 12));
            assert_eq!(ask.board.len(), 11 * 12);
            for (at, cell) in ask.board.iter().enumerate() {
                let stone = board.stone(at / 12, at % 12);
                let expected = stone.map_or(0, |owner| if owner == seat { 2 } else { 1 });
                assert_eq!(*cell, expected);
            }
            let column = (ply * 5) % 12;
            let point = board.landing(column).unwrap();
            ConnectFour::resolve(&mut state, &[(seat, point)]);
        }
    }
}
