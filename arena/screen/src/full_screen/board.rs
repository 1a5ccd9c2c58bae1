//! Lays out a scene, with places that can be chosen by a cursor or a click. It knows no game: a cell
//! is chosen by the name that it has in moves.

use std::collections::BTreeSet;

use arena_terminal::draw::{Ink, Signs};
use ratatui::{
    layout::{Position, Rect},
    style::{Color, Modifier, Style},
    text::{Line, Span},
};
use referee_core::{Area, Cell, Language, Piece, Scene, Shape, Surface};

use super::{keys::Key, page::wrapped};

/// A possible place of the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Spot {
    /// A cell of an area, both counted from 0.
    Cell { area: usize, cell: usize },
    /// A button, counted from 0.
    Button(usize),
}

/// A place on the screen that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClickTarget {
    pub(super) spot: Spot,
    pub(super) area: Rect,
}

/// The marks that are drawn besides the scene.
pub(super) struct Marks<'a> {
    /// The legal moves.
    pub(super) legal: &'a [String],
    /// The chosen places.
    pub(super) chosen: &'a BTreeSet<Spot>,
    pub(super) cursor: Option<Spot>,
    /// Below the scene.
    pub(super) buttons: &'a [String],
}

/// The room for a scene.
#[derive(Clone, Copy)]
pub(super) struct Room {
    pub(super) width: usize,
    /// True if a row of pieces that are all face down is one of them and their number, behind its
    /// label.
    pub(super) folds: bool,
}

/// A scene that is laid out.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    pub(super) lines: Vec<Line<'static>>,
    pub(super) targets: Vec<ClickTarget>,
}

/// True if a name is a legal move, or a part of one.
pub(super) fn is_of_a_move(legal: &[String], name: &str) -> bool {
    let is_part = |one: &String| one == name || one.split(' ').any(|part| part == name);
    !name.is_empty() && legal.iter().any(is_part)
}

/// The legal moves that no cells of the scene mean: they need buttons.
pub(super) fn without_cells(scene: &Scene, legal: &[String]) -> Vec<String> {
    let cells = scene.areas.iter().flat_map(|area| &area.cells);
    let names: BTreeSet<&str> = cells.map(|cell| cell.says.as_str()).collect();
    let has_cells = |one: &String| {
        names.contains(one.as_str()) || one.split(' ').all(|part| names.contains(part))
    };
    legal
        .iter()
        .filter(|one| !has_cells(one))
        .cloned()
        .collect()
}

/// True if pieces are chosen from a row, as from a hand.
pub(super) fn has_hand(scene: &Scene) -> bool {
    let mut rows = scene.areas.iter().filter(|area| !area.shape.is_board());
    rows.any(|area| area.cells.iter().any(|cell| !cell.says.is_empty()))
}

/// The cell of a spot, and its area.
pub(super) fn cell_at(scene: &Scene, spot: Spot) -> Option<(&Area, &Cell)> {
    let Spot::Cell { area, cell } = spot else {
        return None;
    };
    let area = scene.areas.get(area)?;
    Some((area, area.cells.get(cell)?))
}

/// The move that a cell of a board means. In a plate with holes a disc falls, so that any cell means
/// its column.
pub(super) fn move_of_cell(area: &Area, at: usize, legal: &[String]) -> String {
    let own = &area.cells[at].says;
    let is_legal = |cell: &&Cell| legal.contains(&cell.says);
    let Shape::Board {
        surface: Surface::Holes,
        columns,
        ..
    } = &area.shape
    else {
        return own.clone();
    };
    let columns = columns.len().max(1);
    let column = area.cells.iter().skip(at % columns).step_by(columns);
    let falls = column.into_iter().find(is_legal);
    falls.map_or(own, |cell| &cell.says).clone()
}

