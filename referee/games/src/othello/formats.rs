//! Games in the formats of other programs: transcripts, and the Generic Game Format.
//!
//! Source of the Generic Game Format: M. Buro, "GGF: The Generic Game File Format" (of the Generic
//! Game Server), and the files of that server and of the program NBoard.

use std::{fmt::Write as _, time::Duration};

use referee_core::{FormatWriter, FoulKind, GameFormat, GameToWrite, NotWritable, Seat, Verdict};

use super::{
    position::{BLACK, OthelloPosition, WHITE},
    rules::Othello,
    square::Square,
};

/// The formats of this game.
pub(super) const FORMATS: &[FormatWriter<Othello>] = &[
    FormatWriter {
        format: GameFormat {
            name: "ggf",
            about: "Generic Game Format, one line a game in Othello, as NBoard and collections of \
                    games have it: players, result, position, moves with times",
        },
        write: ggf,
    },
    FormatWriter {
        format: GameFormat {
            name: "transcript",
            about: "The squares of each game in Othello in one line, such as f5d6c3; for games from \
                    the usual beginning",
        },
        write: transcript,
    },
];

/// By this a game is won or lost where it ended by a foul.
const ALL_DISCS: i32 = 64;

/// The squares one after another, also those of the opening.
fn transcript(game: &GameToWrite<'_, Othello>) -> Result<String, NotWritable> {
    if beginning(game)? != OthelloPosition::BEGINNING {
        return Err(NotWritable(
            "it begins from a position of its own, which a transcript can't say; pgn, ggf and \
             moves do"
                .to_owned(),
        ));
    }
    let squares = moves(game)?.into_iter().map(|(square, _)| square);
    let line: String = squares.map(|square| square.to_string()).collect();
    Ok(format!("{line}\n"))
}

/// The game in one line.
fn ggf(game: &GameToWrite<'_, Othello>) -> Result<String, NotWritable> {
    let header = &game.record.header;
    let mut position = beginning(game)?;
    let mut text = "(;GM[Othello]".to_owned();
    let mut property = |name: &str, value: &str| {
        // What would end a property or a game.
        let value = value.replace(['[', ']', '(', ')', ';', '\\'], "_");
        let _ = write!(text, "{name}[{value}]");
    };
    property("PC", game.occasion.event.as_deref().unwrap_or("bot-arena"));
    if let Some(time) = &game.occasion.time {
        let (date, time) = time.split_once('T').unwrap_or((time, ""));
        let (date, time) = (date.replace('-', "."), time.trim_end_matches('Z'));
        property("DT", &format!("{date}_{time}.GMT"));
    }
    for (name, seat) in [("PB", BLACK), ("PW", WHITE)] {
        let player = header.players.get(seat);
        property(name, player.map_or("?", String::as_str));
    }
    property("RE", &result(&game.record.result.verdict));
    let limits = &header.limits;
    let clock = match limits.budget {
        Some(budget) => clock(budget),
        // Each move adds its limit to a clock that begins empty.
        None => clock(limits.per_move).map(|limit| format!("00:00/{limit}")),
    };
    if let Some(clock) = clock {
        property("TI", &clock);
    }
    property("TY", "8");
    property("BO", &board(position));
    for (square, thought) in moves(game)? {
        if position.must_pass() {
            let _ = write!(text, "{}[PA]", side(position.turn));
            position = position.pass();
        }
        let _ = write!(text, "{}[{square}", side(position.turn));
        if let Some(thought) = thought {
            // Between the two is what the player thinks of the position.
            let _ = write!(text, "//{:.3}", thought.as_secs_f64());
        }
        text.push(']');
        position = position.play(square);
    }
    text += ";)\n";
    Ok(text)
}

/// The position before the first move, also before those of the opening.
fn beginning(game: &GameToWrite<'_, Othello>) -> Result<OthelloPosition, NotWritable> {
    match &game.setup.position {
        Some(position) => position.parse().map_err(NotWritable),
        None => Ok(OthelloPosition::BEGINNING),
    }
}

/// The squares of all moves, with the time that each took; without a time those of the opening.
fn moves(game: &GameToWrite<'_, Othello>) -> Result<Vec<(Square, Option<Duration>)>, NotWritable> {
    let opening = game.setup.squares().map_err(NotWritable)?.into_iter();
    let mut moves: Vec<_> = opening.map(|square| (square, None)).collect();
    for (_, notation, thought) in game.record.moves() {
        let square = notation.parse::<Square>().map_err(NotWritable)?;
        moves.push((square, Some(thought)));
    }
    Ok(moves)
}

/// The discs of Black less those of White. After a foul none were counted: all discs are the
/// winner's, and a letter says whether its opponent's time was up or it left.
fn result(verdict: &Verdict) -> String {
    let Verdict::Finished { outcome, fouls } = verdict else {
        return "?".to_owned();
    };
    let score = |score: i32| format!("{score:+}.000");
    match &fouls[..] {
        [] => outcome
            .scores
            .get(BLACK)
            .map_or("?".to_owned(), |discs| score(*discs)),
        [foul] => {
            let lost = if foul.seat == BLACK {
                -ALL_DISCS
            } else {
                ALL_DISCS
            };
            let why = if foul.foul.kind() == FoulKind::Late {
                "t"
            } else {
                "r"
            };
            format!("{}:{why}", score(lost))
        }
        // Both have lost.
        _ => "?".to_owned(),
    }
}

/// A length of time in whole minutes and seconds; none where it is not of whole seconds.
fn clock(time: Duration) -> Option<String> {
    let seconds = time.as_secs();
    let is_whole = time == Duration::from_secs(seconds);
    is_whole.then(|| format!("{:02}:{:02}", seconds / 60, seconds % 60))
}

/// The size, the rows from the top, and the side to move: `*` is Black, `O` White.
fn board(position: OthelloPosition) -> String {
    let sign = |square: Square| match square.bit() {
        bit if position.discs(BLACK) & bit != 0 => '*',
        bit if position.discs(WHITE) & bit != 0 => 'O',
        _ => '-',
    };
    let mut text = Square::SIDE.to_string();
    for square in Square::all() {
        if square.column() == 0 {
            text.push(' ');
        }
        text.push(sign(square));
    }
    let turn = if position.turn == BLACK { '*' } else { 'O' };
    format!("{text} {turn}")
}

fn side(seat: Seat) -> char {
    if seat == BLACK { 'B' } else { 'W' }
}
