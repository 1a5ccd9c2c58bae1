//! Properties of every picture of every game.

mod random;

use std::{
    collections::{BTreeMap, HashSet},
    time::Duration,
};

use arena_draw::{CSS, DrawError, Fonts, Look, Picture, animated, apng, png, spoken};
use referee_core::{
    Area, CardSuit, Cell, Hidden, Language, Mark, Piece, Scene, Seat, Shape, Surface, TileSuit,
    Words,
};
use referee_games::{GAMES, game};

use self::random::played;

const NONE: Look<'static> = Look {
    language: Language::En,
    names: &[],
    legal: &[],
    line: &[],
    id_prefix: "",
};

fn board(surface: Surface, size: usize, piece: impl Fn(usize) -> Piece) -> Scene {
    let names = |count| (0..count).map(|number: usize| number.to_string()).collect();
    Scene {
        areas: vec![Area {
            label: Words::default(),
            seat: None,
            shape: Shape::Board {
                surface,
                rows: names(size),
                columns: names(size),
            },
            cells: (0..size * size)
                .map(|at| Cell::new(piece(at)).says(format!("{},{}", at / size, at % size)))
                .collect(),
        }],
        captions: Vec::new(),
        nearest: None,
    }
}

fn row(label: &str, pieces: &[Piece]) -> Scene {
    Scene {
        areas: vec![Area {
            label: Words::new(label, ""),
            seat: None,
            shape: Shape::Row,
            cells: pieces.iter().map(|&piece| Cell::new(piece)).collect(),
        }],
        captions: Vec::new(),
        nearest: None,
    }
}

const fn disc(seat: u8) -> Piece {
    Piece::Disc {
        seat: Seat::new(seat),
    }
}

/// Every piece that there is.
fn pieces() -> Vec<Piece> {
    let tiles = [TileSuit::Characters, TileSuit::Bamboos, TileSuit::Dots];
    let cards = [
        CardSuit::Clubs,
        CardSuit::Diamonds,
        CardSuit::Hearts,
        CardSuit::Spades,
    ];
    let tiles = tiles
        .into_iter()
        .flat_map(|suit| (1..=9).map(move |rank| Piece::Tile { rank, suit }));
    let cards = cards
        .into_iter()
        .flat_map(|suit| (1..=13).map(move |rank| Piece::Card { rank, suit }));
    let others = [
        Piece::Empty,
        Piece::Blocked,
        Piece::Joker { number: 1 },
        Piece::FaceDown { of: Hidden::Tile },
        Piece::FaceDown { of: Hidden::Card },
        disc(0),
        disc(1),
    ];
    tiles.chain(cards).chain(others).collect()
}

/// Well-formed, ids once, and nothing that a strict content security policy forbids.
fn check(svg: &str, is_page: bool) {
    let xml = if is_page {
        svg.replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1)
    } else {
        svg.to_owned()
    };
    let tree = roxmltree::Document::parse(&xml).unwrap_or_else(|why| panic!("{why}: {xml}"));
    let mut ids = HashSet::new();
    for node in tree.descendants().filter(roxmltree::Node::is_element) {
        if let Some(id) = node.attribute("id") {
            assert!(ids.insert(id.to_owned()), "twice: {id}");
        }
        for attribute in node.attributes() {
            let name = attribute.name();
            assert!(name != "style" && !name.starts_with("on"), "{name}");
            assert!(
                name != "href" && !attribute.value().contains("url("),
                "{name}"
            );
        }
        let name = node.tag_name().name();
        let allowed = ["svg", "title", "g", "rect", "circle", "path", "text"];
        let is_style = !is_page && name == "style";
        assert!(is_style || allowed.contains(&name), "<{name}>");
    }
}

/// The parts by their keys.
fn parts(picture: &Picture) -> BTreeMap<&str, &str> {
    let parts = picture.parts.iter();
    parts
        .map(|part| (part.key.as_str(), part.svg.as_str()))
        .collect()
}

