//! The classic report of a match of two bots, to the byte as the tools that
//! read it expect.

use std::{fmt::Write as _, time::Duration};

use arena_store::GameRow;
use referee_core::{FoulKind, Seat};

/// Result of a game for bot 1 and bot 2 of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    code: i32,
    /// Bot 1's and bot 2's thinking time.
    thought: [Duration; 2],
}

/// The whole report. Each game is of bots 0 and 1 of the run, in either order;
/// a round is two games in a row.
pub(crate) fn report(games: &[GameRow]) -> String {
    let lines: Vec<Line> = games.iter().map(Line::new).collect();
    let mut text = String::new();
    for (round, lines) in lines.chunks(2).enumerate() {
        let _ = writeln!(text, "{round}:");
        for line in lines {
            let [first, second] = line.thought.map(|time| time.as_secs());
            let _ = writeln!(text, "{}\t{first}\t{second}", line.code);
        }
        text.push('\n');
    }
    let count = |codes: &[i32]| {
        lines
            .iter()
            .filter(|line| codes.contains(&line.code))
            .count()
    };
    let (a, b, ties) = (count(&[1, 5, 6, 8]), count(&[2, 3, 4, 7]), count(&[0]));
    // Without games all of them are 0.
    let ratio = |count: usize| six_digits(count as f64 / lines.len().max(1) as f64);
    let _ = write!(
        text,
        "Stat:\nratio of A wins : {}\nratio of B wins : {}\nratio of Tie : {}\n\n\
         ratio of (A wins + tie) : {}\nratio of (B wins + tie) : {}\n",
        ratio(a),
        ratio(b),
        ratio(ties),
        ratio(a + ties),
        ratio(b + ties),
    );
    text
}

impl Line {
    fn new(game: &GameRow) -> Self {
        // The seats of bot 1 and bot 2.
        let seats = [0, 1].map(|bot| {
            let seat = game.order.iter().position(|&place| place == bot);
            Seat::new(seat.expect("both bots of a match sit in each game") as u8)
        });
        Self {
            code: code(game, seats),
            thought: seats.map(|seat| Duration::from_micros(game.thought_us[seat.index()])),
        }
    }
}

/// The result code of a game for the bots in these seats.
fn code(game: &GameRow, seats: [Seat; 2]) -> i32 {
    // Both fail at the start: the first one's code, which counts for nobody.
    for (bot, seat) in (0..).zip(seats) {
        if let Some(foul) = game.fouls.iter().find(|foul| foul.seat == seat) {
            return foul_code(foul.foul.kind(), bot);
        }
    }
    let [first, second] = seats.map(|seat| game.places.get(seat.index()));
    match first.cmp(&second) {
        std::cmp::Ordering::Less => 1,
        std::cmp::Ordering::Equal => 0,
        std::cmp::Ordering::Greater => 2,
    }
}

/// The code of a foul of bot 0 or 1.
pub(crate) const fn foul_code(foul: FoulKind, bot: i32) -> i32 {
    match foul {
        FoulKind::Unreachable | FoulKind::NoStart => -1 - bot,
        FoulKind::Unsupported => -3 - bot,
        FoulKind::Crashed
        | FoulKind::HungUp
        | FoulKind::Resigned
        | FoulKind::ErrorStatus
        | FoulKind::Malformed
        | FoulKind::WrongNumber
        | FoulKind::Unsolicited
        | FoulKind::Oversized
        | FoulKind::Flooded
        | FoulKind::Interfered
        | FoulKind::MemoryExceeded => 3 + 2 * bot,
        FoulKind::Illegal => 4 + 2 * bot,
        FoulKind::Late => 7 + bot,
    }
}

/// A number as a C++ stream prints it (`%g`): six significant digits at most,
/// no trailing zeros. A ratio of games is 0 or between 10^-4 and 1 for any run
/// of fewer than ten thousand games, and smaller ones have an exponent.
fn six_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    // Rounded to six digits first: that decides how large it is.
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if (-4..6).contains(&exponent) {
        let decimals = (5 - exponent).max(0) as usize;
        trim(&format!("{value:.decimals$}"))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim(digits), exponent.abs())
    }
}

#[cfg(test)]
mod tests {
    use arena_ladder::{Entrant, MatchId};
    use referee_core::{Foul, SeatFoul};

