//! A small picture of each game, for whoever chooses one.

use std::sync::OnceLock;

use arena_draw::{Look, Picture};
use maud::{Markup, PreEscaped, html};
use referee_core::{GameKind, Scene, Seed, TableStep, Words};
use referee_games::GAMES;
use serde_json::Value;

/// So many questions are answered before the picture is made: enough for it to look like a game.
const QUESTIONS: usize = 22;

/// The picture of a game. Readers of screens hear nothing of it: the game's name stands beside it.
pub(crate) fn picture(kind: &'static dyn GameKind) -> Markup {
    static PICTURES: OnceLock<Vec<(&'static str, String)>> = OnceLock::new();
    let pictures = PICTURES.get_or_init(|| {
        let all = (0..).zip(GAMES.iter());
        let drawn = all.map(|(number, kind)| (kind.info().name, drawn(*kind, number)));
        drawn.collect()
    });
    let name = kind.info().name;
    let found = pictures.iter().find(|(one, _)| *one == name);
    html! {
        span.sample aria-hidden="true" {
            @if let Some((_, svg)) = found { (PreEscaped(svg)) }
        }
    }
}

fn drawn(kind: &dyn GameKind, number: usize) -> String {
    let mut scene = position(kind);
    // At this size nobody reads words.
    scene.captions.clear();
    scene.areas.retain(|area| !area.cells.is_empty());
    for area in &mut scene.areas {
        area.label = Words::new("", "");
    }
    let prefix = format!("g{number}-");
    let look = Look {
        id_prefix: &prefix,
        ..Look::default()
    };
    Picture::of(&scene, &look).svg("")
}

/// A position of a game that nobody has played: each move is one of the legal ones.
fn position(kind: &dyn GameKind) -> Scene {
    let dealt = kind.deal(&Value::Null, &Seed::new([2; 32]));
    let mut table = dealt.expect("the usual set-up is one");
    let mut questions = 0;
    loop {
        match table.step() {
            TableStep::Tell(_) => {}
            TableStep::Over(_) => return table.open_scene(),
            TableStep::Ask(_) if questions >= QUESTIONS => return table.open_scene(),
            TableStep::Ask(seats) => {
                for seat in seats {
                    let legal = table.legal(seat);
                    // In the middle of the legal moves, and then near it.
                    let at = (legal.len() / 2 + questions % 3).min(legal.len() - 1);
                    let taken = table.answer(seat, &legal[at].1);
                    taken.expect("a legal move is taken");
                    questions += 1;
                }
                table.resolve();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_game_has_a_picture_of_a_game_that_goes_on() {
        for kind in &GAMES {
            let shown = picture(*kind).into_string();
            assert!(shown.contains("<svg"), "{}", kind.info().name);
            let plain = shown.matches("id=\"g").count();
            assert!(plain > 10, "{}: {plain} parts", kind.info().name);
        }
    }
}