#[test]
fn every_moment_of_every_game_is_well_formed_for_pages_and_files() {
    let names = ["Ann", "Bob", "Cay", "Dan"].map(str::to_owned);
    for kind in &GAMES {
        for moment in played(*kind) {
            for scene in [&moment.open, &moment.public] {
                let look = Look {
                    names: &names,
                    legal: &moment.legal,
                    id_prefix: "g7-",
                    ..NONE
                };
                let picture = Picture::of(scene, &look);
                check(&picture.svg("a game"), true);
                check(&picture.standalone("a game"), false);
                assert!(picture.parts.iter().all(|part| {
                    part.svg.starts_with(&format!("<g id=\"g7-{}\"", part.key))
                        && part.svg.ends_with("</g>")
                }));
                assert!(!spoken(scene, &names, Language::En).contains("seat 0"));
                assert!(!spoken(scene, &names, Language::Zh).contains("座位 0"));
            }
        }
    }
}

#[test]
fn names_of_bots_stay_text() {
    let hostile = "</text><script>alert('1')</script>&\"\u{1b}[2J\u{202e}\u{fffe}\0";
    let names = [hostile.to_owned(), "seat 0".to_owned()];
    let look = Look {
        names: &names,
        ..NONE
    };
    let mut scene = row("seat 0: hand of seat 1", &[Piece::Joker { number: 1 }]);
    scene.captions = ["seat 1 beats seat 0", hostile]
        .map(|text| Words::new(text, ""))
        .into();
    scene.areas[0].cells[0].says = hostile.to_owned();
    let picture = Picture::of(&scene, &look);
    check(&picture.svg(hostile), true);
    check(&picture.standalone(hostile), false);
    check(
        &animated(&[picture], Duration::from_secs(1), hostile),
        false,
    );
    assert!(!spoken(&scene, &names, Language::En).contains('\u{1b}'));
}

#[test]
fn a_move_changes_its_cells_and_no_other_parts() {
    let before = board(Surface::Cloth, 8, |at| {
        if at == 3 { disc(0) } else { Piece::Empty }
    });
    let mut after = before.clone();
    after.areas[0].cells[3].piece = disc(1);
    after.areas[0].cells[17] = after.areas[0].cells[17].clone().marked(Some(Mark::Last));
    after.captions.push(Words::new("seat 0 has no move", ""));
    let (before, after) = (Picture::of(&before, &NONE), Picture::of(&after, &NONE));
    let (before, after) = (parts(&before), parts(&after));
    let changed: Vec<&str> = after
        .iter()
        .filter(|(key, svg)| before.get(*key) != Some(svg))
        .map(|(key, _)| *key)
        .collect();
    assert_eq!(changed, ["a0c17", "a0c3", "t0"]);
}

#[test]
fn a_discard_leaves_the_rows_above_as_they_are() {
    let moments = played(game("mahjong").unwrap());
    for pair in moments.windows(2) {
        let [before, after] = [&pair[0].open, &pair[1].open].map(|scene| Picture::of(scene, &NONE));
        assert_eq!(before.width, after.width);
        assert_eq!(before.parts[0], after.parts[0]);
    }
}

/// The place of a cell: where its upper left corner is.
fn place(svg: &str) -> (f32, f32) {
    let (_, place) = svg.split_once("translate(").expect("a place");
    let (x, rest) = place.split_once(' ').expect("two numbers");
    let (y, _) = rest.split_once(')').expect("an end");
    let number = |text: &str| text.parse().expect("a number");
    (number(x), number(y))
}

#[test]
fn whoever_looks_sits_at_the_bottom_and_the_next_seats_to_the_left() {
    let card = Piece::Card {
        rank: 1,
        suit: CardSuit::Spades,
    };
    let mut scene = Scene {
        nearest: Some(Seat::new(2)),
        ..Scene::default()
    };
    for seat in 0..4 {
        let mut hand = row("seat", &[card]).areas.remove(0);
        hand.seat = Some(Seat::new(seat));
        scene.areas.push(hand);
    }
    let picture = Picture::of(&scene, &NONE);
    let at = [0, 1, 2, 3].map(|seat| place(parts(&picture)[format!("a{seat}c0").as_str()]));
    let [top, right, bottom, left] = at;
    assert!(top.1 < left.1 && left.1 < bottom.1, "{at:?}");
    assert!(left.0 < top.0 && top.0 < right.0, "{at:?}");
}

