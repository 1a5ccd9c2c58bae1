//! Games in the formats of other programs: the texts, and what is read back of them.

use std::time::Duration;

use referee_core::{
    Dice, Foul, GameKind, Limits, Occasion, PerSeat, Record, Seat, Seed, TableStep, Verdict,
};
use referee_games::{
    Fixture, GAMES, Next, NotWritten, SeatReply, Sitting, answer, formats, game, ready, write_game,
};
use serde_json::Value;

/// The time that every move takes.
const THOUGHT: Duration = Duration::from_millis(1_250);

/// Plays a game. `choose` gets the legal moves and says which is played; with None the bot is gone.
fn play(
    (kind, setup): (&'static dyn GameKind, &str),
    seed: u8,
    mut choose: impl FnMut(&[String]) -> Option<usize>,
) -> Record {
    let mut sitting = Sitting::new(Fixture {
        kind,
        game_id: "match-0000-deal-0003-game-1".to_owned(),
        setup: kind.opening(setup).expect("a set-up"),
        seed: Seed::new([seed; 32]),
        players: PerSeat::new(kind.info().seats, |seat| format!("bot-{seat}")),
        limits: Limits::default(),
        spent: PerSeat::default(),
    })
    .expect("it begins");
    loop {
        match sitting.advance() {
            Next::Tell(_) => {}
            Next::Over(finished) => return finished.record,
            Next::Ask(questions) => {
                for question in questions {
                    let seat = question.seat;
                    let heard = if question.number == 0 {
                        SeatReply::Answer(ready())
                    } else {
                        let legal = sitting.legal(seat);
                        let notations: Vec<String> =
                            legal.iter().map(|(notation, _)| notation.clone()).collect();
                        match choose(&notations) {
                            Some(at) => SeatReply::Answer(answer(question.number, &legal[at].1)),
                            None => SeatReply::Foul(Foul::HungUp),
                        }
                    };
                    sitting.hear(seat, heard, THOUGHT);
                }
            }
        }
    }
}

/// Plays these moves, each of which is the beginning of a notation; then the bot is gone.
fn played(name: &str, setup: &str, moves: &[&str]) -> Record {
    let mut moves = moves.iter();
    play((game(name).expect("a game"), setup), 0, |legal| {
        let wanted = moves.next()?;
        let found = legal.iter().position(|notation| notation.contains(wanted));
        Some(found.unwrap_or_else(|| panic!("{wanted} is none of {legal:?}")))
    })
}

fn random(kind: &'static dyn GameKind, setup: &str, number: u8) -> Record {
    let mut dice = Dice::new(&Seed::new([number; 32]));
    play((kind, setup), number, |legal| {
        Some(dice.below(legal.len() as u32) as usize)
    })
}

fn written(format: &str, record: &Record) -> Result<String, String> {
    let text = write_game(format, record, &Occasion::default());
    text.map_err(|error| error.to_string())
}

/// A tag of a game in PGN.
fn tag<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let begins = format!("[{name} \"");
    let line = text.lines().find_map(|line| line.strip_prefix(&begins))?;
    line.strip_suffix("\"]")
}

/// The moves of a game in PGN, without numbers, comments and the result.
fn words(text: &str) -> Vec<&str> {
    let (_, moves) = text.split_once("\n\n").expect("tags and moves");
    let mut depth = 0;
    let words = moves.split_whitespace().filter(move |word| {
        let outside = depth == 0 && !word.starts_with('{');
        depth += word.matches('{').count();
        depth -= word.matches('}').count();
        outside && !word.ends_with('.')
    });
    let mut words: Vec<&str> = words.collect();
    words.pop();
    words
}

const SETUPS: [(&str, &[&str]); 4] = [
    (
        "connect_four",
        &[
            "{}",
            "6x7",
            "9x9,forbidden=4:4",
            "4x4,moves=0 1 2",
            "..../..O./#XX./XOOX",
        ],
    ),
    (
        "othello",
        &[
            "{}",
            "f5d6c3",
            "---------------------------OX------XO--------------------------- X f5d6c3",
        ],
    ),
    (
        "mahjong",
        &[
            "{}",
            "missing-suit=free",
            "122367c1478b138d 4589c23569b2579d",
        ],
    ),
    ("big_two", &["{}", "scoring=payout,reversal=false"]),
];

