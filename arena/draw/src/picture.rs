//! A scene laid out: every part has its place and its key.

use std::{collections::BTreeMap, fmt::Write as _};

use arena_words::with_names;
use referee_core::{Area, Cell, Language, Mark, Scene, Seat, Shape};

use crate::{board, glyph::number, row, table, text};

/// The space around what is drawn.
pub(crate) const MARGIN: f32 = 8.0;
/// Height of a line of text.
pub(crate) const LINE: f32 = 22.0;
/// The space between areas.
const GAP: f32 = 10.0;
/// The least width, so that captions have room below a small board, which stands in the middle.
pub(crate) const LEAST_WIDTH: f32 = 300.0;

/// A scene laid out, in units that are about pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Its width.
    pub width: u32,
    /// Its height.
    pub height: u32,
    /// The drawn parts, those in front last.
    pub parts: Vec<PicturePart>,
    /// True if any cell may be clicked.
    pub interactive: bool,
}

/// A part of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PicturePart {
    /// Its key, the same in every picture of a game: `cloth` is that of a table, `a0` the ground and
    /// label of area 0, `a0c17` its cell 17, `t0` caption 0, `line` the moves that could be played.
    pub key: String,
    /// One `<g id="…">…</g>`, whose id is the prefix and the key. It has its position.
    pub svg: String,
    /// The order of drawing, which parts of several pictures share.
    pub(crate) order: (u8, usize, usize),
}

/// Properties of a picture besides its scene.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look<'a> {
    /// The language of labels and captions.
    pub language: Language,
    /// Names of the players, by seats. "seat 0" in a label or a caption becomes the name. A seat
    /// without a name stays a number.
    pub names: &'a [String],
    /// The moves that may be clicked; none if the picture is only looked at.
    pub legal: &'a [String],
    /// Moves that are not played but could be, in their order, each with the seat that would play it:
    /// they are drawn with their numbers on the cells that they name.
    pub line: &'a [(Seat, String)],
    /// Beginning of every id, so that several pictures fit on one page: letters, digits, `-` and
    /// `_`; other characters are left out.
    pub id_prefix: &'a str,
}

impl Picture {
    /// Lays a scene out.
    #[must_use]
    pub fn of(scene: &Scene, look: &Look<'_>) -> Self {
        let mut canvas = Canvas::new(look, row::largest(scene));
        if !table::draw(&mut canvas, scene) {
            for (index, area) in scene.areas.iter().enumerate() {
                if index > 0 {
                    canvas.y += GAP;
                }
                canvas.area(index, area);
            }
        }
        if !scene.captions.is_empty() {
            canvas.y += GAP / 2.0;
        }
        for (index, caption) in scene.captions.iter().enumerate() {
            let line = text::label(
                &with_names(caption, look.language, look.names),
                MARGIN,
                canvas.y + 16.0,
            );
            canvas.part((2, index, 0), format!("t{index}"), "", &line);
            canvas.y += LINE;
        }
        canvas.line();
        Self {
            width: canvas.width.ceil() as u32,
            height: (canvas.y + MARGIN).ceil() as u32,
            parts: canvas.parts,
            interactive: canvas.interactive,
        }
    }

    /// The whole picture for a page: an `<svg>` element.
    #[must_use]
    pub fn svg(&self, title: &str) -> String {
        // An image's inside is hidden from screen readers, so one with buttons is no image.
        let role = if self.interactive { "group" } else { "img" };
        let mut svg = format!(
            r#"<svg class="picture" viewBox="0 0 {} {}" role="{role}" aria-label="{}">"#,
            self.width,
            self.height,
            text::escaped(title),
        );
        for part in &self.parts {
            svg.push_str(&part.svg);
        }
        svg.push_str("</svg>");
        svg
    }

    /// The whole picture as a file of its own, with its rules of style and a background.
    #[must_use]
    pub fn standalone(&self, title: &str) -> String {
        self.file((self.width, self.height), title)
    }

    /// The same, on a ground of this size.
    pub(crate) fn file(&self, (width, height): (u32, u32), title: &str) -> String {
        let mut file = opening(width, height, title, "");
        for part in &self.parts {
            file.push_str(&part.svg);
        }
        file.push_str("</svg>\n");
        file
    }
}

/// Size into which all of these fit.
pub(crate) fn size_of_all(pictures: &[Picture]) -> (u32, u32) {
    let width = pictures.iter().map(|picture| picture.width).max();
    let height = pictures.iter().map(|picture| picture.height).max();
    (width.unwrap_or(1), height.unwrap_or(1))
}

/// Beginning of a file: up to its background.
pub(crate) fn opening(width: u32, height: u32, title: &str, rules: &str) -> String {
    format!(
        "<svg class=\"picture\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" color=\"#1f2937\">\n<title>{}</title>\n<style>\n{}{DARK}\
         {rules}</style>\n<rect class=\"ground\" width=\"{width}\" height=\"{height}\" \
         fill=\"#f8fafc\"/>\n",
        text::escaped(title),
        crate::CSS,
    )
}

/// A file has no page around it, so it follows the system's theme by itself.
const DARK: &str =
    "@media (prefers-color-scheme: dark) { svg { color: #e5e7eb } .ground { fill: #111827 } }\n";

/// A picture while it is drawn, from the top.
pub(crate) struct Canvas<'a> {
    look: &'a Look<'a>,
    parts: Vec<PicturePart>,
    interactive: bool,
    /// What is drawn of the line, on its cells: by its moves, counted from 0.
    line: BTreeMap<usize, String>,
    /// Width and height of the largest piece in any row.
    pub(crate) largest: (f32, f32),
    /// Width of what has been drawn.
    pub(crate) width: f32,
    /// Position at which the next thing begins.
    pub(crate) y: f32,
}