#[test]
fn a_table_stays_as_large_as_it_is_and_everything_lies_on_it() {
    for kind in &GAMES {
        let moments = played(*kind);
        let pictures = |is_open: bool| {
            let scenes = moments.iter();
            let scenes = scenes.map(move |moment| match is_open {
                true => &moment.open,
                false => &moment.public,
            });
            scenes.map(|scene| Picture::of(scene, &NONE))
        };
        let cloth = |picture: &Picture| parts(picture).get("cloth").map(|svg| (*svg).to_owned());
        let first = pictures(true).next().map(|picture| cloth(&picture));
        for picture in pictures(true).chain(pictures(false)) {
            assert_eq!(Some(cloth(&picture)), first);
            for part in &picture.parts {
                if part.key.contains('c') && part.key != "cloth" {
                    let (x, y) = place(&part.svg);
                    let inside = (0.0..picture.width as f32).contains(&x)
                        && (0.0..picture.height as f32).contains(&y);
                    assert!(inside, "{}: {x}, {y}", part.key);
                }
            }
        }
    }
}

#[test]
fn what_may_be_clicked_says_what_it_means() {
    let scene = board(Surface::Holes, 4, |_| Piece::Empty);
    let legal = ["3,0".to_owned(), "3,1".to_owned()];
    let look = Look {
        legal: &legal,
        ..NONE
    };
    let picture = Picture::of(&scene, &look);
    let parts = parts(&picture);
    assert!(picture.interactive && parts["a0c12"].contains("data-move=\"3,0\""));
    assert!(parts["a0c12"].contains("class=\"cell legal\""));
    assert!(parts["a0c0"].contains("data-says=\"0,0\"") && !parts["a0c0"].contains("legal"));
    assert_eq!(picture.svg("").matches("data-move").count(), 2);
    assert!(!Picture::of(&scene, &NONE).interactive);
    // A cell without a name is never a move.
    let nameless = [String::new()];
    let look = Look {
        legal: &nameless,
        ..NONE
    };
    assert!(!Picture::of(&row("", &[Piece::Joker { number: 1 }]), &look).interactive);
}

#[test]
fn what_has_just_been_played_says_how_it_comes_and_nothing_else_does() {
    let classes = |surface, mark| {
        let mut scene = board(surface, 3, |_| disc(0));
        scene.areas[0].cells[4].mark = Some(mark);
        let picture = Picture::of(&scene, &NONE);
        let parts = parts(&picture);
        let of = |key: &str| {
            let (_, rest) = parts[key].split_once("class=\"").unwrap();
            rest.split('"').next().unwrap().to_owned()
        };
        assert_eq!(of("a0c0"), "cell");
        of("a0c4")
    };
    assert_eq!(classes(Surface::Holes, Mark::Last), "cell falls");
    assert_eq!(classes(Surface::Holes, Mark::Line), "cell");
    assert_eq!(classes(Surface::Cloth, Mark::Last), "cell lands");
    assert_eq!(classes(Surface::Cloth, Mark::Turned), "cell turns");
    // In the middle of a table everything has just been played; in hands nothing has.
    for moment in played(game("big_two").unwrap()) {
        for part in Picture::of(&moment.public, &NONE).parts {
            let (area, cell) = part.key[1..].split_once('c').unwrap_or_default();
            let is_middle = area
                .parse()
                .is_ok_and(|area: usize| moment.public.areas[area].seat.is_none());
            let is_cell = part.key.starts_with('a') && !cell.is_empty();
            assert_eq!(part.svg.contains("cell lands"), is_cell && is_middle);
        }
    }
}

#[test]
fn the_moves_of_a_line_are_numbered_on_their_cells_above_everything() {
    let scene = board(Surface::Holes, 4, |_| Piece::Empty);
    let line = [
        (Seat::new(0), "3,2".to_owned()),
        (Seat::new(1), "2,2".to_owned()),
        (Seat::new(0), "nowhere".to_owned()),
        (Seat::new(1), "0,0".to_owned()),
        // The number of the first move stands where a second one names the same cell.
        (Seat::new(0), "3,2".to_owned()),
    ];
    let look = Look {
        line: &line,
        ..NONE
    };
    let picture = Picture::of(&scene, &look);
    let plain = Picture::of(&scene, &NONE);
    let (last, others) = picture.parts.split_last().unwrap();
    assert_eq!((&*last.key, others), ("line", &*plain.parts));
    let numbers: Vec<&str> = (last.svg.split("</text>"))
        .filter_map(|text| Some(text.rsplit_once('>')?.1))
        .filter(|number| !number.is_empty())
        .collect();
    assert_eq!(numbers, ["1", "2", "4"]);
    check(&picture.svg(""), true);
}