#[test]
fn every_game_has_the_formats_of_every_game() {
    let names: Vec<&str> = formats().iter().map(|format| format.name).collect();
    assert_eq!(names, ["pgn", "moves", "columns", "ggf", "transcript"]);
    for kind in &GAMES {
        let names: Vec<&str> = kind.formats().iter().map(|format| format.name).collect();
        assert_eq!(names[..2], ["pgn", "moves"], "{}", kind.info().name);
    }
    let record = random(game("mahjong").unwrap(), "{}", 1);
    assert_eq!(
        written("ggf", &record).unwrap_err(),
        "games of mahjong are written as pgn, moves, found ggf"
    );
}

/// The tag `FEN` is a set-up. With any seed it is the same deal, in which the moves lead to the same
/// end.
#[test]
fn a_deal_is_read_back_from_its_tag() {
    for (name, setups) in SETUPS {
        let kind = game(name).unwrap();
        for setup in setups {
            for number in 0..8 {
                let record = random(kind, setup, number);
                let text = written("pgn", &record).unwrap();
                let line = tag(&text, "FEN").unwrap_or("{}");
                assert_eq!(tag(&text, "SetUp").is_some(), line != "{}");
                let again = kind.opening(line);
                let again = again.unwrap_or_else(|error| panic!("{line}: {error}"));
                let mut table = kind.deal(&again, &Seed::new([99; 32])).unwrap();
                let mut moves = record.moves();
                let outcome = loop {
                    match table.step() {
                        TableStep::Tell(_) => {}
                        TableStep::Over(outcome) => break outcome,
                        TableStep::Ask(seats) => {
                            let (seat, notation, _) = moves.next().unwrap();
                            assert_eq!(seats, [seat]);
                            let legal = table.legal(seat);
                            let found = legal.iter().find(|(one, _)| one == notation);
                            table.answer(seat, &found.unwrap().1).unwrap();
                            table.resolve();
                        }
                    }
                };
                assert_eq!(record.result.verdict.outcome(), Some(&outcome), "{line}");
            }
        }
    }
}

/// One move of each seat stands behind a number, so the words say who played what.
#[test]
fn moves_are_read_back_from_pgn() {
    for (name, setups) in SETUPS {
        let kind = game(name).unwrap();
        let seats = usize::from(kind.info().seats);
        for number in 0..8 {
            let record = random(kind, setups[0], number);
            let text = written("pgn", &record).unwrap();
            assert!(text.ends_with("\n\n"), "{text}");
            let (_, moves) = text.split_once("\n\n").unwrap();
            assert!(
                moves.lines().all(|line| line.chars().count() < 80),
                "{text}"
            );
            let words = words(&text);
            let read = words.iter().enumerate().filter(|(_, word)| **word != "--");
            let read: Vec<(usize, &str)> = read.map(|(at, word)| (at % seats, *word)).collect();
            assert_eq!(read.len(), record.moves().count(), "{text}");
            for ((seat, word), (of, notation, _)) in read.iter().zip(record.moves()) {
                assert_eq!(*seat, of.index(), "{word} {text}");
                if name == "connect_four" {
                    continue;
                }
                assert_eq!(word.replace(',', " "), notation);
            }
        }
    }
}

/// The shortest game of Othello.
const SHORT: [&str; 9] = ["e6", "f4", "e3", "f6", "g5", "d6", "e7", "f5", "c5"];

