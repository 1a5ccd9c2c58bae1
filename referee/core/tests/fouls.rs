//! The kinds of foul in what the compiler does not check: messages, kits, pages. In Rust a `match`
//! without a wildcard does it.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use referee_core::FoulKind;

/// A kind of foul by its names.
struct Names {
    /// In records: `wrong_number`.
    record: String,
    /// In tables: `wrong number`.
    words: String,
}

impl Names {
    /// In messages and kits: `WRONG_NUMBER`.
    fn constant(&self) -> String {
        self.record.to_uppercase()
    }

    /// In events: `wrong-number`.
    fn event(&self) -> String {
        self.record.replace('_', "-")
    }
}

/// A list of all kinds of foul.
struct Place {
    file: &'static str,
    text: &'static str,
    /// The list is what stands after the first of these and before the second.
    between: (&'static str, &'static str),
    has: fn(&str, &Names) -> bool,
    /// Those that it leaves out, as records name them.
    without: &'static [&'static str],
}

macro_rules! place {
    ($file:literal, $from:literal..$to:literal, $has:expr) => {
        place!($file, $from..$to, $has, without: [])
    };
    ($file:literal, $from:literal..$to:literal, $has:expr, without: [$($without:literal),*]) => {
        Place {
            file: $file,
            text: include_str!(concat!("../../../", $file)),
            between: ($from, $to),
            has: $has,
            without: &[$($without),*],
        }
    };
}

const PLACES: &[Place] = &[
    place!(
        "proto/arena/v1/envelope.proto",
        "enum FoulKind {".."}",
        |list, kind| list.contains(&format!(" FOUL_KIND_{} = ", kind.constant()))
    ),
    place!(
        "bots/python/src/bot_arena/game.py",
        "class FoulKind(IntEnum):".."@classmethod",
        |list, kind| list.contains(&format!(" {} = ", kind.constant()))
    ),
    place!(
        "docs/events.schema.json",
        "\"FoulName\": {".."}",
        |list, kind| list.contains(&format!("\"{}\"", kind.event()))
    ),
    place!(
        "docs/events.schema.json",
        "\"FoulEvidence\": {".."\n    }",
        |list, kind| list.contains(&format!("\"const\": \"{}\"", kind.event()))
    ),
    place!(
        "docs/events.md",
        "\n| foul | fields |".."\n\n",
        |list, kind| is_in_column(0, list, &kind.event())
    ),
    place!(
        "docs/protocol.md",
        "\n| foul | how to avoid it |".."\n\n",
        |list, kind| is_in_column(0, list, &kind.words)
    ),
    place!(
        "docs/bring-your-bot.md",
        "\n| match | exam | code |".."\n\n",
        |list, kind| is_in_column(0, list, &kind.words)
    ),
    place!(
        "docs/zh/bring-your-bot.md",
        "\n| 比赛 | 测评 | 代码 |".."\n\n",
        |list, kind| is_in_column(0, list, &kind.words)
    ),
    // A villain is a program that starts and plays, and knows nothing of the referee's delays.
    place!(
        "docs/villains.md", "\n| kind | what it does |".."\n\n",
        |list, kind| is_in_column(2, list, &kind.words),
        without: ["unreachable", "resigned", "interfered"]
    ),
];

/// True if a cell in this column of a table is this name, or has it among others.
fn is_in_column(column: usize, table: &str, name: &str) -> bool {
    let cells = table
        .lines()
        .filter_map(|row| row.split('|').nth(1 + column));
    let mut names = cells.flat_map(|cell| cell.split([',', '、']));
    names.any(|there| there.trim_matches([' ', '`']) == name)
}

/// The places that lack one of these kinds, each with the kind.
fn missing(kinds: &[Names]) -> Vec<String> {
    let mut missing = Vec::new();
    for place in PLACES {
        let (from, to) = place.between;
        let (_, rest) = place.text.split_once(from).unwrap();
        let (list, _) = rest.split_once(to).unwrap();
        for kind in kinds {
            let is_left_out = place.without.contains(&kind.record.as_str());
            if !is_left_out && !(place.has)(list, kind) {
                missing.push(format!("{}, {from:?}: {}", place.file, kind.record));
            }
        }
    }
    missing
}

fn all() -> Vec<Names> {
    let kinds = FoulKind::ALL.into_iter();
    let names = kinds.map(|kind| Names {
        record: serde_json::to_value(kind)
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned(),
        words: kind.words().to_owned(),
    });
    names.collect()
}

#[test]
fn every_list_has_every_kind_of_foul() {
    assert_eq!(missing(&all()), Vec::<String>::new());
}

#[test]
fn a_new_kind_of_foul_is_missed_in_every_list() {
    let made_up = Names {
        record: "made_up".to_owned(),
        words: "made up".to_owned(),
    };
    let expected = PLACES.iter().map(|place| {
        let (from, _) = place.between;
        format!("{}, {from:?}: made_up", place.file)
    });
    let mut kinds = all();
    kinds.push(made_up);
    assert_eq!(missing(&kinds), expected.collect::<Vec<_>>());
}
