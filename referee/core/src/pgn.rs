//! Portable Game Notation: tags, and moves with the time that each took. It is made for chess, so
//! every game is written in its frame: a number stands before one move of each seat, and `--` where
//! a seat made none. That is the import format of the specification, not its export format.
//!
//! Source: "Standard: Portable Game Notation Specification and Implementation Guide" (1994),
//! sections 8 and 9, for tags, results and terminations; the time behind a move is written as
//! cutechess and fastchess do.

use std::fmt::Write as _;

use crate::{FoulKind, FoulWords, Game, GameToWrite, NotWritable, Outcome, Seat, Verdict, shorten};

/// The most letters of a line of moves.
const WIDTH: usize = 79;
/// The most letters of the words about the end of a game.
const LONGEST_ENDING: usize = 400;
/// In place of the move of a seat that made none.
const NO_MOVE: &str = "--";
/// The result of a game that nobody won or that does not count.
const NO_RESULT: &str = "*";

/// Writes one game, with an empty line behind it.
pub(crate) fn write<G: Game>(game: &GameToWrite<'_, G>) -> Result<String, NotWritable> {
    let mut text = String::new();
    for (tag, value) in tags(game) {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(text, "[{tag} \"{value}\"]");
    }
    text.push('\n');
    let mut column = 0;
    for word in words(game) {
        let length = word.chars().count();
        // A line that begins with % is none of the game.
        if column > 0 && column + 1 + length > WIDTH && !word.starts_with('%') {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text += &word;
        column += length;
    }
    text += "\n\n";
    Ok(text)
}

/// The tags: first the seven that every game has, in their order.
fn tags<G: Game>(game: &GameToWrite<'_, G>) -> Vec<(String, String)> {
    let (record, occasion) = (game.record, game.occasion);
    let header = &record.header;
    let verdict = &record.result.verdict;
    let unknown = || "?".to_owned();
    let time = occasion.time.as_deref().and_then(|time| {
        let (date, time) = time.trim_end_matches('Z').split_once('T')?;
        Some((date.replace('-', "."), time.to_owned()))
    });
    let date = time.as_ref().map(|(date, _)| date.clone());
    let mut tags = vec![
        ("Event", occasion.event.clone().unwrap_or_else(unknown)),
        ("Site", unknown()),
        ("Date", date.unwrap_or_else(|| "????.??.??".to_owned())),
        ("Round", round(&header.game_id).unwrap_or_else(unknown)),
    ];
    let sides: Vec<String> = order::<G>().map(side::<G>).collect();
    for (seat, side) in order::<G>().zip(&sides) {
        let name = header.players.get(seat).cloned();
        tags.push((side.as_str(), name.unwrap_or_else(unknown)));
    }
    tags.extend([
        ("Result", result::<G>(verdict)),
        ("Variant", G::INFO.name.replace('_', "-")),
        ("GameId", header.game_id.clone()),
    ]);
    if let Some((date, time)) = time {
        tags.extend([("UTCDate", date), ("UTCTime", time)]);
    }
    let limits = &header.limits;
    let control = match limits.budget {
        Some(budget) => format!("{}", budget.as_secs_f64()),
        None => format!("1/{}", limits.per_move.as_secs_f64()),
    };
    tags.extend([
        ("TimeControl", control),
        ("PlyCount", record.moves().count().to_string()),
        ("Termination", termination(verdict).to_owned()),
    ]);
    if let Verdict::Finished { outcome, fouls } = verdict {
        tags.push(("Places", by_seat(outcome.places.as_slice())));
        // After a foul nothing is counted in some games.
        if fouls.is_empty() {
            tags.push(("Scores", by_seat(outcome.scores.as_slice())));
        }
    }
    if let Some(line) = G::deal_line(game.setup, game.dealt) {
        tags.extend([("SetUp", "1".to_owned()), ("FEN", line)]);
    }
    let tags = tags.into_iter();
    tags.map(|(tag, value)| (tag.to_owned(), value)).collect()
}

/// The seats in the order in which results are written: White first, where a seat is called so.
fn order<G: Game>() -> impl Iterator<Item = Seat> {
    let mut seats: Vec<Seat> = Seat::all(G::INFO.seats).collect();
    seats.sort_by_key(|seat| G::INFO.sides.get(seat.index()) != Some(&"White"));
    seats.into_iter()
}

/// The name of a seat.
fn side<G: Game>(seat: Seat) -> String {
    let side = G::INFO.sides.get(seat.index());
    side.map_or_else(|| format!("Seat{seat}"), |side| (*side).to_owned())
}

/// The numbers in the name of a game, such as `0.3.1` for `match-0000-deal-0003-game-1`.
fn round(game_id: &str) -> Option<String> {
    let numbers = game_id.split(|c: char| !c.is_ascii_digit());
    let numbers = numbers.filter_map(|digits| digits.parse::<u64>().ok());
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    (!numbers.is_empty()).then(|| numbers.join("."))
}

/// The share of the first place that each seat has: `1-0`, `1/2-1/2`.
fn result<G: Game>(verdict: &Verdict) -> String {
    let places = verdict.outcome().map(|outcome| &outcome.places);
    let is_first = |seat| places.and_then(|places| places.get(seat)) == Some(&1);
    let first = order::<G>().filter(|seat| is_first(*seat)).count();
    let shares = order::<G>().map(|seat| match (is_first(seat), first) {
        (false, _) => "0".to_owned(),
        (true, 1) => "1".to_owned(),
        (true, several) => format!("1/{several}"),
    });
    match first {
        0 => NO_RESULT.to_owned(),
        _ => shares.collect::<Vec<_>>().join("-"),
    }
}

/// Why the game ended, in the words of the specification.
fn termination(verdict: &Verdict) -> &'static str {
    let Verdict::Finished { fouls, .. } = verdict else {
        return "unterminated";
    };
    match fouls.first().map(|foul| foul.foul.kind()) {
        None | Some(FoulKind::Resigned) => "normal",
        Some(FoulKind::Late) => "time forfeit",
        Some(
            FoulKind::Illegal
            | FoulKind::Malformed
            | FoulKind::WrongNumber
            | FoulKind::Unsolicited
            | FoulKind::Oversized
            | FoulKind::Flooded
            | FoulKind::Interfered
            | FoulKind::MemoryExceeded,
        ) => "rules infraction",
        Some(
            FoulKind::Unreachable
            | FoulKind::NoStart
            | FoulKind::Unsupported
            | FoulKind::Crashed
            | FoulKind::HungUp
            | FoulKind::ErrorStatus,
        ) => "abandoned",
    }
}