impl Drawing {
    /// Lays a scene out.
    pub(super) fn new(
        scene: &Scene,
        signs: Signs,
        language: Language,
        room: Room,
        marks: &Marks,
    ) -> Self {
        let Room { width, folds } = room;
        let mut drawing = Self::default();
        for (at, area) in scene.areas.iter().enumerate() {
            match &area.shape {
                Shape::Board { rows, columns, .. } => {
                    drawing.board(at, area, rows, columns, signs, marks);
                }
                Shape::Row | Shape::River => {
                    let label = area.label.get(language);
                    match folded(area, signs).filter(|_| folds) {
                        Some(folded) => drawing.text(&format!("{label}  {folded}"), width),
                        None => {
                            drawing.text(label, width);
                            drawing.row(at, area, signs, width, marks);
                        }
                    }
                }
            }
        }
        for caption in &scene.captions {
            drawing.text(caption.get(language), width);
        }
        drawing.buttons(width, marks);
        drawing
    }

    fn board(
        &mut self,
        at: usize,
        area: &Area,
        rows: &[String],
        columns: &[String],
        signs: Signs,
        marks: &Marks,
    ) {
        let head: String = columns.iter().map(|name| format!("{name:>2} ")).collect();
        self.lines.push(Line::raw(format!("    {head}")));
        let cells: Vec<_> = area.cells.iter().enumerate().collect();
        for (cells, name) in cells.chunks(columns.len().max(1)).zip(rows) {
            self.lines.push(Line::raw(format!("{name:>3} ")));
            for (index, cell) in cells {
                let spot = Spot::Cell {
                    area: at,
                    cell: *index,
                };
                let can_be_reached = !cell.says.is_empty();
                self.put(
                    cell_span(cell, spot, true, signs, marks),
                    spot,
                    can_be_reached,
                );
            }
        }
    }

    /// A label or a caption.
    fn text(&mut self, text: &str, width: usize) {
        self.lines
            .extend(wrapped(text, width).into_iter().map(Line::raw));
    }

    fn row(&mut self, at: usize, area: &Area, signs: Signs, width: usize, marks: &Marks) {
        let nothing = area.cells.is_empty();
        self.lines
            .push(Line::raw(if nothing { "  -" } else { " " }));
        for (index, cell) in area.cells.iter().enumerate() {
            let spot = Spot::Cell {
                area: at,
                cell: index,
            };
            let span = cell_span(cell, spot, false, signs, marks);
            self.wrap(&span, width);
            self.put(span, spot, !cell.says.is_empty());
        }
    }

    fn buttons(&mut self, width: usize, marks: &Marks) {
        if marks.buttons.is_empty() {
            return;
        }
        self.lines.push(Line::raw(""));
        self.lines.push(Line::raw(" "));
        for (at, label) in marks.buttons.iter().enumerate() {
            let spot = Spot::Button(at);
            let span = Span::styled(format!("[ {label} ]"), cursor_style(spot, marks));
            self.wrap(&span, width);
            self.put(span, spot, true);
            self.put(Span::raw(" "), spot, false);
        }
    }

    /// Begins another line where this one has no room.
    fn wrap(&mut self, next: &Span, width: usize) {
        let taken = self.lines.last().map_or(0, Line::width);
        if taken + next.width() > width {
            self.lines.push(Line::raw(" "));
        }
    }

    /// Puts something at the end of the last line.
    fn put(&mut self, span: Span<'static>, spot: Spot, can_be_reached: bool) {
        let y = self.lines.len().saturating_sub(1) as u16;
        let Some(line) = self.lines.last_mut() else {
            return;
        };
        if can_be_reached {
            self.targets.push(ClickTarget {
                spot,
                area: Rect::new(line.width() as u16, y, span.width() as u16, 1),
            });
        }
        line.push_span(span);
    }
}

/// A row of pieces that are all face down, as one of them and their number.
fn folded(area: &Area, signs: Signs) -> Option<String> {
    let first = area.cells.first()?;
    let is_hidden = |cell: &Cell| matches!(cell.piece, Piece::FaceDown { .. });
    area.cells.iter().all(is_hidden).then(|| {
        let times = match signs {
            Signs::Ascii => "x",
            Signs::Unicode => "×",
        };
        format!(
            "{} {times}{}",
            signs.sign(first.piece).text,
            area.cells.len()
        )
    })
}