    use super::*;

    fn game(group: u64, bots: [usize; 2], places: [u8; 2], seconds: [u64; 2]) -> GameRow {
        GameRow {
            group,
            seating: bots[0] as u32,
            games_in_group: 2,
            matchup: MatchId(0),
            lineup: Entrant::all(2).map(Some).collect(),
            order: bots.to_vec(),
            places: places.to_vec(),
            scores: vec![0, 0],
            reason: "test".to_owned(),
            fouls: Vec::new(),
            plies: 0,
            thought_us: seconds.map(|s| 1_000_000 * s + 999_000).to_vec(),
            course: 0,
            play_hash: String::new(),
            finished_unix_ms: 0,
            worker: None,
            counters: Vec::new(),
        }
    }

    fn fouled(mut game: GameRow, fouls: &[(u8, Foul)]) -> GameRow {
        game.fouls.extend(fouls.iter().map(|(seat, foul)| SeatFoul {
            seat: Seat::new(*seat),
            foul: foul.clone(),
        }));
        game
    }

    /// The example of the rules page: times are the floor of the sum, and come
    /// bot 1 first whoever began.
    #[test]
    fn the_report_is_that_of_the_rules_page() {
        let games = [
            game(0, [0, 1], [1, 2], [4, 5]),
            game(0, [1, 0], [1, 2], [3, 3]),
        ];
        assert_eq!(
            report(&games),
            "0:\n1\t4\t5\n2\t3\t3\n\nStat:\nratio of A wins : 0.5\nratio of B wins : 0.5\n\
             ratio of Tie : 0\n\nratio of (A wins + tie) : 0.5\nratio of (B wins + tie) : 0.5\n"
        );
    }

    #[test]
    fn every_foul_has_its_code() {
        let illegal = Foul::Illegal {
            reason: String::new(),
        };
        let late = Foul::Late {
            limit: Duration::from_secs(3),
        };
        let gone = Foul::NoStart {
            detail: String::new(),
        };
        let unsupported = Foul::Unsupported {
            detail: String::new(),
        };
        for (foul, codes) in [
            (gone.clone(), [-1, -2]),
            (unsupported, [-3, -4]),
            (Foul::HungUp, [3, 5]),
            (Foul::Oversized { limit: 1 }, [3, 5]),
            (illegal, [4, 6]),
            (late, [7, 8]),
        ] {
            for bots in [[0, 1], [1, 0]] {
                for seat in [0, 1] {
                    let game = fouled(game(0, bots, [1, 2], [0, 0]), &[(seat, foul.clone())]);
                    let bot = bots[usize::from(seat)];
                    assert_eq!(Line::new(&game).code, codes[bot], "{foul:?}");
                }
            }
        }
        let both = fouled(
            game(0, [1, 0], [2, 2], [0, 0]),
            &[(0, gone.clone()), (1, gone)],
        );
        assert_eq!(Line::new(&both).code, -1);
    }

    #[test]
    fn negative_codes_count_for_nobody_and_stay_in_the_denominator() {
        let gone = Foul::NoStart {
            detail: String::new(),
        };
        let games = [
            game(0, [0, 1], [1, 1], [0, 0]),
            fouled(game(0, [1, 0], [2, 1], [0, 0]), &[(0, gone)]),
            game(1, [0, 1], [1, 2], [0, 0]),
        ];
        let text = report(&games);
        assert!(text.contains("ratio of A wins : 0.333333\n"), "{text}");
        assert!(text.contains("ratio of B wins : 0\n"), "{text}");
        assert!(
            text.contains("ratio of (A wins + tie) : 0.666667\n"),
            "{text}"
        );
    }

    /// The same text that printf("%g") gives.
    #[test]
    fn ratios_are_printed_as_by_a_stream() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.5, "0.5"),
            (1.0 / 3.0, "0.333333"),
            (2.0 / 3.0, "0.666667"),
            (0.05, "0.05"),
            (1.0 / 7000.0, "0.000142857"),
            (0.99999999, "1"),
            (1.0 / 30000.0, "3.33333e-05"),
            (0.00009999999, "0.0001"),
        ] {
            assert_eq!(six_digits(value), text);
        }
    }
}
