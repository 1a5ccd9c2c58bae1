//! A game that a program plays in the place of people: what a seat is asked is an event on standard
//! output, and each line of standard input is a move. Nothing is drawn, and there are no words for
//! people.

use arena_events::{
    Event,
    people::{SlipEvent, TurnEvent},
};
use arena_play::{PeopleGame, PeopleTurn, Slip};
use arena_terminal::report;
use arena_tournament::events;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use referee_bots::LaunchContext;
use referee_cli::End;
use referee_core::{Language, PerSeat, Seat};
use referee_games::game_name;

use super::{
    input::{Input, Typed},
    left::GameSoFar,
    words::{self, Command},
};

/// Plays one game.
pub(super) async fn play(game: GameSoFar, context: &LaunchContext) -> anyhow::Result<End> {
    let GameSoFar {
        seating, answers, ..
    } = game;
    let kind = seating.kind;
    let info = kind.info();
    let mut driven = DrivenGame {
        name: game_name(info.name),
        id: seating.game_id.clone(),
        told: PerSeat::new(info.seats, |_| 0),
        input: Input::new(Language::En),
    };
    let mut game = PeopleGame::resume(seating, answers, context).await?;
    let end = driven.rounds(&mut game).await;
    game.end().await;
    end
}

/// A game and the program that plays it.
struct DrivenGame {
    name: String,
    id: String,
    /// Number of calls of each seat that the program has been told.
    told: PerSeat<usize>,
    input: Input,
}

impl DrivenGame {
    /// Plays until the game is over, or the input.
    async fn rounds(&mut self, game: &mut PeopleGame) -> anyhow::Result<End> {
        loop {
            let PeopleTurn::People(seats) = game.play_on().await? else {
                break;
            };
            for seat in seats {
                if let Some(end) = self.turn(game, seat).await? {
                    return Ok(end);
                }
            }
        }
        if let Some(record) = game.record() {
            report::event(events::game_of_record(record))?;
        }
        Ok(End::Done)
    }

    /// The turn of a seat, until it has moved; the end where nobody moves any more.
    async fn turn(&mut self, game: &mut PeopleGame, seat: Seat) -> anyhow::Result<Option<End>> {
        let calls = game.calls(seat);
        let told = std::mem::replace(&mut self.told[seat], calls.len());
        report::event(Event::Turn(TurnEvent {
            game: self.name.clone(),
            game_id: self.id.clone(),
            seat: seat.index() as u8,
            calls: calls[told..]
                .iter()
                .map(|call| STANDARD.encode(call))
                .collect(),
            legal: game.legal(seat),
        }))?;
        loop {
            let line = match self.input.line().await {
                Typed::Line(line) => line,
                Typed::End => return Ok(Some(End::Done)),
                Typed::Interrupt => return Ok(Some(End::Interrupted)),
            };
            if let Some((Command::Resign, _)) = words::command(&line) {
                game.resign(seat);
                return Ok(None);
            }
            let Err(slip) = game.move_as_written(seat, &line) else {
                return Ok(None);
            };
            report::event(self.slip(seat, line, slip))?;
        }
    }

    fn slip(&self, seat: Seat, written: String, slip: Slip) -> Event {
        Event::Slip(SlipEvent {
            game_id: self.id.clone(),
            seat: seat.index() as u8,
            written,
            candidates: match slip {
                Slip::Unknown(_) => Vec::new(),
                Slip::Ambiguous { candidates, .. } => candidates,
            },
        })
    }
}