/// A cell with its marks: the last move in brackets, what is chosen in angle brackets, a square that
/// may be played to with a sign of its own, other pieces underlined.
fn cell_span(
    cell: &Cell,
    spot: Spot,
    on_board: bool,
    signs: Signs,
    marks: &Marks,
) -> Span<'static> {
    let sign = signs.sign(cell.piece);
    let is_legal = is_of_a_move(marks.legal, &cell.says);
    let (text, mut style) = match (is_legal, cell.piece) {
        (true, Piece::Empty) if on_board => ("+".to_owned(), Style::new().fg(Color::Green)),
        _ => (sign.text, ink_style(sign.ink)),
    };
    if is_legal && !on_board {
        style = style.add_modifier(Modifier::UNDERLINED);
    }
    let (left, right) = match (marks.chosen.contains(&spot), cell.is_marked()) {
        (true, _) => ('<', '>'),
        (false, true) => ('[', ']'),
        (false, false) => (' ', ' '),
    };
    Span::styled(
        format!("{left}{text}{right}"),
        style.patch(cursor_style(spot, marks)),
    )
}

fn cursor_style(spot: Spot, marks: &Marks) -> Style {
    match marks.cursor == Some(spot) {
        true => Style::new().add_modifier(Modifier::REVERSED),
        false => Style::new(),
    }
}

const fn ink_style(ink: Ink) -> Style {
    let style = Style::new();
    match ink {
        Ink::Plain => style,
        Ink::Red => style.fg(Color::Red),
        Ink::Green => style.fg(Color::Green),
        Ink::Blue => style.fg(Color::Blue),
        Ink::Yellow => style.fg(Color::Yellow),
        Ink::Dimmed => style.add_modifier(Modifier::DIM),
    }
}

/// The target that an arrow leads to; none where there is none in that direction.
pub(super) fn next_target(targets: &[ClickTarget], from: Spot, arrow: Key) -> Option<Spot> {
    let from = targets.iter().find(|target| target.spot == from)?.area;
    let side = |area: Rect| area.x.abs_diff(from.x);
    let targets = targets.iter().filter(|target| match arrow {
        Key::Left => target.area.y == from.y && target.area.x < from.x,
        Key::Right => target.area.y == from.y && target.area.x > from.x,
        Key::Up => target.area.y < from.y,
        Key::Down => target.area.y > from.y,
        _ => false,
    });
    let nearest = targets.min_by_key(|target| (target.area.y.abs_diff(from.y), side(target.area)));
    nearest.map(|target| target.spot)
}

/// The target at a position of the table.
pub(super) fn target_at(targets: &[ClickTarget], position: Position) -> Option<Spot> {
    let target = targets.iter().find(|target| target.area.contains(position));
    target.map(|target| target.spot)
}

#[cfg(test)]
mod tests {
    use referee_core::{CardSuit, Seat, Words};

    use super::*;

    fn wide(width: usize) -> Room {
        Room {
            width,
            folds: false,
        }
    }

    fn plain<'a>(legal: &'a [String], chosen: &'a BTreeSet<Spot>) -> Marks<'a> {
        Marks {
            legal,
            chosen,
            cursor: None,
            buttons: &[],
        }
    }

    fn text(drawing: &Drawing) -> Vec<String> {
        let lines = drawing.lines.iter().map(ToString::to_string);
        lines.map(|line| line.trim_end().to_owned()).collect()
    }

    fn board(size: usize, surface: Surface) -> Scene {
        let name = |number: usize| number.to_string();
        let cells = (0..size * size)
            .map(|at| Cell::new(Piece::Empty).says(format!("({}, {})", at / size, at % size)));
        Scene {
            areas: vec![Area {
                label: Words::default(),
                seat: None,
                shape: Shape::Board {
                    surface,
                    rows: (0..size).map(name).collect(),
                    columns: (0..size).map(name).collect(),
                },
                cells: cells.collect(),
            }],
            captions: Vec::new(),
            nearest: None,
        }
    }

    fn hand(cards: impl IntoIterator<Item = u8>) -> Scene {
        let cells = cards.into_iter().map(|rank| {
            let suit = CardSuit::Spades;
            Cell::new(Piece::Card { rank, suit }).says(format!("{rank}S"))
        });
        Scene {
            areas: vec![Area {
                label: Words::new("hand", ""),
                seat: Some(Seat::new(0)),
                shape: Shape::Row,
                cells: cells.collect(),
            }],
            captions: vec![Words::new("caption", "")],
            nearest: None,
        }
    }