#[test]
fn a_game_of_othello_is_written_in_each_format() {
    let record = played("othello", "{}", &SHORT);
    assert_eq!(
        written("transcript", &record).unwrap(),
        "e6f4e3f6g5d6e7f5c5\n"
    );
    assert_eq!(
        written("moves", &record).unwrap(),
        "# match-0000-deal-0003-game-1: bot-0 - bot-1, Black 13, White 0; with the empty squares \
         64 to 0\ne6f4e3f6g5d6e7f5c5\n"
    );
    assert_eq!(
        written("ggf", &record).unwrap(),
        "(;GM[Othello]PC[bot-arena]PB[bot-0]PW[bot-1]RE[+13.000]TI[00:00/00:03]TY[8]\
         BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]\
         B[e6//1.250]W[f4//1.250]B[e3//1.250]W[f6//1.250]B[g5//1.250]W[d6//1.250]B[e7//1.250]\
         W[f5//1.250]B[c5//1.250];)\n"
    );
    let occasion = Occasion {
        event: Some("spring \"cup\" [a]".to_owned()),
        time: Some("2026-01-31T23:59:58Z".to_owned()),
    };
    assert_eq!(
        write_game("pgn", &record, &occasion).unwrap(),
        r#"[Event "spring \"cup\" [a]"]
[Site "?"]
[Date "2026.01.31"]
[Round "0.3.1"]
[White "bot-1"]
[Black "bot-0"]
[Result "0-1"]
[Variant "othello"]
[GameId "match-0000-deal-0003-game-1"]
[UTCDate "2026.01.31"]
[UTCTime "23:59:58"]
[TimeControl "1/3"]
[PlyCount "9"]
[Termination "normal"]
[Places "1 2"]
[Scores "13 -13"]

1. e6 {1.250s} f4 {1.250s} 2. e3 {1.250s} f6 {1.250s} 3. g5 {1.250s} d6
{1.250s} 4. e7 {1.250s} f5 {1.250s} 5. c5 {1.250s} {Black 13, White 0; with the
empty squares 64 to 0} 0-1

"#
    );
    let ggf = write_game("ggf", &record, &occasion).unwrap();
    let begins = "(;GM[Othello]PC[spring \"cup\" _a_]DT[2026.01.31_23:59:58.GMT]PB[bot-0]";
    assert!(ggf.starts_with(begins), "{ggf}");
}

/// White has no move after c1.
#[test]
fn a_pass_of_othello_is_written() {
    let board = format!("XO{}XO{} X", "-".repeat(14), "-".repeat(46));
    let record = played("othello", &board, &["c1", "c3"]);
    let ggf = written("ggf", &record).unwrap();
    assert!(ggf.contains("BO[8 *O------ -------- *O------ "), "{ggf}");
    assert!(ggf.ends_with("B[c1//1.250]W[PA]B[c3//1.250];)\n"), "{ggf}");
    let pgn = written("pgn", &record).unwrap();
    assert_eq!(words(&pgn), ["c1", "--", "c3"]);
    assert_eq!(tag(&pgn, "FEN"), Some(&*board));
    let refused = written("transcript", &record).unwrap_err();
    assert!(
        refused.contains("it begins from a position of its own"),
        "{refused}"
    );
}

/// The moves of an opening are moves of the game, but nobody has thought about them.
#[test]
fn an_opening_of_othello_is_a_part_of_the_game() {
    let record = played("othello", &SHORT[..3].concat(), &SHORT[3..]);
    let whole = SHORT.concat();
    assert_eq!(
        written("transcript", &record).unwrap(),
        format!("{whole}\n")
    );
    let ggf = written("ggf", &record).unwrap();
    assert!(ggf.contains("*]B[e6]W[f4]B[e3]W[f6//1.250]"), "{ggf}");
    let pgn = written("pgn", &record).unwrap();
    assert_eq!(tag(&pgn, "FEN"), Some("e6f4e3"));
    // White begins after three moves.
    assert_eq!(words(&pgn)[..2], ["--", "f6"]);
}

/// A transcript is a set-up: without its last move it leads to the position before that.
#[test]
fn a_transcript_of_othello_is_read_back() {
    let kind = game("othello").unwrap();
    for number in 0..20 {
        let record = random(kind, "{}", number);
        let line = written("transcript", &record).unwrap();
        let cut = &line[..line.len() - 3];
        let setup = kind.opening(cut).unwrap();
        let mut table = kind.deal(&setup, &Seed::new([1; 32])).unwrap();
        let (seat, last, _) = record.moves().last().unwrap();
        assert_eq!(table.step(), TableStep::Ask(vec![seat]));
        let legal = table.legal(seat);
        let (_, last) = legal.iter().find(|(one, _)| one == last).unwrap();
        table.answer(seat, last).unwrap();
        table.resolve();
        let TableStep::Over(outcome) = table.step() else {
            panic!("{line}");
        };
        assert_eq!(record.result.verdict.outcome(), Some(&outcome), "{line}");
    }
}