#[test]
fn every_piece_differs_from_every_other() {
    let mut seen = HashSet::new();
    for piece in pieces() {
        let picture = Picture::of(&row("", &[piece]), &NONE);
        let file = picture.standalone("");
        check(&file, false);
        let image = png(&file, 1.0, &Fonts::none()).unwrap();
        assert!(seen.insert(image.bytes), "{piece:?} looks like another");
    }
    for surface in [Surface::Plain, Surface::Holes, Surface::Cloth] {
        for piece in pieces() {
            let picture = Picture::of(&board(surface, 2, |_| piece), &NONE);
            check(&picture.svg(""), true);
            let file = picture.standalone("");
            let image = png(&file, 0.5, &Fonts::none()).unwrap();
            assert!(seen.insert(image.bytes), "{piece:?} on {surface:?}");
        }
    }
}

#[test]
fn a_rank_that_there_is_not_is_drawn_without_its_sign() {
    let suit = CardSuit::Clubs;
    let card = |rank| Piece::Card { rank, suit };
    let suit = TileSuit::Dots;
    let tile = |rank| Piece::Tile { rank, suit };
    let pieces = [card(0), card(14), card(255), tile(0), tile(10), disc(255)];
    check(&Picture::of(&row("", &pieces), &NONE).svg(""), true);
}

#[test]
fn pictures_are_small() {
    let legal: Vec<String> = (0..12).map(|column| format!("11,{column}")).collect();
    let look = Look {
        legal: &legal,
        ..NONE
    };
    for surface in [Surface::Plain, Surface::Holes, Surface::Cloth] {
        for piece in [Piece::Empty, disc(0), disc(1)] {
            let size = Picture::of(&board(surface, 12, |_| piece), &look)
                .svg("")
                .len();
            assert!(size < 64_000, "{surface:?} {piece:?}: {size} bytes");
        }
    }
    for piece in pieces() {
        let most = match piece {
            Piece::Card { .. } | Piece::Joker { .. } => 3_300,
            _ => 1_500,
        };
        let picture = Picture::of(&row("", &[piece]), &NONE);
        let size = parts(&picture)["a0c0"].len();
        assert!(size < most, "{piece:?}: {size} bytes");
    }
}

#[test]
fn long_rows_stay_inside() {
    for piece in pieces() {
        for count in [1, 2, 7, 8, 13, 18, 40, 54] {
            let picture = Picture::of(&row("", &vec![piece; count]), &NONE);
            let last = parts(&picture)[format!("a0c{}", count - 1).as_str()].to_owned();
            assert!(
                picture.width < 520 && picture.height < 900,
                "{piece:?} {count}"
            );
            let (x, y) = place(&last);
            assert!(x < picture.width as f32 - 20.0);
            assert!(y < picture.height as f32 - 20.0);
        }
    }
}

#[test]
fn a_png_decodes_and_is_not_blank() {
    let scene = board(Surface::Holes, 6, |at| disc((at % 2) as u8));
    let picture = Picture::of(&scene, &NONE);
    let image = png(&picture.standalone("six"), 1.5, &Fonts::none()).unwrap();
    assert!(image.labels_left_out);
    let mut reader = png::Decoder::new(std::io::Cursor::new(&image.bytes))
        .read_info()
        .unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(info.width, (picture.width as f32 * 1.5).round() as u32);
    let colours: HashSet<&[u8]> = pixels.chunks(4).collect();
    assert!(colours.len() > 20, "{} colours", colours.len());
}

#[test]
fn fonts_bring_labels() {
    let fonts = Fonts::of_system();
    if fonts.is_empty() {
        return;
    }
    let file = Picture::of(&row("a label", &[Piece::Joker { number: 1 }]), &NONE).standalone("");
    let with = png(&file, 1.0, &fonts).unwrap();
    let without = png(&file, 1.0, &Fonts::none()).unwrap();
    assert!(!with.labels_left_out && with.bytes != without.bytes);
}