    #[test]
    fn the_largest_board_fits_and_its_cells_are_found() {
        let legal = ["(11, 3)".to_owned()];
        let chosen = BTreeSet::new();
        let scene = board(12, Surface::Holes);
        let drawing = Drawing::new(
            &scene,
            Signs::Ascii,
            Language::En,
            wide(57),
            &plain(&legal, &chosen),
        );
        let text = text(&drawing);
        assert_eq!(text.len(), 13);
        assert_eq!(text[12], " 11  .  .  .  +  .  .  .  .  .  .  .  .");
        assert_eq!(drawing.targets.len(), 144);
        let place = Position::new(4 + 3 * 3 + 1, 12);
        let found = target_at(&drawing.targets, place);
        assert_eq!(
            found,
            Some(Spot::Cell {
                area: 0,
                cell: 11 * 12 + 3
            })
        );
    }

    #[test]
    fn arrows_lead_to_the_neighbours() {
        let chosen = BTreeSet::new();
        let scene = board(3, Surface::Plain);
        let targets = Drawing::new(
            &scene,
            Signs::Ascii,
            Language::En,
            wide(57),
            &plain(&[], &chosen),
        )
        .targets;
        let spot = |cell| Spot::Cell { area: 0, cell };
        for (arrow, to) in [
            (Key::Left, 3),
            (Key::Right, 5),
            (Key::Up, 1),
            (Key::Down, 7),
        ] {
            assert_eq!(next_target(&targets, spot(4), arrow), Some(spot(to)));
        }
        assert_eq!(next_target(&targets, spot(2), Key::Right), None);
        assert_eq!(next_target(&targets, spot(8), Key::Down), None);
    }

    #[test]
    fn discs_fall_where_there_are_holes() {
        let legal = ["(2, 1)".to_owned()];
        let falls = board(3, Surface::Holes);
        assert_eq!(move_of_cell(&falls.areas[0], 1, &legal), "(2, 1)");
        assert_eq!(move_of_cell(&falls.areas[0], 0, &legal), "(0, 0)");
        let lies = board(3, Surface::Plain);
        assert_eq!(move_of_cell(&lies.areas[0], 1, &legal), "(0, 1)");
    }

    #[test]
    fn a_hand_is_wrapped_and_moves_without_cells_are_buttons() {
        let legal = ["2S".to_owned(), "3S 4S".to_owned(), "pass".to_owned()];
        let scene = hand(2..=6);
        assert!(has_hand(&scene));
        let buttons = without_cells(&scene, &legal);
        assert_eq!(buttons, ["pass"]);
        let chosen = BTreeSet::from([Spot::Cell { area: 0, cell: 1 }]);
        let marks = Marks {
            legal: &legal,
            chosen: &chosen,
            cursor: Some(Spot::Button(0)),
            buttons: &buttons,
        };
        let drawing = Drawing::new(&scene, Signs::Ascii, Language::En, wide(14), &marks);
        assert_eq!(
            text(&drawing),
            [
                "hand",
                "  2S <3S> 4S",
                "  5S  6S",
                "caption",
                "",
                " [ pass ]"
            ]
        );
        assert_eq!(drawing.targets.len(), 6);
        let last = drawing.targets.last().unwrap().spot;
        assert_eq!(last, Spot::Button(0));
        assert_eq!(
            next_target(&drawing.targets, last, Key::Up),
            Some(Spot::Cell { area: 0, cell: 3 })
        );
        let underlined = |line: usize, span: usize| {
            let style = drawing.lines[line].spans[span].style;
            style.add_modifier.contains(Modifier::UNDERLINED)
        };
        assert!(underlined(1, 1), "2S is legal");
        assert!(!underlined(2, 1), "5S is not");
    }

    #[test]
    fn a_row_of_nothing_is_shown() {
        let chosen = BTreeSet::new();
        let drawing = Drawing::new(
            &hand([]),
            Signs::Ascii,
            Language::En,
            wide(20),
            &plain(&[], &chosen),
        );
        assert_eq!(text(&drawing), ["hand", "  -", "caption"]);
    }
}
