//! Plays Connect Four one move ahead: wins where it can, denies a win, gives none
//! away, and else keeps to the centre. The samples of the other languages play the
//! same moves.

use bot_kit::{
    Bot,
    connect_four::{ConnectFourBot, GetPoint, Point},
};

/// The content of a cell of a board.
const OPPONENT: u8 = 1;
const OWN: u8 = 2;
const IN_A_ROW: i32 = 4;

struct Careful;

impl ConnectFourBot for Careful {
    fn get_point(&mut self, ask: &GetPoint) -> Point {
        if let Some(point) = ask.points().find(|point| wins(ask, *point, OWN)) {
            return point;
        }
        if let Some(point) = ask.points().find(|point| wins(ask, *point, OPPONENT)) {
            return point;
        }
        let from_centre = |point: &Point| (2 * point.y - (ask.n - 1)).abs();
        let safe = |point: &Point| !above(ask, *point).is_some_and(|on| wins(ask, on, OPPONENT));
        // The first of equals is the leftmost.
        ask.points()
            .filter(safe)
            .min_by_key(from_centre)
            .or_else(|| ask.points().min_by_key(from_centre))
            .expect("who is asked has a column with room")
    }
}

/// True if this side's stone there makes four in a line.
fn wins(ask: &GetPoint, at: Point, side: u8) -> bool {
    [(0, 1), (1, 0), (1, 1), (1, -1)].into_iter().any(|(x, y)| {
        let run = |x: i32, y: i32| {
            let held = |step: &i32| holds(ask, at.x + step * x, at.y + step * y, side);
            (1..IN_A_ROW).take_while(held).count() as i32
        };
        1 + run(x, y) + run(-x, -y) >= IN_A_ROW
    })
}

fn holds(ask: &GetPoint, x: i32, y: i32, side: u8) -> bool {
    (0..ask.m).contains(&x)
        && (0..ask.n).contains(&y)
        && ask.board.get((x * ask.n + y) as usize) == Some(&side)
}

/// The point at which the next stone lands when one lies here.
fn above(ask: &GetPoint, at: Point) -> Option<Point> {
    let forbidden = |x| (x, at.y) == (ask.no_x, ask.no_y);
    let x = if forbidden(at.x - 1) {
        at.x - 2
    } else {
        at.x - 1
    };
    (x >= 0).then_some(Point { x, y: at.y })
}

fn main() -> std::process::ExitCode {
    // It remembers nothing, so it can be resumed mid-game, and play any number of games.
    Bot::new("careful", "1.0")
        .max_games(16)
        .can_resume()
        .quick()
        .connect_four(|_start| Careful)
        .main()
}