#[test]
fn what_can_not_be_drawn_is_refused() {
    let file = Picture::of(&row("", &[Piece::Joker { number: 1 }]), &NONE).standalone("");
    let draw = |svg: &str, scale| png(svg, scale, &Fonts::none()).map(|image| image.bytes.len());
    assert!(matches!(draw("<p>", 1.0), Err(DrawError::Svg(_))));
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e6] {
        let refused = draw(&file, scale);
        assert!(
            matches!(refused, Err(DrawError::Size { .. })),
            "{scale}: {refused:?}"
        );
    }
    let nothing = apng(&[], Duration::ZERO, 1.0, &Fonts::none());
    assert!(matches!(nothing, Err(DrawError::NoFrames)));
}

#[test]
fn an_animated_png_has_all_frames() {
    let frames: Vec<Picture> = played(game("connect-four").unwrap())
        .iter()
        .map(|moment| Picture::of(&moment.open, &NONE))
        .collect();
    let frame = Duration::from_millis(400);
    let file = apng(&frames, frame, 0.5, &Fonts::none()).unwrap().bytes;
    let mut reader = png::Decoder::new(std::io::Cursor::new(&file))
        .read_info()
        .unwrap();
    let count = reader.info().animation_control().unwrap().num_frames as usize;
    assert_eq!(count, frames.len());
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    for at in 0..count {
        reader.next_frame(&mut pixels).unwrap();
        let control = reader.info().frame_control().unwrap();
        let expected = if at + 1 == count { 1_600 } else { 400 };
        assert_eq!((control.delay_num, control.delay_den), (expected, 1_000));
    }
    // Frames hold what changes, so all together are hardly more than the first.
    let first = png(&frames[0].standalone(""), 0.5, &Fonts::none()).unwrap();
    assert!(file.len() < first.bytes.len() * 8, "{} bytes", file.len());
}

#[test]
fn an_animation_has_what_does_not_change_once() {
    for kind in &GAMES {
        let frames: Vec<Picture> = played(*kind)
            .iter()
            .map(|moment| Picture::of(&moment.open, &NONE))
            .collect();
        let file = animated(&frames, Duration::from_millis(400), "a game");
        check(&file, false);
        let all: usize = frames.iter().map(|frame| frame.svg("").len()).sum();
        assert!(file.len() < all / 2, "{} of {all} bytes", file.len());
        // What plays no animations shows the last picture.
        let last = frames.last().unwrap();
        let still = png(&file, 0.5, &Fonts::none()).unwrap();
        let (width, height) = (last.width, last.height);
        if frames
            .iter()
            .all(|frame| (frame.width, frame.height) == (width, height))
        {
            let expected = png(&last.standalone(""), 0.5, &Fonts::none()).unwrap();
            assert!(still == expected, "{}", kind.info().name);
        }
    }
}

#[test]
fn rules_of_style_need_no_variables() {
    assert!(!CSS.contains("var(") && CSS.contains(".label"));
}

#[test]
fn scenes_are_spoken() {
    let names = ["Ann", "Bob"].map(str::to_owned);
    let mut scene = board(Surface::Cloth, 3, |at| match at {
        0 => disc(0),
        1 => disc(1),
        8 => Piece::Blocked,
        _ => Piece::Empty,
    });
    scene.areas[0].cells[1].mark = Some(Mark::Last);
    let cards = [
        Piece::Card {
            rank: 1,
            suit: CardSuit::Spades,
        },
        Piece::Joker { number: 1 },
    ];
    scene.areas.extend(row("seat 1: 2 cards", &cards).areas);
    let backs = [Piece::FaceDown { of: Hidden::Tile }; 13];
    scene.areas.extend(row("seat 0: hand", &backs).areas);
    scene.areas.extend(row("seat 0: river", &[]).areas);
    scene.captions = vec![Words::new("seat 0 wins", "")];
    assert_eq!(
        spoken(&scene, &names, Language::En),
        "board of 3 rows and 3 columns; black is Ann; white is Bob\n\
         row 0: 0 black, 1 white (last)\n\
         row 2: 2 forbidden\n\
         Bob: 2 cards: AS, joker\n\
         Ann: hand: 13 face down\n\
         Ann: river: nothing\n\
         Ann wins"
    );
}
