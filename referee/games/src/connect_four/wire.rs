//! The game's messages: the only file of it that writes and reads them.

use arena_proto::games::connect_four::v1::{
    self as proto, ConnectFourAnswer, ConnectFourCall, GetPoint, connect_four_answer::Answer,
    connect_four_call::Call,
};
use prost::Message;
use referee_core::{Malformed, Observation, Wire};

use super::rules::{ConnectFour, Never, Point, Question};

impl Wire for ConnectFour {
    const PATH: &'static str = "/games.connect_four.v1.ConnectFourBot/Play";

    fn write_start(sight: &Observation<'_, Self>, out: &mut Vec<u8>) {
        let board = &sight.public().board;
        let (no_x, no_y) = coordinates(board.forbidden());
        append(
            &ConnectFourCall {
                board: Some(proto::Board {
                    m: board.rows() as i32,
                    n: board.columns() as i32,
                    no_x,
                    no_y,
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
        let mut cells = vec![0; board.rows() * board.columns()];
        for (i, cell) in cells.iter_mut().enumerate() {
            *cell = match board.stone(i / board.columns(), i % board.columns()) {
                None => 0,
                Some(seat) if seat == sight.seat() => 2,
                Some(_) => 1,
            };
        }
        let (last_x, last_y) = coordinates(public.last);
        let (no_x, no_y) = coordinates(board.forbidden());
        let ask = GetPoint {
            m: board.rows() as i32,
            n: board.columns() as i32,
            top: board.top().iter().map(|&top| i32::from(top)).collect(),
            board: cells,
            last_x,
            last_y,
            no_x,
            no_y,
        };
        append(
            &ConnectFourCall {
                call: Some(Call::GetPoint(ask)),
                ..ConnectFourCall::default()
            },
            out,
        );
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
                answer: Some(Answer::Point(proto::Point {
                    x: Some(point.x),
                    y: Some(point.y),
                })),
            },
            out,
        );
    }

    fn notation(point: &Point) -> String {
        format!("({}, {})", point.x, point.y)
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
