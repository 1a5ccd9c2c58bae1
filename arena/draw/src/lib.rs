//! Pictures of scenes, for pages and files: SVG, PNG, animations, and the same in words.
//!
//! A scene names no game and neither does anything here: what is drawn follows from the shapes of
//! its areas and the pieces on them. Nothing is read or written but the system's fonts, and those
//! only by [`Fonts::of_system`]; the faces of tiles and cards are paths and need none.
//!
//! A fragment for a page has no scripts and no styles of its own, so it is shown under the
//! strictest content security policy. The page serves [`CSS`], files bring it along.

#![forbid(unsafe_code)]

mod animated;
mod board;
mod card;
mod disc;
mod glyph;
mod picture;
mod raster;
mod row;
mod spoken;
mod table;
mod text;
mod tile;

pub use animated::animated;
pub use picture::{Look, Picture, PicturePart};
pub use raster::{DrawError, Fonts, Raster, apng, png};
pub use spoken::spoken;

/// The rules for the classes in a picture: `label`, `legal`, `spot`, `edge`, and `chosen`, which a
/// script may add to a cell.
pub const CSS: &str = include_str!("picture.css");
