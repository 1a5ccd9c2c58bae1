//! The set-up of a round.

use referee_core::{JsonBounds, SetupError};
use serde::{Deserialize, Serialize};

use super::{
    tile::{COPIES, TILES, Tile, parse},
    value::MissingSuit,
};

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
    /// The 13 tiles of each seat; the others are shuffled.
    pub hands: Option<[String; 2]>,
}

/// The tiles in the order of a wall that is drawn from its back.
pub(super) struct TileWall {
    pub(super) wall: Vec<Tile>,
    /// The number of tiles, from the front, that are shuffled.
    pub(super) shuffled: usize,
}

impl Setup {
    /// A line of two hands, separated by a space, or a set-up as JSON.
    pub(super) fn opening(line: &str) -> Result<Self, SetupError> {
        if line.trim_start().starts_with('{') {
            return JsonBounds::SETUP
                .read(line.as_bytes())
                .map_err(|error| SetupError(format!("not a set-up: {error}")));
        }
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            [first, second] => Ok(Self {
                hands: Some([first.to_owned(), second.to_owned()]),
                ..Self::default()
            }),
            _ => Err(SetupError(format!(
                "expected two hands of 13 tiles such as 122367c1478b138d, separated by a space, found \"{line}\""
            ))),
        }
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
