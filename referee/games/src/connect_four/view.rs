//! A seat's calls folded into what it knows. Each question holds everything, so the
//! fold keeps nothing from earlier calls.

use arena_proto::games::connect_four::v1::{self as proto, connect_four_call::Call};
use prost::Message as _;
use referee_core::{Malformed, Seat, Sight};

use super::rules::{ConnectFour, ConnectFourBoard, LARGEST, Point, Public, Question};

/// The knowledge of a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The seat that knows it.
    pub seat: Seat,
    /// The seat's knowledge of the public part.
    pub public: Public,
}

impl Sight for ConnectFour {
    type View = View;

    fn begin(seat: Seat, start: &[u8]) -> Result<View, Malformed> {
        let begun = decode(start)?
            .board
            .ok_or_else(|| Malformed("the start has no board".to_owned()))?;
        let shape = shape(begun.m, begun.n, begun.no_x, begun.no_y)?;
        let board = match &begun.board {
            None => ConnectFourBoard::new(shape.0, shape.1, shape.2),
            Some(cells) => read_board(seat, shape, cells)?,
        };
        let last = begun.last.and_then(|last| point(last.x?, last.y?));
        let public = Public::standing(board, last).map_err(Malformed)?;
        Ok(View { seat, public })
    }

    fn hear(view: &mut View, call: &[u8]) -> Result<Option<Question>, Malformed> {
        let Some(Call::GetPoint(ask)) = decode(call)?.call else {
            return Ok(None);
        };
        *view = View::of(view.seat, &ask)?;
        Ok(Some(Question::Point))
    }

    fn answered(view: &mut View, Question::Point: Question, point: &Point) {
        // An answer that is not a move was a foul and changes nothing.
        let column = usize::try_from(point.y).unwrap_or(usize::MAX);
        if view.public.board.landing(column) == Some(*point) {
            ConnectFour::play(&mut view.public, view.seat, *point);
        }
    }

    fn known(view: &View) -> (Public, ()) {
        (view.public.clone(), ())
    }
}

impl View {
    /// The knowledge of `seat` when it is asked this.
    ///
    /// # Errors
    ///
    /// [`Malformed`] where there is no such board.
    pub fn of(seat: Seat, ask: &proto::GetPoint) -> Result<Self, Malformed> {
        let shape = shape(ask.m, ask.n, ask.no_x, ask.no_y)?;
        let board = read_board(seat, shape, &ask.board)?;
        if !ask.top.iter().copied().eq(board.top().iter().copied()) {
            return Err(Malformed(format!(
                "top is {:?}, and by the stones {:?}",
                ask.top,
                board.top()
            )));
        }
        Ok(Self {
            seat,
            public: Public {
                turn: seat,
                last: point(ask.last_x, ask.last_y),
                ..Public::beginning(board)
            },
        })
    }
}

fn decode(call: &[u8]) -> Result<proto::ConnectFourCall, Malformed> {
    proto::ConnectFourCall::decode(call).map_err(|error| Malformed(error.to_string()))
}

/// Rows, columns, forbidden cell.
type BoardLayout = (u8, u8, Option<Point>);

fn shape(m: i32, n: i32, no_x: i32, no_y: i32) -> Result<BoardLayout, Malformed> {
    let side = |side: i32| {
        u8::try_from(side)
            .ok()
            .filter(|side| (1..=LARGEST).contains(side))
            .ok_or_else(|| Malformed(format!("there is no board of {m} by {n}")))
    };
    Ok((side(m)?, side(n)?, point(no_x, no_y)))
}

fn read_board(
    seat: Seat,
    (rows, columns, forbidden): BoardLayout,
    cells: &[u8],
) -> Result<ConnectFourBoard, Malformed> {
    let cells = cells
        .iter()
        .map(|cell| match cell {
            0 => Ok(None),
            1 => Ok(Some(seat.other())),
            2 => Ok(Some(seat)),
            other => Err(Malformed(format!(
                "expected a cell of 0 to 2, found {other}"
            ))),
        })
        .collect::<Result<Vec<_>, _>>()?;
    ConnectFourBoard::with_stones(rows, columns, forbidden, &cells).map_err(Malformed)
}

fn point(x: i32, y: i32) -> Option<Point> {
    (x >= 0 && y >= 0).then_some(Point { x, y })
}