fn by_seat<T: ToString>(values: &[T]) -> String {
    let values: Vec<String> = values.iter().map(T::to_string).collect();
    values.join(" ")
}

/// The moves, why the game ended, and its result.
fn words<G: Game>(game: &GameToWrite<'_, G>) -> Vec<String> {
    let mut words = Vec::new();
    let seats = usize::from(G::INFO.seats);
    // The seat whose move would be the next one of this number.
    let (mut number, mut next) = (0_u32, seats);
    for (seat, notation, thought) in game.record.moves() {
        let at = seat.index();
        if number == 0 || at < next {
            if number > 0 {
                words.extend((next..seats).map(|_| NO_MOVE.to_owned()));
            }
            number += 1;
            words.push(format!("{number}."));
            next = 0;
        }
        words.extend((next..at).map(|_| NO_MOVE.to_owned()));
        words.push(G::move_word(&game.dealt.public, notation));
        words.push(format!("{{{:.3}s}}", thought.as_secs_f64()));
        next = at + 1;
    }
    let verdict = &game.record.result.verdict;
    let ending = match verdict {
        Verdict::Void { reason } => reason.clone(),
        Verdict::Finished { outcome, fouls } => {
            let Outcome { reason, .. } = outcome;
            let fouls = fouls.iter().map(|foul| {
                let name = game.record.header.players.get(foul.seat);
                let name = name.map_or("?", String::as_str);
                format!("; {name}: {}", FoulWords::of(&foul.foul).sentence)
            });
            format!("{reason}{}", fouls.collect::<String>())
        }
    };
    let ending = shorten(&ending, LONGEST_ENDING).replace(['{', '}'], "|");
    let comment: Vec<char> = format!("{{{ending}}}").chars().collect();
    for word in comment.split(|c| c.is_whitespace()) {
        words.extend(
            word.chunks(WIDTH)
                .map(|part| part.iter().collect::<String>()),
        );
    }
    words.push(result::<G>(verdict));
    words
}
