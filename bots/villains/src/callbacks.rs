//! Villains of three games, by the kit's callbacks: they know only the rules that they
//! need to play until they misbehave.

use std::{
    collections::HashSet,
    fmt::Debug,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bot_kit::{
    Bot, GameStart,
    big_two::{BigTwoBot, Card, RequestPlay},
    connect_four::{ConnectFourBot, GetPoint, Point},
    mahjong::{MahjongBot, Tile},
};
use parking_lot::Mutex;

use crate::{
    Villain,
    foul::{HOUR, crash},
    kind::Kind,
    whispers::Whisperer,
};

/// The pause between two looks if it is still held up.
const GLANCE: Duration = Duration::from_millis(10);

/// True if this kind can be played by callbacks.
pub(crate) const fn include(kind: Kind) -> bool {
    use Kind::{Crash, ErrorStatus, Honest, Late, Memory, Slow};
    only(kind) || matches!(kind, Honest | Slow | Crash | ErrorStatus | Memory | Late)
}

/// True if it can be played in no other way.
pub(crate) const fn only(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::KnowsRounds | Kind::KnowsHands | Kind::Snoops | Kind::Whispers
    )
}

/// The villain in Connect Four, Mahjong and Reversal Big Two.
pub(crate) fn bot(villain: Villain) -> Bot {
    let bot = Bot::new(&villain.name, env!("CARGO_PKG_VERSION")).max_games(villain.max_games());
    let villain = Arc::new(villain);
    let seen = Arc::new(SeenDeals::default());
    let player = move |start: &GameStart| CallbackVillain::new(&villain, &seen, start);
    bot.connect_four(player.clone())
        .mahjong(player.clone())
        .big_two(player)
}

/// The deals that the games of one process have seen.
#[derive(Default)]
struct SeenDeals(Mutex<HashSet<String>>);

impl SeenDeals {
    /// True if any game of this process has seen it before.
    fn again(&self, what: &str) -> bool {
        let mut seen = self.0.lock();
        !seen.insert(what.to_owned())
    }
}

/// A villain in one game.
struct CallbackVillain {
    villain: Arc<Villain>,
    seen: Arc<SeenDeals>,
    /// The deal, as the game's name says it: the same from every seat.
    round: String,
    /// It waits while this file is there.
    hold: Option<PathBuf>,
    /// Its hand: tiles or cards.
    hand: Vec<i32>,
    answers: u32,
    recognised: Option<String>,
    whisperer: Whisperer,
}

impl CallbackVillain {
    fn new(villain: &Arc<Villain>, seen: &Arc<SeenDeals>, start: &GameStart) -> Self {
        let round = start.game_id.split("-game-").next().unwrap_or_default();
        println!("process {} plays {}", std::process::id(), start.game_id);
        let mut player = Self {
            villain: villain.clone(),
            seen: seen.clone(),
            round: round.to_owned(),
            hold: (villain.hold.as_ref()).map(|folder| folder.join(&start.game_id)),
            hand: Vec::new(),
            answers: 0,
            recognised: None,
            whisperer: Whisperer::new(&villain.books),
        };
        if villain.kind == Kind::KnowsRounds {
            player.meet(round);
        }
        player
    }

    /// Has been dealt its whole hand.
    fn dealt(&mut self) {
        if self.villain.kind == Kind::KnowsHands {
            let mut hand = self.hand.clone();
            hand.sort_unstable();
            self.meet(&hand);
        }
        if self.villain.kind == Kind::Whispers {
            self.recognised = self.whisperer.dealt(&self.hand);
        }
    }

    fn meet(&mut self, what: impl Debug) {
        let what = format!("{what:?}");
        if self.seen.again(&what) {
            self.recognised = Some(what);
        }
    }

    /// Is asked: misbehaves, if it is due.
    fn asked(&mut self) {
        if let Some(hold) = self.hold.as_ref().filter(|hold| hold.exists()) {
            let game = hold.file_name().unwrap_or_default().display();
            println!("process {} waits in {game}", std::process::id());
        }
        while self.hold.as_ref().is_some_and(|hold| hold.exists()) {
            std::thread::sleep(GLANCE);
        }
        let due = self.answers >= self.villain.after;
        self.answers += 1;
        match self.villain.kind {
            Kind::Slow => std::thread::sleep(self.villain.delay()),
            Kind::Crash if due => crash("crashing in the middle of the game"),
            Kind::ErrorStatus if due => panic!("no more ideas"),
            Kind::Memory if due => {
                let hoard = vec![1_u8; self.villain.megabytes << 20];
                std::thread::sleep(HOUR);
                drop(hoard);
            }
            Kind::Late if due => std::thread::sleep(HOUR),
            Kind::Snoops => {
                if let Some(found) = find(&self.villain.folder, &self.round) {
                    panic!("found {found}");
                }
            }
            Kind::Whispers => {
                if let Some(heard) = self.recognised.take().or_else(|| self.whisperer.listen()) {
                    panic!("{heard}");
                }
            }
            _ => {
                if let Some(what) = &self.recognised {
                    panic!("I have met {what} before");
                }
            }
        }
    }
}

/// A file of this folder whose name begins so.
fn find(folder: &Path, begins: &str) -> Option<String> {
    let mut names = fs::read_dir(folder)
        .expect("a snoop has a folder to look into")
        .filter_map(|file| file.ok()?.file_name().into_string().ok());
    names.find(|name| name.starts_with(begins))
}

impl ConnectFourBot for CallbackVillain {
    fn get_point(&mut self, ask: &GetPoint) -> Point {
        self.asked();
        ask.points().next().expect("a column has room")
    }
}

/// With how many tiles a round begins.
const TILES: usize = 13;

impl MahjongBot for CallbackVillain {
    fn get_draw(&mut self, tile: Tile) {
        self.hand.push(tile.into());
        // It discards what it draws, so it never comes back to 13.
        if self.hand.len() == TILES && self.answers == 0 {
            self.dealt();
        }
    }

    fn request_discard(&mut self, _limit: Duration) -> Tile {
        self.asked();
        let drawn = self.hand.pop().expect("a tile has been drawn");
        Tile::try_from(drawn).expect("it is as it was drawn")
    }

    fn get_opp_discard(&mut self, _tile: Tile) {}

    fn request_win(&mut self, _tile: Tile, _is_self_draw: bool, _limit: Duration) -> bool {
        self.asked();
        false
    }
}

impl BigTwoBot for CallbackVillain {
    fn get_deal(&mut self, cards: Vec<Card>) {
        self.hand = cards.into_iter().map(i32::from).collect();
        self.dealt();
    }

    fn get_play(&mut self, _play: &bot_kit::big_two::GetPlay) {}

    /// Leads its lowest card, and passes whenever it may.
    fn request_play(&mut self, ask: &RequestPlay, _limit: Duration) -> Option<Vec<Card>> {
        self.asked();
        if ask.to_beat.is_some() {
            return None;
        }
        self.hand.sort_unstable_by(|a, b| b.cmp(a));
        let lowest = self.hand.pop().expect("who is asked holds a card");
        Some(vec![Card::try_from(lowest).expect("it is as it was dealt")])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_been_met_is_known_again() {
        let seen = SeenDeals::default();
        assert!(!seen.again("round-0001"));
        assert!(!seen.again("round-0002"));
        assert!(seen.again("round-0001"));
    }
}
