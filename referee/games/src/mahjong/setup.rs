//! The set-up of a round.

use referee_core::{SetupError, shorten};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use super::{
    tile::{COPIES, TILES, Tile, parse, print},
    value::MissingSuit,
};
use crate::written::list_or_line;

/// Number of tiles that a seat is dealt.
pub const DEALT: usize = 13;

/// The set-up; tiles are in the notation of the game.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// The rule on a missing suit: whether a winning hand must do without one of the suits.
    pub missing_suit: MissingSuit,
    /// All 108 tiles in the order in which they are drawn: 13 for seat 0, 13
    /// for seat 1, then one in turn, from seat 0.
    pub wall: Option<String>,
    /// The 13 tiles of each seat; the others are shuffled. They are read from a line too.
    #[serde(deserialize_with = "read_hands")]
    pub hands: Option<[String; 2]>,
}

/// The tiles in the order of a wall that is drawn from its back.
pub(super) struct TileWall {
    pub(super) wall: Vec<Tile>,
    /// The number of tiles, from the front, that are shuffled.
    pub(super) shuffled: usize,
}

impl Setup {
    /// Reads two hands, or a whole wall.
    pub(super) fn read_notation(line: &str) -> Result<Self, String> {
        if !line.contains('|') && parse(line).is_ok_and(|tiles| tiles.len() == TILES) {
            return Ok(Self {
                wall: Some(line.to_owned()),
                ..Self::default()
            });
        }
        Ok(Self {
            hands: Some(hands(line)?),
            ..Self::default()
        })
    }

    /// A round with this wall, of which the next tile is at the back.
    pub(super) fn line_of_wall(&self, wall: &[Tile]) -> String {
        let drawn: Vec<Tile> = wall.iter().rev().copied().collect();
        let rule = match self.missing_suit {
            MissingSuit::Required => "required",
            MissingSuit::Free => "free",
        };
        format!("missing-suit={rule},wall={}", print(&drawn))
    }

    pub(super) fn wall(&self) -> Result<TileWall, SetupError> {
        match (&self.wall, &self.hands) {
            (Some(_), Some(_)) => Err(SetupError(
                "expected a wall or hands, found both: the wall has the hands in it".to_owned(),
            )),
            (Some(wall), None) => {
                let mut wall = read("the wall", wall, TILES)?;
                exist("the wall", &wall)?;
                wall.reverse();
                Ok(TileWall { wall, shuffled: 0 })
            }
            (None, hands) => {
                let mut dealt = Vec::new();
                for (seat, hand) in hands.iter().flatten().enumerate() {
                    dealt.extend(read(&format!("the hand of seat {seat}"), hand, DEALT)?);
                }
                exist("both hands together", &dealt)?;
                let mut wall: Vec<Tile> = Tile::all()
                    .flat_map(|tile| {
                        let held = dealt.iter().filter(|held| **held == tile).count();
                        std::iter::repeat_n(tile, usize::from(COPIES) - held)
                    })
                    .collect();
                let shuffled = wall.len();
                wall.extend(dealt.into_iter().rev());
                Ok(TileWall { wall, shuffled })
            }
        }
    }
}

fn read_hands<'de, D: Deserializer<'de>>(from: D) -> Result<Option<[String; 2]>, D::Error> {
    let hands = list_or_line(from, |line| hands(line).map(Vec::from))?;
    let exactly = |hands: Vec<String>| {
        <[String; 2]>::try_from(hands).map_err(|hands| {
            D::Error::custom(format!(
                "hands: expected two hands, such as {EXAMPLE}, found {}",
                hands.len()
            ))
        })
    };
    hands.map(exactly).transpose()
}

const EXAMPLE: &str = "\"122367c1478b138d 4589c23569b2579d\"";

/// Reads two hands in one line, with `|` or a blank between them. Where blanks are between the tiles
/// too, the first 13 are the hand of seat 0.
fn hands(line: &str) -> Result<[String; 2], String> {
    let split: Vec<&str> = match line.contains('|') {
        true => line.split('|').map(str::trim).collect(),
        false => line.split_whitespace().collect(),
    };
    if let [first, second] = split[..] {
        return Ok([first, second].map(str::to_owned));
    }
    let tiles = parse(line);
    if let Ok(tiles) = &tiles
        && tiles.len() == 2 * DEALT
    {
        let (first, second) = tiles.split_at(DEALT);
        return Ok([first, second].map(print));
    }
    let found = match tiles {
        Ok(tiles) => format!("{} tiles", tiles.len()),
        Err(_) => format!("\"{}\"", shorten(line, 40)),
    };
    Err(format!(
        "expected two hands of 13 tiles, such as {EXAMPLE}, or a wall of {TILES} tiles, found {found}"
    ))
}

fn read(what: &str, text: &str, expected: usize) -> Result<Vec<Tile>, SetupError> {
    let tiles = parse(text).map_err(|error| SetupError(format!("{what}: {error}")))?;
    if tiles.len() == expected {
        Ok(tiles)
    } else {
        Err(SetupError(format!(
            "{what} must be {expected} tiles, found {}",
            tiles.len()
        )))
    }
}

/// No kind may have a fifth tile.
fn exist(what: &str, tiles: &[Tile]) -> Result<(), SetupError> {
    let count = |tile| tiles.iter().filter(|held| **held == tile).count();
    match Tile::all().find(|&tile| count(tile) > usize::from(COPIES)) {
        None => Ok(()),
        Some(tile) => Err(SetupError(format!(
            "there are four of each tile, found {} of {tile} in {what}",
            count(tile)
        ))),
    }
}