impl<'a> Canvas<'a> {
    fn new(look: &'a Look<'a>, largest: (f32, f32)) -> Self {
        Self {
            look,
            parts: Vec::new(),
            interactive: false,
            line: BTreeMap::new(),
            largest,
            width: LEAST_WIDTH,
            y: MARGIN,
        }
    }

    fn area(&mut self, index: usize, area: &Area) {
        let mut label = String::new();
        let words = self.label_of(area);
        if !words.is_empty() {
            label = text::label(&words, MARGIN, self.y + 14.0);
            self.y += LINE;
        }
        match &area.shape {
            Shape::Board {
                surface,
                rows,
                columns,
            } => {
                board::draw(self, index, area, (*surface, rows, columns), &label);
            }
            Shape::Row | Shape::River => row::draw(self, index, area, &label),
        }
    }

    /// The number of a move of the line on its cell, where a cell says so: `ghost` draws the piece of a
    /// seat that would lie there.
    pub(crate) fn mark_line(
        &mut self,
        says: &str,
        (x, y): (f32, f32),
        ghost: impl Fn(Seat) -> String,
    ) {
        let mut moves = self.look.line.iter().enumerate();
        if let Some((at, (seat, _))) = moves.find(|(_, (_, notation))| notation == says) {
            let (x, y, number_of_it, ghost) = (number(x), number(y), at + 1, ghost(*seat));
            let drawn = format!(
                r##"<g transform="translate({x} {y})"><g opacity=".6">{ghost}</g><text y="5.5" font-family="system-ui, sans-serif" font-size="16" font-weight="700" text-anchor="middle" fill="#fff" stroke="#111827" stroke-width="3.5" stroke-linejoin="round" paint-order="stroke">{number_of_it}</text></g>"##
            );
            self.line.entry(at).or_insert(drawn);
        }
    }

    /// Draws the line above everything else.
    fn line(&mut self) {
        let drawn = std::mem::take(&mut self.line);
        if !drawn.is_empty() {
            let drawn: String = drawn.into_values().collect();
            self.part((3, 0, 0), "line".to_owned(), "", &drawn);
        }
    }

    /// The label of an area, with the names of players.
    pub(crate) fn label_of(&self, area: &Area) -> String {
        with_names(&area.label, self.look.language, self.look.names)
    }

    /// What is below everything that has been drawn.
    pub(crate) fn cloth(&mut self, inside: &str) {
        self.part((0, 0, 0), "cloth".to_owned(), "", inside);
        self.parts.rotate_right(1);
    }

    /// The ground and label of an area.
    pub(crate) fn ground(&mut self, area: usize, inside: &str) {
        self.part((1, area, 0), format!("a{area}"), "", inside);
    }

    /// A cell of an area, drawn around or from its own origin.
    pub(crate) fn cell(
        &mut self,
        area: usize,
        index: usize,
        cell: &Cell,
        place: &CellPlace,
        inside: &str,
    ) {
        let says = &*cell.says;
        let mut attributes = String::new();
        let mut inside = inside.to_owned();
        let is_legal = !says.is_empty() && self.look.legal.iter().any(|legal| legal == says);
        let legal = if is_legal { " legal" } else { "" };
        let motion = place.motion.class();
        let _ = write!(attributes, r#" class="cell{legal}{motion}""#);
        if !says.is_empty() {
            let says = text::escaped(says);
            let _ = write!(attributes, r#" data-says="{says}""#);
            if is_legal {
                self.interactive = true;
                let _ = write!(
                    attributes,
                    r#" data-move="{says}" tabindex="0" role="button" aria-label="{says}""#
                );
            }
            inside.insert_str(0, &format!("<title>{says}</title>"));
            if is_legal {
                inside.push_str(place.spot);
            }
        }
        let (x, y) = (number(place.x), number(place.y));
        let _ = write!(attributes, r#" transform="translate({x} {y})"#);
        if place.turn != 0.0 {
            let _ = write!(attributes, "rotate({})", number(place.turn));
        }
        if place.scale != 1.0 {
            let _ = write!(attributes, "scale({})", number(place.scale));
        }
        attributes.push('"');
        self.part(
            (1, area, index + 1),
            format!("a{area}c{index}"),
            &attributes,
            &inside,
        );
    }

    fn part(&mut self, order: (u8, usize, usize), key: String, attributes: &str, inside: &str) {
        let prefix = text::id(self.look.id_prefix);
        let svg = format!(r#"<g id="{prefix}{key}"{attributes}>{inside}</g>"#);
        self.parts.push(PicturePart { key, svg, order });
    }
}

/// The place of a cell, and how it is shown.
pub(crate) struct CellPlace {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) scale: f32,
    /// Degrees by which it is turned to the right.
    pub(crate) turn: f32,
    /// Mark which shows that it may be clicked.
    pub(crate) spot: &'static str,
    /// How a page that moves pieces lets it come.
    pub(crate) motion: Motion,
}

/// The way in which what has just been played comes to its place. A page may move it so; a picture by
/// itself stands still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Motion {
    #[default]
    Still,
    /// From above the board down to its place.
    Falls,
    /// From a little above its place.
    Lands,
    /// Around its own axis.
    Turns,
}

impl Motion {
    /// Of a piece with this mark that lies on the table.
    pub(crate) const fn of(mark: Option<Mark>) -> Self {
        match mark {
            Some(Mark::Last) => Self::Lands,
            Some(Mark::Turned) => Self::Turns,
            Some(Mark::Line) | None => Self::Still,
        }
    }

    const fn class(self) -> &'static str {
        match self {
            Self::Still => "",
            Self::Falls => " falls",
            Self::Lands => " lands",
            Self::Turns => " turns",
        }
    }
}