#[test]
fn a_foul_is_told_in_each_format() {
    // White is gone after the first move, then Black before it.
    for (moves, result, of_ggf) in [(&SHORT[..1], "0-1", "+64.000:r"), (&[], "1-0", "-64.000:r")] {
        let record = played("othello", "{}", moves);
        let pgn = written("pgn", &record).unwrap();
        assert_eq!(tag(&pgn, "Result"), Some(result));
        assert_eq!(tag(&pgn, "Termination"), Some("abandoned"));
        assert_eq!(tag(&pgn, "Scores"), None);
        let ggf = written("ggf", &record).unwrap();
        assert!(ggf.contains(&format!("RE[{of_ggf}]")), "{ggf}");
    }
}

#[test]
fn a_game_of_connect_four_is_written_in_each_format() {
    let columns = [", 3)", ", 0)", ", 3)", ", 0)", ", 3)", ", 6)", ", 3)"];
    let record = played("connect_four", "6x7", &columns);
    assert_eq!(written("columns", &record).unwrap(), "4141474\n");
    let pgn = written("pgn", &record).unwrap();
    assert_eq!(words(&pgn), ["d1", "a1", "d2", "a2", "d3", "g1", "d4"]);
    assert_eq!(tag(&pgn, "White"), Some("bot-0"));
    assert_eq!(tag(&pgn, "Result"), Some("1-0"));
    let empty = [
        ".......", ".......", ".......", ".......", ".......", ".......",
    ]
    .join("/");
    assert_eq!(tag(&pgn, "FEN"), Some(&*empty));
    // An opening is a part of the game; columns above 9 are letters.
    let record = played("connect_four", "9x12,forbidden=none,moves=8 9 10 11", &[]);
    assert_eq!(written("columns", &record).unwrap(), "9abc\n");
    for (setup, says) in [
        ("9x9,forbidden=4:4", "its board has a forbidden cell (4, 4)"),
        (
            "..../..../..../XO..",
            "its board has stones at the beginning",
        ),
    ] {
        let record = played("connect_four", setup, &[]);
        let refused = written("columns", &record).unwrap_err();
        assert!(refused.starts_with(says), "{refused}");
    }
}

/// Several share the first place, or nobody has it.
#[test]
fn results_of_two_and_of_four_are_written() {
    let mut results = std::collections::BTreeSet::new();
    for kind in &GAMES {
        for number in 0..30 {
            let record = random(*kind, "{}", number);
            let pgn = written("pgn", &record).unwrap();
            let result = tag(&pgn, "Result").unwrap().to_owned();
            assert!(pgn.trim_end().ends_with(&result), "{pgn}");
            results.insert(result);
        }
    }
    for result in ["1-0", "0-1", "1/2-1/2", "1-0-0-0", "0-0-0-1"] {
        assert!(results.contains(result), "{result}: {results:?}");
    }
    let mut void = random(GAMES[0], "{}", 1);
    void.result.verdict = Verdict::Void {
        reason: "the disk was full".to_owned(),
    };
    let text = GAMES[0]
        .write_game("pgn", &void, &Occasion::default())
        .unwrap();
    assert_eq!(tag(&text, "Result"), Some("*"));
    assert_eq!(tag(&text, "Termination"), Some("unterminated"));
    assert!(text.ends_with("{the disk was full} *\n\n"), "{text}");
}

/// What is no possible game is not written.
#[test]
fn a_forged_record_is_not_written() {
    let mut record = played("othello", "{}", &SHORT);
    record.header.setup = Value::Null;
    assert!(matches!(
        write_game("pgn", &record, &Occasion::default()),
        Err(NotWritten::NotReplayed(_))
    ));
    let mut record = played("othello", "{}", &SHORT);
    record.header.game = "chess".to_owned();
    let refused = written("pgn", &record).unwrap_err();
    assert!(
        refused.contains("there is no game \"chess\" here"),
        "{refused}"
    );
    assert_eq!(record.moves().next().unwrap().0, Seat::new(0));
}
