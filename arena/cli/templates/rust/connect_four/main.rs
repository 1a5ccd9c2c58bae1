//! {{name}}: a bot for Connect Four.

use bot_kit::{
    Bot,
    connect_four::{ConnectFourBot, GetPoint, Point},
};

/// One of the points that can be played. Your idea goes here: this takes the one nearest to the
/// middle.
fn choose(points: impl Iterator<Item = Point>, columns: i32) -> Point {
    let nearest = points.min_by_key(|point| (2 * point.y - (columns - 1)).abs());
    nearest.expect("a column has room")
}

/// One value for each game.
struct MyBot;

impl ConnectFourBot for MyBot {
    fn get_point(&mut self, ask: &GetPoint) -> Point {
        // `ask` has the whole position, as in ask.board, and the time limit.
        let point = choose(ask.points(), ask.n as i32);
        println!("I play {point:?}"); // goes into the bot's log
        point
    }
}

fn main() -> std::process::ExitCode {
    Bot::new("{{name}}", "1")
        .connect_four(|_start| MyBot)
        .main()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_comes_first() {
        let points = [(8, 0), (7, 4), (8, 8)].map(|(x, y)| Point { x, y });
        assert_eq!(choose(points.into_iter(), 9), Point { x: 7, y: 4 });
    }
}
